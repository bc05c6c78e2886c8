//! `klee-stats`: what runs cost, as a table or as comma-separated values.

use crate::run_stats;
use pleach_command::{CliError, Code};
use std::path::Path;

const DEFAULT: [&str; 6] = ["Instrs", "Time(s)", "ICov(%)", "BCov(%)", "ICount", "TSolver(%)"];
const ALL: [&str; 10] =
    ["Instrs", "Time(s)", "TUser(s)", "ICov(%)", "BCov(%)", "ICount", "TSolver(%)", "States", "Mem(MB)", "Queries"];

pub fn main(args: Vec<String>) -> Result<Code, CliError> {
    let (mut columns, mut csv, mut runs) = (&DEFAULT[..], false, Vec::new());
    for arg in args {
        match arg.as_str() {
            "--print-all" | "--print-more" => columns = &ALL,
            "--to-csv" => csv = true,
            a if a.starts_with('-') => return Err(super::usage("klee-stats", format!("unknown option {a}"))),
            _ => runs.push(arg),
        }
    }
    if runs.is_empty() {
        return Err(super::usage("klee-stats", "no run is given"));
    }
    let mut rows = vec![std::iter::once("Path").chain(columns.iter().copied()).map(str::to_owned).collect::<Vec<_>>()];
    for run in &runs {
        let row = run_stats::read(Path::new(run))?;
        let number = |name: &str| row.iter().find(|(n, _)| n == name).map_or(0.0, |(_, v)| *v);
        rows.push(std::iter::once(run.clone()).chain(columns.iter().map(|c| cell(c, &number))).collect());
    }
    if csv {
        rows.iter().for_each(|row| println!("{}", row.join(",")));
    } else {
        print!("{}", table(&rows));
    }
    Ok(Code::Fine)
}

/// One figure as KLEE's tool computes it.
fn cell(column: &str, number: &dyn Fn(&str) -> f64) -> String {
    let share = |part: f64, whole: f64| if whole == 0.0 { 0.0 } else { 100.0 * part / whole };
    let code = number("CoveredInstructions") + number("UncoveredInstructions");
    let directions = 2.0 * number("FullBranches") + number("PartialBranches");
    match column {
        "Instrs" => format!("{}", number("Instructions")),
        "Time(s)" => format!("{:.2}", number("WallTime") / 1e6),
        "TUser(s)" => format!("{:.2}", number("UserTime") / 1e6),
        "ICov(%)" => format!("{:.2}", share(number("CoveredInstructions"), code)),
        "BCov(%)" => format!("{:.2}", share(directions, 2.0 * number("NumBranches"))),
        "ICount" => format!("{code}"),
        "TSolver(%)" => format!("{:.2}", share(number("SolverTime"), number("WallTime"))),
        "States" => format!("{}", number("NumStates")),
        "Mem(MB)" => format!("{:.2}", number("MallocUsage") / f64::from(1 << 20)),
        _ => format!("{}", number("Queries").max(number("NumQueries"))),
    }
}

fn table(rows: &[Vec<String>]) -> String {
    let widths: Vec<usize> =
        (0..rows[0].len()).map(|i| rows.iter().map(|r| r[i].chars().count()).max().unwrap_or(0)).collect();
    let rule = format!("{}\n", "-".repeat(widths.iter().sum::<usize>() + 3 * widths.len() + 1));
    let mut out = rule.clone();
    for (number, row) in rows.iter().enumerate() {
        let cells = row.iter().zip(&widths).enumerate().map(|(i, (cell, width))| match (number, i) {
            (0, _) => format!(" {cell:^width$} |"),
            (_, 0) => format!(" {cell:<width$} |"),
            _ => format!(" {cell:>width$} |"),
        });
        out += &format!("|{}\n", cells.collect::<String>());
        if number == 0 {
            out += &rule;
        }
    }
    out + &rule
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_those_of_klee() {
        let number = |name: &str| match name {
            "CoveredInstructions" | "FullBranches" => 3.0,
            "UncoveredInstructions" | "PartialBranches" => 1.0,
            "NumBranches" => 7.0,
            "WallTime" => 2e6,
            "SolverTime" => 5e5,
            _ => 0.0,
        };
        let cells = ["ICov(%)", "BCov(%)", "ICount", "TSolver(%)", "Time(s)"].map(|c| cell(c, &number));
        assert_eq!(cells, ["75.00", "50.00", "4", "25.00", "2.00"]);
        let shown = table(&[vec!["Path".into(), "Instrs".into()], vec!["klee-out-0".into(), "12".into()]]);
        assert_eq!(shown.lines().nth(3), Some("| klee-out-0 |     12 |"), "{shown}");
    }
}
