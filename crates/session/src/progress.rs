//! The live line on a terminal, and plain lines elsewhere. A thread redraws the live one also while a step takes long.

use pleach::number_format;
use pleach_command::duration;
use pleach_explore::Progress;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
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
    /// distinct errors
    pub errors: u64,
    /// the place that was executed last
    pub place: Option<String>,
}

pub struct Line {
    style: Style,
    printed: Option<Instant>,
    before: (Duration, u64),
    rate: f64,
    /// blocks covered, and when that was new
    covered: (u64, Duration),
    shown: Arc<Mutex<Shown>>,
}

type SoFar = Box<dyn Fn() -> String + Send>;

/// What is on the terminal.
#[derive(Default)]
struct Shown {
    /// what does not change while a step is under way
    text: String,
    /// what does change
    so_far: Option<SoFar>,
    /// when the run began, and when the line was drawn last
    began: Option<Instant>,
    drawn: Option<Instant>,
}

/// How long the line may stay the same.
const REDRAW: Duration = Duration::from_millis(500);

impl Shown {
    fn draw(&mut self) {
        let Some(began) = self.began else { return };
        let time = duration::show(Duration::from_secs(began.elapsed().as_secs()));
        let memory = pleach_explore::limits::resident_bytes().unwrap_or(0) / 1_000_000;
        let so_far = self.so_far.as_ref().map(|s| s()).unwrap_or_default();
        let line = format!("{}{so_far} · {memory} MB · {time}", self.text);
        let width = terminal_width();
        let fitting: String = line.chars().take(width.saturating_sub(1)).collect();
        let _ = write!(std::io::stderr(), "\r\x1b[2K{fitting}");
        self.drawn = Some(Instant::now());
    }
}

/// A longer line would leave its beginning behind when it is redrawn.
fn terminal_width() -> usize {
    rustix::termios::tcgetwinsize(std::io::stderr()).map_or(120, |size| match size.ws_col {
        0 => 120,
        columns => usize::from(columns),
    })
}

/// Redraws until the line is gone.
fn tick(shown: Weak<Mutex<Shown>>) {
    while let Some(shown) = shown.upgrade() {
        {
            let mut shown = shown.lock().unwrap_or_else(PoisonError::into_inner);
            if shown.drawn.is_some_and(|at| at.elapsed() >= REDRAW) {
                shown.draw();
            }
        }
        drop(shown);
        std::thread::sleep(REDRAW / 2);
    }
}

impl Line {
    pub fn new(style: Style) -> Line {
        Line::saying(style, "exploring".into(), None)
    }

    /// While the program is compiled and linked.
    pub fn compiling(style: Style, files: &[PathBuf], done: Arc<AtomicUsize>) -> Line {
        let all = files.len();
        Line::saying(style, compiled(files), Some(Box::new(move || so_far(done.load(Ordering::Relaxed), all))))
    }

    fn saying(style: Style, text: String, so_far: Option<SoFar>) -> Line {
        let shown = Arc::<Mutex<Shown>>::default();
        if style == Style::Live {
            // The first query may take long.
            let now = Some(Instant::now());
            *shown.lock().unwrap_or_else(PoisonError::into_inner) = Shown { text, so_far, began: now, drawn: now };
            let watched = Arc::downgrade(&shown);
            std::thread::spawn(move || tick(watched));
        }
        Line { style, printed: None, before: (Duration::ZERO, 0), rate: 0.0, covered: (0, Duration::ZERO), shown }
    }

    fn terminal(&self) -> std::sync::MutexGuard<'_, Shown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn update(&mut self, progress: &Progress, extra: &Extra) {
        let (time, instructions) = (progress.elapsed, progress.counters.instructions);
        let span = (time.saturating_sub(self.before.0)).as_secs_f64();
        if span > 0.05 {
            self.rate = (instructions - self.before.1) as f64 / span;
            self.before = (time, instructions);
        }
        if extra.blocks_covered > self.covered.0 {
            self.covered = (extra.blocks_covered, progress.elapsed);
        }
        match self.style {
            Style::Off => {}
            Style::Live => {
                let text = self.render(progress, extra);
                let mut shown = self.terminal();
                shown.text = text;
                shown.began = Instant::now().checked_sub(progress.elapsed);
                shown.draw();
            }
            Style::Plain => {
                if self.printed.is_none_or(|at| at.elapsed() >= PLAIN_EVERY) {
                    self.printed = Some(Instant::now());
                    eprintln!("{} · {}", self.render(progress, extra), duration::show(progress.elapsed));
                }
            }
        }
    }

    /// Takes the line away so that something else can be printed.
    pub fn clear(&mut self) {
        if self.terminal().drawn.take().is_some() {
            eprint!("\r\x1b[2K");
        }
    }

    fn render(&self, progress: &Progress, extra: &Extra) -> String {
        let c = progress.counters;
        let mut parts: Vec<String> = extra.note.iter().cloned().collect();
        parts.extend([number_format::count(c.paths(), "path"), number_format::count(progress.states as u64, "state")]);
        if extra.errors > 0 {
            parts.push(number_format::count(extra.errors, "error"));
        }
        parts.push(format!("{} instr/s", number_format::short(self.rate)));
        parts.push(format!("{} of blocks", number_format::percent(extra.blocks_covered, extra.blocks)));
        let stale = progress.elapsed.saturating_sub(self.covered.1);
        if stale >= Duration::from_secs(5) {
            parts.push(format!("nothing new for {}", duration::show(Duration::from_secs(stale.as_secs()))));
        }
        let share = extra.solver_time.as_secs_f64() / progress.elapsed.as_secs_f64().max(1e-3);
        parts.push(format!("solver {:.0}%", (100.0 * share).min(100.0)));
        parts.extend(time_left(progress));
        parts.extend(extra.place.clone());
        parts.join(" · ")
    }
}

fn compiled(files: &[PathBuf]) -> String {
    match files {
        [file] => format!("compiling {}", file.display()),
        files => format!("compiling {}", number_format::count(files.len() as u64, "file")),
    }
}

/// Of several files.
fn so_far(done: usize, all: usize) -> String {
    match (done, all) {
        (_, 1) | (0, _) => String::new(),
        (done, all) if done >= all => " · linking".into(),
        (done, _) => format!(" · {done} done"),
    }
}

/// Of the limit. How much of the tree is left is not known, so there is no other estimate.
fn time_left(progress: &Progress) -> Option<String> {
    progress.time_left.map(|limit| format!("at most {} left", duration::show(Duration::from_secs(limit.as_secs()))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compiled() {
        assert_eq!(compiled(&["a.c".into()]), "compiling a.c");
        assert_eq!(compiled(&["a.c".into(), "b.c".into()]), "compiling 2 files");
        assert_eq!([so_far(0, 3), so_far(2, 3), so_far(3, 3), so_far(0, 1)], ["", " · 2 done", " · linking", ""]);
    }
}
