//! As much of ELF (little-endian, 32 and 64 bits) as it takes to put a section into an object and to find it in a
//! program.

/// An object, program or shared library.
pub struct Elf<'a> {
    bytes: &'a [u8],
    wide: bool,
    sections: Vec<Section<'a>>,
}

struct Section<'a> {
    name: &'a [u8],
    kind: u32,
    /// the section with its names, for some kinds
    link: u32,
    contents: &'a [u8],
}

pub const MAGIC: &[u8] = b"\x7fELF";

const NO_BITS: u32 = 8;
const DYNAMIC: u32 = 6;
const NEEDED: u64 = 1;

/// Where the fields of headers are, by the width of addresses: offset and size of each.
struct Layout {
    word: usize,
    header: usize,
    section_table: usize,
    section_count: usize,
    section: usize,
    contents: usize,
}
const NARROW: Layout = Layout { word: 4, header: 52, section_table: 32, section_count: 48, section: 40, contents: 16 };
const WIDE: Layout = Layout { word: 8, header: 64, section_table: 40, section_count: 60, section: 64, contents: 24 };

fn number(bytes: &[u8], at: usize, size: usize) -> Option<u64> {
    let mut le = [0; 8];
    le[..size].copy_from_slice(bytes.get(at..at.checked_add(size)?)?);
    Some(u64::from_le_bytes(le))
}

fn slice(bytes: &[u8], at: u64, size: u64) -> Option<&[u8]> {
    let at = usize::try_from(at).ok()?;
    bytes.get(at..at.checked_add(usize::try_from(size).ok()?)?)
}

/// The text at an offset of a table of names.
fn text(table: &[u8], at: u64) -> &[u8] {
    let rest = usize::try_from(at).ok().and_then(|at| table.get(at..)).unwrap_or_default();
    rest.split(|b| *b == 0).next().unwrap_or_default()
}

impl<'a> Elf<'a> {
    /// `None` if it is no such file or is damaged.
    pub fn read(bytes: &'a [u8]) -> Option<Elf<'a>> {
        let wide = match bytes.get(..6)? {
            [0x7f, b'E', b'L', b'F', 1, 1] => false,
            [0x7f, b'E', b'L', b'F', 2, 1] => true,
            _ => return None,
        };
        let l = layout(wide);
        let count = number(bytes, l.section_count, 2)? as usize;
        let names = number(bytes, l.section_count + 2, 2)? as usize;
        let table = usize::try_from(number(bytes, l.section_table, l.word)?).ok()?;
        let mut sections = Vec::with_capacity(count);
        let mut name_offsets = Vec::with_capacity(count);
        for i in 0..count {
            let at = table.checked_add(i * l.section)?;
            let kind = number(bytes, at + 4, 4)? as u32;
            let (from, size) =
                (number(bytes, at + l.contents, l.word)?, number(bytes, at + l.contents + l.word, l.word)?);
            let contents = if kind == NO_BITS { &[][..] } else { slice(bytes, from, size)? };
            let link = number(bytes, at + l.contents + 2 * l.word, 4)? as u32;
            name_offsets.push(number(bytes, at, 4)?);
            sections.push(Section { name: b"", kind, link, contents });
        }
        let names = sections.get(names).map_or(&[][..], |s| s.contents);
        for (section, at) in sections.iter_mut().zip(name_offsets) {
            section.name = text(names, at);
        }
        Some(Elf { bytes, wide, sections })
    }

    pub fn section(&self, name: &str) -> Option<&'a [u8]> {
        self.sections.iter().find(|s| s.name == name.as_bytes()).map(|s| s.contents)
    }

    /// Shared libraries it is linked with.
    pub fn needed(&self) -> Vec<String> {
        let word = layout(self.wide).word;
        let mut out = Vec::new();
        for s in self.sections.iter().filter(|s| s.kind == DYNAMIC) {
            let Some(names) = self.sections.get(s.link as usize) else { continue };
            for entry in s.contents.chunks_exact(2 * word) {
                if let (Some(NEEDED), Some(at)) = (number(entry, 0, word), number(entry, word, word)) {
                    out.push(String::from_utf8_lossy(text(names.contents, at)).into_owned());
                }
            }
        }
        out
    }

    /// The same object with one more section, which is no part of the memory image. Everything else keeps its place.
    pub fn with_section(&self, name: &str, contents: &[u8]) -> Option<Vec<u8>> {
        let l = layout(self.wide);
        let count = self.sections.len();
        let names = number(self.bytes, l.section_count + 2, 2)? as usize;
        let table = usize::try_from(number(self.bytes, l.section_table, l.word)?).ok()?;
        // A larger number is written elsewhere; objects from one source do not have that many.
        if count == 0 || count + 1 >= 0xff00 || self.bytes.len() < l.header {
            return None;
        }
        let mut out = self.bytes.to_vec();
        let contents_at = out.len();
        out.extend_from_slice(contents);
        let names_at = out.len();
        let old_names = self.sections.get(names)?.contents;
        out.extend_from_slice(old_names);
        out.extend_from_slice(name.as_bytes());
        out.push(0);
        let names_size = out.len() - names_at;
        out.resize(out.len().next_multiple_of(8), 0);
        let table_at = out.len();
        out.extend_from_slice(self.bytes.get(table..table + count * l.section)?);
        let new = out.len();
        out.resize(new + l.section, 0);
        let mut put = |at: usize, size: usize, value: usize| {
            out[at..at + size].copy_from_slice(&(value as u64).to_le_bytes()[..size]);
        };
        let names_header = table_at + names * l.section;
        put(names_header + l.contents, l.word, names_at);
        put(names_header + l.contents + l.word, l.word, names_size);
        put(new, 4, old_names.len());
        put(new + 4, 4, 1); // bits of the program's own kind
        put(new + l.contents, l.word, contents_at);
        put(new + l.contents + l.word, l.word, contents.len());
        put(new + l.section - 2 * l.word, l.word, 1); // alignment
        put(l.section_table, l.word, table_at);
        put(l.section_count, 2, count + 1);
        Some(out)
    }
}

fn layout(wide: bool) -> Layout {
    if wide { WIDE } else { NARROW }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An object without anything but a table of names.
    fn smallest(wide: bool) -> Vec<u8> {
        let l = layout(wide);
        let mut bytes = vec![0; l.header + 16 + 2 * l.section];
        bytes[..4].copy_from_slice(MAGIC);
        (bytes[4], bytes[5]) = (if wide { 2 } else { 1 }, 1);
        bytes[l.section_table] = (l.header + 16) as u8;
        bytes[l.section_count] = 2;
        bytes[l.section_count + 2] = 1;
        bytes[l.header + 1..l.header + 7].copy_from_slice(b".names");
        let names = l.header + 16 + l.section;
        (bytes[names], bytes[names + 4]) = (1, 3);
        (bytes[names + l.contents], bytes[names + l.contents + l.word]) = (l.header as u8, 8);
        bytes
    }

    #[test]
    fn a_section_put_in_is_found_again() {
        for wide in [false, true] {
            let object = smallest(wide);
            let elf = Elf::read(&object).expect("an object");
            assert!(elf.section(".names").is_some());
            assert_eq!(elf.section(".more"), None);
            let more = elf.with_section(".more", b"contents").expect("room for a section");
            let elf = Elf::read(&more).expect("still an object");
            assert_eq!(elf.section(".more"), Some(&b"contents"[..]));
            assert_eq!(elf.section(".names").map(|n| &n[..8]), Some(&b"\0.names\0"[..]));
            for cut in 0..more.len() {
                // Damaged files are refused; nothing panics.
                let _ = Elf::read(&more[..cut]).and_then(|e| e.with_section(".x", b"y"));
            }
        }
    }
}
