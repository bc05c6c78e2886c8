//! Limits of one process.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::options::Limits;

/// What is set just before the program starts, so that the processes around it are not bound.
pub(super) struct ProcessLimits([(Resource, Option<u64>); 8]);

/// Processor time of one run: a little more than its time, so that the clock decides.
pub(super) fn processor_seconds(limits: &Limits) -> u64 {
    limits.time.as_secs().saturating_add(2)
}

impl ProcessLimits {
    pub fn new(limits: &Limits, limit_memory: bool, serves: bool) -> Self {
        let seconds = processor_seconds(limits);
        Self([
            (Resource::Core, Some(0)),
            (Resource::Fsize, Some(limits.file)),
            // A server limits each of its children.
            (Resource::Cpu, (!serves).then_some(seconds)),
            (Resource::Nofile, Some(limits.open_files)),
            (Resource::Nproc, Some(limits.processes)),
            (Resource::Msgqueue, Some(0)),
            (Resource::Memlock, Some(64 << 10)),
            (Resource::As, limit_memory.then_some(limits.memory)),
        ])
    }

    /// Limits the calling process. Only system calls: usable after a fork.
    pub fn set(&self) -> rustix::io::Result<()> {
        for (resource, wanted) in self.0 {
            let Some(wanted) = wanted else { continue };
            let allowed = getrlimit(resource).maximum.map_or(wanted, |most| most.min(wanted));
            setrlimit(resource, Rlimit { current: Some(allowed), maximum: Some(allowed) })?;
        }
        Ok(())
    }
}
