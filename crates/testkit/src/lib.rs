//! Fixtures with expectations in comments, the random program generator, brute-force oracles.
//!
//! Everything here drives the built program `pleach` from outside, the way a user does.
//!
//! ```
//! let manifest = "[dependencies]\npleach-ir.workspace = true\n";
//! assert!(pleach_testkit::graph::uses(manifest).contains("ir"));
//! ```

pub mod answers;
pub mod batch;
pub mod campaign;
pub mod differential;
pub mod engine;
pub mod fixture;
pub mod graph;
pub mod oracle;
pub mod outcome;
pub mod random;
pub mod reaching;
pub mod scratch;

/// The root of the repository.
pub fn root() -> std::path::PathBuf {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    here.join("../..").canonicalize().unwrap_or_else(|_| here.join("../.."))
}
