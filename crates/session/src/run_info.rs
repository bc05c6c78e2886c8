//! What a run directory says about the run: how to rebuild the program, and the head of the test suite.

use crate::config::SessionConfig;
use crate::entry::{entry_name, program_name};
use pleach::inputs::{Types, pointee};
use pleach_command::CliError;
use pleach_exec::ProgramEntry;
use pleach_ir::{Program, Ty};
use pleach_report::{EntryKind, InputType, Parameter, RunInfo, SuiteMetadata, testcomp};
use pleach_state::State;
use pleach_state::access_path::frames;
use std::rc::Rc;

pub fn run_info(
    config: &SessionConfig,
    directory: &std::path::Path,
    program: &Program,
    entry: &ProgramEntry,
    first: Option<&State>,
    to: &std::path::Path,
) -> Result<RunInfo, CliError> {
    let own = |name: &&String| program.function_named(name).is_some_and(|f| !program.function(f).is_declaration());
    let entry_kind = match entry {
        ProgramEntry::Main { .. } => EntryKind::Main,
        ProgramEntry::Fuzz { .. } => EntryKind::Fuzz,
        ProgramEntry::Function(_) => EntryKind::Function {
            parameters: parameters(program, first),
            returns: first.and_then(|s| returns(program, s)),
        },
    };
    let (sources, libraries) = pleach::sources(&config.files, to)?;
    let argv = std::iter::once(program_name(&config.files)).chain(config.entry.args.iter().cloned()).collect();
    Ok(RunInfo {
        sources,
        libraries,
        directory: directory.to_owned(),
        cc_flags: pleach::cc_flags(&config.compile),
        // The replay library has those that the program does not define.
        error_functions: config.exec.error_functions.iter().filter(own).cloned().collect(),
        malloc_may_fail: config.compile.malloc_may_fail,
        entry: entry_name(entry).to_owned(),
        entry_kind,
        argv,
        command: command(config),
    })
}

/// The command with the flags that the run has in addition, before anything that belongs to the program.
fn command(config: &SessionConfig) -> Vec<String> {
    let mut words: Vec<String> = std::env::args_os().map(|a| a.to_string_lossy().into_owned()).collect();
    let subcommand = words.len().min(2);
    words.splice(subcommand..subcommand, config.added_flags.iter().map(|&f| f.to_owned()));
    words
}

/// The inputs that the first state begins with are the parameters, in order.
fn parameters(program: &Program, first: Option<&State>) -> Vec<Parameter> {
    let Some(state) = first else { return Vec::new() };
    let mut types = Types::new(program);
    let inputs = state.inputs.in_order();
    let params = program.functions[entry_function(state).index()].params.iter();
    let parameter = |(input, p): (&Rc<pleach_state::Input>, &pleach_ir::Param)| {
        let by_pointer = matches!(p.ty, Ty::Ptr) && p.byval.is_none();
        let pointee = p.debug_type.and_then(|t| pointee(program, t)).filter(|_| by_pointer);
        // Of an array that a pointer refers to: what its elements are.
        let ty = match (&input.ty, pointee) {
            (pleach_state::InputType::Bytes | pleach_state::InputType::Debug { .. }, Some(ty)) => {
                pleach_state::InputType::Debug { ty, count: 1 }
            }
            (known, _) => known.clone(),
        };
        Parameter { name: input.name.clone(), ty: types.convert(program, &ty, input.size as usize), by_pointer }
    };
    inputs.iter().zip(params).map(parameter).collect()
}

/// The result as far as a declaration needs it; a structure in registers is left out.
fn returns(program: &Program, state: &State) -> Option<InputType> {
    let int = |name: &str, bits| InputType::Int { name: name.into(), bits, signed: true };
    match program.function(entry_function(state)).results[..] {
        [Ty::Int(1)] => Some(InputType::Bool),
        [Ty::Int(8)] => Some(InputType::char()),
        [Ty::Int(16)] => Some(int("short", 16)),
        [Ty::Int(32)] => Some(InputType::int()),
        [Ty::Int(64)] => Some(int("long long", 64)),
        [Ty::Float(f)] if f.bits() == 32 => Some(InputType::Float { name: "float".into(), bits: 32 }),
        [Ty::Float(f)] if f.bits() == 64 => Some(InputType::Float { name: "double".into(), bits: 64 }),
        [Ty::Ptr] => Some(InputType::Pointer { to: "void".into(), bits: program.target.pointer_bytes * 8 }),
        _ => None,
    }
}

/// The entry's frame is the lowest one: constructors run above it.
fn entry_function(state: &State) -> pleach_ir::FuncId {
    frames(state).last().map_or(state.frame.func, |(_, f)| f.func)
}

pub fn suite(config: &SessionConfig, program: &Program, entry: &str) -> SuiteMetadata {
    let file = config.files.first();
    let contents = file.and_then(|f| std::fs::read(f).ok()).unwrap_or_default();
    SuiteMetadata {
        producer: format!("Pleach {}", env!("CARGO_PKG_VERSION")),
        specification: config
            .output
            .specification
            .clone()
            .unwrap_or_else(|| format!("COVER( init({entry}()), FQL(COVER EDGES(@DECISIONEDGE)) )")),
        program_file: file.map_or_else(String::new, |f| f.display().to_string()),
        program_hash: testcomp::program_hash(&contents),
        entry: entry.to_owned(),
        architecture: format!("{}bit", program.target.pointer_bytes * 8),
        // Equal runs write equal bytes.
        creation_time: "1970-01-01T00:00:00Z".into(),
    }
}
