//! All accesses of a program's functions, looked at function by function: `survey FILE.ir INLINE SECONDS [FUNCTION]`.
//!
//! The file is what `pleach ir` prints. For each function: how many are refuted, have a candidate, or are open.

use pleach_backward::{Clock, Config, Effects, Failure, Goal, Loops, SurveyOptions, Surveyed, survey};
use pleach_ir::callgraph::CallGraph;
use pleach_ir::{FuncId, Inst, InstId, text};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> Result<(), String> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [file, inline, seconds, rest @ ..] = &args[..] else {
        return Err("usage: survey FILE.ir INLINE SECONDS [FUNCTION]".into());
    };
    let source = std::fs::read_to_string(file).map_err(|e| e.to_string())?;
    let program = text::parse(&source).map_err(|e| e.to_string())?;
    let inline = inline.parse().map_err(|_| "INLINE is a number")?;
    let seconds: f64 = seconds.parse().map_err(|_| "SECONDS is a number")?;
    let calls = Arc::new(CallGraph::new(&program));
    let effects = Arc::new(Effects::new(&program, &calls));
    let config = Config::default();
    let mut all = (0, 0, 0);
    for (i, f) in program.functions.iter().enumerate() {
        let id = FuncId::new(i);
        if f.is_declaration() || !program.is_own(id) || rest.first().is_some_and(|n| *n != f.name) {
            continue;
        }
        let access = |i: &Inst| matches!(i, Inst::Load { .. } | Inst::Store { .. });
        let places = f.insts.iter().enumerate().filter(|(_, i)| access(i));
        let targets: Vec<BTreeSet<Goal>> =
            places.map(|(i, _)| BTreeSet::from([Goal::Fails(id, InstId::new(i), Failure::Any)])).collect();
        if targets.is_empty() {
            continue;
        }
        let start = Instant::now();
        let clock = Clock::new(Some(Duration::from_secs_f64(seconds)), None);
        let each = Some(Duration::from_secs_f64(seconds / targets.len() as f64).max(Duration::from_millis(250)));
        let look = SurveyOptions {
            config: &config,
            effects: effects.clone(),
            calls: calls.clone(),
            loops: Loops::Havoc,
            inline,
            clock,
            each,
        };
        let (mut refuted, mut candidates, mut open, mut why) = (0, 0, 0, String::new());
        let mut nodes = 0;
        let end = survey(&program, id, &targets, &look, &mut |_, found, effort| {
            nodes = effort.nodes;
            match found {
                Surveyed::Refuted => refuted += 1,
                Surveyed::Candidate(_) => candidates += 1,
                Surveyed::Open(reason) => {
                    open += 1;
                    why = reason;
                }
            }
        });
        let time = start.elapsed().as_secs_f64();
        println!(
            "{}: {} targets, {nodes} nodes: {refuted} refuted, {candidates} candidates, {open} open {why}; {time:.2} s {end:?}",
            f.name,
            targets.len()
        );
        all = (all.0 + refuted, all.1 + candidates, all.2 + open);
    }
    println!("{} refuted, {} candidates, {} open", all.0, all.1, all.2);
    Ok(())
}
