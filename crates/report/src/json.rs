//! A test as JSON that a person can read and that reads back as the same [`TestCase`].

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{ReportError, Result};
use crate::input::{Input, InputOrigin, InputType};
use crate::model::{Prediction, TestCase, TestId};

#[derive(Serialize, Deserialize)]
struct Document {
    test: TestId,
    predicted: Prediction,
    inputs: Vec<JsonEntry>,
    args: Vec<String>,
    covers_new: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    given: bool,
    path: u64,
    instructions: u64,
}

/// `type` and `value` are human-readable; `layout` and `hex` say the same exactly.
#[derive(Serialize, Deserialize)]
struct JsonEntry {
    name: String,
    #[serde(rename = "type")]
    spelling: String,
    value: Value,
    hex: String,
    origin: InputOrigin,
    layout: InputType,
}

/// The test as indented JSON with a final newline.
pub fn to_string(test: &TestCase) -> String {
    let entry = |input: &Input| JsonEntry {
        name: input.name.clone(),
        spelling: input.ty.spelling(),
        value: input.ty.to_json(&input.bytes),
        hex: to_hex(&input.bytes),
        origin: input.origin,
        layout: input.ty.clone(),
    };
    let document = Document {
        test: test.id,
        predicted: test.predicted.clone(),
        inputs: test.inputs.iter().map(entry).collect(),
        args: test.args.clone(),
        covers_new: test.covers_new,
        given: test.given,
        path: test.path,
        instructions: test.instructions,
    };
    let mut text = serde_json::to_string_pretty(&document).expect("maps of strings always serialise");
    text.push('\n');
    text
}

/// The test that [`to_string`] wrote.
pub fn from_str(text: &str) -> Result<TestCase> {
    let malformed = |why: String| ReportError::malformed("test JSON", why);
    let document: Document = serde_json::from_str(text).map_err(|e| malformed(e.to_string()))?;
    let input = |entry: JsonEntry| {
        let bytes = from_hex(&entry.hex)
            .ok_or_else(|| malformed(format!("`hex` of input `{}` is not hexadecimal", entry.name)))?;
        Ok(Input { name: entry.name, ty: entry.layout, bytes, origin: entry.origin })
    };
    Ok(TestCase {
        id: document.test,
        inputs: document.inputs.into_iter().map(input).collect::<Result<_>>()?,
        predicted: document.predicted,
        covers_new: document.covers_new,
        given: document.given,
        path: document.path,
        instructions: document.instructions,
        args: document.args,
    })
}

pub(crate) fn to_hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut out = String::with_capacity(bytes.len() * 2);
    for b in bytes {
        out.push(DIGITS[usize::from(b >> 4)] as char);
        out.push(DIGITS[usize::from(b & 15)] as char);
    }
    out
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) {
        return None;
    }
    let digit = |b: u8| (b as char).to_digit(16).map(|d| d as u8);
    text.as_bytes().chunks(2).map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ErrorKind;

    #[test]
    fn reads_back_and_is_readable() {
        let test = TestCase {
            id: TestId(3),
            inputs: vec![
                Input {
                    name: "x".into(),
                    ty: InputType::int(),
                    bytes: vec![0xfe, 0xff, 0xff, 0xff],
                    origin: InputOrigin::Nondet,
                },
                Input {
                    name: "buf".into(),
                    ty: InputType::array(InputType::char(), 3),
                    bytes: b"a\"\0".to_vec(),
                    origin: InputOrigin::MakeSymbolic,
                },
            ],
            predicted: Prediction::Error {
                kind: ErrorKind::OobRead,
                file: "a.c".into(),
                line: 4,
                message: "read past the end".into(),
            },
            covers_new: true,
            given: true,
            path: 12,
            instructions: 99,
            args: vec!["a".into()],
        };
        let text = to_string(&test);
        assert_eq!(from_str(&text).unwrap(), test);
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["inputs"][0]["value"], -2);
        assert_eq!(value["inputs"][0]["type"], "int");
        assert_eq!(value["inputs"][1]["value"], "\"a\\\"\"");
        assert_eq!(value["predicted"]["kind"], "oob-read");
    }

    #[test]
    fn damage_is_an_error() {
        assert!(from_str("").is_err());
        assert!(from_str("{}").is_err());
        assert_eq!(from_hex("0g"), None);
        assert_eq!(from_hex("abc"), None);
        assert_eq!(from_hex("é"), None);
    }
}
