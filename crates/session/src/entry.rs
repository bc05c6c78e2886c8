//! Where execution begins.

use pleach_command::CliError;
use pleach_exec::ProgramEntry;
use pleach_ir::Program;
use std::path::PathBuf;

const FUZZ_ENTRY: &str = "LLVMFuzzerTestOneInput";

/// What the command line says of the entry.
#[derive(Clone, Debug, Default)]
pub struct EntryChoice {
    /// Default: `main`, or the entry of fuzzers if there is no `main`.
    pub name: Option<String>,
    /// Arguments of `main` after the program's name.
    pub args: Vec<String>,
    /// Whether something is said of the parameters.
    pub has_parameters: bool,
    /// Longest input of the entry of fuzzers, in bytes.
    pub max_fuzz_size: u32,
}

impl EntryChoice {
    /// The entry in this program, if the choice makes sense there.
    pub fn resolve(&self, program: &Program) -> Result<ProgramEntry, CliError> {
        let name = match &self.name {
            Some(name) => name.as_str(),
            None if !has_body(program, "main") && has_body(program, FUZZ_ENTRY) => FUZZ_ENTRY,
            None => "main",
        };
        if name != "main" && !self.args.is_empty() {
            return Err(CliError::Usage(format!("arguments after `--` are for `main`, but the entry is `{name}`")));
        }
        if self.has_parameters && (name == "main" || name == FUZZ_ENTRY) {
            let about = "--param is about the parameters of --entry";
            return Err(CliError::Usage(format!("{about}, but the entry is `{name}`")));
        }
        Ok(match name {
            "main" => ProgramEntry::Main { args: self.args.clone() },
            FUZZ_ENTRY => ProgramEntry::Fuzz { max_size: self.max_fuzz_size },
            other => ProgramEntry::Function(other.to_owned()),
        })
    }
}

impl EntryChoice {
    /// A remark where nothing was chosen and the user may have meant the other of two entries.
    pub fn remark(&self, program: &Program) -> Option<String> {
        let both = self.name.is_none() && has_body(program, "main") && has_body(program, FUZZ_ENTRY);
        both.then(|| format!("the program has `main` and `{FUZZ_ENTRY}`; it starts at `main` (--entry {FUZZ_ENTRY})"))
    }
}

fn has_body(program: &Program, name: &str) -> bool {
    program.function_named(name).is_some_and(|f| !program.function(f).is_declaration())
}

pub fn entry_name(entry: &ProgramEntry) -> &str {
    match entry {
        ProgramEntry::Main { .. } => "main",
        ProgramEntry::Function(name) => name,
        ProgramEntry::Fuzz { .. } => FUZZ_ENTRY,
    }
}

/// `argv[0]`: the first file without directory and extension.
pub fn program_name(files: &[PathBuf]) -> String {
    let stem = files.first().and_then(|f| f.file_stem());
    stem.map_or_else(|| "program".into(), |s| s.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_ir::text::parse;

    fn resolve(choice: EntryChoice, functions: &[&str]) -> Result<ProgramEntry, String> {
        let bodies = functions.iter().map(|f| format!("func @{f}() -> () {{\nb0:\n  return ()\n}}\n"));
        let program = parse(&bodies.collect::<String>()).unwrap();
        choice.resolve(&program).map_err(|e| e.to_string())
    }

    #[test]
    fn the_entry_of_fuzzers_is_for_programs_without_main() {
        let fuzz = ProgramEntry::Fuzz { max_size: 3 };
        let choice = EntryChoice { max_fuzz_size: 3, ..EntryChoice::default() };
        assert_eq!(resolve(choice.clone(), &[FUZZ_ENTRY]), Ok(fuzz.clone()));
        assert_eq!(resolve(choice.clone(), &[FUZZ_ENTRY, "main"]), Ok(ProgramEntry::Main { args: Vec::new() }));
        let both =
            parse(&[FUZZ_ENTRY, "main"].map(|f| format!("func @{f}() -> () {{\nb0:\n  return ()\n}}\n")).concat());
        let both = both.unwrap();
        assert!(choice.remark(&both).is_some_and(|r| r.contains("starts at `main`")));
        let named = EntryChoice { name: Some(FUZZ_ENTRY.into()), ..choice };
        assert_eq!((named.remark(&both), named.resolve(&both).ok()), (None, Some(fuzz)));
    }

    #[test]
    fn arguments_and_parameters_need_the_right_entry() {
        let arguments = EntryChoice { name: Some("f".into()), args: vec!["x".into()], ..EntryChoice::default() };
        assert!(resolve(arguments, &["f"]).is_err());
        let parameters = EntryChoice { has_parameters: true, ..EntryChoice::default() };
        assert!(resolve(parameters.clone(), &["main"]).is_err());
        let named = EntryChoice { name: Some("f".into()), ..parameters };
        assert_eq!(resolve(named, &["f"]), Ok(ProgramEntry::Function("f".into())));
    }

    #[test]
    fn the_program_is_named_after_its_first_file() {
        assert_eq!(program_name(&["a/b.c".into(), "c.c".into()]), "b");
        assert_eq!(program_name(&[]), "program");
    }
}
