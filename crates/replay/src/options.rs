//! How to replay.

use std::time::Duration;

/// When to build with sanitizers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SanitizerUse {
    /// When an error of a kind that needs them does not show without (default).
    #[default]
    WhenNeeded,
    /// In every replay.
    Always,
    /// Never.
    Never,
}

/// What to do where the machine does not give a program the isolation that a stranger's needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Isolation {
    /// Do not run it, and say what is missing (default).
    #[default]
    Required,
    /// Run it with what there is.
    AsFarAsPossible,
}

/// What the program may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Wall-clock and processor time of one run (default 10 s).
    pub time: Duration,
    /// Memory of one run in bytes (default 2 GiB).
    pub memory: u64,
    /// Captured output of one run in bytes; more is dropped (default 64 KiB).
    pub output: usize,
    /// Largest file the program may write, in bytes (default 16 MiB).
    pub file: u64,
    /// All files the program may write together, in bytes (default 64 MiB).
    pub disk: u64,
    /// Processes and threads at the same time (default 64).
    pub processes: u64,
    /// Open files of one process (default 1024).
    pub open_files: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            time: Duration::from_secs(10),
            memory: 2 << 30,
            output: 64 << 10,
            file: 16 << 20,
            disk: 64 << 20,
            processes: 64,
            open_files: 1024,
        }
    }
}

/// How to replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// When to build with sanitizers.
    pub sanitizers: SanitizerUse,
    /// What to do where the machine cannot isolate the program.
    pub isolation: Isolation,
    /// What the program may use.
    pub limits: Limits,
    /// Tests replayed at the same time by [`crate::replay_all`] (default 1).
    pub jobs: usize,
    /// Compilers to try, best first (default `clang-19`, `clang`, `cc`).
    pub compilers: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            sanitizers: SanitizerUse::default(),
            isolation: Isolation::default(),
            limits: Limits::default(),
            jobs: 1,
            compilers: ["clang-19", "clang", "cc"].map(str::to_owned).to_vec(),
        }
    }
}
