//! The first violation that counts: replayed as soon as it is found, and written down as a witness.

use crate::observer::{Observer, PathEnd};
use crate::replay_note::{NOT_REPLAYED, impossible};
use crate::session::Session;
use pleach_exec::{ConcreteInput, Machine};
use pleach_ir::{Program, Span};
use pleach_replay::{Options, Replayer, Verdict as Replayed};
use pleach_report::{ErrorKind, ErrorRecord, RunDir, TestCase, testcomp};
use pleach_state::{Cut, InputType, Origin};
use pleach_verify::witness::{Contents, Location, Returned, Witness, closing_parenthesis, constant};
use pleach_verify::{Goal, Property};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// At most this many violations that a native run contradicts are dropped.
const ATTEMPTS: usize = 8;

pub struct Counterexample {
    program: Rc<Program>,
    property: Property,
    directory: PathBuf,
    files: Vec<PathBuf>,
    /// how to replay, if that is wanted
    replay: Option<Options>,
    judged: Arc<Mutex<Judged>>,
    write_witness: bool,
}

/// What is known of violations; the watchdog may read it.
#[derive(Clone, Default)]
pub struct Judged {
    /// The violated goal, and what the native run showed.
    pub violation: Option<(Option<Goal>, String)>,
    /// Violations that the native program did not show, in sentences.
    pub unconfirmed: Vec<String>,
}

impl Counterexample {
    pub fn new(session: &Session, replay: Option<Options>) -> Counterexample {
        Counterexample {
            program: session.program.clone(),
            property: session.config.property.clone(),
            directory: session.directory.clone(),
            files: session.config.files.clone(),
            replay,
            judged: Arc::default(),
            write_witness: true,
        }
    }

    /// The program is not the user's: a witness would be about another one.
    pub fn without_witness(self) -> Counterexample {
        Counterexample { write_witness: false, ..self }
    }

    /// What is known of violations, now and later.
    pub fn judged(&self) -> Arc<Mutex<Judged>> {
        self.judged.clone()
    }

    fn known(&self) -> MutexGuard<'_, Judged> {
        self.judged.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `Ok`: the violation counts, with a note on its replay. `Err`: the native program contradicts it.
    fn confirm(&self, dir: &RunDir, test: &TestCase, kind: ErrorKind, uninitialised: bool) -> Result<String, String> {
        let Some(options) = self.replay.clone() else {
            return Ok(capitalised(NOT_REPLAYED));
        };
        let report = Replayer::new(dir, options).and_then(|r| r.replay(test));
        let verdict = match report {
            Ok(report) => report.verdict,
            Err(why) => return Ok(capitalised(&impossible(&why))),
        };
        match verdict {
            Replayed::Agrees => Ok("Replayed natively: the program does what was predicted".into()),
            _ if uninitialised => {
                Ok("Native replay is not possible: the path depends on memory that was never written".into())
            }
            // How deep calls may go is a bound of ours, not of the program.
            Replayed::Undetermined { why } if kind == ErrorKind::StackOverflow => Err(why),
            Replayed::Undetermined { why } => Ok(format!("Native replay does not decide it: {why}")),
            Replayed::Disagrees { observed, .. } => Err(observed),
        }
    }

    fn witness(
        &self,
        machine: &mut Machine,
        path: &pleach_state::State,
        goal: Option<Goal>,
        error: &ErrorRecord,
    ) -> Witness {
        let mut sources = Sources::default();
        let inputs = machine.test_inputs(path);
        let returned = inputs.iter().filter_map(|i| self.returned(i, &mut sources)).collect();
        let frame = error.stack.iter().find(|f| f.line != 0);
        let target = frame.map_or_else(Location::default, |f| {
            let (file, line) = self.in_input(&f.file, f.line, &mut sources);
            Location { file, line, column: f.column, function: f.function.clone() }
        });
        let specification = self.property.specification(goal, pleach_verify::called(&self.program, path));
        witness(&self.program, &self.files, specification, Contents::Violation { returned, target })
    }

    /// The place in a preprocessed input, if the program is one: a witness counts its lines.
    fn in_input(&self, file: &str, line: u32, sources: &mut Sources) -> (String, u32) {
        match &self.files[..] {
            [one] if one.extension().is_some_and(|e| e == "i") => {
                let input = one.display().to_string();
                let line = pleach_witness::physical_line(sources.text(&input), file, line);
                (input, line)
            }
            _ => (file.to_owned(), line),
        }
    }

    /// An input that came back from a call; other inputs have no waypoint.
    fn returned(&self, input: &ConcreteInput, sources: &mut Sources) -> Option<Returned> {
        let InputType::Scalar { signed, name, .. } = &input.ty else { return None };
        if input.origin != Origin::Nondet || matches!(*name, "float" | "double") {
            return None;
        }
        let f = self.program.function(input.site.0);
        let span: Span = f.spans.get(input.site.1.index()).copied().filter(|s| s.is_known())?;
        let file = pleach::relative(self.program.path(span), &self.directory).to_owned();
        let (file, line) = self.in_input(&file, span.line, sources);
        let end = closing_parenthesis(sources.text(&file), &input.name, line, span.column);
        // Without the parenthesis only the line is known.
        let (line, column) = end.unwrap_or((line, 0));
        let at = Location { file, line, column, function: f.name.clone() };
        Some(Returned { at, value: constant(&input.bytes, *signed)? })
    }
}

/// A witness about these files.
pub(crate) fn witness(program: &Program, files: &[PathBuf], specification: String, contents: Contents) -> Witness {
    let hash = |file: &PathBuf| testcomp::program_hash(&std::fs::read(file).unwrap_or_default());
    let mut witness = Witness {
        producer: "Pleach".into(),
        version: env!("CARGO_PKG_VERSION").into(),
        files: files.iter().map(|f| (f.display().to_string(), hash(f))).collect(),
        specification,
        data_model: if program.target.pointer_bytes == 4 { "ILP32" } else { "LP64" },
        // Equal runs write equal bytes.
        creation_time: "1970-01-01T00:00:00Z".into(),
        digest: String::new(),
        contents,
    };
    witness.digest = testcomp::program_hash(witness.to_yaml().as_bytes());
    witness
}

impl Observer for Counterexample {
    fn ended(&mut self, path: PathEnd) {
        let Some((goal, error)) = path.violation else { return };
        if self.known().violation.is_some() || self.known().unconfirmed.len() >= ATTEMPTS {
            return;
        }
        // SOUND: to SV-COMP's properties what follows such an access is undefined. To `errors` the access is an error.
        if !self.property.is_everything() && path.machine.follows_uninitialised(path.state) {
            let at = format!("{}:{}", error.file, error.line);
            let what = format!("{} at {at} depends on where a pointer points that was never written", error.kind);
            self.known().unconfirmed.push(what);
            return;
        }
        // Should the time be up during the replay, the violation counts.
        self.known().violation = Some((goal, "Not replayed natively: the run had to end".into()));
        let uninitialised = path.machine.depends_on_uninitialised(path.state);
        match self.confirm(path.dir, path.test, error.kind, uninitialised) {
            Ok(note) => {
                if self.write_witness {
                    let witness = self.witness(path.machine, path.state, goal, &error);
                    if let Err(why) = path.dir.write("witness.yml", witness.to_yaml().as_bytes()) {
                        eprintln!("pleach: {why}");
                    }
                }
                self.known().violation = Some((goal, note));
            }
            Err(observed) => {
                let at = format!("{}:{}", error.file, error.line);
                let test = path.test.id.stem();
                let mut known = self.known();
                known.violation = None;
                known
                    .unconfirmed
                    .push(format!("{} at {at} was predicted, but natively {observed} ({test})", error.kind));
            }
        }
    }

    fn stop(&mut self) -> Option<Cut> {
        self.known().violation.as_ref().map(|_| Cut::Stopped("a violation was found".into()))
    }
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Files that are looked at once.
#[derive(Default)]
struct Sources(Vec<(String, String)>);

impl Sources {
    fn text(&mut self, file: &str) -> &str {
        let known = self.0.iter().position(|(f, _)| f == file);
        let i = known.unwrap_or_else(|| {
            let text = std::fs::read(Path::new(file)).unwrap_or_default();
            self.0.push((file.to_owned(), String::from_utf8_lossy(&text).into_owned()));
            self.0.len() - 1
        });
        &self.0[i].1
    }
}
