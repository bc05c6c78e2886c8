//! Clock and memory: everything about a run that differs from one run to the next.

use pleach_report::{CostlyLine, Timing};
use std::time::{Duration, SystemTime};

/// `parts`: time of other parts of the run than the solver, by name.
pub fn timing(
    start: &Start,
    elapsed: Duration,
    solver: &pleach_smt::Stats,
    parts: Vec<(String, Duration)>,
    states_peak: u64,
) -> Timing {
    let added = memory_peak_bytes().saturating_sub(start.memory);
    Timing {
        started: start.at.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.as_secs()),
        elapsed_us: elapsed.as_micros() as u64,
        cpu_us: cpu_us(),
        memory_peak_bytes: memory_peak_bytes(),
        memory_per_state_bytes: added / states_peak.max(1),
        components_us: solver
            .times()
            .map(|(name, t)| (name.to_owned(), t))
            .chain(parts)
            .map(|(name, t)| (name, t.as_micros() as u64))
            .collect(),
        costly_lines: Vec::new(),
    }
}

/// Lines that are named.
const COSTLY_LINES: usize = 10;

/// The lines whose queries took the most time in a solver.
pub fn costly_lines(machine: &pleach_exec::Machine) -> Vec<CostlyLine> {
    let lines = machine.query_costs.costliest(&machine.program, COSTLY_LINES);
    let named = |l: pleach_exec::CostlyLine| CostlyLine {
        function: l.function.to_owned(),
        file: l.file.to_owned(),
        line: l.line,
        queries: l.cost.queries,
        time_us: l.cost.time.as_micros() as u64,
    };
    lines.into_iter().map(named).collect()
}

/// How things stood before the exploration.
#[derive(Clone)]
pub struct Start {
    at: SystemTime,
    memory: u64,
}

impl Start {
    pub fn now() -> Start {
        Start { at: SystemTime::now(), memory: memory_peak_bytes() }
    }
}

/// Processor time of this process so far.
fn cpu_us() -> u64 {
    const TICKS_PER_SECOND: u64 = 100;
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The second field, the name, may contain spaces; user and system time are the 14th and 15th.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_ascii_whitespace();
    let ticks: u64 = fields.skip(11).take(2).filter_map(|f| f.parse::<u64>().ok()).sum();
    ticks * (1_000_000 / TICKS_PER_SECOND)
}

fn memory_peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    peak.and_then(|p| p.split_ascii_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) * 1024
}
