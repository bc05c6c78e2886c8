//! One program in all modes.

use crate::engine::{self, Bounds, ErrorSite, Found, MODES, Mode, PLAIN};
use crate::generate;
use pleach_exec::SizeMode;
use pleach_ir::Program;
use pleach_prune::Checks;
use pleach_state::{ErrorKind, Leaks};
use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

/// Sums over programs.
#[derive(Clone, Default, Debug)]
pub struct Totals {
    pub programs: u64,
    /// beyond the bounds without pruning: nothing to compare with
    pub not_compared: u64,
    /// programs in which the plain run found an error
    pub with_errors: u64,
    /// programs in which pruning took place, depth first
    pub with_pruning: u64,
    pub different: u64,
    pub paths: u64,
    pub blocks: u64,
    /// subsumed states explored anyway, and those of them not to the end
    pub rechecked: u64,
    pub unfinished: u64,
    /// runs that the time ended: what they did not find says nothing
    pub late: u64,
    /// by mode: complete runs, paths, of these subsumed, nodes, states merged
    pub modes: Vec<[u64; 5]>,
    pub audit: std::collections::BTreeMap<String, u64>,
    pub statistics: std::collections::BTreeMap<String, u64>,
}

impl Totals {
    pub fn add(&mut self, other: &Totals) {
        self.programs += other.programs;
        self.not_compared += other.not_compared;
        self.with_errors += other.with_errors;
        self.with_pruning += other.with_pruning;
        self.different += other.different;
        self.paths += other.paths;
        self.blocks += other.blocks;
        self.rechecked += other.rechecked;
        self.unfinished += other.unfinished;
        self.late += other.late;
        self.modes.resize(MODES.len(), [0; 5]);
        for (m, o) in self.modes.iter_mut().zip(&other.modes) {
            (0..5).for_each(|i| m[i] += o[i]);
        }
        for (k, n) in &other.statistics {
            *self.statistics.entry(k.clone()).or_default() += n;
        }
        for (k, n) in &other.audit {
            *self.audit.entry(k.clone()).or_default() += n;
        }
    }
}

impl std::fmt::Display for Totals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(
            f,
            "{} programs ({} beyond the bounds, {} with errors, {} with pruning), {} paths, {} blocks: {} different",
            self.programs,
            self.not_compared,
            self.with_errors,
            self.with_pruning,
            self.paths,
            self.blocks,
            self.different
        )?;
        for (mode, [complete, paths, pruned, nodes, merged]) in MODES.iter().zip(&self.modes) {
            writeln!(
                f,
                "  {:24} {complete} complete runs, {paths} paths, of these {pruned} subsumed, {nodes} nodes, \
                 {merged} states merged",
                mode.name
            )?;
        }
        writeln!(f, "  {} subsumed states explored anyway, {} not to the end", self.rechecked, self.unfinished)?;
        writeln!(f, "  {} runs not ended in time and not compared", self.late)?;
        self.audit.iter().try_for_each(|(k, n)| writeln!(f, "  {n:10} {k}"))?;
        self.statistics.iter().try_for_each(|(k, n)| writeln!(f, "  {n:10} {k}"))
    }
}

/// The errors that are looked for, besides the usual ones, in the program of this seed.
pub fn checks(seed: u64) -> Checks {
    let leaks = match seed % 7 {
        3 => Leaks::Lost,
        4 => Leaks::LostAnyway,
        5 => Leaks::Unfreed,
        _ => Leaks::Ignored,
    };
    Checks { overflow: seed.is_multiple_of(5), leaks }
}

/// Explores the program of a seed in all modes. The text describes every difference; empty when there is none.
pub fn compare(program: &Rc<Program>, seed: u64, bounds: Bounds) -> (Totals, String) {
    compare_program(program, &generate::entry(seed), checks(seed), bounds, &bounds.modes(seed))
}

pub fn compare_program(
    program: &Rc<Program>,
    entry: &str,
    checks: Checks,
    bounds: Bounds,
    asked: &[bool],
) -> (Totals, String) {
    let mut totals = Totals { programs: 1, modes: vec![[0; 5]; MODES.len()], ..Totals::default() };
    let mut differences = String::new();
    let mut explore = |mode: Mode, bounds: Bounds| {
        let run = || engine::explore(program, entry, checks, mode, bounds);
        let result = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| Err("a panic".into()));
        result.map_err(|why| writeln!(differences, "{}: {why}", mode.name).unwrap_or_default()).ok()
    };
    let plain = explore(PLAIN, bounds);
    // Pruning may need more instructions than the bound where it never succeeds early; it must not need many times as
    // many.
    let wider = Bounds { instructions: bounds.instructions * 2, ..bounds };
    let runs: Vec<(Mode, Option<Found>)> = match &plain {
        Some(p) if p.complete => {
            let modes = MODES.iter().zip(asked);
            modes.map(|(m, asked)| (*m, asked.then(|| explore(*m, wider)).flatten())).collect()
        }
        _ => Vec::new(),
    };
    let Some(plain) = plain.filter(|p| p.complete) else {
        totals.not_compared = 1;
        totals.different = u64::from(!differences.is_empty());
        return (totals, differences);
    };
    totals.paths = plain.paths;
    totals.blocks = plain.blocks.len() as u64;
    totals.with_errors = u64::from(!plain.errors.is_empty());
    for (i, (mode, found)) in runs.into_iter().enumerate() {
        let Some(found) = found else { continue };
        totals.modes[i] = [u64::from(found.complete), found.paths, found.pruned, found.nodes, found.merged];
        if i == 0 {
            totals.with_pruning = u64::from(found.pruned > 0);
            totals.statistics.extend(found.statistics.iter().cloned());
        }
        totals.rechecked += found.rechecked.subtrees;
        totals.unfinished += found.rechecked.unfinished;
        for (name, n) in found.audit.statistics() {
            *totals.audit.entry(name).or_default() += n;
        }
        if let [why, ..] = &found.audit.failures[..] {
            let _ = writeln!(differences, "{}: audit: {why}", mode.name);
        }
        if let [why, ..] = &found.rechecked.failures[..] {
            let _ = writeln!(differences, "{}: {why}", mode.name);
        } else if found.complete {
            difference(program, mode, &plain, &found, &mut differences);
        } else if found.late || mode.sizes == SizeMode::Fork {
            // One path per size may be more than the bounds allow.
            totals.late += 1;
        } else {
            let _ = writeln!(differences, "{}: not complete", mode.name);
        }
    }
    totals.different = u64::from(!differences.is_empty());
    (totals, differences)
}

fn difference(program: &Program, mode: Mode, plain: &Found, found: &Found, differences: &mut String) {
    let place = |func: u32, inst: u32| {
        let f = &program.functions[func as usize];
        format!("{} line {}", f.name, f.spans.get(inst as usize).map_or(0, |s| s.line))
    };
    let error = |e: &ErrorSite| format!("{} in {}", e.0, place(e.1, e.2));
    // What one of the merged paths would not allow at all, the merged one may allow.
    let merged = |e: &&ErrorSite| mode.merge.is_some() && e.0 == ErrorKind::User.as_str();
    for e in plain.errors.difference(&found.errors).filter(|e| !merged(e)) {
        let _ = writeln!(differences, "{}: lost {}", mode.name, error(e));
    }
    // A path divided by the pieces of an object, or by its size, may not allow what the program assumes of the whole:
    // an error of `klee_assume`, and no other.
    let divides = mode.splitting.is_some() || mode.sizes == SizeMode::Fork;
    let divided = |e: &&ErrorSite| divides && e.0 == ErrorKind::User.as_str();
    for e in found.errors.difference(&plain.errors).filter(|e| !divided(e)) {
        let _ = writeln!(differences, "{}: made up {}", mode.name, error(e));
    }
    let block = |b: &(u32, u32)| place(b.0, program.functions[b.0 as usize].blocks[b.1 as usize].first.0);
    for b in plain.blocks.difference(&found.blocks) {
        let _ = writeln!(differences, "{}: does not reach block {} at {}", mode.name, b.1, block(b));
    }
    for b in found.blocks.difference(&plain.blocks) {
        let _ = writeln!(differences, "{}: reaches block {} at {}, which is not reachable", mode.name, b.1, block(b));
    }
}
