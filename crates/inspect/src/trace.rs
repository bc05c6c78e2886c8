//! `pleach replay TEST --trace`: the path of a test as lines of the source, with the values that change.

use crate::names::Names;
use crate::path::{Paths, Walked};
use pleach_command::CliError;
use pleach_exec::{FixedInputs, Machine};
use pleach_ir::{Callee, Inst, Program, Span};
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
    let mut trace =
        Trace { directory: &session.directory, sources: SourceCache::default(), values: BTreeMap::new(), shown: None };
    let end = paths.walk(&mut |machine, state, at| trace.step(machine, state, at)).map_err(CliError::Usage)?;
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
    /// the lines shown last: calls around, instructions executed, and which part of the block
    shown: Option<(u32, u64, usize)>,
}

impl Trace<'_> {
    /// What has changed until here, and the lines that the state is about to execute: those up to the next call.
    fn step(&mut self, machine: &mut Machine, state: &State, at: Walked) {
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
        if at == Walked::End {
            return;
        }
        let (from, spans) = next_spans(&program, state);
        // A fork is decided in the middle of a block.
        if self.shown.replace((depth, state.instructions, from)) == Some((depth, state.instructions, from)) {
            return;
        }
        let mut last = 0;
        for span in spans.iter().filter(|s| s.is_known()) {
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

/// The code of the state's block from its next instruction on, up to the next call of a function with a body.
fn next_spans<'a>(program: &'a Program, state: &State) -> (usize, &'a [Span]) {
    let f = program.function(state.frame.func);
    let all = f.spans_of(state.block);
    let block = f.blocks[state.block.index()];
    let (first, next) = (block.first.index(), state.inst as usize);
    let enters = |inst: &Inst| match inst {
        Inst::Call { callee: Callee::Direct(g), .. } => !program.function(*g).blocks.is_empty(),
        Inst::Call { callee: Callee::Indirect(_), .. } => true,
        _ => false,
    };
    // Code that lowering has removed has a span and no instruction.
    let behind = |i: usize| all.iter().position(|s| f.spans.get(i) == Some(s)).map_or(0, |at| at + 1);
    let calls: Vec<usize> = (first..first + block.len as usize).filter(|i| enters(&f.insts[*i])).collect();
    // The rest of the line with the call was shown with it.
    let same_line = |i: usize| f.spans.get(i).map_or(0, |call| call.line);
    let rest = |i: usize| all[behind(i)..].iter().take_while(|s| s.line == same_line(i)).count();
    let from = calls.iter().rev().find(|i| **i < next).map_or(0, |i| behind(*i) + rest(*i));
    let to = calls.iter().find(|i| **i >= next).map_or(all.len(), |i| behind(*i).max(from));
    (from, &all[from..to])
}
