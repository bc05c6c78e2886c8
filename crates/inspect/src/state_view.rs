//! A state as data for the page: the stack with its variables, objects with what they point to, the path constraint.

use crate::names::Names;
use crate::path::Followed;
use pleach_exec::Machine;
use pleach_memory::{ObjId, Object, ObjectKind, Size, Value};
use pleach_state::access_path::frames;
use pleach_state::{End, State};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// At most this many objects are shown, and cells of each.
const MAX_OBJECTS: usize = 64;
const MAX_CELLS: usize = 64;

#[derive(Serialize)]
pub struct StateView {
    /// Innermost first.
    pub stack: Vec<FrameView>,
    /// What the variables refer to, directly or through others.
    pub objects: Vec<ObjectView>,
    /// How many more there are.
    pub more_objects: usize,
    pub constraint: Vec<String>,
    /// How the path ends here.
    pub end: Option<String>,
}

#[derive(Serialize)]
pub struct FrameView {
    pub function: String,
    pub file: String,
    pub line: u32,
    pub variables: Vec<VariableView>,
}

#[derive(Serialize)]
pub struct VariableView {
    pub name: String,
    pub value: String,
    pub object: Option<u32>,
}

#[derive(Serialize)]
pub struct ObjectView {
    pub id: u32,
    pub name: String,
    pub kind: &'static str,
    /// The program has freed it: its contents are gone.
    pub freed: bool,
    pub size: String,
    pub cells: Vec<CellView>,
}

#[derive(Serialize)]
pub struct CellView {
    pub offset: u64,
    pub bytes: u8,
    pub value: String,
    pub object: Option<u32>,
}

impl StateView {
    pub fn new(machine: &mut Machine, followed: &Followed, directory: &Path) -> StateView {
        let state = &followed.state;
        let names = Names::of(machine, state);
        let stack = stack(machine, state, &names, directory);
        let (objects, more_objects) = objects(machine, state, &names, &stack);
        let end = followed.end.as_ref().map(|end| match end {
            End::Exit(Some(code)) => format!("exit with {code}"),
            End::Exit(None) => "exit".into(),
            End::Error(error) => format!("{}: {}", error.kind, error.message),
            End::Cut(why) => pleach::cut_reason::reason(why).describe(),
            End::Silent => "ends on purpose".into(),
        });
        StateView { constraint: names.constraint(machine, state), stack, objects, more_objects, end }
    }
}

fn stack(machine: &Machine, state: &State, names: &Names, directory: &Path) -> Vec<FrameView> {
    let program = machine.program.clone();
    let lines = state.stack(&program);
    let own = frames(state).zip(&lines).filter(|((_, frame), _)| program.is_own(frame.func));
    own.map(|((_, frame), line)| {
        let file = program.files.get(line.span.file as usize).map(|f| pleach::relative(&f.path, directory));
        let variables = names.variables(machine, state, frame);
        FrameView {
            function: program.function(frame.func).name.clone(),
            file: file.filter(|_| line.span.is_known()).unwrap_or_default().to_owned(),
            line: line.span.line,
            variables: variables
                .into_iter()
                .map(|v| VariableView { name: v.name, value: v.value, object: v.object.map(|o| o.0) })
                .collect(),
        }
    })
    .collect()
}

/// Everything that the variables reach.
fn objects(machine: &Machine, state: &State, names: &Names, stack: &[FrameView]) -> (Vec<ObjectView>, usize) {
    let mut todo: Vec<u32> = stack.iter().flat_map(|f| &f.variables).filter_map(|v| v.object).collect();
    todo.reverse();
    let (mut seen, mut out) = (BTreeSet::new(), Vec::new());
    while let Some(id) = todo.pop() {
        if !seen.insert(id) {
            continue;
        }
        let (object, freed) = match (state.memory.get(ObjId(id)), state.memory.freed_object(ObjId(id))) {
            (Some(object), _) => (object, false),
            (None, Some(object)) => (object, true),
            (None, None) => continue,
        };
        if out.len() >= MAX_OBJECTS {
            continue;
        }
        let cells = if freed { Vec::new() } else { cells(machine, names, object) };
        todo.extend(cells.iter().rev().filter_map(|c| c.object));
        out.push(ObjectView {
            id,
            name: names.object(ObjId(id)),
            kind: kind(object.kind),
            freed,
            size: match object.size() {
                Size::Fixed(n) => format!("{n} bytes"),
                Size::Symbolic { capacity, .. } => format!("at most {capacity} bytes"),
            },
            cells,
        });
    }
    let more = seen.len() - out.len();
    (out, more)
}

/// What the object holds: what the program wrote as it wrote it, plain bytes as words of four.
fn cells(machine: &Machine, names: &Names, object: &Object) -> Vec<CellView> {
    let written: BTreeMap<u64, (u8, Value)> = object.contents.cells().map(|(at, n, v)| (at, (n, v))).collect();
    let (mut out, mut at) = (Vec::new(), 0);
    while at < object.capacity() && out.len() < MAX_CELLS {
        let next = written.range(at + 1..).next().map_or(object.capacity(), |(next, _)| *next);
        let (bytes, value) = match written.get(&at) {
            Some((bytes, value)) => (*bytes, Some(*value)),
            None => {
                let bytes = if at % 4 == 0 && at + 4 <= next { 4 } else { 1 };
                (bytes, object.contents.read_concrete(at, usize::from(bytes)).map(Value::Int))
            }
        };
        if let Some(value) = value {
            let text = names.value(machine, value, u16::from(bytes) * 8, true);
            let to = if let Value::Ptr { obj, .. } = value { Some(obj.0) } else { None };
            out.push(CellView { offset: at, bytes, value: text, object: to });
        }
        at += u64::from(bytes.max(1));
    }
    out
}

fn kind(kind: ObjectKind) -> &'static str {
    match kind {
        ObjectKind::Global => "global",
        ObjectKind::Function => "function",
        ObjectKind::Stack => "local",
        ObjectKind::Heap => "heap",
        ObjectKind::Fixed => "fixed",
        ObjectKind::Segment => "segment",
    }
}
