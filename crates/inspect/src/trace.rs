//! `pleach replay TEST --trace`: the path of a test as lines of the source, with the values that change.

use crate::names::Names;
use crate::path::Paths;
use pleach_command::CliError;
use pleach_exec::{FixedInputs, Machine};
use pleach_report::diagnostic::SourceCache;
use pleach_report::{KTest, TestCase};
use pleach_session::Session;
use pleach_state::access_path::frames;
use pleach_state::{End, State};
use std::collections::BTreeMap;
use std::path::Path;

/// Prints the path that the test takes in the engine. Returns how it ends.
pub fn print(session: &Session, test: &TestCase) -> Result<(), CliError> {
    let objects = KTest::from(test).objects.into_iter().map(|o| (o.name, o.bytes)).collect();
    let mut paths = Paths::new(session, Some(FixedInputs { objects, by_name: false }))?;
    let mut trace = Trace { directory: &session.directory, sources: SourceCache::default(), values: BTreeMap::new() };
    let end = paths.walk(&mut |machine, state| trace.step(machine, state)).map_err(CliError::Usage)?;
    println!("{}", describe(&end));
    Ok(())
}

fn describe(end: &End) -> String {
    match end {
        End::Exit(Some(code)) => format!("exit with {code}"),
        End::Exit(None) => "exit".into(),
        End::Error(error) => format!("error[{}]: {}", error.kind, error.message),
        End::Cut(why) => format!("cut: {}", pleach::cut_reason::reason(why).describe()),
        End::Silent => "ends on purpose".into(),
    }
}

struct Trace<'a> {
    directory: &'a Path,
    sources: SourceCache,
    /// of each active call: the function, the line, and what its variables were
    values: BTreeMap<u32, (u32, BTreeMap<String, String>)>,
}

impl Trace<'_> {
    /// The state is about to execute a block: its lines, and what has changed until here.
    fn step(&mut self, machine: &mut Machine, state: &State) {
        let program = machine.program.clone();
        if !program.is_own(state.frame.func) {
            return;
        }
        let depth = state.call_depth();
        self.values.retain(|d, _| *d <= depth);
        let changes = self.changes(machine, state, depth);
        if !changes.is_empty() {
            println!("        {}{}", "  ".repeat(depth as usize), changes.join(", "));
        }
        let function = program.function(state.frame.func);
        let mut last = 0;
        for span in function.spans_of(state.block).iter().filter(|s| s.is_known()) {
            let Some(file) = program.files.get(span.file as usize) else { continue };
            if std::mem::replace(&mut last, span.line) == span.line {
                continue;
            }
            let text = self.sources.line(Path::new(&file.path), span.line).unwrap_or_default().trim().to_owned();
            let name = pleach::relative(&file.path, self.directory);
            println!("{name}:{}: {}{text}", span.line, "  ".repeat(depth as usize));
        }
    }

    fn changes(&mut self, machine: &mut Machine, state: &State, depth: u32) -> Vec<String> {
        let names = Names::concrete(machine, state);
        let Some((_, frame)) = frames(state).next() else { return Vec::new() };
        let now = names.variables(machine, state, frame);
        let concrete: Vec<(String, String)> = now.into_iter().map(|v| (v.name, v.value)).collect();
        let known = self.values.entry(depth).or_insert_with(|| (frame.func.0, BTreeMap::new()));
        if known.0 != frame.func.0 {
            *known = (frame.func.0, BTreeMap::new());
        }
        let mut out = Vec::new();
        for (name, value) in concrete {
            if known.1.get(&name) != Some(&value) {
                out.push(format!("{name} = {value}"));
                known.1.insert(name, value);
            }
        }
        out
    }
}
