//! KLEE's `.ktest` files: written as version 3, read as versions 1 to 3.
//!
//! Layout, all numbers big-endian u32: magic (`KTEST`, in old files `BOUT\n`), version, number of
//! arguments, each as length and bytes; from version 2 the number and length of symbolic arguments;
//! number of objects, each as name length, name, size, bytes.

use crate::error::{ReportError, Result};
use crate::input::{Input, InputOrigin, InputType};
use crate::model::TestCase;

const MAGIC: &[u8; 5] = b"KTEST";
const OLD_MAGIC: &[u8; 5] = b"BOUT\n";
const VERSION: u32 = 3;

/// A named sequence of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KTestObject {
    /// Name given to `klee_make_symbolic`, or the nondet function's name.
    pub name: String,
    /// Contents.
    pub bytes: Vec<u8>,
}

/// Contents of a `.ktest` file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KTest {
    /// Program arguments, the program's name first.
    pub args: Vec<String>,
    /// Number of symbolic arguments (KLEE's POSIX runtime).
    pub sym_argvs: u32,
    /// Length of symbolic arguments (KLEE's POSIX runtime).
    pub sym_argv_len: u32,
    /// Objects in the order the program asks for them.
    pub objects: Vec<KTestObject>,
}

impl From<&TestCase> for KTest {
    fn from(test: &TestCase) -> Self {
        let object = |i: &Input| KTestObject { name: i.name.clone(), bytes: i.bytes.clone() };
        KTest {
            args: test.args.clone(),
            sym_argvs: 0,
            sym_argv_len: 0,
            objects: test.inputs.iter().map(object).collect(),
        }
    }
}

impl KTest {
    /// The objects as inputs without types, for tests made by other tools.
    pub fn untyped_inputs(&self) -> Vec<Input> {
        let input = |o: &KTestObject| Input {
            name: o.name.clone(),
            ty: InputType::Bytes(o.bytes.len() as u64),
            bytes: o.bytes.clone(),
            origin: InputOrigin::MakeSymbolic,
        };
        self.objects.iter().map(input).collect()
    }

    /// The file's bytes, version 3.
    pub fn to_bytes(&self) -> Vec<u8> {
        let payload: usize = self.objects.iter().map(|o| o.name.len() + o.bytes.len() + 8).sum();
        let mut out = Vec::with_capacity(64 + payload);
        out.extend_from_slice(MAGIC);
        put(&mut out, VERSION);
        put(&mut out, self.args.len() as u32);
        for arg in &self.args {
            put_bytes(&mut out, arg.as_bytes());
        }
        put(&mut out, self.sym_argvs);
        put(&mut out, self.sym_argv_len);
        put(&mut out, self.objects.len() as u32);
        for object in &self.objects {
            put_bytes(&mut out, object.name.as_bytes());
            put_bytes(&mut out, &object.bytes);
        }
        out
    }

    /// Reads a file's bytes; never allocates more than they hold.
    pub fn from_bytes(data: &[u8]) -> Result<KTest> {
        let mut reader = Reader { data, at: 0 };
        let magic = reader.take(5, "magic")?;
        if magic != MAGIC && magic != OLD_MAGIC {
            return Err(malformed("it does not start with KTEST"));
        }
        let version = reader.number("version")?;
        if version > VERSION {
            return Err(malformed(format!("version {version} is newer than {VERSION}")));
        }
        let mut test = KTest::default();
        for _ in 0..reader.count(4, "number of arguments")? {
            test.args.push(reader.text("argument")?);
        }
        if version >= 2 {
            test.sym_argvs = reader.number("number of symbolic arguments")?;
            test.sym_argv_len = reader.number("length of symbolic arguments")?;
        }
        for _ in 0..reader.count(8, "number of objects")? {
            let name = reader.text("object name")?;
            let bytes = reader.sized("object")?.to_vec();
            test.objects.push(KTestObject { name, bytes });
        }
        match data.len() - reader.at {
            0 => Ok(test),
            extra => Err(malformed(format!("{extra} bytes follow the last object"))),
        }
    }
}

fn malformed(why: impl Into<String>) -> ReportError {
    ReportError::malformed("ktest", why)
}

fn put(out: &mut Vec<u8>, number: u32) {
    out.extend_from_slice(&number.to_be_bytes());
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put(out, bytes.len() as u32);
    out.extend_from_slice(bytes);
}

struct Reader<'a> {
    data: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, n: usize, what: &str) -> Result<&'a [u8]> {
        let left = &self.data[self.at..];
        if n > left.len() {
            let (at, have) = (self.at, left.len());
            return Err(malformed(format!("{what} at byte {at} needs {n} bytes, {have} are left")));
        }
        self.at += n;
        Ok(&left[..n])
    }

    fn number(&mut self, what: &str) -> Result<u32> {
        let b = self.take(4, what)?;
        Ok(u32::from_be_bytes([b[0], b[1], b[2], b[3]]))
    }

    /// A number of things that each take at least `each` bytes.
    fn count(&mut self, each: usize, what: &str) -> Result<u32> {
        let n = self.number(what)?;
        let room = (self.data.len() - self.at) / each;
        if n as usize > room {
            return Err(malformed(format!("{what} is {n}, but there is room for {room} at most")));
        }
        Ok(n)
    }

    fn sized(&mut self, what: &str) -> Result<&'a [u8]> {
        let n = self.number(what)?;
        self.take(n as usize, what)
    }

    fn text(&mut self, what: &str) -> Result<String> {
        let bytes = self.sized(what)?;
        String::from_utf8(bytes.to_vec()).map_err(|_| malformed(format!("{what} is not UTF-8")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> KTest {
        KTest {
            args: vec!["a.bc".into()],
            sym_argvs: 0,
            sym_argv_len: 0,
            objects: vec![KTestObject { name: "x".into(), bytes: vec![1, 2, 3, 0xff] }],
        }
    }

    const GOLDEN: &[u8] = b"KTEST\0\0\0\x03\0\0\0\x01\0\0\0\x04a.bc\0\0\0\0\0\0\0\0\0\0\0\x01\
        \0\0\0\x01x\0\0\0\x04\x01\x02\x03\xff";

    #[test]
    fn bytes_are_those_of_klee() {
        assert_eq!(sample().to_bytes(), GOLDEN);
        assert_eq!(KTest::from_bytes(GOLDEN).unwrap(), sample());
    }

    #[test]
    fn old_versions_are_read() {
        let v1 = b"BOUT\n\0\0\0\x01\0\0\0\0\0\0\0\x01\0\0\0\x01y\0\0\0\x01\x07";
        let test = KTest::from_bytes(v1).unwrap();
        assert_eq!(test.objects, [KTestObject { name: "y".into(), bytes: vec![7] }]);
        let v2 = b"KTEST\0\0\0\x02\0\0\0\0\0\0\0\x05\0\0\0\x06\0\0\0\0";
        let test = KTest::from_bytes(v2).unwrap();
        assert_eq!((test.sym_argvs, test.sym_argv_len), (5, 6));
    }

    #[test]
    fn every_truncation_and_excess_is_an_error() {
        for n in 0..GOLDEN.len() {
            assert!(KTest::from_bytes(&GOLDEN[..n]).is_err(), "{n} bytes");
        }
        assert!(KTest::from_bytes(&[GOLDEN, b"!"].concat()).is_err());
    }

    #[test]
    fn hostile_lengths_and_versions_are_errors() {
        for at in (5..41).step_by(1) {
            let mut bytes = GOLDEN.to_vec();
            bytes[at] = 0xff;
            let _ = KTest::from_bytes(&bytes);
        }
        let huge = b"KTEST\0\0\0\x03\xff\xff\xff\xff";
        let message = KTest::from_bytes(huge).unwrap_err().to_string();
        assert!(message.contains("room for 0"), "{message}");
        assert!(KTest::from_bytes(b"KTEST\0\0\0\x04\0\0\0\0").is_err());
        assert!(KTest::from_bytes(b"ELF..").is_err());
    }
}
