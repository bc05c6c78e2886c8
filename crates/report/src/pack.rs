//! `tests.pack`: tests that neither fail nor cover anything new, many per second in one file.
//!
//! After the header come records: u32 payload length, u32 CRC-32 of the payload (little endian), payload. A payload
//! is either a *shape* (tag 1: JSON of arguments and of each input's name, type and origin; numbered from 0 in
//! order) or a *test* (tag 2: varints for id, shape, path, instructions; flags; prediction; the inputs' bytes).
//! Tests of one program share a few shapes, so a test takes little more than its bytes. A record cut off at the end,
//! as after a kill, ends the file.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::error::{ReportError, Result};
use crate::input::{Input, InputOrigin, InputType};
use crate::model::{Prediction, TestCase, TestId};

const HEADER: &[u8; 8] = b"PLPACK1\n";
const SHAPE: u8 = 1;
const TEST: u8 = 2;
const FLUSH_EVERY: Duration = Duration::from_millis(500);
const BUFFER: usize = 1 << 20;
/// Inputs of all shapes that are remembered; beyond, they are forgotten, and a shape may be written twice.
const REMEMBERED_INPUTS: usize = 10_000;

/// What tests of one program have in common.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Shape {
    args: Vec<String>,
    inputs: Vec<(String, InputType, InputOrigin)>,
}

impl Shape {
    fn fits(&self, test: &TestCase) -> bool {
        let same = |(slot, input): (&(String, InputType, InputOrigin), &Input)| {
            slot.0 == input.name && slot.2 == input.origin && slot.1 == input.ty
        };
        self.args == test.args
            && self.inputs.len() == test.inputs.len()
            && self.inputs.iter().zip(&test.inputs).all(same)
    }

    fn of(test: &TestCase) -> Self {
        let slot = |i: &Input| (i.name.clone(), i.ty.clone(), i.origin);
        Self { args: test.args.clone(), inputs: test.inputs.iter().map(slot).collect() }
    }
}

/// Appends tests.
pub struct PackWriter {
    out: BufWriter<File>,
    path: PathBuf,
    shapes: HashMap<Shape, u64>,
    /// How many were written.
    written: u64,
    /// Of those in `shapes`.
    inputs: usize,
    /// The previous test's shape: the next one mostly has it too.
    last: Option<(Shape, u64)>,
    flushed: Instant,
    payload: Vec<u8>,
}

impl PackWriter {
    /// Starts a new archive.
    pub fn create(path: &Path) -> Result<Self> {
        let file = File::create(path).map_err(ReportError::io("create", path))?;
        let mut out = BufWriter::with_capacity(BUFFER, file);
        out.write_all(HEADER).map_err(ReportError::io("write", path))?;
        let (path, flushed) = (path.to_owned(), Instant::now());
        Ok(Self { out, path, shapes: HashMap::new(), written: 0, inputs: 0, last: None, flushed, payload: Vec::new() })
    }

    /// Adds a test; on disk within half a second of the next call, or at [`Self::flush`].
    pub fn push(&mut self, test: &TestCase) -> Result<()> {
        let shape = self.shape(test)?;
        let mut payload = std::mem::take(&mut self.payload);
        payload.clear();
        payload.push(TEST);
        for number in [u64::from(test.id.0), shape, test.path, test.instructions] {
            put_varint(&mut payload, number);
        }
        payload.push(u8::from(test.covers_new) | u8::from(test.given) << 1);
        match &test.predicted {
            Prediction::Exit { code: None } => payload.push(0),
            Prediction::Exit { code: Some(code) } => {
                payload.push(1);
                payload.extend_from_slice(&code.to_le_bytes());
            }
            other => {
                payload.push(2);
                let json = serde_json::to_vec(other).expect("a prediction always serialises");
                put_bytes(&mut payload, &json);
            }
        }
        for input in &test.inputs {
            put_bytes(&mut payload, &input.bytes);
        }
        let result = self.record(&payload);
        self.payload = payload;
        result?;
        if self.flushed.elapsed() >= FLUSH_EVERY {
            self.flush()?;
        }
        Ok(())
    }

    /// Hands everything to the operating system.
    pub fn flush(&mut self) -> Result<()> {
        self.flushed = Instant::now();
        self.out.flush().map_err(ReportError::io("write", &self.path))
    }

    fn shape(&mut self, test: &TestCase) -> Result<u64> {
        if let Some((shape, index)) = &self.last
            && shape.fits(test)
        {
            return Ok(*index);
        }
        let shape = Shape::of(test);
        let index = match self.shapes.get(&shape) {
            Some(index) => *index,
            None => {
                let index = self.written;
                self.written += 1;
                let mut payload = vec![SHAPE];
                payload.extend(serde_json::to_vec(&shape).expect("a shape always serialises"));
                self.record(&payload)?;
                self.remember(&shape, index);
                index
            }
        };
        self.last = Some((shape, index));
        Ok(index)
    }

    /// A program that reads inputs in a loop has a shape for each turn, and those of many turns are large.
    fn remember(&mut self, shape: &Shape, index: u64) {
        self.inputs += shape.inputs.len();
        if self.inputs > REMEMBERED_INPUTS {
            self.shapes.clear();
            self.inputs = shape.inputs.len();
        }
        self.shapes.insert(shape.clone(), index);
    }

    fn record(&mut self, payload: &[u8]) -> Result<()> {
        let mut head = [0u8; 8];
        head[..4].copy_from_slice(&(payload.len() as u32).to_le_bytes());
        head[4..].copy_from_slice(&crc32fast::hash(payload).to_le_bytes());
        let written = self.out.write_all(&head).and_then(|()| self.out.write_all(payload));
        written.map_err(ReportError::io("write", &self.path))
    }
}

/// Iterates over the tests of an archive.
pub struct PackReader<R = BufReader<File>> {
    input: R,
    /// Bytes left: a record cannot be longer, whatever its length says.
    left: u64,
    shapes: Vec<Shape>,
    failed: bool,
}

impl PackReader {
    /// Opens an archive.
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(ReportError::io("read", path))?;
        let length = file.metadata().map_err(ReportError::io("read", path))?.len();
        Self::new(BufReader::new(file), length)
    }
}

impl<R: Read> PackReader<R> {
    /// Reads `length` bytes of an archive.
    pub fn new(mut input: R, length: u64) -> Result<Self> {
        let mut header = [0; 8];
        match input.read_exact(&mut header) {
            Ok(()) if header == *HEADER => Ok(Self { input, left: length - 8, shapes: Vec::new(), failed: false }),
            // A killed run may have written nothing yet.
            Err(_) if length < 8 => Ok(Self { input, left: 0, shapes: Vec::new(), failed: false }),
            _ => Err(malformed("it does not start with PLPACK1")),
        }
    }

    fn record(&mut self) -> Result<Option<Vec<u8>>> {
        let Some(left) = self.left.checked_sub(8) else {
            return Ok(None);
        };
        let mut head = [0u8; 8];
        if self.input.read_exact(&mut head).is_err() {
            return Ok(None);
        }
        let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let Some(left) = left.checked_sub(u64::from(word(0))) else {
            return Ok(None);
        };
        let mut payload = vec![0; word(0) as usize];
        if self.input.read_exact(&mut payload).is_err() {
            return Ok(None);
        }
        self.left = left;
        if crc32fast::hash(&payload) != word(4) {
            // At the very end this is a write that did not finish; elsewhere it is damage.
            return if left == 0 { Ok(None) } else { Err(malformed("a record's checksum is wrong")) };
        }
        Ok(Some(payload))
    }

    fn next_test(&mut self) -> Result<Option<TestCase>> {
        while let Some(payload) = self.record()? {
            match payload.split_first() {
                Some((&SHAPE, json)) => {
                    let shape = serde_json::from_slice(json).map_err(|e| malformed(e.to_string()))?;
                    self.shapes.push(shape);
                }
                Some((&TEST, body)) => {
                    return self.test(body).map(Some).ok_or_else(|| malformed("a test record is damaged"));
                }
                _ => return Err(malformed("a record has an unknown tag")),
            }
        }
        Ok(None)
    }

    fn test(&self, mut body: &[u8]) -> Option<TestCase> {
        let body = &mut body;
        let id = TestId(u32::try_from(varint(body)?).ok()?);
        let shape = self.shapes.get(usize::try_from(varint(body)?).ok()?)?;
        let (path, instructions) = (varint(body)?, varint(body)?);
        let marks = take(body, 1)?[0];
        let (covers_new, given) = (marks & 1 != 0, marks & 2 != 0);
        let predicted = match take(body, 1)?[0] {
            0 => Prediction::Exit { code: None },
            1 => Prediction::Exit { code: Some(i32::from_le_bytes(take(body, 4)?.try_into().ok()?)) },
            2 => serde_json::from_slice(sized(body)?).ok()?,
            _ => return None,
        };
        let mut inputs = Vec::with_capacity(shape.inputs.len());
        for (name, ty, origin) in &shape.inputs {
            let bytes = sized(body)?.to_vec();
            inputs.push(Input { name: name.clone(), ty: ty.clone(), bytes, origin: *origin });
        }
        let args = shape.args.clone();
        body.is_empty().then_some(TestCase { id, inputs, predicted, covers_new, given, path, instructions, args })
    }
}

impl<R: Read> Iterator for PackReader<R> {
    type Item = Result<TestCase>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let next = self.next_test().transpose();
        self.failed = matches!(next, Some(Err(_)));
        next
    }
}

fn malformed(why: impl Into<String>) -> ReportError {
    ReportError::malformed("test archive", why)
}

fn put_varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

fn take<'a>(body: &mut &'a [u8], n: usize) -> Option<&'a [u8]> {
    let (head, tail) = body.split_at_checked(n)?;
    *body = tail;
    Some(head)
}

fn varint(body: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = take(body, 1)?[0];
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

fn sized<'a>(body: &mut &'a [u8]) -> Option<&'a [u8]> {
    let n = usize::try_from(varint(body)?).ok()?;
    take(body, n)
}

#[cfg(test)]
#[path = "pack_tests.rs"]
mod tests;
