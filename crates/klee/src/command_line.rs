//! KLEE's command line: `klee [options] PROGRAM [arguments of the program]`, options with one dash or two.

use super::options::{self, OptionArity, OptionSupport};
use pleach_command::CliError;
use std::path::PathBuf;

/// Options that were given and are honoured, with the other arguments.
#[derive(Debug, Default)]
pub struct CommandLine {
    given: Vec<(&'static str, String)>,
    pub program: Option<PathBuf>,
    /// of the program
    pub args: Vec<String>,
    /// options of KLEE's that are not honoured and would matter
    pub ignored: Vec<String>,
    /// options that KLEE does not have
    pub unknown: Vec<String>,
}

impl CommandLine {
    pub fn parse(args: impl Iterator<Item = String>) -> Result<CommandLine, CliError> {
        let mut line = CommandLine::default();
        let mut args = expanded(args)?.into_iter();
        while let Some(arg) = args.next() {
            let Some(rest) = arg.strip_prefix("--").or_else(|| arg.strip_prefix('-')).filter(|r| !r.is_empty()) else {
                line.program = Some(arg.into());
                line.args = args.collect();
                break;
            };
            let (name, value) = match rest.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (rest, None),
            };
            let Some((known, takes, support)) = options::all().find(|(n, _, _)| *n == name) else {
                line.unknown.push(format!("--{name}"));
                continue;
            };
            let value = match (takes, value) {
                (_, Some(value)) => value,
                (OptionArity::Switch, None) => "true".into(),
                (OptionArity::Value, None) => {
                    args.next().ok_or_else(|| CliError::Usage(format!("--{name}: a value is missing")))?
                }
            };
            match support {
                OptionSupport::Works => line.given.push((known, value)),
                OptionSupport::Harmless => {}
                // What is switched off is off.
                OptionSupport::Ignored if value == "false" || value == "0" => {}
                OptionSupport::Ignored => line.ignored.push(format!("--{name}")),
            }
        }
        Ok(line)
    }

    /// The last value given.
    pub fn value(&self, name: &str) -> Option<&str> {
        debug_assert!(matches!(options::find(name), Some((_, OptionSupport::Works))), "{name}");
        self.given.iter().rev().find(|(n, _)| *n == name).map(|(_, v)| v.as_str())
    }

    /// All values given, those between commas one by one.
    pub fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.given.iter().filter(move |(n, _)| *n == name).flat_map(|(_, v)| v.split(','))
    }

    /// All values given, as they are.
    pub fn each<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.given.iter().filter(move |(n, _)| *n == name).map(|(_, v)| v.as_str())
    }

    pub fn is_on(&self, name: &str, default: bool) -> bool {
        self.value(name).map_or(default, |v| matches!(v, "" | "true" | "TRUE" | "True" | "1"))
    }

    /// A number; KLEE's −1 and our 0 are no limit.
    pub fn number(&self, name: &str) -> Result<Option<u64>, CliError> {
        match self.value(name) {
            None | Some("-1") => Ok(None),
            Some(v) => v.parse().map(Some).map_err(|_| CliError::Usage(format!("--{name}: `{v}` is not a number"))),
        }
    }

    pub fn time(&self, name: &str) -> Result<Option<std::time::Duration>, CliError> {
        let parse = |v| pleach_command::duration::parse(v).map_err(|why| CliError::Usage(format!("--{name}: {why}")));
        self.value(name).filter(|v| !v.is_empty()).map(parse).transpose()
    }
}

/// `@FILE` stands for the arguments in a file, separated by white space.
fn expanded(args: impl Iterator<Item = String>) -> Result<Vec<String>, CliError> {
    let mut all = Vec::new();
    for arg in args {
        match arg.strip_prefix('@') {
            Some(file) => {
                let text = std::fs::read_to_string(file).map_err(|why| CliError::Usage(format!("{file}: {why}")))?;
                all.extend(text.split_whitespace().map(String::from));
            }
            None => all.push(arg),
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> CommandLine {
        CommandLine::parse(line.split_whitespace().map(String::from)).unwrap()
    }

    #[test]
    fn one_dash_or_two_and_values_either_way() {
        let l = parse("-search=dfs --search bfs -max-time=10 --emit-all-errors --write-ktests=false a.bc --search x");
        assert_eq!(l.values("search").collect::<Vec<_>>(), ["dfs", "bfs"]);
        assert_eq!(l.time("max-time").unwrap(), Some(std::time::Duration::from_secs(10)));
        assert!(l.is_on("emit-all-errors", false) && !l.is_on("write-ktests", true));
        assert_eq!(l.program, Some("a.bc".into()));
        assert_eq!(l.args, ["--search", "x"]);
    }

    #[test]
    fn what_is_not_honoured_is_told() {
        let l = parse("--no-such --write-cvcs --use-cex-cache=false --write-kqueries=false a.bc");
        assert_eq!((l.unknown, l.ignored), (vec!["--no-such".into()], vec!["--write-cvcs".into()]));
        assert!(CommandLine::parse(["--max-time".to_owned()].into_iter()).is_err());
    }
}
