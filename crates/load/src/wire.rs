//! What is said between this process and the front end, in postcard's binary form.
//!
//! To the front end, on its standard input: [`VERSION`], then the [`Options`]. Back, on its standard output: what it is
//! about to do, so that a crash has a name, and at last [`Message::Program`] with the program after it, or
//! [`Message::Refused`]. Where LLVM gives up in the middle of something, the status is [`GAVE_UP`] and the reason is on
//! standard error. Both sides come from one build; the version is there to notice when they do not.

use crate::Options;
use pleach_ir::Program;
use serde::{Deserialize, Serialize};
use std::io::Write;

pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Exit status.
pub const GAVE_UP: u8 = 2;

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Message {
    /// about to read the input of this index
    Reading(u32),
    /// all are read and linked
    Lowering,
    /// the program follows
    Program,
    /// there is no program, for this reason
    Refused(String),
    /// the compiler used up the processor time that the system allows
    OutOfTime,
    /// an input is compiled, of several that are compiled side by side
    Compiled,
}

pub fn encode_request(options: &Options) -> postcard::Result<Vec<u8>> {
    postcard::to_stdvec(&(VERSION, options))
}

/// The options; `Err` is a sentence.
pub fn decode_request(bytes: &[u8]) -> Result<Options, String> {
    // The version comes first: it can be read although the rest may be unlike ours.
    match postcard::take_from_bytes::<String>(bytes) {
        Ok((version, rest)) if version == VERSION => {
            postcard::from_bytes(rest).map_err(|why| format!("the request cannot be read: {why}"))
        }
        Ok((version, _)) if version.len() < 32 => {
            Err(format!("pleach is version {version}, its front end is version {VERSION}"))
        }
        _ => Err("the request cannot be read; it comes from pleach on standard input".to_owned()),
    }
}

pub fn write(message: &Message, out: &mut impl Write) -> postcard::Result<()> {
    postcard::to_io(message, out).map(|_| ())
}

/// The last message of a successful run.
pub fn write_program(program: &Program, out: &mut impl Write) -> postcard::Result<()> {
    write(&Message::Program, out)?;
    postcard::to_io(program, out).map(|_| ())
}

/// How many inputs the messages say are compiled, as far as they have come. They are of one byte each, and come first.
pub(crate) fn compiled(bytes: &[u8]) -> usize {
    let one = postcard::to_stdvec(&Message::Compiled).unwrap_or_default();
    bytes.chunks(one.len().max(1)).take_while(|c| *c == one).count()
}

/// What the front end said before it ended.
#[derive(Debug)]
pub struct Reply {
    /// the input it was reading
    pub input: Option<u32>,
    pub outcome: FrontendReply,
}

#[derive(Debug)]
pub enum FrontendReply {
    Program(Box<Program>),
    Refused(String),
    OutOfTime,
    /// it ended before it had an answer
    Cut,
}

pub fn decode_reply(mut bytes: &[u8]) -> Reply {
    let mut input = None;
    while let Ok((message, rest)) = postcard::take_from_bytes(bytes) {
        let outcome = match message {
            Message::Reading(_) | Message::Lowering | Message::Compiled => {
                input = if let Message::Reading(index) = message { Some(index) } else { None };
                bytes = rest;
                continue;
            }
            Message::Refused(why) => FrontendReply::Refused(why),
            Message::OutOfTime => FrontendReply::OutOfTime,
            Message::Program => match postcard::from_bytes(rest) {
                Ok(program) => FrontendReply::Program(Box::new(program)),
                Err(_) => FrontendReply::Cut,
            },
        };
        return Reply { input, outcome };
    }
    Reply { input, outcome: FrontendReply::Cut }
}

/// Paths as bytes: they need not be text.
pub(crate) mod path {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::ffi::OsString;
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    use std::path::{Path, PathBuf};

    pub fn bytes(path: &Path) -> &[u8] {
        path.as_os_str().as_bytes()
    }
    pub fn from_bytes(bytes: Vec<u8>) -> PathBuf {
        OsString::from_vec(bytes).into()
    }
    pub fn serialize<S: Serializer>(path: &Path, s: S) -> Result<S::Ok, S::Error> {
        bytes(path).serialize(s)
    }
    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<PathBuf, D::Error> {
        Vec::deserialize(d).map(from_bytes)
    }
}

pub(crate) mod path_list {
    use super::path::{bytes, from_bytes};
    use serde::{Deserialize, Deserializer, Serializer};
    use std::path::PathBuf;

    pub fn serialize<S: Serializer>(paths: &[PathBuf], s: S) -> Result<S::Ok, S::Error> {
        s.collect_seq(paths.iter().map(|p| bytes(p)))
    }
    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<PathBuf>, D::Error> {
        Ok(Vec::<Vec<u8>>::deserialize(d)?.into_iter().map(from_bytes).collect())
    }
}

pub(crate) mod path_option {
    use super::path::{bytes, from_bytes};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::path::PathBuf;

    pub fn serialize<S: Serializer>(path: &Option<PathBuf>, s: S) -> Result<S::Ok, S::Error> {
        path.as_deref().map(bytes).serialize(s)
    }
    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Option<PathBuf>, D::Error> {
        Ok(Option::<Vec<u8>>::deserialize(d)?.map(from_bytes))
    }
}
