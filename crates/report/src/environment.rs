//! What a test says of the program's environment: its arguments, files and standard streams.

use crate::ktest::{KTest, KTestObject};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

/// Options of the symbolic environment and how many values they take.
pub const SYMBOLIC_OPTIONS: [(&str, usize); 13] = [
    ("sym-arg", 1),
    ("sym-args", 3),
    ("sym-files", 2),
    ("sym-files-up-to", 2),
    ("sym-files-like", 2),
    ("sym-stdin", 1),
    ("sym-stdin-up-to", 1),
    ("sym-stdin-like", 1),
    ("sym-like-range", 1),
    ("sym-stdout", 0),
    ("save-all-writes", 0),
    ("max-fail", 1),
    ("fd-fail", 0),
];

/// How many values follow, if it is an option of the symbolic environment, with one dash or two.
pub fn symbolic_option(arg: &str) -> Option<usize> {
    let name = arg.strip_prefix("--").or_else(|| arg.strip_prefix('-'))?;
    SYMBOLIC_OPTIONS.iter().find(|(n, _)| *n == name).map(|(_, values)| *values)
}

/// A file: its bytes, and its attributes if the test has them.
pub struct File {
    /// What it has in it.
    pub bytes: Vec<u8>,
    /// A `struct stat`.
    pub attributes: Vec<u8>,
}

/// What the program finds around it.
#[derive(Default)]
pub struct TestEnvironment {
    /// without the program's name
    pub args: Vec<OsString>,
    /// `A`, `B`, …
    pub files: Vec<File>,
    /// Standard input, if it is symbolic.
    pub stdin: Option<File>,
    /// Standard output, if it is symbolic.
    pub stdout: Option<File>,
    /// Which calls fail is an input, too.
    pub failures: bool,
    /// Objects that say this; those after them are the program's own.
    pub objects: usize,
}

/// Where the attributes have the size, as `runtime/posix/abi.h` says.
const SIZE_AT: usize = 48;

/// Objects are taken in the order in which the run made them: for the arguments first.
struct Objects<'a>(std::slice::Iter<'a, KTestObject>);

impl Objects<'_> {
    fn next(&mut self) -> Result<Vec<u8>, String> {
        self.0.next().map(|o| o.bytes.clone()).ok_or_else(|| "ran out of appropriate inputs".to_owned())
    }

    fn argument(&mut self) -> Result<OsString, String> {
        let mut bytes = self.next()?;
        bytes.truncate(bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len()));
        Ok(OsString::from_vec(bytes))
    }

    /// Its bytes and its attributes; where these say how many bytes there are, they come first.
    fn file(&mut self) -> Result<File, String> {
        let attributes_first = self.0.as_slice().first().is_some_and(|o| o.name.ends_with("_stat"));
        let (first, second) = (self.next()?, self.next()?);
        let (bytes, attributes) = if attributes_first { (second, first) } else { (first, second) };
        Ok(File { bytes, attributes })
    }

    /// A file whose attributes may say that it has fewer bytes.
    fn file_up_to(&mut self, up_to: bool) -> Result<File, String> {
        let mut file = self.file()?;
        let size = file.attributes.get(SIZE_AT..SIZE_AT + 8).and_then(|b| b.try_into().ok()).map(u64::from_le_bytes);
        if let (true, Some(size)) = (up_to, size) {
            file.bytes.truncate(usize::try_from(size).unwrap_or(usize::MAX));
        }
        Ok(file)
    }
}

/// The environment of a test; what is wrong, if the test does not fit its own arguments.
pub fn of(test: &KTest) -> Result<TestEnvironment, String> {
    let mut objects = Objects(test.objects.iter());
    let mut out = TestEnvironment::default();
    let (mut files, mut stdin, mut stdout, mut failures) = (0, false, false, false);
    let (mut files_up_to, mut stdin_up_to) = (false, false);
    let mut args = test.args.iter().skip(1);
    while let Some(arg) = args.next() {
        let Some(values) = symbolic_option(arg) else {
            out.args.push(arg.into());
            continue;
        };
        let values: Vec<&String> = args.by_ref().take(values).collect();
        let number = |i: usize| {
            let value = values.get(i).and_then(|v| v.parse::<usize>().ok());
            value.ok_or_else(|| format!("{arg}: a number is missing"))
        };
        let option = arg.trim_start_matches('-');
        match option {
            "sym-arg" => out.args.push(objects.argument()?),
            "sym-args" => {
                let (least, most) = (number(0)?, number(1)?);
                let n = if least == most { least } else { chosen(&objects.next()?, least, most)? };
                for _ in 0..n {
                    out.args.push(objects.argument()?);
                }
            }
            "sym-files" | "sym-files-up-to" | "sym-files-like" => {
                files = number(0)?;
                files_up_to = option == "sym-files-up-to";
            }
            "sym-stdin" | "sym-stdin-up-to" | "sym-stdin-like" => {
                stdin = true;
                stdin_up_to = option == "sym-stdin-up-to";
            }
            "sym-stdout" => stdout = true,
            "max-fail" | "fd-fail" => failures = true,
            _ => {}
        }
    }
    for _ in 0..files {
        out.files.push(objects.file_up_to(files_up_to)?);
    }
    out.stdin = stdin.then(|| objects.file_up_to(stdin_up_to)).transpose()?;
    if failures {
        // Which calls fail is not arranged.
        for _ in 0..5 {
            objects.next()?;
        }
    }
    out.stdout = stdout.then(|| objects.file()).transpose()?;
    out.failures = failures;
    out.objects = test.objects.len() - objects.0.len();
    Ok(out)
}

fn chosen(bytes: &[u8], least: usize, most: usize) -> Result<usize, String> {
    let n = bytes.try_into().map(u32::from_le_bytes).map_err(|_| "the number of arguments is not one".to_owned())?;
    match n as usize {
        n if (least..=most).contains(&n) => Ok(n),
        n => Err(format!("{n} arguments, where {least} to {most} are allowed")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_up_to_a_size() {
        let mut attributes = vec![0; 144];
        attributes[SIZE_AT] = 2;
        for (option, bytes) in [("--sym-stdin-up-to", 2), ("--sym-stdin", 4)] {
            let args = ["p", option, "4"].map(String::from).to_vec();
            let mut objects = vec![object("stdin", b"abcd"), object("stdin_stat", &attributes)];
            for _ in 0..2 {
                let test = KTest { args: args.clone(), objects: objects.clone(), ..KTest::default() };
                let stdin = of(&test).unwrap().stdin.unwrap();
                assert_eq!((stdin.bytes, &stdin.attributes), (b"abcd"[..bytes].to_vec(), &attributes));
                objects.reverse();
            }
        }
    }

    fn object(name: &str, bytes: &[u8]) -> KTestObject {
        KTestObject { name: name.into(), bytes: bytes.into() }
    }

    #[test]
    fn options_become_what_they_make() {
        let args = ["p", "-v", "--sym-args", "0", "2", "3", "-sym-files", "1", "2", "--sym-stdin", "1"];
        let objects = vec![
            object("n_args", &[1, 0, 0, 0]),
            object("arg00", b"ab\0x"),
            object("A_data", b"hi"),
            object("A_data_stat", &[0; 144]),
            object("stdin", b"q"),
            object("stdin_stat", &[0; 144]),
        ];
        let mut test = KTest { args: args.map(String::from).to_vec(), objects, ..KTest::default() };
        let made = of(&test).unwrap();
        assert_eq!(made.args, ["-v", "ab"]);
        assert_eq!((&made.files[0].bytes[..], &made.stdin.unwrap().bytes[..]), (&b"hi"[..], &b"q"[..]));
        test.objects.pop();
        assert!(of(&test).is_err());
        test.objects[0].bytes[0] = 3;
        assert!(of(&test).is_err());
    }
}
