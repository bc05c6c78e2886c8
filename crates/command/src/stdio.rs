//! Standard output and error for readers that go away, as `head` does.
//!
//! The standard library's macros panic when the pipe is closed, which would end an exploration in its midst. These take
//! their place in the crates that import them: what nobody reads is dropped, and the command goes on to its end. It
//! goes on, too, where the output cannot be written (a full disk), and says so when it ends.

use std::fmt::Arguments;
use std::io::{Error, ErrorKind, Write};
use std::sync::OnceLock;

static FAILURE: OnceLock<Error> = OnceLock::new();

pub fn write(to: &mut impl Write, text: Arguments) {
    if let Err(why) = to.write_fmt(text).and_then(|()| to.flush())
        && why.kind() != ErrorKind::BrokenPipe
    {
        let _ = FAILURE.set(why);
    }
}

/// Why some of the output could not be written.
pub fn failure() -> Option<&'static Error> {
    FAILURE.get()
}

#[macro_export]
macro_rules! print {
    ($($arg:tt)*) => { $crate::stdio::write(&mut std::io::stdout().lock(), format_args!($($arg)*)) };
}

#[macro_export]
macro_rules! println {
    () => { $crate::print!("\n") };
    ($($arg:tt)*) => { $crate::stdio::write(&mut std::io::stdout().lock(), format_args!("{}\n", format_args!($($arg)*))) };
}

#[macro_export]
macro_rules! eprint {
    ($($arg:tt)*) => { $crate::stdio::write(&mut std::io::stderr().lock(), format_args!($($arg)*)) };
}

#[macro_export]
macro_rules! eprintln {
    ($($arg:tt)*) => { $crate::stdio::write(&mut std::io::stderr().lock(), format_args!("{}\n", format_args!($($arg)*))) };
}
