//! Signals that end a run.

use crate::CliError;
use pleach_explore::Halt;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXCPU, SIGXFSZ};
use signal_hook::flag;
use std::sync::Arc;

/// An interrupt sets the flags of the run; the second one ends the process at once.
pub fn watch(halt: &Halt) -> Result<(), CliError> {
    let system = |why| CliError::System { what: "watch for signals", why };
    for signal in [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|s| !is_ignored(*s)) {
        flag::register_conditional_shutdown(signal, 128 + signal, halt.flag()).map_err(system)?;
        let (why, interrupted) = halt.signal_cell(signal);
        flag::register_usize(signal, why, interrupted).map_err(system)?;
        flag::register(signal, halt.flag()).map_err(system)?;
    }
    // The processor time that the system allows (`ulimit -t`) is used up; until its hard limit there is time to write
    // the results.
    let (why, time) = halt.processor_cell();
    flag::register_usize(SIGXCPU, why, time).map_err(system)?;
    flag::register(SIGXCPU, halt.flag()).map_err(system)?;
    // A file beyond the system's limit (`ulimit -f`) is an error of the write, as on a full disk.
    flag::register(SIGXFSZ, Arc::default()).map_err(system)?;
    Ok(())
}

/// Who started this process wants the signal to do nothing, as `nohup` does.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|l| l.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|m| u64::from_str_radix(m.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal - 1) & 1 != 0
}
