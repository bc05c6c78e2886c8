//! Targets that forward execution left open, backward with what it learned.
//!
//! *Idea*: forward execution that ended too early has complete subtrees, and an interpolant for each. Backward
//! execution from the target ends where such an interpolant holds ([`pleach_backward::Facts`]). *Invariant*: no
//! explored path came to the target, so no state that satisfies an interpolant reaches it. *Direction*: targets are
//! only refuted here.

use pleach_backward::{Answer, Config, Confirmation, Context, FactVariable, Facts, Goal, InputHeap, decide};
use pleach_ir::{BlockId, FuncId, Program, Slot};
use pleach_prune::{EntryInterpolants, EntryPlace};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Instant;

/// Calls between the entry and the target's function, at most.
const CLIMB: u32 = 6;

/// What forward execution says of states at the starts of blocks.
pub fn facts(learned: EntryInterpolants, program: &Program) -> Facts {
    let EntryInterpolants { terms, places, all } = learned;
    let place = |p: EntryPlace| match p {
        EntryPlace::Register(slot) => FactVariable::Slot(Slot(slot)),
        EntryPlace::Global { global, offset, bytes } => FactVariable::Global(global, offset, u64::from(bytes)),
    };
    let places = places.into_iter().map(|(t, p)| (t, place(p))).collect();
    let mut facts = Facts { terms, places, refuted: Default::default() };
    for one in all {
        let f = program.function(one.func);
        if f.blocks.iter().any(|b| b.first == one.inst) {
            facts.refuted.entry((one.func, one.inst)).or_default().push(one.literals);
        }
    }
    facts
}

/// Says how a target at the starts of these blocks is refuted from the entry, or why it is not.
pub fn refute(
    program: &Program,
    entry: &str,
    blocks: &BTreeSet<(FuncId, BlockId)>,
    facts: &Rc<Facts>,
    config: &Config,
) -> Result<String, String> {
    let entry = program.function_named(entry).ok_or("the entry has no body")?;
    if !program.function(entry).params.is_empty() || !program.constructors.is_empty() {
        return Err("execution does not begin with the entry, or it has parameters".into());
    }
    if blocks.is_empty() {
        return Err("a call has to fail".into());
    }
    let first = |(f, b): &(FuncId, BlockId)| Goal::At(*f, program.function(*f).blocks[b.index()].first);
    let goals = blocks.iter().map(first).collect();
    let config = Config {
        context: Context::Start,
        climb: CLIMB,
        unwind: super::both_ends::UNWIND,
        deadline: config.time.map(|t| Instant::now() + t),
        facts: Some(facts.clone()),
        ..config.clone()
    };
    let mut never = |_: &InputHeap, _| Confirmation::Refuted("forward execution decides".into());
    let (answer, effort) = decide(program, entry, &goals, &config, &mut never);
    let name = &program.function(entry).name;
    match answer {
        Answer::Unreachable { .. } => {
            let all: usize = facts.refuted.values().map(Vec::len).sum();
            let work = format!("{} nodes, {} checks", effort.nodes, effort.checks);
            Ok(format!("refuted backward from {name} with {all} interpolants of forward execution ({work})"))
        }
        Answer::Reachable(_) => Err("an input was found backward".into()),
        Answer::UnreachableWithin(cuts) => Err(cuts.first().map(ToString::to_string).unwrap_or_default()),
        Answer::Unknown(why) => Err(why),
    }
}
