//! The deadline of a run in the middle of a step: a thread of its own stops what solvers and long operations poll. The
//! commands have a watchdog for that; a run that is a part of another program has this.

use crate::limits::Halt;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// Rings once, unless it is dropped before.
pub(crate) struct Alarm {
    _set: Option<Sender<()>>,
}

impl Alarm {
    pub fn set(halt: &Halt, after: Option<Duration>) -> Alarm {
        let Some(after) = after else { return Alarm { _set: None } };
        let (set, dropped) = channel::<()>();
        let halt = halt.clone();
        // Without a thread the loop still looks at the clock between steps.
        let _ = std::thread::Builder::new().name("alarm".into()).spawn(move || {
            if dropped.recv_timeout(after) == Err(RecvTimeoutError::Timeout) {
                halt.time_is_up();
            }
        });
        Alarm { _set: Some(set) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_state::Cut;

    #[test]
    fn it_rings_unless_it_is_dropped() {
        let (rings, silent) = (Halt::new(), Halt::new());
        drop(Alarm::set(&silent, Some(Duration::from_millis(50))));
        let _alarm = Alarm::set(&rings, Some(Duration::from_millis(1)));
        std::thread::sleep(Duration::from_millis(200));
        assert_eq!((rings.reason(), silent.reason()), (Some(Cut::Time), None));
    }
}
