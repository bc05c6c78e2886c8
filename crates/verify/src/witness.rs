//! Witnesses, format 2.0.
//!
//! A violation witness has the values that the program gets, call by call, and where it goes wrong. It is a sequence of
//! segments; here each has one waypoint to follow: the return of an input function with its value, and last the target,
//! the place of the violation. A correctness witness has invariants of loops.

use std::fmt::Write;

/// A place in a source file; line and column count from 1.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Location {
    pub file: String,
    pub line: u32,
    /// 0: not known
    pub column: u32,
    pub function: String,
}

/// An input that the program requested by calling a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Returned {
    /// the closing parenthesis of the call
    pub at: Location,
    /// a constant expression of C
    pub value: String,
}

/// What holds at a loop each time before its condition is evaluated; for `do`, before its body begins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoopInvariant {
    /// the keyword
    pub at: Location,
    /// an expression of C
    pub value: String,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Contents {
    Violation { returned: Vec<Returned>, target: Location },
    Correctness(Vec<LoopInvariant>),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Witness {
    pub producer: String,
    pub version: String,
    /// files with their SHA-256
    pub files: Vec<(String, String)>,
    pub specification: String,
    /// `LP64` or `ILP32`
    pub data_model: &'static str,
    pub creation_time: String,
    /// 32 digits, hexadecimal, that identify the contents
    pub digest: String,
    pub contents: Contents,
}

impl Witness {
    pub fn to_yaml(&self) -> String {
        let kind = match &self.contents {
            Contents::Violation { .. } => "violation_sequence",
            Contents::Correctness(_) => "invariant_set",
        };
        let mut out = format!("- entry_type: {}\n  metadata:\n    format_version: \"2.0\"\n", quoted(kind));
        let _ = writeln!(out, "    uuid: {}", quoted(&uuid(&self.digest)));
        let _ = writeln!(out, "    creation_time: {}", quoted(&self.creation_time));
        let _ = writeln!(out, "    producer:\n      name: {}", quoted(&self.producer));
        let _ = writeln!(out, "      version: {}\n    task:\n      input_files:", quoted(&self.version));
        for (file, _) in &self.files {
            let _ = writeln!(out, "        - {}", quoted(file));
        }
        out.push_str("      input_file_hashes:\n");
        for (file, hash) in &self.files {
            let _ = writeln!(out, "        {}: {}", quoted(file), quoted(hash));
        }
        let _ = writeln!(out, "      specification: {}", quoted(&self.specification));
        let _ = writeln!(out, "      data_model: {}\n      language: \"C\"", quoted(self.data_model));
        match &self.contents {
            Contents::Violation { returned, target } => {
                out.push_str("  content:\n");
                for r in returned {
                    waypoint(&mut out, "function_return", &r.at, Some(&format!("\\result == {}", r.value)));
                }
                waypoint(&mut out, "target", target, None);
            }
            Contents::Correctness(all) if all.is_empty() => out.push_str("  content: []\n"),
            Contents::Correctness(all) => {
                out.push_str("  content:\n");
                all.iter().for_each(|i| invariant(&mut out, i));
            }
        }
        out
    }
}

fn waypoint(out: &mut String, kind: &str, at: &Location, constraint: Option<&str>) {
    let _ = writeln!(out, "    - segment:\n        - waypoint:\n            type: {}", quoted(kind));
    out.push_str("            action: \"follow\"\n");
    if let Some(value) = constraint {
        let _ = writeln!(out, "            constraint:\n              value: {}", quoted(value));
        out.push_str("              format: \"acsl_expression\"\n");
    }
    location(out, "            ", at);
}

fn invariant(out: &mut String, invariant: &LoopInvariant) {
    out.push_str("    - invariant:\n        type: \"loop_invariant\"\n");
    location(out, "        ", &invariant.at);
    let _ = writeln!(out, "        value: {}\n        format: \"c_expression\"", quoted(&invariant.value));
}

fn location(out: &mut String, indent: &str, at: &Location) {
    let _ = writeln!(out, "{indent}location:\n{indent}  file_name: {}", quoted(&at.file));
    let _ = writeln!(out, "{indent}  line: {}", at.line);
    if at.column != 0 {
        let _ = writeln!(out, "{indent}  column: {}", at.column);
    }
    let _ = writeln!(out, "{indent}  function: {}", quoted(&at.function));
}

/// A string of YAML in double quotes.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out + "\""
}

/// A name-based identifier (version 5 of RFC 4122): the same contents have the same.
fn uuid(digest: &str) -> String {
    let mut d: Vec<char> = digest.chars().chain(std::iter::repeat('0')).take(32).collect();
    d[12] = '5';
    d[16] = match d[16].to_digit(16).unwrap_or(0) & 3 {
        0 => '8',
        1 => '9',
        2 => 'a',
        _ => 'b',
    };
    let part = |range: std::ops::Range<usize>| d[range].iter().collect::<String>();
    [part(0..8), part(8..12), part(12..16), part(16..20), part(20..32)].join("-")
}

/// A little-endian number of a given width, as a constant of C. The smallest signed number has no literal of its own.
pub fn constant(bytes: &[u8], signed: bool) -> Option<String> {
    let bits = bytes.len() * 8;
    if bits == 0 || bits > 64 {
        return None;
    }
    let mut raw = [0u8; 8];
    raw[..bytes.len()].copy_from_slice(bytes);
    let n = u64::from_le_bytes(raw);
    let suffix = if bits > 32 { "LL" } else { "" };
    if !signed {
        return Some(format!("{n}U{suffix}"));
    }
    let n = (n << (64 - bits)) as i64 >> (64 - bits);
    Some(match n {
        n if bits >= 32 && n == i64::MIN >> (64 - bits) => format!("({}{suffix} - 1)", n + 1),
        n => format!("{n}{suffix}"),
    })
}

/// Where the parenthesis closes of the call of `function` that begins at this line and column.
pub fn closing_parenthesis(text: &str, function: &str, line: u32, column: u32) -> Option<(u32, u32)> {
    let start: usize = text.split_inclusive('\n').take(line.checked_sub(1)? as usize).map(str::len).sum();
    let from = start + column.checked_sub(1)? as usize;
    let call = text.get(from..)?.strip_prefix(function)?;
    let mut depth = 0u32;
    let (mut line, mut column) = (line, column + function.len() as u32);
    for c in call.chars() {
        match c {
            '(' => depth += 1,
            ')' if depth == 1 => return Some((line, column)),
            ')' => depth = depth.checked_sub(1)?,
            c if depth == 0 && !c.is_whitespace() => return None,
            // Arguments with strings and comments are not for counting parentheses.
            '"' | '\'' | '/' => return None,
            _ => {}
        }
        (line, column) = if c == '\n' { (line + 1, 1) } else { (line, column + c.len_utf8() as u32) };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_of_c() {
        assert_eq!(constant(&[0xff, 0xff, 0xff, 0xff], true).unwrap(), "-1");
        assert_eq!(constant(&[0xff, 0xff, 0xff, 0xff], false).unwrap(), "4294967295U");
        assert_eq!(constant(&[0, 0, 0, 0x80], true).unwrap(), "(-2147483647 - 1)");
        assert_eq!(constant(&[0x80], true).unwrap(), "-128");
        assert_eq!(constant(&i64::MIN.to_le_bytes(), true).unwrap(), "(-9223372036854775807LL - 1)");
        assert_eq!(constant(&5u64.to_le_bytes(), false).unwrap(), "5ULL");
        assert_eq!(constant(&[0; 16], false), None);
    }

    #[test]
    fn the_end_of_a_call() {
        let text = "int x;\n  int y = nondet ( \n ) + 1;\nint z = f(g(1), (2));";
        assert_eq!(closing_parenthesis(text, "nondet", 2, 11), Some((3, 2)));
        assert_eq!(closing_parenthesis(text, "f", 4, 9), Some((4, 20)));
        assert_eq!(closing_parenthesis(text, "nondet", 2, 10), None);
        assert_eq!(closing_parenthesis(text, "nondet", 9, 1), None);
        assert_eq!(closing_parenthesis("f", "f", 1, 1), None);
        assert_eq!(closing_parenthesis("é f()", "f", 1, 2), None);
    }

    #[test]
    fn one_segment_per_input_and_the_target_last() {
        let at = |line, column| Location { file: "a \"b\".c".into(), line, column, function: "main".into() };
        let w = Witness {
            producer: "Pleach".into(),
            version: "0.1.0".into(),
            files: vec![("a.c".into(), "00ff".into())],
            specification: "CHECK( init(main()), LTL(G ! call(reach_error())) )".into(),
            data_model: "LP64",
            creation_time: "1970-01-01T00:00:00Z".into(),
            digest: "0123456789abcdef0123456789abcdef".into(),
            contents: Contents::Violation {
                returned: vec![Returned { at: at(3, 0), value: "-1".into() }],
                target: at(7, 5),
            },
        };
        let text = w.to_yaml();
        assert!(text.contains("uuid: \"01234567-89ab-5def-8123-456789abcdef\"\n"), "{text}");
        assert!(text.contains("value: \"\\\\result == -1\"\n              format: \"acsl_expression\"\n"), "{text}");
        assert!(
            text.contains("file_name: \"a \\\"b\\\".c\"\n              line: 3\n              function:"),
            "{text}"
        );
        assert_eq!(text.matches("- segment:").count(), 2);
        assert!(text.rfind("type: \"target\"") > text.find("type: \"function_return\""));
        assert!(text.ends_with("line: 7\n              column: 5\n              function: \"main\"\n"), "{text}");
        let invariant = LoopInvariant { at: at(2, 3), value: "x >= 0".into() };
        let text = Witness { contents: Contents::Correctness(vec![invariant]), ..w.clone() }.to_yaml();
        assert!(text.starts_with("- entry_type: \"invariant_set\"\n"), "{text}");
        assert!(text.contains("value: \"x >= 0\"\n        format: \"c_expression\"\n"), "{text}");
        let text = Witness { contents: Contents::Correctness(Vec::new()), ..w }.to_yaml();
        assert!(text.ends_with("  content: []\n"), "{text}");
    }
}
