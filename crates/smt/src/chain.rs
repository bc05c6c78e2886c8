//! The chain, assembled: cheap links first, each seeing only what those before it left over.
//!
//! `instances → trivial → domain → address → independence → domain → cache → cores → choices → difference → models →
//! rewrite → (the same on what is left) → quantified → (independence → domain) → indices → (independence → domain) →
//! local search → random sampling → enumerate → back end`
//!
//! Byte-wise queries end at `domain`, repeated ones at `cache`, comparisons at `choices` and `difference`, many of the
//! others at `models`; only then is it worth building new terms (`rewrite`), which may again be trivial, independent,
//! byte-wise or known.

use crate::backend;
use crate::config::{BackendKind, QueryCache, SolverConfig};
use crate::link::address::AddressAware;
use crate::link::backend_counter::{BackendCounter, ChainCounters};
use crate::link::cache::Cache;
use crate::link::checking::Checking;
use crate::link::choices::Choices;
use crate::link::cores::Cores;
use crate::link::difference::Difference;
use crate::link::domain::{Domain, TruthTables};
use crate::link::enumerate::Enumerate;
use crate::link::fallback::Fallback;
use crate::link::independence::Independence;
use crate::link::indices::Indices;
use crate::link::instances::Instances;
use crate::link::local_search::LocalSearch;
use crate::link::log::Log;
use crate::link::models::Models;
use crate::link::quantified::Quantified;
use crate::link::random_sampling::Sample;
use crate::link::rewrite::Rewrite;
use crate::link::time::TimedLink;
use crate::link::trivial::Trivial;
use crate::link::validate::Validate;
use crate::query::Solver;
use std::cell::RefCell;
use std::rc::Rc;

pub fn assemble(config: SolverConfig) -> Box<dyn Solver> {
    let truths = Rc::default();
    let (seen, steps) = (Rc::default(), Rc::default());
    let mut chain: Box<dyn Solver> = Box::new(BackendCounter::new(&seen, core(&config, &steps)));
    if config.use_enumerate {
        chain = Box::new(Enumerate::new(&truths, chain));
    }
    if config.use_local_search {
        chain = Box::new(LocalSearch::new(Sample::new(chain)));
    }
    if config.use_enumerate {
        chain = Box::new(Indices::new(&truths, split(chain, &truths, &config)).counting(&seen));
    }
    if config.use_quantified {
        let quantified = Quantified::new(split(chain, &truths, &config), config.check_quantified);
        chain = Box::new(quantified.counting(&seen));
    }
    if config.use_rewrite {
        if config.cache != QueryCache::Off {
            chain = Box::new(Cache::new(chain));
        }
        chain = Box::new(Rewrite::new(split(chain, &truths, &config)));
    }
    if config.use_models {
        chain = Box::new(Models::new(chain));
    }
    if config.use_difference {
        chain = Box::new(Choices::new(Difference::new(chain)));
    }
    if config.use_models {
        chain = Box::new(Cores::new(chain));
    }
    if config.cache != QueryCache::Off {
        chain = Box::new(Cache::new(chain));
    }
    chain = split(chain, &truths, &config);
    let reads_bases = config.cache == QueryCache::AddressAware;
    if reads_bases {
        let oracle = config.check_cache.then(|| backend::backend(config.backend, &config, &Rc::default()));
        chain = Box::new(AddressAware::new(chain, oracle));
    }
    // Before the cache: a byte's truth sets cost less than looking whether a query is known under other names.
    if config.use_domain {
        chain = Box::new(Domain::sharing(&truths, chain));
    }
    chain = Box::new(TimedLink::new("solver.time", Trivial::new(chain)));
    if config.check_evidence {
        let oracle = backend::backend(other(config.backend), &config, &Rc::default());
        chain = Box::new(Checking::new(chain, oracle));
    }
    if config.use_quantified {
        chain = Box::new(Instances::new(chain));
    }
    Box::new(ChainCounters::new(seen, steps, reads_bases, chain))
}

/// Independent groups, each of which may be byte-wise.
fn split(mut chain: Box<dyn Solver>, truths: &Rc<RefCell<TruthTables>>, config: &SolverConfig) -> Box<dyn Solver> {
    if config.use_domain {
        chain = Box::new(Domain::sharing(truths, chain));
    }
    if config.use_independence {
        chain = Box::new(Independence::new(chain));
    }
    chain
}

/// The back ends, with what watches over them.
fn core(config: &SolverConfig, steps: &Rc<backend::Steps>) -> Box<dyn Solver> {
    let first = backend::backend(config.backend, config, steps);
    let second = || backend::backend(other(config.backend), config, steps);
    let mut chain: Box<dyn Solver> = if config.validate {
        Box::new(Validate::new(first, second()))
    } else if config.use_fallback {
        Box::new(Fallback::new(first, second(), config.backend == BackendKind::Bitwuzla))
    } else {
        first
    };
    if let Some(path) = &config.query_log {
        chain = Box::new(Log::new(path.clone(), chain));
    }
    chain
}

fn other(kind: BackendKind) -> BackendKind {
    match kind {
        BackendKind::Bitwuzla => BackendKind::Z3,
        BackendKind::Z3 => BackendKind::Bitwuzla,
    }
}
