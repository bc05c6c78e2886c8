//! KLEE's companion tools, as commands of `pleach klee`.

mod attributes;
mod extract_bc;
mod klee_replay;
mod klee_stats;
mod ktest_gen;
mod ktest_tool;

use pleach_command::{CliError, Code};

type Tool = fn(Vec<String>) -> Result<Code, CliError>;

/// The tool of this name.
pub fn find(name: &str) -> Option<Tool> {
    Some(match name {
        "ktest-tool" => ktest_tool::main,
        "ktest-gen" => ktest_gen::main,
        "klee-replay" => klee_replay::main,
        "klee-stats" => klee_stats::main,
        "extract-bc" => extract_bc::main,
        _ => return None,
    })
}

fn usage(tool: &str, why: impl std::fmt::Display) -> CliError {
    CliError::Usage(format!("{tool}: {why}"))
}
