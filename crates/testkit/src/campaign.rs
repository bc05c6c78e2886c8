//! The command line that all campaigns have: programs with the seeds SEED, SEED + 1, …

/// What every campaign is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Programs {
    pub count: u64,
    pub seed: u64,
    pub jobs: u64,
    /// Print the programs instead.
    pub print: bool,
}

impl Default for Programs {
    fn default() -> Programs {
        Programs { count: 100, seed: 1, jobs: 1, print: false }
    }
}

/// Reads the number behind a flag.
pub type Number<'a> = &'a mut dyn FnMut() -> Option<u64>;

impl Programs {
    /// The command line on top of these; `own` takes the flags that only one campaign has. `None` for a flag that
    /// nobody knows, or a number that is none.
    pub fn asked(
        mut self,
        args: impl IntoIterator<Item = String>,
        mut own: impl FnMut(&str, Number) -> Option<()>,
    ) -> Option<Programs> {
        let mut args = args.into_iter();
        while let Some(flag) = args.next() {
            let mut number = || args.next()?.parse::<u64>().ok();
            match flag.as_str() {
                "--count" => self.count = number()?,
                "--seed" => self.seed = number()?,
                "--jobs" => self.jobs = number()?,
                "--print" => self.print = true,
                other => own(other, &mut number)?,
            }
        }
        Some(self)
    }

    pub fn end(&self) -> u64 {
        self.seed + self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_of_all_and_of_one() {
        let args = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let mut audit = 0;
        let asked = Programs::default().asked(args("--count 7 --audit 3 --print"), |flag, number| match flag {
            "--audit" => number().map(|n| audit = n),
            _ => None,
        });
        assert_eq!(asked, Some(Programs { count: 7, print: true, ..Programs::default() }));
        assert_eq!(audit, 3);
        assert_eq!(Programs::default().asked(args("--other"), |_, _| None), None);
        assert_eq!(Programs::default().asked(args("--count many"), |_, _| None), None);
    }
}
