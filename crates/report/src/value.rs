//! Showing the bytes of an input as values of its C type.

use serde_json::{Value, json};

use crate::input::{InputType, Leaf};

/// `bytes[offset..offset+size]`, cut where the input ends.
fn part(bytes: &[u8], offset: u64, size: u64) -> &[u8] {
    let len = bytes.len() as u64;
    let start = offset.min(len);
    let end = offset.saturating_add(size).min(len);
    &bytes[start as usize..end as usize]
}

fn unsigned(bytes: &[u8]) -> u128 {
    bytes.iter().take(16).rev().fold(0, |acc, b| acc << 8 | u128::from(*b))
}

/// Decimal text of a little-endian integer of at most 128 bits; wider ones in hexadecimal.
fn integer(bytes: &[u8], bits: u32, signed: bool) -> String {
    if bits > 128 || bytes.len() > 16 {
        return bytes.iter().rev().fold("0x".to_owned(), |acc, b| acc + &format!("{b:02x}"));
    }
    let bits = bits.clamp(1, 128);
    let raw = unsigned(bytes) << (128 - bits);
    if signed { ((raw as i128) >> (128 - bits)).to_string() } else { (raw >> (128 - bits)).to_string() }
}

fn padded<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut all = [0; N];
    for (to, from) in all.iter_mut().zip(bytes) {
        *to = *from;
    }
    all
}

/// The nearest double of an x87 extended value.
fn extended(bytes: &[u8]) -> f64 {
    let all = padded::<10>(bytes);
    let mantissa = u64::from_le_bytes(padded::<8>(&all[..8]));
    let top = u16::from_le_bytes([all[8], all[9]]);
    let sign = if top & 0x8000 != 0 { -1.0 } else { 1.0 };
    match (top & 0x7fff, mantissa << 1) {
        (0x7fff, 0) => sign * f64::INFINITY,
        (0x7fff, _) => f64::NAN,
        (exponent, _) => {
            // Two steps, so that neither power leaves the range of a double on its own.
            let power = i32::from(exponent) - 16383 - 63;
            let half = power / 2;
            sign * mantissa as f64 * 2f64.powi(half) * 2f64.powi(power - half)
        }
    }
}

fn float(bytes: &[u8], bits: u32) -> String {
    match bits {
        32 => spell(format!("{:?}", f32::from_le_bytes(padded(bytes)))),
        64 => spell(format!("{:?}", f64::from_le_bytes(padded(bytes)))),
        80 => spell(format!("{:?}", extended(bytes))),
        _ => format!("0x{:x}", unsigned(bytes)),
    }
}

fn spell(text: String) -> String {
    text.replace("NaN", "nan")
}

fn hex_list(bytes: &[u8]) -> String {
    let all: Vec<_> = bytes.iter().map(|b| format!("0x{b:02x}")).collect();
    format!("{{{}}}", all.join(", "))
}

/// A C string literal; the zeros at its end are left out, as an initialiser of an array may do.
pub(crate) fn c_string(bytes: &[u8]) -> String {
    let shown = &bytes[..bytes.iter().rposition(|b| *b != 0).map_or(0, |last| last + 1)];
    let mut out = String::from("\"");
    for b in shown {
        match b {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\t' => out.push_str("\\t"),
            b'\r' => out.push_str("\\r"),
            0x20..=0x7e => out.push(*b as char),
            // Three octal digits: unlike \x they cannot run into the next character.
            _ => out.push_str(&format!("\\{b:03o}")),
        }
    }
    out.push('"');
    out
}

fn character(byte: u8, signed: bool) -> String {
    let number = if signed { (byte as i8).to_string() } else { byte.to_string() };
    match byte {
        b'\'' | b'\\' => format!("{number} '\\{}'", byte as char),
        0x20..=0x7e => format!("{number} '{}'", byte as char),
        _ => number,
    }
}

/// Only the number, as machine-readable suites want it.
pub(crate) fn scalar(ty: &InputType, bytes: &[u8]) -> String {
    match ty {
        InputType::Int { bits, signed, .. } => integer(bytes, *bits, *signed),
        InputType::Char { signed, .. } => integer(bytes, 8, *signed),
        // A byte that is neither 0 nor 1 is shown as it is.
        InputType::Bool => integer(bytes, 8, false),
        InputType::Float { bits, .. } => float(bytes, *bits),
        InputType::Pointer { .. } => unsigned(bytes).to_string(),
        _ => hex_list(bytes),
    }
}

pub(crate) fn render(ty: &InputType, bytes: &[u8]) -> String {
    if (bytes.len() as u64) < ty.size() {
        return format!("{} (only {} of {} bytes)", hex_list(bytes), bytes.len(), ty.size());
    }
    match ty {
        InputType::Char { signed, .. } => character(bytes[0], *signed),
        InputType::Pointer { .. } if unsigned(bytes) == 0 => "NULL".into(),
        InputType::Pointer { .. } => format!("0x{:x}", unsigned(bytes)),
        InputType::Int { .. } | InputType::Bool | InputType::Float { .. } => scalar(ty, part(bytes, 0, ty.size())),
        InputType::Array { .. } if ty.is_text() => c_string(part(bytes, 0, ty.size())),
        InputType::Array { elem, count } => {
            let size = elem.size();
            let all: Vec<_> = match size {
                0 => Vec::new(),
                _ => (0..*count).map(|i| render(elem, part(bytes, i * size, size))).collect(),
            };
            format!("{{{}}}", all.join(", "))
        }
        InputType::Struct { fields, .. } => {
            let all: Vec<_> = fields
                .iter()
                .map(|f| format!(".{} = {}", f.name, render(&f.ty, part(bytes, f.offset, f.ty.size()))))
                .collect();
            format!("{{{}}}", all.join(", "))
        }
        InputType::Bytes(_) if is_readable(bytes) => c_string(bytes),
        InputType::Union { .. } | InputType::Bytes(_) => hex_list(bytes),
    }
}

/// Text with zeros at its end, if any.
fn is_readable(bytes: &[u8]) -> bool {
    let text = &bytes[..bytes.iter().rposition(|b| *b != 0).map_or(0, |last| last + 1)];
    !text.is_empty() && text.iter().all(|b| matches!(b, 0x20..=0x7e | b'\n' | b'\t'))
}

pub(crate) fn to_json(ty: &InputType, bytes: &[u8]) -> Value {
    if (bytes.len() as u64) < ty.size() {
        return json!(bytes);
    }
    match ty {
        InputType::Int { bits, signed, .. } => {
            let text = integer(part(bytes, 0, ty.size()), *bits, *signed);
            // Numbers beyond 64 bits stay text: JSON readers would round them.
            let number = text.parse::<i64>().map(Value::from).or_else(|_| text.parse::<u64>().map(Value::from));
            number.unwrap_or(Value::String(text))
        }
        InputType::Char { signed: true, .. } => json!(bytes[0] as i8),
        InputType::Char { .. } => json!(bytes[0]),
        InputType::Bool if bytes[0] > 1 => json!(bytes[0]),
        InputType::Bool => json!(bytes[0] == 1),
        InputType::Float { bits, .. } => json!(float(bytes, *bits)),
        InputType::Pointer { .. } => json!(render(ty, bytes)),
        InputType::Array { .. } if ty.is_text() => json!(c_string(part(bytes, 0, ty.size()))),
        InputType::Array { elem, count } => match elem.size() {
            0 => json!([]),
            size => (0..*count).map(|i| to_json(elem, part(bytes, i * size, size))).collect(),
        },
        InputType::Struct { fields, .. } => Value::Object(
            fields.iter().map(|f| (f.name.clone(), to_json(&f.ty, part(bytes, f.offset, f.ty.size())))).collect(),
        ),
        InputType::Union { .. } | InputType::Bytes(_) => json!(bytes),
    }
}

pub(crate) fn leaves<'a>(name: &str, ty: &InputType, bytes: &'a [u8]) -> Vec<Leaf<'a>> {
    let mut out = Vec::new();
    push_leaves(name.to_owned(), ty, bytes, &mut out);
    out
}

fn push_leaves<'a>(path: String, ty: &InputType, bytes: &'a [u8], out: &mut Vec<Leaf<'a>>) {
    match ty {
        InputType::Array { elem, .. } => {
            let size = elem.size().max(1) as usize;
            for (i, chunk) in bytes.chunks(size).enumerate() {
                push_leaves(format!("{path}[{i}]"), elem, chunk, out);
            }
        }
        InputType::Struct { fields, .. } => {
            for f in fields {
                push_leaves(format!("{path}.{}", f.name), &f.ty, part(bytes, f.offset, f.ty.size()), out);
            }
        }
        InputType::Union { .. } | InputType::Bytes(_) => {
            for (i, byte) in bytes.chunks(1).enumerate() {
                out.push(Leaf { path: format!("{path}[{i}]"), ty: InputType::unsigned_char(), bytes: byte });
            }
        }
        _ => out.push(Leaf { path, ty: ty.clone(), bytes: part(bytes, 0, ty.size()) }),
    }
}

#[cfg(test)]
#[path = "value_tests.rs"]
mod tests;
