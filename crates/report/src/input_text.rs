//! Inputs as a person writes them: `argv[1] = "--boom"`, `stdin = "+042"`, `int x = 7`, and a line for a shell.

use crate::environment::{self, TestEnvironment};
use crate::input::{Input, InputOrigin};
use crate::ktest::KTest;
use crate::model::TestCase;
use crate::value::c_string;
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;

/// One line per input.
pub fn lines(test: &TestCase) -> Vec<String> {
    let (around, own) = split(test);
    let mut lines = Vec::new();
    if let Some(around) = around {
        let arguments = around.args.iter().enumerate();
        lines.extend(arguments.map(|(i, arg)| format!("argv[{}] = {}", i + 1, c_string(arg.as_bytes()))));
        let names = (b'A'..=b'Z').map(char::from);
        lines.extend(names.zip(&around.files).map(|(name, f)| format!("file {name} = {}", c_string(&f.bytes))));
        lines.extend(around.stdin.iter().map(|f| format!("stdin = {}", c_string(&f.bytes))));
    }
    lines.extend(own.iter().filter(|i| !is_rest_of_fuzz_data(i, own)).map(|input| match input.null_pointer() {
        Some(pointer) => format!("{pointer} = NULL"),
        None if input.origin == InputOrigin::FuzzData => {
            format!("data = {} ({} bytes)", c_string_whole(fuzz_data(own)), fuzz_data(own).len())
        }
        None => format!("{} = {}", input.ty.declaration(&input.name), input.render()),
    }));
    lines
}

/// A line for a shell that gives the input to the program as it is built usually; none if only Pleach can give it.
pub fn command(test: &TestCase) -> Option<String> {
    let program = test.args.first().map_or("a.out", String::as_str);
    let (around, own) = split(test);
    if let ([Input { origin: InputOrigin::FuzzData, .. }, ..], None) = (own, &around) {
        return Some(format!("printf '{}' > input; ./{program} input", for_printf(fuzz_data(own))));
    }
    let around = around.filter(|a| own.is_empty() && !a.failures)?;
    let mut line = String::new();
    for (name, file) in (b'A'..=b'Z').map(char::from).zip(&around.files) {
        let _ = write!(line, "printf '{}' > {name}; ", for_printf(&file.bytes));
    }
    if let Some(stdin) = &around.stdin {
        let _ = write!(line, "printf '{}' | ", for_printf(&stdin.bytes));
    }
    let _ = write!(line, "./{program}");
    for arg in &around.args {
        let _ = write!(line, " {}", for_shell(arg.as_bytes()));
    }
    Some(line)
}

/// What the options of the symbolic environment made, and the program's own inputs.
fn split(test: &TestCase) -> (Option<TestEnvironment>, &[Input]) {
    let symbolic = test.args.iter().any(|a| environment::symbolic_option(a).is_some());
    let around = symbolic.then(|| environment::of(&KTest::from(test)).ok()).flatten();
    let used = around.as_ref().map_or(0, |a| a.objects);
    (around, test.inputs.get(used..).unwrap_or_default())
}

/// The data that the function gets: as many bytes as the object `size` says, if there is one.
pub fn fuzz_data(inputs: &[Input]) -> &[u8] {
    let Some((data, rest)) = inputs.split_first() else { return &[] };
    let size =
        rest.iter().find(|i| i.name == "size").map(|i| i.bytes.iter().rev().fold(0, |n, b| n << 8 | u64::from(*b)));
    let len = size.map_or(data.bytes.len(), |n| usize::try_from(n).unwrap_or(usize::MAX).min(data.bytes.len()));
    &data.bytes[..len]
}

fn is_rest_of_fuzz_data(input: &Input, all: &[Input]) -> bool {
    input.name == "size" && all.first().is_some_and(|i| i.origin == InputOrigin::FuzzData)
}

/// A string that shows also the zeros at its end: they count.
fn c_string_whole(bytes: &[u8]) -> String {
    let zeros = bytes.iter().rev().take_while(|b| **b == 0).count();
    let mut text = c_string(bytes);
    text.pop();
    text + &"\\000".repeat(zeros) + "\""
}

/// For the format of `printf`, inside single quotes.
fn for_printf(bytes: &[u8]) -> String {
    let mut out = String::new();
    for b in bytes {
        match b {
            b'%' => out.push_str("%%"),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\'' => out.push_str("\\047"),
            0x20..=0x7e => out.push(*b as char),
            _ => drop(write!(out, "\\{b:03o}")),
        }
    }
    out
}

/// A word of a command: as it is, in single quotes, or with escapes.
fn for_shell(bytes: &[u8]) -> String {
    let is_plain = |b: &u8| b.is_ascii_alphanumeric() || b"-_./=:,+@%".contains(b);
    if !bytes.is_empty() && bytes.iter().all(is_plain) {
        return String::from_utf8_lossy(bytes).into_owned();
    }
    if bytes.iter().all(|b| (0x20..=0x7e).contains(b) && *b != b'\'') {
        return format!("'{}'", String::from_utf8_lossy(bytes));
    }
    format!("$'{}'", for_printf(bytes).replace("%%", "%"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputType;
    use crate::model::{Prediction, TestId};

    fn test(args: &[&str], inputs: &[(&str, InputType, &[u8], InputOrigin)]) -> TestCase {
        let input = |(name, ty, bytes, origin): &(&str, InputType, &[u8], InputOrigin)| Input {
            name: (*name).into(),
            ty: ty.clone(),
            bytes: bytes.to_vec(),
            origin: *origin,
        };
        TestCase {
            id: TestId(1),
            inputs: inputs.iter().map(input).collect(),
            predicted: Prediction::Exit { code: None },
            covers_new: false,
            given: false,
            path: 0,
            instructions: 0,
            args: args.iter().map(|a| (*a).to_owned()).collect(),
        }
    }

    #[test]
    fn arguments_and_standard_input() {
        let made = InputOrigin::MakeSymbolic;
        let test = test(
            &["a.out", "--sym-args", "0", "2", "6", "--sym-stdin", "4"],
            &[
                ("n_args", InputType::int(), &[2, 0, 0, 0], made),
                ("arg00", InputType::Bytes(7), b"--boom\0", made),
                ("arg01", InputType::Bytes(7), b"it's\x01\0\0", made),
                ("stdin", InputType::Bytes(4), b"+04%", made),
                ("stdin_stat", InputType::Bytes(144), &[0; 144], made),
            ],
        );
        assert_eq!(lines(&test), [r#"argv[1] = "--boom""#, r#"argv[2] = "it's\001""#, r#"stdin = "+04%""#]);
        assert_eq!(command(&test).unwrap(), r"printf '+04%%' | ./a.out --boom $'it\047s\001'");
    }

    #[test]
    fn values_of_the_program() {
        let made = InputOrigin::MakeSymbolic;
        let own = test(&["p"], &[("x", InputType::int(), &[7, 0, 0, 0], made)]);
        assert_eq!((lines(&own), command(&own)), (vec!["int x = 7".to_owned()], None));
        let null = test(&["p"], &[("p.null", InputType::Bytes(0), &[], InputOrigin::Parameter)]);
        assert_eq!(lines(&null), ["p = NULL"]);
    }

    #[test]
    fn data_of_fuzzers() {
        let data = InputOrigin::FuzzData;
        let ty = InputType::Bytes(4);
        let test = test(&["p"], &[("data", ty.clone(), b"a\0\0\0", data), ("size", ty, &[2, 0, 0, 0], data)]);
        assert_eq!(lines(&test), [r#"data = "a\000" (2 bytes)"#]);
        assert_eq!(command(&test).unwrap(), r"printf 'a\000' > input; ./p input");
    }
}
