//! `ktest-tool`: shows `.ktest` files, in the layout of KLEE's tool.

use pleach_command::{CliError, Code};
use pleach_report::KTest;
use std::fmt::Write as _;
use std::io::Write as _;

pub fn main(args: Vec<String>) -> Result<Code, CliError> {
    let mut trim = false;
    let mut extract = None;
    let mut files = Vec::new();
    let mut args = args.into_iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--trim-zeros" => trim = true,
            "--extract" => extract = args.next(),
            "--write-ints" => {}
            a if a.starts_with("--") => return Err(CliError::Usage(format!("ktest-tool: unknown option {a}"))),
            _ => files.push(arg),
        }
    }
    if files.is_empty() {
        return Err(CliError::Usage("ktest-tool: no file is given".into()));
    }
    for file in files {
        let bytes =
            pleach_load::regular::read(file.as_ref()).map_err(|why| CliError::Usage(format!("{file}: {why}")))?;
        let test = KTest::from_bytes(&bytes)?;
        match &extract {
            Some(name) => {
                let object = test.objects.iter().find(|o| o.name == *name);
                let object = object.ok_or_else(|| CliError::Usage(format!("{file}: no object named {name}")))?;
                let out = format!("{file}.{name}");
                std::fs::write(&out, &object.bytes).map_err(|why| CliError::Usage(format!("{out}: {why}")))?;
            }
            // A closed pipe is no reason to complain.
            None => drop(std::io::stdout().write_all(show(&file, &test, trim).as_bytes())),
        }
    }
    Ok(Code::Fine)
}

fn show(file: &str, test: &KTest, trim: bool) -> String {
    let args: Vec<String> = test.args.iter().map(|a| format!("'{a}'")).collect();
    let mut out =
        format!("ktest file : '{file}'\nargs       : [{}]\nnum objects: {}\n", args.join(", "), test.objects.len());
    for (i, o) in test.objects.iter().enumerate() {
        let kept = o.bytes.iter().rposition(|b| *b != 0).map_or(0, |p| p + 1);
        let bytes = if trim { &o.bytes[..kept] } else { &o.bytes[..] };
        let hex: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
        let text: String = bytes.iter().map(|b| if (32..127).contains(b) { char::from(*b) } else { '.' }).collect();
        let _ = writeln!(out, "object {i}: name: '{}'\nobject {i}: size: {}", o.name, o.bytes.len());
        let _ = writeln!(out, "object {i}: data: b'{}'\nobject {i}: hex : 0x{hex}", escaped(bytes));
        if let 1 | 2 | 4 | 8 = o.bytes.len() {
            let mut wide = [0; 8];
            wide[..o.bytes.len()].copy_from_slice(&o.bytes);
            let unsigned = u64::from_le_bytes(wide);
            let unused = 64 - 8 * o.bytes.len() as u32;
            let signed = (unsigned << unused) as i64 >> unused;
            let _ = writeln!(out, "object {i}: int : {signed}\nobject {i}: uint: {unsigned}");
        }
        let _ = writeln!(out, "object {i}: text: {text}");
    }
    out
}

/// As Python writes bytes.
fn escaped(bytes: &[u8]) -> String {
    let mut out = String::new();
    for &b in bytes {
        match b {
            b'\\' => out.push_str("\\\\"),
            b'\'' => out.push_str("\\'"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            32..127 => out.push(char::from(b)),
            _ => drop(write!(out, "\\x{b:02x}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_report::KTestObject;

    #[test]
    fn objects_in_several_views() {
        let objects = vec![KTestObject { name: "x".into(), bytes: vec![0xfe, 0xff, 0xff, 0xff] }];
        let test = KTest { args: vec!["a.bc".into()], objects, ..KTest::default() };
        let text = show("t.ktest", &test, false);
        assert!(text.contains("object 0: data: b'\\xfe\\xff\\xff\\xff'\n"), "{text}");
        assert!(text.contains("object 0: int : -2\nobject 0: uint: 4294967294\n"), "{text}");
    }
}
