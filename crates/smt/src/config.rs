//! How a chain is put together.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum BackendKind {
    #[default]
    Bitwuzla,
    Z3,
}

/// Which queries count as the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum QueryCache {
    /// none: nothing is remembered by query
    Off,
    /// equal word for word
    Exact,
    /// equal up to names of bases, where addresses do not matter
    #[default]
    AddressAware,
}

#[derive(Clone, Debug)]
pub struct SolverConfig {
    /// Which library decides what the links do not. Default: Bitwuzla.
    pub backend: BackendKind,
    /// Limit for one call of the back end; on expiry the answer is `Unknown(Timeout)`. Default: none.
    pub timeout: Option<Duration>,
    /// Memory of the whole process, in MiB, at which the back end gives up. Default: none.
    pub memory_mib: Option<u64>,
    /// Set from outside to end a running check with `Unknown(Interrupted)`. Default: none.
    pub interrupt: Option<Arc<AtomicBool>>,
    /// Query both back ends and compare. Default: no.
    pub validate: bool,
    /// Re-check every model by evaluation and every core by a solver of its own. Default: no.
    pub check_evidence: bool,
    /// Write every query that reaches the back end, in SMT-LIB, to this file. Default: none.
    pub query_log: Option<PathBuf>,
    /// Query the other back end when the first returns unknown. Default: yes.
    pub use_fallback: bool,
    /// Decide constraints on single bytes by their truth sets. Default: yes.
    pub use_domain: bool,
    /// Solve constraints without common symbolic variables separately. Default: yes.
    pub use_independence: bool,
    /// Decide comparisons of symbolic variables with constants and each other as bounds on differences. Default: yes.
    pub use_difference: bool,
    /// Remember answers by query. Default: up to names of bases (the command line says `exact`).
    pub cache: QueryCache,
    /// Solve again what the cache answered for a query with other bases. Default: no.
    pub check_cache: bool,
    /// Try recent models and known cores first. Default: yes.
    pub use_models: bool,
    /// Try values near the constants of the query before asking the back end. Default: yes.
    pub use_local_search: bool,
    /// Evaluate queries with few assignments on all of them. Default: yes.
    pub use_enumerate: bool,
    /// Substitute `variable = constant` into the other constraints. Default: yes.
    pub use_rewrite: bool,
    /// Answer queries with quantifiers by instances and copies, before the back end. Default: yes.
    pub use_quantified: bool,
    /// Expand the quantifiers of each such query and query again. Default: no.
    pub check_quantified: bool,
}

impl Default for SolverConfig {
    fn default() -> SolverConfig {
        SolverConfig {
            backend: BackendKind::Bitwuzla,
            timeout: None,
            memory_mib: None,
            interrupt: None,
            validate: false,
            check_evidence: false,
            query_log: None,
            use_fallback: true,
            use_domain: true,
            use_independence: true,
            use_difference: true,
            cache: QueryCache::AddressAware,
            check_cache: false,
            use_models: true,
            use_local_search: true,
            use_enumerate: true,
            use_rewrite: true,
            use_quantified: true,
            check_quantified: false,
        }
    }
}

impl SolverConfig {
    /// The back end alone.
    pub fn bare(backend: BackendKind) -> SolverConfig {
        SolverConfig {
            backend,
            use_fallback: false,
            use_domain: false,
            use_independence: false,
            use_difference: false,
            cache: QueryCache::Off,
            use_models: false,
            use_local_search: false,
            use_enumerate: false,
            use_rewrite: false,
            use_quantified: false,
            ..SolverConfig::default()
        }
    }
}
