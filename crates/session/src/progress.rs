//! The live line on a terminal, and plain lines elsewhere.

use pleach::number_format;
use pleach_command::duration;
use pleach_explore::Progress;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Style {
    /// One line that is overwritten.
    Live,
    /// A line every few seconds.
    Plain,
    Off,
}

const PLAIN_EVERY: Duration = Duration::from_secs(5);

impl Style {
    pub fn choose(verbose: bool, quiet: bool) -> Style {
        match (quiet, std::io::stderr().is_terminal(), verbose) {
            (true, ..) => Style::Off,
            (_, true, _) => Style::Live,
            (_, _, true) => Style::Plain,
            _ => Style::Off,
        }
    }
}

/// What the line shows besides the loop's own counters.
pub struct Extra {
    pub blocks_covered: u64,
    pub blocks: u64,
    pub solver_time: Duration,
    /// what the command has to say
    pub note: Option<String>,
}

pub struct Line {
    style: Style,
    visible: bool,
    printed: Option<Instant>,
    before: (Duration, u64),
    rate: f64,
}

impl Line {
    pub fn new(style: Style) -> Line {
        Line { style, visible: false, printed: None, before: (Duration::ZERO, 0), rate: 0.0 }
    }

    pub fn update(&mut self, progress: &Progress, extra: &Extra) {
        let (time, instructions) = (progress.elapsed, progress.counters.instructions);
        let span = (time.saturating_sub(self.before.0)).as_secs_f64();
        if span > 0.05 {
            self.rate = (instructions - self.before.1) as f64 / span;
            self.before = (time, instructions);
        }
        match self.style {
            Style::Off => {}
            Style::Live => {
                let _ = write!(std::io::stderr(), "\r\x1b[2K{}", self.render(progress, extra));
                self.visible = true;
            }
            Style::Plain => {
                if self.printed.is_none_or(|at| at.elapsed() >= PLAIN_EVERY) {
                    self.printed = Some(Instant::now());
                    eprintln!("{}", self.render(progress, extra));
                }
            }
        }
    }

    /// Takes the line away so that something else can be printed.
    pub fn clear(&mut self) {
        if std::mem::take(&mut self.visible) {
            eprint!("\r\x1b[2K");
        }
    }

    fn render(&self, progress: &Progress, extra: &Extra) -> String {
        let c = progress.counters;
        let mut parts: Vec<String> = extra.note.iter().cloned().collect();
        parts.extend([number_format::count(c.paths(), "path"), number_format::count(progress.states as u64, "state")]);
        if c.errored > 0 {
            parts.push(number_format::count(c.errored, "failing path"));
        }
        parts.push(format!("{} instr/s", number_format::short(self.rate)));
        parts.push(format!("{} covered", number_format::percent(extra.blocks_covered, extra.blocks)));
        let share = extra.solver_time.as_secs_f64() / progress.elapsed.as_secs_f64().max(1e-3);
        parts.push(format!("solver {:.0}%", (100.0 * share).min(100.0)));
        parts.push(duration::show(progress.elapsed));
        if let Some(left) = time_left(progress) {
            parts.push(left);
        }
        parts.join(" · ")
    }
}

/// The limit, or what the explored share of the tree suggests.
fn time_left(progress: &Progress) -> Option<String> {
    let done = progress.counters.progress_share;
    let estimate = (done > 0.02 && progress.elapsed > Duration::from_secs(1))
        .then(|| progress.elapsed.mul_f64((1.0 - done).max(0.0) / done));
    match (progress.time_left, estimate) {
        (Some(limit), Some(estimate)) if estimate < limit => Some(format!("about {} left", duration::show(estimate))),
        (Some(limit), _) => Some(format!("at most {} left", duration::show(limit))),
        (None, Some(estimate)) if estimate < Duration::from_secs(86_400) => {
            Some(format!("about {} left", duration::show(estimate)))
        }
        _ => None,
    }
}
