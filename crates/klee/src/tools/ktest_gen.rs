//! `ktest-gen`: a test from given arguments and files.

use super::{attributes, usage};
use pleach_command::{CliError, Code};
use pleach_report::{KTest, KTestObject};

/// Size of standard output in bytes.
const STDOUT: usize = 1024;

#[derive(Default)]
struct GenOptions {
    args: Vec<String>,
    files: Vec<String>,
    stdin: Option<String>,
    stdout: Option<String>,
    to: Option<String>,
}

pub fn main(args: Vec<String>) -> Result<Code, CliError> {
    let mut options = GenOptions::default();
    let mut args = args.into_iter();
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| usage("ktest-gen", format!("{arg}: a file is missing")));
        match arg.strip_prefix("--").or(arg.strip_prefix('-')) {
            Some("sym-stdin") => options.stdin = Some(value()?),
            Some("sym-stdout") => options.stdout = Some(value()?),
            Some("sym-file") => options.files.push(value()?),
            Some("bout-file") => options.to = Some(value()?),
            _ => options.args.push(arg),
        }
    }
    let to = options.to.clone().unwrap_or_else(|| "file.bout".into());
    pleach_report::write_atomically(to.as_ref(), &test(options)?.to_bytes())?;
    Ok(Code::Fine)
}

fn test(options: GenOptions) -> Result<KTest, CliError> {
    let mut test = KTest { args: vec!["ktest-gen".into()], ..KTest::default() };
    let push = |test: &mut KTest, name: String, bytes: Vec<u8>| test.objects.push(KTestObject { name, bytes });
    for (i, arg) in options.args.into_iter().enumerate() {
        test.args.extend(["-sym-arg".into(), arg.len().to_string()]);
        push(&mut test, format!("arg{i:02}"), [arg.as_bytes(), &[0]].concat());
    }
    if !options.files.is_empty() {
        let files = options.files.iter().map(|f| read(f)).collect::<Result<Vec<_>, _>>()?;
        // All have the size of the largest.
        let size = files.iter().map(|(bytes, _)| bytes.len()).max().unwrap_or(0);
        test.args.extend(["-sym-files".into(), files.len().to_string(), size.to_string()]);
        for (letter, file) in ('A'..).zip(files) {
            put(&mut test, &format!("{letter}_data"), file, size);
        }
    }
    if let Some(file) = &options.stdin {
        let file = read(file)?;
        let size = file.0.len();
        test.args.extend(["-sym-stdin".into(), size.to_string()]);
        put(&mut test, "stdin", file, size);
    }
    if let Some(file) = &options.stdout {
        test.args.push("-sym-stdout".into());
        put(&mut test, "stdout", read(file)?, STDOUT);
    }
    Ok(test)
}

fn put(test: &mut KTest, name: &str, (mut bytes, about): (Vec<u8>, std::fs::Metadata), size: usize) {
    bytes.resize(size, 0);
    test.objects.push(KTestObject { name: name.into(), bytes });
    test.objects.push(KTestObject { name: format!("{name}_stat"), bytes: attributes::of(&about, size as u64) });
}

fn read(file: &str) -> Result<(Vec<u8>, std::fs::Metadata), CliError> {
    let both = pleach_load::regular::read(file.as_ref()).and_then(|bytes| Ok((bytes, std::fs::metadata(file)?)));
    both.map_err(|why| usage("ktest-gen", format!("{file}: {why}")))
}
