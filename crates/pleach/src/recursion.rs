//! Proofs by contracts of recursive functions.
//!
//! *Idea*: all candidates are assumed and checked; those that fail are dropped, until none does (Houdini). What is
//! required of arguments shrinks first: each time results are guessed once more, from the samples that are
//! allowed now. *Invariant*: a proof has explored the entry and every body completely, with contracts in place of
//! calls, and no check and nothing else failed. *Direction*: gives up, with a reason.

use crate::engine::{EndOfRun, EngineBuilder};
use crate::guided_executor::GuidedExecutor;
use pleach_contracts::{Abstracted, Check, Claim, Contract, Recursion};
use pleach_explore::{Ended, Sink};
use pleach_ir::{ErrorKind, FuncId, Program};
use pleach_state::End;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Explorations of one proof, at most.
const RUNS: u32 = 80;

/// A contract as text.
#[derive(Clone, Debug)]
pub struct ContractText {
    pub function: FuncId,
    pub requires: Vec<String>,
    pub ensures: Vec<String>,
}

/// A program in which all recursive calls are contracts that were proved.
#[derive(Clone, Debug)]
pub struct ContractProof {
    pub program: Rc<Program>,
    pub contracts: Vec<ContractText>,
    /// explorations that it took
    pub runs: u32,
}

/// How explorations of a proof are set up: of which program, from which function (`None`: the user's entry), with which
/// function as an error.
pub type SetUp<'a> = dyn Fn(Rc<Program>, Option<&str>, Option<&'static str>) -> EngineBuilder<'static> + 'a;

/// Messages by function and instruction.
struct Errors(BTreeMap<(u32, u32), String>);

impl Sink<GuidedExecutor> for Errors {
    fn on_path_end(&mut self, executor: &mut GuidedExecutor, ended: Ended) -> u32 {
        if let End::Error(e) = ended.end
            && e.kind != ErrorKind::Abort
        {
            let (func, inst) = ended.state.error_site(&executor.machine.program);
            self.0.insert((func.0, inst.0), e.message.clone());
        }
        0
    }
}

/// Whether it is worth a proof by contracts: a short exploration neither came to its end nor found an error.
pub fn is_worth_contracts(program: &Rc<Program>, entry: FuncId, set_up: &SetUp) -> bool {
    if !Recursion::is_there(program, entry) {
        return false;
    }
    let mut errors = OtherThanStack(false);
    let Ok(mut engine) = set_up(program.clone(), None, None).build() else { return false };
    let done = engine.explore(&mut errors) == EndOfRun::Done && engine.run.counters.is_complete();
    // Without a fork no input decides how deep calls are.
    let counters = &engine.run.counters;
    !errors.0 && counters.forks > 0 && (!done || counters.errored > 0)
}

/// Errors but those for want of stack.
struct OtherThanStack(bool);

impl Sink<GuidedExecutor> for OtherThanStack {
    fn on_path_end(&mut self, _: &mut GuidedExecutor, ended: Ended) -> u32 {
        if let End::Error(e) = ended.end {
            self.0 |= !matches!(e.kind, ErrorKind::StackOverflow | ErrorKind::Abort);
        }
        0
    }
}

/// Proves the program, or says why not. `again`: with another solver, for the final contracts.
pub fn prove_by_contracts(
    program: &Rc<Program>,
    entry: FuncId,
    time: Duration,
    set_up: &SetUp,
    again: Option<&SetUp>,
) -> Result<ContractProof, String> {
    let recursion = Recursion::of(program, entry)?;
    let mut left = RUNS;
    let until = Instant::now() + time;
    let mut contracts = recursion.first();
    recursion.guess_ensures(&mut contracts);
    loop {
        let abstracted = recursion.abstracted(&contracts)?;
        let whole = Rc::new(abstracted.program.clone());
        let found = explored(&abstracted, &whole, set_up, until, &mut left)?;
        if found.failed.is_empty() {
            if let Some(why) = found.other {
                return Err(format!("the contracts found do not exclude: {why}"));
            }
            if let Some(again) = again {
                let second = explored(&abstracted, &whole, again, until, &mut left)?;
                if !second.failed.is_empty() || second.other.is_some() {
                    return Err("the second solver does not confirm the contracts".into());
                }
            }
            return Ok(ContractProof { contracts: texts(&recursion, &contracts), program: whole, runs: RUNS - left });
        }
        if drop_failed(&mut contracts, &found.failed) {
            recursion.guess_ensures(&mut contracts);
        }
    }
}

/// What failed when the entry and all bodies were explored.
struct Failures {
    failed: BTreeSet<Check>,
    /// an error that is no check
    other: Option<String>,
}

fn explored(
    abstracted: &Abstracted,
    whole: &Rc<Program>,
    set_up: &SetUp,
    until: Instant,
    left: &mut u32,
) -> Result<Failures, String> {
    let mut found = Failures { failed: BTreeSet::new(), other: None };
    let entries = std::iter::once(None).chain(abstracted.drivers.iter().map(|d| Some(d.as_str())));
    for from in entries {
        if *left == 0 || Instant::now() > until {
            return Err("the search for contracts took too long".into());
        }
        *left -= 1;
        let builder = set_up(whole.clone(), from, Some(abstracted.error_function()));
        let mut engine = builder.build().map_err(|e| e.to_string())?;
        let mut errors = Errors(BTreeMap::new());
        let end = engine.explore(&mut errors);
        for (site, what) in errors.0 {
            match abstracted.checks.get(&site) {
                Some(check) => drop(found.failed.insert(*check)),
                None => found.other = Some(what),
            }
        }
        if found.failed.iter().any(|c| matches!(c, Check::Requires(..))) {
            return Ok(found);
        }
        let of = from.map_or("the program", |d| d.trim_end_matches(".body"));
        // SOUND: what was not explored may violate a check.
        let complete = end == EndOfRun::Done && engine.run.counters.is_complete();
        if !complete || !engine.executor.machine.disagreements.is_empty() {
            return Err(format!("`{of}` was not explored completely with contracts in place of calls"));
        }
        if from.is_some() && !engine.executor.machine.assumptions.is_empty() {
            return Err(format!("`{of}` makes assumptions about its surroundings"));
        }
    }
    Ok(found)
}

/// Drops claims that failed. Whether less is required now.
fn drop_failed(contracts: &mut [Contract], failed: &BTreeSet<Check>) -> bool {
    let mut weaker = false;
    for (n, c) in contracts.iter_mut().enumerate() {
        let (mut k, before) = (0, c.requires.len());
        c.requires.retain(|_| {
            k += 1;
            !failed.contains(&Check::Requires(n, k - 1))
        });
        weaker |= c.requires.len() < before;
        k = 0;
        c.ensures.retain(|_| {
            k += 1;
            !failed.contains(&Check::Ensures(n, k - 1))
        });
    }
    weaker
}

fn texts(recursion: &Recursion, contracts: &[Contract]) -> Vec<ContractText> {
    let said = |of: FuncId, all: &[Claim]| {
        let strict = all.iter().filter(|c| !all.iter().any(|o| o.is_stricter(c)));
        strict.map(|c| recursion.text(of, c)).collect()
    };
    let one = |c: &Contract| ContractText {
        function: c.function,
        requires: said(c.function, &c.requires),
        ensures: said(c.function, &c.ensures),
    };
    contracts.iter().map(one).collect()
}
