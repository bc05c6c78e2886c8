//! `extract-bc`: the bitcode that a program built with `pleach cc` carries, as one file.

use pleach_command::{CliError, Code};
use std::path::{Path, PathBuf};
use std::process::Command;

const LINKERS: [&str; 2] = ["llvm-link-19", "llvm-link"];

pub fn main(args: Vec<String>) -> Result<Code, CliError> {
    let usage = |why: String| super::usage("extract-bc", why);
    let (mut output, mut program, mut args) = (None, None, args.into_iter());
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "-o" | "--output" => output = args.next().map(PathBuf::from),
            a if a.starts_with('-') => return Err(usage(format!("unknown option {a}"))),
            _ => program = Some(PathBuf::from(arg)),
        }
    }
    let program = program.ok_or_else(|| usage("no program is given".into()))?;
    let output = output.unwrap_or_else(|| {
        let mut name = program.clone().into_os_string();
        name.push(".bc");
        name.into()
    });
    let scratch = pleach::temporary_directory()?;
    let Some(carried) = pleach_load::embedded_bitcode::of_file(&program)? else {
        return Err(usage(format!("{} is not in the ELF format", program.display())));
    };
    let failed = |why: std::io::Error| CliError::System { what: "write the program's bitcode", why };
    let pieces = carried.write(scratch.path()).map_err(failed)?;
    match &pieces[..] {
        [] => return Err(usage(format!("{} carries no bitcode; build it with pleach cc", program.display()))),
        [one] => drop(std::fs::copy(one, &output).map_err(failed)?),
        several => link(several, &output)?,
    }
    println!("Wrote {}.", output.display());
    Ok(Code::Fine)
}

fn link(pieces: &[PathBuf], output: &Path) -> Result<(), CliError> {
    for linker in LINKERS {
        match Command::new(linker).args(pieces).arg("-o").arg(output).status() {
            Ok(status) if status.success() => return Ok(()),
            Ok(status) => return Err(super::usage("extract-bc", format!("{linker} ended with {status}"))),
            Err(_) => {}
        }
    }
    Err(super::usage("extract-bc", "neither llvm-link-19 nor llvm-link is installed"))
}
