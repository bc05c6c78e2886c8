//! Coverage by line, branch and function, as an lcov tracefile (`coverage.info`).

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::{Deserialize, Serialize};

/// A branch direction: line, block within the line, direction within the block.
pub type BranchKey = (u32, u32, u32);

/// A function of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionCoverage {
    /// Line of its definition.
    pub line: u32,
    /// How often it was entered.
    pub count: u64,
}

/// Coverage of one source file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileCoverage {
    /// Executions per line with code; zero for lines not reached.
    pub lines: BTreeMap<u32, u64>,
    /// Times each branch direction was taken.
    pub branches: BTreeMap<BranchKey, u64>,
    /// Functions by name.
    pub functions: BTreeMap<String, FunctionCoverage>,
}

/// Coverage of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Files by path.
    pub files: BTreeMap<String, FileCoverage>,
}

impl Coverage {
    /// The tracefile.
    pub fn to_lcov(&self) -> String {
        let mut out = String::from("TN:\n");
        for (path, file) in &self.files {
            file.write(path, &mut out);
        }
        out
    }

    /// Covered lines by file, as the summary lists them.
    pub fn covered_lines(&self) -> BTreeMap<String, Vec<u32>> {
        let covered = |f: &FileCoverage| f.lines.iter().filter(|(_, n)| **n > 0).map(|(l, _)| *l).collect();
        self.files.iter().map(|(path, file)| (path.clone(), covered(file))).collect()
    }

    /// Coverable and covered, over all files.
    pub fn totals(&self) -> crate::summary::Totals {
        let mut totals = crate::summary::Totals::default();
        for file in self.files.values() {
            totals.lines += file.lines.len() as u64;
            totals.lines_covered += hit(file.lines.values());
            totals.branches += file.branches.len() as u64;
            totals.branches_covered += hit(file.branches.values());
        }
        totals
    }
}

/// Reads a tracefile; records of kinds that are not kept are skipped.
pub fn read(text: &str) -> Coverage {
    let mut coverage = Coverage::default();
    let mut path = String::new();
    for line in text.lines() {
        let Some((kind, rest)) = line.split_once(':') else { continue };
        if kind == "SF" {
            rest.clone_into(&mut path);
            coverage.files.entry(path.clone()).or_default();
        } else if let Some(file) = coverage.files.get_mut(&path) {
            file.record(kind, rest);
        }
    }
    coverage
}

fn hit<'a>(counts: impl Iterator<Item = &'a u64>) -> u64 {
    counts.filter(|n| **n > 0).count() as u64
}

impl FileCoverage {
    /// Takes one record of a tracefile; one that does not follow the format says nothing.
    fn record(&mut self, kind: &str, rest: &str) -> Option<()> {
        match kind {
            "FN" | "FNDA" => {
                let (number, name) = rest.split_once(',')?;
                let function = self.functions.entry(name.to_owned()).or_default();
                match kind {
                    "FN" => function.line = number.parse().ok()?,
                    _ => function.count = number.parse().ok()?,
                }
            }
            "BRDA" => {
                let all: Vec<&str> = rest.split(',').collect();
                let [line, block, branch, count] = all[..] else { return None };
                let key = (line.parse().ok()?, block.parse().ok()?, branch.parse().ok()?);
                self.branches.insert(key, if count == "-" { 0 } else { count.parse().ok()? });
            }
            "DA" => {
                let (line, count) = rest.split_once(',')?;
                self.lines.insert(line.parse().ok()?, count.parse().ok()?);
            }
            _ => {}
        }
        Some(())
    }

    fn write(&self, path: &str, out: &mut String) {
        // A line break in a name would start a new record.
        let clean = |text: &str| text.replace(['\n', '\r'], "?");
        let _ = writeln!(out, "SF:{}", clean(path));
        for (name, f) in &self.functions {
            let _ = writeln!(out, "FN:{},{}", f.line, clean(name));
        }
        for (name, f) in &self.functions {
            let _ = writeln!(out, "FNDA:{},{}", f.count, clean(name));
        }
        let entered = self.functions.values().filter(|f| f.count > 0).count();
        let _ = writeln!(out, "FNF:{}\nFNH:{entered}", self.functions.len());
        for ((line, block, branch), count) in &self.branches {
            // `-` says that the branch itself was never evaluated.
            let evaluated = self.lines.get(line).is_none_or(|n| *n > 0);
            match (count, evaluated) {
                (0, false) => drop(writeln!(out, "BRDA:{line},{block},{branch},-")),
                _ => drop(writeln!(out, "BRDA:{line},{block},{branch},{count}")),
            }
        }
        let _ = writeln!(out, "BRF:{}\nBRH:{}", self.branches.len(), hit(self.branches.values()));
        for (line, count) in &self.lines {
            let _ = writeln!(out, "DA:{line},{count}");
        }
        let _ = writeln!(out, "LF:{}\nLH:{}", self.lines.len(), hit(self.lines.values()));
        out.push_str("end_of_record\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tracefile() {
        let file = FileCoverage {
            lines: [(3, 2), (4, 0)].into(),
            branches: [((3, 0, 0), 2), ((3, 0, 1), 0), ((4, 0, 0), 0)].into(),
            functions: [("main".to_owned(), FunctionCoverage { line: 2, count: 1 })].into(),
        };
        let coverage = Coverage { files: [("a.c".to_owned(), file)].into() };
        assert_eq!(
            coverage.to_lcov(),
            "TN:\nSF:a.c\nFN:2,main\nFNDA:1,main\nFNF:1\nFNH:1\nBRDA:3,0,0,2\nBRDA:3,0,1,0\nBRDA:4,0,0,-\n\
             BRF:3\nBRH:1\nDA:3,2\nDA:4,0\nLF:2\nLH:1\nend_of_record\n"
        );
        assert_eq!(read(&coverage.to_lcov()), coverage);
        assert_eq!(coverage.covered_lines()["a.c"], [3]);
        assert_eq!(coverage.totals().branches_covered, 1);
    }
}
