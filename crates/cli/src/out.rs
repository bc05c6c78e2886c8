//! Standard output and error for readers that go away, as `head` does.
//!
//! The standard library's macros panic when the pipe is closed, which would end an exploration in its midst. These take their place in the
//! whole crate: what nobody reads is dropped, and the command goes on to its end.

use std::fmt::Arguments;
use std::io::{ErrorKind, Write};

pub fn write(to: &mut impl Write, text: Arguments) {
    match to.write_fmt(text) {
        Err(why) if why.kind() != ErrorKind::BrokenPipe => panic!("cannot write the output: {why}"),
        _ => {}
    }
}

macro_rules! print {
    ($($arg:tt)*) => { $crate::out::write(&mut std::io::stdout().lock(), format_args!($($arg)*)) };
}

macro_rules! println {
    () => { print!("\n") };
    ($($arg:tt)*) => { $crate::out::write(&mut std::io::stdout().lock(), format_args!("{}\n", format_args!($($arg)*))) };
}

macro_rules! eprint {
    ($($arg:tt)*) => { $crate::out::write(&mut std::io::stderr().lock(), format_args!($($arg)*)) };
}

macro_rules! eprintln {
    ($($arg:tt)*) => { $crate::out::write(&mut std::io::stderr().lock(), format_args!("{}\n", format_args!($($arg)*))) };
}
