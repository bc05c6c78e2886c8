//! From paths to the bytes of bitcode or textual IR; C goes through clang.

use crate::clang::{self, Compiled};
use crate::{FrontendError, Options};
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
pub(crate) fn read_all(options: &Options) -> Result<Vec<Input>, FrontendError> {
    if options.inputs.is_empty() {
        return Err(FrontendError::NoInputs);
    }
    for path in &options.inputs {
        check(path)?;
    }
    let workers = std::thread::available_parallelism().map_or(1, |n| n.get()).min(options.inputs.len());
    let next = std::sync::atomic::AtomicUsize::new(0);
    let mut done: Vec<(usize, Result<Input, FrontendError>)> = std::thread::scope(|scope| {
        let work = || {
            let mut mine = Vec::new();
            loop {
                let i = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                let Some(path) = options.inputs.get(i) else { return mine };
                mine.push((i, read(path, i, options)));
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

fn read(path: &Path, index: usize, options: &Options) -> Result<Input, FrontendError> {
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("");
    let slurp = |p: &Path| std::fs::read(p).map_err(|why| FrontendError::Unreadable { path: p.to_path_buf(), why });
    let input = |bytes, kind| Input { path: path.to_path_buf(), bytes, kind, remarks: Vec::new() };
    match extension {
        "ll" => Ok(input(slurp(path)?, Kind::Text)),
        "rs" => Ok(input(crate::rust::compile(path, index, options)?, Kind::Text)),
        "c" | "i" | "h" | "cpp" | "cc" | "cxx" | "C" | "ii" => compiled(path, index, options),
        _ => {
            let bytes = slurp(path)?;
            if bytes.starts_with(&MAGIC) || bytes.starts_with(&WRAPPER_MAGIC) {
                Ok(input(bytes, Kind::Bitcode))
            } else if bytes.starts_with(crate::archive::MAGIC) {
                Ok(input(bytes, Kind::Archive))
            } else if extension == "bc" {
                let why = "it does not start with the bitcode signature".to_owned();
                Err(FrontendError::Malformed { path: path.to_path_buf(), why })
            } else {
                compiled(path, index, options)
            }
        }
    }
}

fn compiled(path: &Path, index: usize, options: &Options) -> Result<Input, FrontendError> {
    let Compiled { bitcode, remarks } = clang::compile(path, index, options)?;
    let bytes = std::fs::read(&bitcode).map_err(|why| FrontendError::Unreadable { path: bitcode.clone(), why })?;
    Ok(Input { path: path.to_path_buf(), bytes, kind: Kind::Bitcode, remarks })
}
