//! Recursive functions proved by contracts: when that is tried, and what is said of it.
//!
//! *Idea*: a short exploration of the program itself comes first. If that neither ends nor finds an error, contracts
//! are looked for, in a part of the time. With contracts the program is explored once more as any other, for its
//! account. *Direction*: where contracts are not found, or do not prove the program, it is explored as without them.

use crate::observer::NoObserver;
use crate::result::ExplorationResult;
use crate::session::{Conclude, Session};
use pleach::{ContractProof, Engine, EngineBuilder, cut_reason, is_worth_contracts, prove_by_contracts, relative};
use pleach_command::CliError;
use pleach_exec::{ExecConfig, ProgramEntry};
use pleach_explore::{Limits, RunConfig};
use pleach_ir::Program;
use pleach_report::ContractRecord;
use pleach_smt::BackendKind;
use pleach_state::Assumption;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

/// Instructions of the exploration that comes first.
const FIRST: u64 = 6_000;
/// Instructions of each exploration of a proof.
const EACH: u64 = 300_000;
/// Time for a proof where there is no limit.
const TIME: Duration = Duration::from_secs(20);

impl Session {
    /// A proof by contracts, or why there is none; `None`: it is not worth one.
    pub(crate) fn by_contracts(&self) -> Option<Result<ContractProof, String>> {
        let config = &self.config;
        if !config.contracts || config.prune.as_ref().is_none_or(|p| !p.unbounded) || !config.seeds.is_empty() {
            return None;
        }
        let entry = self.program.function_named(crate::entry::entry_name(self.entry()))?;
        // A quarter of the time, as far as there is a limit.
        let time = config.run.limits.max_time.map_or(TIME, |t| (t / 4).min(TIME));
        let first = |program: Rc<Program>, from: Option<&str>, error| self.part(program, from, error, FIRST, time / 10);
        if !is_worth_contracts(&self.program, entry, &first) {
            return None;
        }
        let each = |program: Rc<Program>, from: Option<&str>, error| self.part(program, from, error, EACH, time / 2);
        let again = |program: Rc<Program>, from: Option<&str>, error| {
            let other = pleach_smt::SolverConfig { backend: BackendKind::Z3, ..config.solver.clone() };
            each(program, from, error).solver(other)
        };
        let audited = config.check_interpolants.is_some();
        Some(prove_by_contracts(&self.program, entry, time, &each, if audited { Some(&again) } else { None }))
    }

    fn part(
        &self,
        program: Rc<Program>,
        from: Option<&str>,
        error: Option<&'static str>,
        instructions: u64,
        time: Duration,
    ) -> EngineBuilder<'static> {
        let config = &self.config;
        let entry = from.map_or_else(|| self.entry().clone(), |f| ProgramEntry::Function(f.to_owned()));
        let mut exec = ExecConfig { entry, ..config.exec.clone() };
        exec.error_functions.extend(error.map(str::to_owned));
        let limits = Limits { max_time: Some(time), max_instructions: Some(instructions), ..config.run.limits.clone() };
        let mut builder = Engine::builder(program)
            .exec(exec)
            .solver(config.solver.clone())
            .search(config.search.clone())
            .run_config(RunConfig { limits, ..config.run.clone() });
        if let Some(prune) = &config.prune {
            builder = builder.prune(pleach::PruneConfig { explain: false, audit: false, ..prune.clone() });
        }
        builder
    }

    /// Explores the program with contracts in place of recursive calls; `None` if that is no proof after all.
    pub(crate) fn explore_with_contracts(
        &self,
        proof: &ContractProof,
        to: Option<&Path>,
        conclude: &Conclude,
    ) -> Result<Option<ExplorationResult>, CliError> {
        let session = self.with_program(proof.program.clone());
        let mut found = session.explore_once(&mut NoObserver, to, conclude, None)?;
        let proved = found.finished && !found.crashed && found.summary.errors.is_empty() && found.undefined.is_empty();
        if !proved {
            // SOUND: an error among contracts need not be one of the program.
            found.dir.remove()?;
            return Ok(None);
        }
        let names = |c: &pleach::ContractText| self.program.function(c.function).name.clone();
        found.assumptions.push(Assumption::Stack(proof.contracts.iter().map(names).collect()));
        found.summary.assumptions = cut_reason::assumptions(&found.assumptions);
        found.summary.contracts = proof.contracts.iter().map(|c| self.record(c)).collect();
        found.summary.pruning.insert("contract-runs".into(), u64::from(proof.runs));
        Ok(Some(found))
    }

    fn record(&self, c: &pleach::ContractText) -> ContractRecord {
        let f = self.program.function(c.function);
        ContractRecord {
            file: relative(self.program.path(f.span), &self.directory).to_owned(),
            line: f.span.line,
            function: f.name.clone(),
            requires: c.requires.clone(),
            ensures: c.ensures.clone(),
        }
    }
}
