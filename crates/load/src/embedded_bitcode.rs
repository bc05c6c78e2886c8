//! Bitcode that objects and programs carry in a section, from the compiler wrapper to the front end.
//!
//! Linkers put sections of one name one after the other, so a program has one piece per object that went into it, also
//! of those that came out of static libraries. A piece is [`PIECE`], the lengths of its name and of its bitcode, and
//! these. Programs built with wllvm or gllvm have a section with paths of bitcode files instead.

use crate::elf::{self, Elf};
use std::path::{Path, PathBuf};

/// Name of the section.
pub const SECTION: &str = ".pleach_bc";
/// wllvm's and gllvm's: paths, one per line.
const PATHS: &str = ".llvm_bc";
const PIECE: &[u8; 8] = b"pleachBC";

/// What the bitcode needs besides itself: the C library comes with every program.
const EVERYWHERE: [&str; 5] = ["libc.so", "libm.so", "ld-linux", "libpthread.so", "libdl.so"];

/// The bitcode of one source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Piece {
    /// the source, as the compiler was given it
    pub name: String,
    pub bitcode: Vec<u8>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct EmbeddedBitcode {
    pub pieces: Vec<Piece>,
    /// shared libraries the program was linked with, without the C library's
    pub libraries: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum CarriedError {
    #[error("{}: it has no bitcode in it; build it with CC=\"pleach cc\" (or with wllvm or gllvm) and do not strip it", .0.display())]
    None(PathBuf),
    #[error("{}: the bitcode in it is damaged; build it again", .0.display())]
    Damaged(PathBuf),
    #[error("{}: cannot be read: {why}", path.display())]
    Unreadable { path: PathBuf, why: std::io::Error },
    #[error("{}: its bitcode {} cannot be read: {why}", path.display(), bitcode.display())]
    Gone { path: PathBuf, bitcode: PathBuf, why: std::io::Error },
}

/// The section's contents for one source.
pub fn section(name: &str, bitcode: &[u8]) -> Vec<u8> {
    let lengths = [name.len() as u64, bitcode.len() as u64].map(u64::to_le_bytes);
    [&PIECE[..], &lengths[0], &lengths[1], name.as_bytes(), bitcode].concat()
}

/// The object with the section in it; `None` if it is no ELF object.
pub fn embed(object: &[u8], contents: &[u8]) -> Option<Vec<u8>> {
    Elf::read(object)?.with_section(SECTION, contents)
}

/// What the file carries; nothing if it is no ELF file.
pub fn of_file(path: &Path) -> Result<Option<EmbeddedBitcode>, CarriedError> {
    use std::io::Read;
    let unreadable = |why| CarriedError::Unreadable { path: path.to_path_buf(), why };
    let Ok(mut file) = std::fs::File::open(path) else { return Ok(None) };
    let mut magic = [0; 4];
    if file.read_exact(&mut magic).is_err() || magic != elf::MAGIC {
        return Ok(None);
    }
    of_bytes(path, &std::fs::read(path).map_err(unreadable)?)
}

/// What these bytes of the file carry; nothing if they are not in the ELF format.
pub fn of_bytes(path: &Path, bytes: &[u8]) -> Result<Option<EmbeddedBitcode>, CarriedError> {
    if !bytes.starts_with(elf::MAGIC) {
        return Ok(None);
    }
    let none = || CarriedError::None(path.to_path_buf());
    let elf = Elf::read(bytes).ok_or_else(none)?;
    let pieces = match (elf.section(SECTION), elf.section(PATHS)) {
        (Some(contents), _) => pieces(contents).ok_or_else(|| CarriedError::Damaged(path.to_path_buf()))?,
        (None, Some(paths)) => follow(path, paths)?,
        (None, None) => return Err(none()),
    };
    let mut libraries = elf.needed();
    libraries.retain(|l| !EVERYWHERE.iter().any(|e| l.starts_with(e)));
    Ok(Some(EmbeddedBitcode { pieces, libraries }))
}

fn pieces(mut rest: &[u8]) -> Option<Vec<Piece>> {
    let mut out = Vec::new();
    loop {
        // Linkers may fill up with zeros.
        rest = &rest[rest.iter().take_while(|b| **b == 0).count()..];
        if rest.is_empty() {
            return Some(out);
        }
        let head = rest.strip_prefix(PIECE)?;
        let length = |at: usize| usize::try_from(u64::from_le_bytes(head.get(at..at + 8)?.try_into().ok()?)).ok();
        let (name, bitcode) = (length(0)?, length(8)?);
        let (name, body) = head.get(16..)?.split_at_checked(name)?;
        let (bitcode, next) = body.split_at_checked(bitcode)?;
        out.push(Piece { name: String::from_utf8_lossy(name).into_owned(), bitcode: bitcode.to_vec() });
        rest = next;
    }
}

fn follow(path: &Path, paths: &[u8]) -> Result<Vec<Piece>, CarriedError> {
    use std::os::unix::ffi::OsStrExt;
    let lines = paths.split(|b| matches!(b, b'\n' | 0)).filter(|l| !l.is_empty());
    lines
        .map(|line| {
            let bitcode = PathBuf::from(std::ffi::OsStr::from_bytes(line));
            let gone = |why| CarriedError::Gone { path: path.to_path_buf(), bitcode: bitcode.clone(), why };
            let bytes = std::fs::read(&bitcode).map_err(gone)?;
            Ok(Piece { name: bitcode.display().to_string(), bitcode: bytes })
        })
        .collect()
}

impl EmbeddedBitcode {
    /// Writes every piece as a file of its own, in order.
    pub fn write(&self, directory: &Path) -> std::io::Result<Vec<PathBuf>> {
        std::fs::create_dir_all(directory)?;
        let file = |(i, piece): (usize, &Piece)| {
            let stem = Path::new(&piece.name).file_stem().unwrap_or_default().to_string_lossy();
            let path = directory.join(format!("{i:03}-{}.bc", stem.trim_start_matches('.')));
            std::fs::write(&path, &piece.bitcode).map(|()| path)
        };
        self.pieces.iter().enumerate().map(file).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_one_after_the_other() {
        let both = [section("a.c", b"BC first"), vec![0; 5], section("dir/b.c", b"BC second")].concat();
        let found = pieces(&both).expect("two pieces");
        assert_eq!(found.iter().map(|p| p.name.as_str()).collect::<Vec<_>>(), ["a.c", "dir/b.c"]);
        assert_eq!(found[1].bitcode, b"BC second");
        let whole: Vec<usize> = (0..both.len()).filter(|cut| pieces(&both[..*cut]).is_some()).collect();
        let first = section("a.c", b"BC first").len();
        assert_eq!(whole, [0].into_iter().chain(first..=first + 5).collect::<Vec<_>>(), "a cut piece is noticed");
    }
}
