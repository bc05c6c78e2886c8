//! From paths to the bytes of bitcode or textual IR; C goes through clang.

use crate::cache::Known;
use crate::clang::{self, Compiled};
use crate::{FrontendError, Options};
use std::io::Read;
use std::path::{Path, PathBuf};

/// One input, ready to be parsed.
pub(crate) struct Input {
    pub path: PathBuf,
    pub bytes: Vec<u8>,
    pub kind: Kind,
    /// what the compiler said of it that users should see
    pub remarks: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Bitcode,
    Text,
    /// of bitcode: what the others need of it
    Archive,
}

const MAGIC: [u8; 4] = [b'B', b'C', 0xC0, 0xDE];
const WRAPPER_MAGIC: [u8; 4] = [0xDE, 0xC0, 0x17, 0x0B];

/// Reads (and compiles, side by side) every input, in order; the first failing input decides the error.
pub(crate) fn read_all(
    options: &Options,
    known: Option<&Known>,
    compiled: &(dyn Fn() + Sync),
) -> Result<Vec<Input>, FrontendError> {
    if options.inputs.is_empty() {
        return Err(FrontendError::NoInputs);
    }
    for path in &options.inputs {
        check(path)?;
    }
    let read = |i: usize| {
        let read = read(&options.inputs[i], i, options, known);
        compiled();
        read
    };
    side_by_side(options.inputs.len(), &read).into_iter().collect()
}

/// The results for 0, …, n − 1, in this order.
pub(crate) fn side_by_side<T: Send>(n: usize, one: &(dyn Fn(usize) -> T + Sync)) -> Vec<T> {
    let workers = std::thread::available_parallelism().map_or(1, |n| n.get()).min(n);
    let next = std::sync::atomic::AtomicUsize::new(0);
    let mut done: Vec<(usize, T)> = std::thread::scope(|scope| {
        let work = || {
            let mut mine = Vec::new();
            loop {
                let i = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                if i >= n {
                    return mine;
                }
                mine.push((i, one(i)));
            }
        };
        let helpers: Vec<_> = (1..workers).map(|_| scope.spawn(work)).collect();
        let mut all = work();
        for h in helpers {
            all.extend(h.join().unwrap_or_default());
        }
        all
    });
    done.sort_by_key(|(i, _)| *i);
    done.into_iter().map(|(_, r)| r).collect()
}

fn check(path: &Path) -> Result<(), FrontendError> {
    let path_buf = || path.to_path_buf();
    match std::fs::metadata(path) {
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => Err(FrontendError::Missing { path: path_buf() }),
        Err(why) => Err(FrontendError::Unreadable { path: path_buf(), why }),
        Ok(m) if m.is_dir() => Err(FrontendError::Directory { path: path_buf() }),
        Ok(m) if m.is_file() && m.len() == 0 => Err(FrontendError::Empty { path: path_buf() }),
        Ok(_) => Ok(()),
    }
}

/// Who makes bitcode of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    /// nobody: it is
    Llvm(Kind),
    Rust,
    /// clang
    C,
}

/// By its ending, or else by its first bytes.
pub(crate) fn language(path: &Path) -> Result<Language, FrontendError> {
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("");
    match extension {
        "ll" => return Ok(Language::Llvm(Kind::Text)),
        "rs" => return Ok(Language::Rust),
        "c" | "i" | "h" | "cpp" | "cc" | "cxx" | "C" | "ii" => return Ok(Language::C),
        _ => {}
    }
    let mut head = Vec::new();
    let read = std::fs::File::open(path).and_then(|f| f.take(16).read_to_end(&mut head));
    read.map_err(|why| FrontendError::Unreadable { path: path.to_path_buf(), why })?;
    if head.starts_with(&MAGIC) || head.starts_with(&WRAPPER_MAGIC) {
        Ok(Language::Llvm(Kind::Bitcode))
    } else if head.starts_with(crate::archive::MAGIC) {
        Ok(Language::Llvm(Kind::Archive))
    } else if extension == "bc" {
        let why = "it does not start with the bitcode signature".to_owned();
        Err(FrontendError::Malformed { path: path.to_path_buf(), why })
    } else {
        Ok(Language::C)
    }
}

fn read(path: &Path, index: usize, options: &Options, known: Option<&Known>) -> Result<Input, FrontendError> {
    let input = |bytes, kind| Input { path: path.to_path_buf(), bytes, kind, remarks: Vec::new() };
    match language(path)? {
        Language::Llvm(kind) => {
            let bytes = std::fs::read(path);
            let bytes = bytes.map_err(|why| FrontendError::Unreadable { path: path.to_path_buf(), why })?;
            Ok(input(bytes, kind))
        }
        Language::Rust => crate::rust::compile(path, index, options, known),
        Language::C => compiled(path, index, options, known),
    }
}

fn compiled(path: &Path, index: usize, options: &Options, known: Option<&Known>) -> Result<Input, FrontendError> {
    let input = |bytes, remarks| Input { path: path.to_path_buf(), bytes, kind: Kind::Bitcode, remarks };
    if let Some((bytes, remarks)) = known.and_then(|k| k.bitcode(index)) {
        return Ok(input(bytes, remarks));
    }
    let Compiled { bitcode, remarks } = clang::compile(path, index, options)?;
    let bytes = std::fs::read(&bitcode).map_err(|why| FrontendError::Unreadable { path: bitcode.clone(), why })?;
    known.inspect(|k| k.keep_bitcode(index, &bytes, &remarks));
    Ok(input(bytes, remarks))
}
