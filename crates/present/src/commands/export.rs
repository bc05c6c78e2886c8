//! `pleach export`: the tests of a run as files, as a corpus for fuzzers, or as unit tests.

use crate::Run;
use crate::corpus::{self, Naming};
use crate::unit_tests::{self, Framework};
use clap::{Args, ValueEnum};
use pleach::number_format::count;
use pleach_command::{CliError, Code};
use pleach_report::{RunDir, write_atomically};
use std::path::PathBuf;

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Format {
    /// The bytes of each test, in a file of its own
    Raw,
    /// Corpus of libFuzzer: corpus/ and crashes/
    Libfuzzer,
    /// Corpus of AFL and AFL++: queue/ and crashes/
    Afl,
    /// Unit tests as a C program of their own
    C,
    /// Unit tests for cmocka
    Cmocka,
    /// Unit tests for GoogleTest
    Gtest,
}

#[derive(Args, Debug)]
pub struct ExportArgs {
    /// The run's directory
    pub run: PathBuf,
    /// Write the tests in this format; by default the packed tests become files of the run directory
    #[arg(long, value_enum, value_name = "FORMAT", requires = "output")]
    pub format: Option<Format>,
    /// Directory for a corpus, file for unit tests
    #[arg(long, short, value_name = "PATH", requires = "format")]
    pub output: Option<PathBuf>,
    /// Write the string literals of the program as a dictionary for fuzzers
    #[arg(long, value_name = "FILE")]
    pub dictionary: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

pub fn run(args: ExportArgs) -> Result<Code, CliError> {
    if args.format.is_none() && args.dictionary.is_none() {
        let written = RunDir::open(&args.run)?.export_all()?;
        say(&args, written, &format!("Wrote {} to {}.", count(written, "test"), args.run.display()));
        return Ok(Code::Fine);
    }
    let run = Run::open(&args.run)?;
    if let (Some(format), Some(output)) = (args.format, &args.output) {
        let (written, what) = match format {
            Format::Raw => corpus_of(&run, Naming::Raw, output)?,
            Format::Libfuzzer => corpus_of(&run, Naming::LibFuzzer, output)?,
            Format::Afl => corpus_of(&run, Naming::Afl, output)?,
            Format::C => tests_of(&run, Framework::Plain, output)?,
            Format::Cmocka => tests_of(&run, Framework::Cmocka, output)?,
            Format::Gtest => tests_of(&run, Framework::GoogleTest, output)?,
        };
        say(&args, written, &format!("Wrote {what} to {}.", output.display()));
    }
    if let Some(file) = &args.dictionary {
        let text = corpus::dictionary(&run);
        write_atomically(file, text.as_bytes())?;
        let words = text.lines().count() as u64;
        say(&args, words, &format!("Wrote {} to {}.", count(words, "word"), file.display()));
    }
    Ok(Code::Fine)
}

fn say(args: &ExportArgs, written: u64, sentence: &str) {
    if args.json {
        println!("{}", serde_json::json!({ "written": written }));
    } else {
        println!("{sentence}");
    }
}

fn corpus_of(run: &Run, naming: Naming, output: &std::path::Path) -> Result<(u64, String), CliError> {
    let written = corpus::write(run, naming, output)?;
    let all = written.corpus + written.crashes;
    Ok((all, format!("{} ({} with an error)", count(all, "input"), written.crashes)))
}

fn tests_of(run: &Run, framework: Framework, output: &std::path::Path) -> Result<(u64, String), CliError> {
    let text = unit_tests::render(run, framework).map_err(CliError::Usage)?;
    write_atomically(output, text.as_bytes())?;
    Ok((run.tests.len() as u64, unit_tests::describe(run)))
}
