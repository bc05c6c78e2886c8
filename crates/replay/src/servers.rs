//! Servers of one program, kept between tests.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::sandbox::{Finished, Refusal, Server};

/// What a server was started with, and all its tests share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ServerKind {
    /// Built with sanitizers.
    pub sanitized: bool,
    /// They look for leaks.
    pub leak: bool,
}

/// Those that wait for a test. There are as many as tests run at the same time.
#[derive(Default)]
pub(crate) struct Servers {
    idle: Mutex<Vec<(ServerKind, Server)>>,
    refused: AtomicBool,
}

impl Servers {
    /// Whether no server can be started here.
    pub fn are_refused(&self) -> bool {
        self.refused.load(Ordering::Relaxed)
    }

    /// Runs one test in an idle server, or in a new one. Nothing if that decided nothing.
    pub fn run(&self, kind: ServerKind, input: &[u8], start: impl Fn() -> Result<Server, Refusal>) -> Option<Finished> {
        let idle = {
            let mut idle = self.idle.lock().unwrap_or_else(|e| e.into_inner());
            idle.iter().position(|(k, _)| *k == kind).map(|at| idle.swap_remove(at).1)
        };
        let mut server = match idle {
            Some(server) => server,
            None => start().inspect_err(|_| self.refused.store(true, Ordering::Relaxed)).ok()?,
        };
        let finished = server.run(input);
        if server.is_usable() {
            self.idle.lock().unwrap_or_else(|e| e.into_inner()).push((kind, server));
        }
        finished
    }
}
