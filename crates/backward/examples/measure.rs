//! CPU time of one query, without start-up: `measure FILE.ir FUNCTION STYLE UNWIND [REPEAT]`.
//!
//! The file is what `pleach ir` prints. The target is every failing assertion of the function.

use pleach_backward::{Answer, Config, Confirmation, Goal, Style, decide};
use pleach_ir::{Callee, Inst, InstId, text};
use std::collections::BTreeSet;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> Result<(), String> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [file, function, style, unwind, rest @ ..] = &args[..] else {
        return Err("usage: measure FILE.ir FUNCTION STYLE UNWIND [REPEAT]".into());
    };
    let source = std::fs::read_to_string(file).map_err(|e| e.to_string())?;
    let program = text::parse(&source).map_err(|e| e.to_string())?;
    let entry = program.function_named(function).ok_or("no such function")?;
    let style = Style::ALL.iter().find(|s| s.0 == style).ok_or("no such style")?.2;
    let unwind = unwind.parse().map_err(|_| "UNWIND is a number")?;
    let repeat: u32 = rest.first().map_or(Ok(1), |r| r.parse()).map_err(|_| "REPEAT is a number")?;
    let is_failure = |i: &Inst| matches!(i, Inst::Call { callee: Callee::Direct(g), .. } if program.function(*g).name == "__assert_fail");
    let all = program.function(entry).insts.iter().enumerate().filter(|(_, i)| is_failure(i));
    let goals: BTreeSet<Goal> = all.map(|(i, _)| Goal::At(entry, InstId::new(i))).collect();
    let config = Config { style, unwind, abstract_loops: false, ..Config::default() };
    for _ in 0..repeat {
        let (answer, effort) = decide(&program, entry, &goals, &config, &mut |_, _| Confirmation::Confirmed);
        let word = match answer {
            Answer::Reachable(_) => "reachable",
            Answer::Unreachable { .. } => "unreachable",
            Answer::UnreachableWithin(_) => "unreachable-within",
            Answer::Unknown(_) => "unknown",
        };
        let ms = |d: std::time::Duration| d.as_secs_f64() * 1000.0;
        println!(
            "{word} {:.1} ms, {} nodes, {} checks, solver {:.1} ms",
            ms(effort.goals),
            effort.nodes,
            effort.checks,
            ms(effort.solver)
        );
    }
    Ok(())
}
