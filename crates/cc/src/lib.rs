//! `pleach cc` and `pleach c++`: clang, but what it makes carries its bitcode.
//!
//! The compiler does what it was told, but without optimisation: an object must need the same functions as its bitcode,
//! or the linker would not take them out of a library. Each source is compiled a second time to bitcode for the engine,
//! which goes into a section of the object (see `pleach_load::embedded_bitcode`); linkers keep it. Where sources are linked at
//! once, the section comes from a piece of assembly added to the command.
//!
//! ```
//! let args = ["pleach", "cc", "-c", "a.c"].map(Into::into);
//! let (compiler, rest) = pleach_cc::asked(&args).expect("a compiler is asked for");
//! assert_eq!((compiler, rest.len()), ("clang-19", 2));
//! ```

#[macro_use(eprintln, println)]
extern crate pleach_command;

pub mod cargo;
pub mod compile_commands;
pub mod line;

use line::{CompileStep, Line, Source};
use pleach_command::CliError;
use pleach_load::clang_flags::{CLANG, CLANG_CXX, FOR_THE_ENGINE};
use pleach_load::embedded_bitcode;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};

/// After the given flags, which may say otherwise.
const UNOPTIMISED: [&str; 2] = ["-O0", "-U_FORTIFY_SOURCE"];

/// The compiler, if the arguments (the program's name first) ask for one: `pleach cc …`, or `pleach-cc …` through a
/// link.
pub fn asked(args: &[OsString]) -> Option<(&'static str, &[OsString])> {
    let compiler = |name: &OsStr| match name.to_str() {
        Some("cc") => Some(CLANG),
        Some("c++") => Some(CLANG_CXX),
        _ => None,
    };
    let called = Path::new(args.first()?).file_name()?.to_str()?;
    if let Some(name) = called.strip_prefix("pleach-") {
        return Some((compiler(name.as_ref())?, &args[1..]));
    }
    Some((compiler(args.get(1)?)?, &args[2..]))
}

pub fn run(compiler: &'static str, args: &[OsString]) -> Result<ExitCode, CliError> {
    // Objects must be machine code: what link-time optimisation leaves has no sections.
    let args: Vec<OsString> = args.iter().filter(|a| !a.to_string_lossy().starts_with("-flto")).cloned().collect();
    let line = Line::parse(&args);
    if line.step == CompileStep::Plain || line.is_a_probe() {
        return Err(unusable(compiler, Command::new(compiler).args(&args).exec()));
    }
    let scratch = pleach::temporary_directory()?;
    let mut bitcode = Vec::new();
    for (i, source) in line.sources.iter().enumerate() {
        bitcode.push(Bitcode::start(compiler, &line, source, scratch.path().join(format!("{i}.bc")))?);
    }
    let native = |more: &[OsString]| -> Result<u8, CliError> {
        let mut command = Command::new(compiler);
        command.args(&args).args(UNOPTIMISED).args(more);
        let status = command.status().map_err(|why| unusable(compiler, why))?;
        Ok(status.code().map_or(1, |c| c as u8))
    };
    let status = match line.step {
        CompileStep::Objects => {
            let status = native(&[])?;
            for (source, bitcode) in line.sources.iter().zip(bitcode) {
                let Some(contents) = bitcode.finish(status == 0)? else { continue };
                put_into(&line.object(source), &contents)?;
            }
            status
        }
        _ => {
            let mut contents = Vec::new();
            for bitcode in bitcode {
                contents.extend(bitcode.finish(true)?.unwrap_or_default());
            }
            let (data, assembly) = (scratch.path().join("bitcode"), scratch.path().join("bitcode.s"));
            let text =
                format!(".section {},\"\",@progbits\n.incbin \"{}\"\n", embedded_bitcode::SECTION, data.display());
            let text = format!("{text}.section .note.GNU-stack,\"\",@progbits\n");
            std::fs::write(&data, contents).and_then(|()| std::fs::write(&assembly, text)).map_err(system)?;
            native(&["-x".into(), "assembler".into(), assembly.into()])?
        }
    };
    Ok(status.into())
}

/// A source on its way to bitcode.
struct Bitcode {
    name: String,
    path: PathBuf,
    child: Child,
}

impl Bitcode {
    fn start(compiler: &'static str, line: &Line, source: &Source, path: PathBuf) -> Result<Bitcode, CliError> {
        let mut command = Command::new(compiler);
        command.args(&line.flags).args(FOR_THE_ENGINE).args(["-w", "-Qunused-arguments", "-o"]).arg(&path);
        if let Some(language) = &source.language {
            command.arg("-x").arg(language);
        }
        command.arg(&source.path).stdin(Stdio::null()).stderr(Stdio::piped());
        let child = command.spawn().map_err(|why| unusable(compiler, why))?;
        Ok(Bitcode { name: source.path.display().to_string(), path, child })
    }

    /// The section for it. A source that is no C for the engine goes without, and this is said unless the compiler
    /// complained itself.
    fn finish(self, say: bool) -> Result<Option<Vec<u8>>, CliError> {
        let output = self.child.wait_with_output().map_err(system)?;
        if !output.status.success() {
            if say {
                let complaint = String::from_utf8_lossy(&output.stderr);
                let first = complaint.lines().find(|l| l.contains("error")).unwrap_or("the compiler failed");
                eprintln!("pleach cc: warning: {}: no bitcode is kept: {first}", self.name);
            }
            return Ok(None);
        }
        let bitcode = std::fs::read(&self.path).map_err(system)?;
        Ok(Some(embedded_bitcode::section(&self.name, &bitcode)))
    }
}

fn put_into(object: &Path, contents: &[u8]) -> Result<(), CliError> {
    // An object of another kind, `-o /dev/null` for instance, is left as it is.
    if !object.is_file() {
        return Ok(());
    }
    let bytes = std::fs::read(object).map_err(system)?;
    match embedded_bitcode::embed(&bytes, contents) {
        Some(with) => std::fs::write(object, with).map_err(system),
        None => {
            eprintln!("pleach cc: warning: {}: no ELF object, no bitcode is kept", object.display());
            Ok(())
        }
    }
}

fn system(why: std::io::Error) -> CliError {
    CliError::System { what: "keep the bitcode", why }
}

fn unusable(compiler: &'static str, why: std::io::Error) -> CliError {
    CliError::Usage(format!("{compiler} could not be run ({why}); install it with: apt install clang-19"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_command_or_by_name() {
        let given = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        let asked = |line: &str| asked(&given(line)).map(|(c, rest)| (c, rest.len()));
        assert_eq!(asked("./pleach cc -c a.c"), Some((CLANG, 2)));
        assert_eq!(asked("pleach c++ a.cc"), Some((CLANG_CXX, 1)));
        assert_eq!(asked("/usr/bin/pleach-cc -c a.c"), Some((CLANG, 2)));
        assert_eq!(asked("pleach test cc"), None);
        assert_eq!(asked("pleach"), None);
    }
}
