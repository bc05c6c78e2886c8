//! What can go wrong before an exploration begins.

/// Why a program could not be loaded or an engine not be built. Errors of the *program* are results, not of this type.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Load(#[from] pleach_load::LoadError),
    #[error(transparent)]
    EmbeddedBitcode(#[from] pleach_load::embedded_bitcode::CarriedError),
    #[error(transparent)]
    Setup(#[from] pleach_exec::SetupError),
    #[error(transparent)]
    Search(#[from] pleach_explore::SearchError),
    #[error("{0}")]
    Usage(String),
    #[error("cannot {what}: {why}")]
    System { what: &'static str, why: std::io::Error },
}
