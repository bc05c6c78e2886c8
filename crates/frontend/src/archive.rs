//! Archives of bitcode in the common `ar` format with its symbol table: which member defines a name.

use rustc_hash::FxHashMap;

pub(crate) struct Archive {
    bytes: Vec<u8>,
    /// name → offset of the member's header
    symbols: FxHashMap<String, usize>,
}

pub(crate) const MAGIC: &[u8] = b"!<arch>\n";
const HEADER: usize = 60;

/// Offset and size of the contents behind a header.
fn member(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let header = bytes.get(at..at.checked_add(HEADER)?)?;
    let size: usize = std::str::from_utf8(&header[48..58]).ok()?.trim_end().parse().ok()?;
    let start = at + HEADER;
    (header[58..] == *b"`\n" && start.checked_add(size)? <= bytes.len()).then_some((start, size))
}

fn number(bytes: &[u8], at: usize) -> Option<usize> {
    let b: [u8; 4] = bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
    usize::try_from(u32::from_be_bytes(b)).ok()
}

impl Archive {
    /// `None` if it is not an archive with a symbol table.
    pub fn read(bytes: Vec<u8>) -> Option<Archive> {
        if !bytes.starts_with(MAGIC) || bytes.get(8..24)?.trim_ascii_end() != b"/" {
            return None;
        }
        let (start, size) = member(&bytes, MAGIC.len())?;
        let table = &bytes[start..start + size];
        let count = number(table, 0)?;
        let mut names = table.get(4 + count.checked_mul(4)?..)?.split(|b| *b == 0);
        let mut symbols = FxHashMap::default();
        for i in 0..count {
            let name = String::from_utf8_lossy(names.next()?).into_owned();
            symbols.entry(name).or_insert(number(table, 4 + 4 * i)?);
        }
        Some(Archive { bytes, symbols })
    }

    /// The number of the member that defines `name`, to be given to [`Archive::contents`].
    pub fn find(&self, name: &str) -> Option<usize> {
        self.symbols.get(name).copied()
    }

    pub fn contents(&self, at: usize) -> Option<&[u8]> {
        let (start, size) = member(&self.bytes, at)?;
        self.bytes.get(start..start + size)
    }
}

#[cfg(test)]
mod tests {
    use super::Archive;

    fn header(name: &str, size: usize) -> String {
        format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{size:<10}`\n", 0, 0, 0, 644)
    }

    #[test]
    fn members_are_found_by_the_names_they_define() {
        let table: Vec<u8> = [&2u32.to_be_bytes()[..], &84u32.to_be_bytes(), &84u32.to_be_bytes(), b"f\0g\0"].concat();
        let text = format!("!<arch>\n{}", header("/", table.len()));
        let bytes = [text.as_bytes(), &table, header("a.bc/", 3).as_bytes(), b"abc"].concat();
        let archive = Archive::read(bytes.clone()).expect("an archive");
        assert_eq!(archive.find("g").and_then(|m| archive.contents(m)), Some(&b"abc"[..]));
        assert_eq!(archive.find("h"), None);
        for cut in 0..bytes.len() {
            // Damaged archives are refused or lack members; nothing panics.
            if let Some(a) = Archive::read(bytes[..cut].to_vec()) {
                assert_eq!(a.find("f").and_then(|m| a.contents(m)), None);
            }
        }
    }
}
