//! Cobertura's XML: coverage as servers for continuous integration read it.

use crate::Run;
use pleach_report::testcomp::escape;
use pleach_report::{FileCoverage, FunctionCoverage};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Covered and all, of lines and of branch directions.
#[derive(Clone, Copy, Default)]
struct Share {
    lines: (usize, usize),
    branches: (usize, usize),
}

impl Share {
    fn of(file: &FileCoverage) -> Share {
        let hit = |n: &&u64| **n > 0;
        Share {
            lines: (file.lines.values().filter(hit).count(), file.lines.len()),
            branches: (file.branches.values().filter(hit).count(), file.branches.len()),
        }
    }

    fn add(self, other: Share) -> Share {
        let sum = |a: (usize, usize), b: (usize, usize)| (a.0 + b.0, a.1 + b.1);
        Share { lines: sum(self.lines, other.lines), branches: sum(self.branches, other.branches) }
    }

    fn attributes(self) -> String {
        format!("line-rate=\"{}\" branch-rate=\"{}\"", rate(self.lines), rate(self.branches))
    }
}

/// Where there is nothing to cover, all is covered.
fn rate((part, whole): (usize, usize)) -> String {
    if whole == 0 { "1".into() } else { format!("{:.4}", part as f64 / whole as f64) }
}

/// The report. Files of one directory are a package.
pub fn render(run: &Run) -> String {
    let all = run.coverage.files.values().map(Share::of).fold(Share::default(), Share::add);
    let mut packages: BTreeMap<&str, Vec<(&str, &FileCoverage)>> = BTreeMap::new();
    for (name, file) in &run.coverage.files {
        packages.entry(name.rsplit_once('/').map_or(".", |(dir, _)| dir)).or_default().push((name, file));
    }
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(
        out,
        "<coverage {} lines-covered=\"{}\" lines-valid=\"{}\" branches-covered=\"{}\" branches-valid=\"{}\" \
         complexity=\"0\" version=\"pleach {}\" timestamp=\"{}\">",
        all.attributes(),
        all.lines.0,
        all.lines.1,
        all.branches.0,
        all.branches.1,
        escape(&run.summary.version),
        run.timing.started
    );
    let source = escape(&run.info.directory.display().to_string());
    let _ = writeln!(out, "  <sources>\n    <source>{source}</source>\n  </sources>\n  <packages>");
    for (name, files) in packages {
        let share = files.iter().map(|(_, f)| Share::of(f)).fold(Share::default(), Share::add);
        let (name, share) = (escape(name), share.attributes());
        let _ = writeln!(out, "    <package name=\"{name}\" {share} complexity=\"0\">\n      <classes>");
        for (path, file) in files {
            class(&mut out, path, file);
        }
        out.push_str("      </classes>\n    </package>\n");
    }
    out.push_str("  </packages>\n</coverage>\n");
    out
}

fn class(out: &mut String, path: &str, file: &FileCoverage) {
    let name = escape(path.rsplit('/').next().unwrap_or(path));
    let share = Share::of(file).attributes();
    let _ = writeln!(out, "        <class name=\"{name}\" filename=\"{}\" {share} complexity=\"0\">", escape(path));
    out.push_str("          <methods>\n");
    for (name, f) in &file.functions {
        method(out, name, f);
    }
    out.push_str("          </methods>\n          <lines>\n");
    for (number, hits) in &file.lines {
        line(out, file, *number, *hits);
    }
    out.push_str("          </lines>\n        </class>\n");
}

fn method(out: &mut String, name: &str, f: &FunctionCoverage) {
    let rate = if f.count > 0 { "1" } else { "0" };
    let _ = writeln!(
        out,
        "            <method name=\"{}\" signature=\"\" line-rate=\"{rate}\" branch-rate=\"{rate}\" complexity=\"0\">\
         <lines><line number=\"{}\" hits=\"{}\"/></lines></method>",
        escape(name),
        f.line,
        f.count
    );
}

fn line(out: &mut String, file: &FileCoverage, number: u32, hits: u64) {
    let mut blocks: BTreeMap<u32, (usize, usize)> = BTreeMap::new();
    for ((_, block, _), count) in file.branches.range((number, 0, 0)..=(number, u32::MAX, u32::MAX)) {
        let share = blocks.entry(*block).or_default();
        *share = (share.0 + usize::from(*count > 0), share.1 + 1);
    }
    let _ = write!(out, "            <line number=\"{number}\" hits=\"{hits}\"");
    if blocks.is_empty() {
        out.push_str(" branch=\"false\"/>\n");
        return;
    }
    let percent = |(part, whole): (usize, usize)| part * 100 / whole.max(1);
    let all = blocks.values().fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    let _ = writeln!(out, " branch=\"true\" condition-coverage=\"{}% ({}/{})\">", percent(all), all.0, all.1);
    out.push_str("              <conditions>\n");
    for (block, share) in blocks {
        let kind = if share.1 > 2 { "switch" } else { "jump" };
        let share = percent(share);
        let _ = writeln!(out, "                <condition number=\"{block}\" type=\"{kind}\" coverage=\"{share}%\"/>");
    }
    out.push_str("              </conditions>\n            </line>\n");
}
