//! From C files and bitcode to a program: which C library, which headers, where the bitcode of an executable is.

use crate::error::Error;
use crate::libc;
use crate::temporary::temporary_directory;
use pleach_ir::Program;
use pleach_load::LoadLimits;
use std::path::{Path, PathBuf};

/// Which C library a program is linked with.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Libc {
    /// musl, if the program calls a library function that has no model
    #[default]
    Auto,
    /// musl
    Musl,
    /// none: a call of a function without a body ends the path
    None,
}

/// How sources are compiled.
#[derive(Clone, Debug, Default)]
pub struct CompileOptions {
    /// Directories with headers.
    pub include: Vec<PathBuf>,
    /// Preprocessor definitions, `NAME` or `NAME=VALUE`.
    pub define: Vec<String>,
    /// Compile for 32 bits. Default: 64.
    pub m32: bool,
    /// The C standard, for instance `c99`. Default: the compiler's.
    pub std: Option<String>,
    /// Other flags for the compiler.
    pub cc_args: Vec<String>,
    pub libc: Libc,
    /// Check shifts of signed numbers, for the error kind `signed-overflow`. Default: no.
    pub check_shifts: bool,
    /// An input decides whether an allocation fails. Default: allocations succeed.
    pub malloc_may_fail: bool,
    /// Where compiled programs are kept for the next time. Default: nowhere.
    pub cache: Option<PathBuf>,
}

/// Compiles, links and lowers C files, bitcode, and programs built with `pleach cc`.
///
/// The work is done by the executable `pleach-frontend`, which has to lie next to the current program or in `PATH`.
pub fn load<P: AsRef<Path>>(files: &[P], options: &CompileOptions) -> Result<Program, Error> {
    let files: Vec<PathBuf> = files.iter().map(|f| f.as_ref().to_owned()).collect();
    load_within(&files, options, &[], &LoadLimits::default())
}

/// The same for a program that is given these arguments, within limits.
pub fn load_within(
    files: &[PathBuf],
    compile: &CompileOptions,
    args: &[String],
    limits: &LoadLimits,
) -> Result<Program, Error> {
    for path in files {
        let refuse = |why| pleach_load::LoadError::NotAFile { path: path.clone(), why };
        pleach_load::regular::check(path).map_err(refuse)?;
    }
    let library = libc::library(compile, args)?;
    let scratch = temporary_directory()?;
    let include = scratch.path().join("include");
    let header = include.join("klee/klee.h");
    std::fs::create_dir_all(include.join("klee"))
        .and_then(|()| std::fs::write(&header, pleach_replay::assets::KLEE_H))
        .map_err(|why| Error::System { what: "write klee/klee.h to a temporary directory", why })?;
    let inputs = embedded_inputs(files, scratch.path())?;
    let options = pleach_load::Options {
        inputs,
        include_dirs: compile.include.clone(),
        defines: compile.define.clone(),
        m32: compile.m32,
        std: compile.std.clone(),
        cc_args: compile.cc_args.clone(),
        check_shifts: compile.check_shifts,
        malloc_may_fail: compile.malloc_may_fail,
        runtime_include: Some(include),
        work_dir: scratch.path().to_owned(),
        library,
        cache: compile.cache.clone(),
        ..pleach_load::Options::default()
    };
    Ok(pleach_load::load_within(&options, limits)?)
}

/// The files as the front end takes them: programs and objects in the ELF format are replaced by the bitcode they
/// carry.
pub fn embedded_inputs(files: &[PathBuf], scratch: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut inputs = Vec::new();
    for (i, file) in files.iter().enumerate() {
        match pleach_load::embedded_bitcode::of_file(file)? {
            Some(carried) => inputs.extend(carried.write(&scratch.join(i.to_string())).map_err(unwritten)?),
            None => inputs.push(file.clone()),
        }
    }
    Ok(inputs)
}

fn unwritten(why: std::io::Error) -> Error {
    Error::System { what: "write the program's bitcode", why }
}

/// The program's files as replay can build them, and the libraries they need: of programs their bitcode, which is put
/// into the directory.
pub fn sources(files: &[PathBuf], directory: &Path) -> Result<(Vec<PathBuf>, Vec<String>), Error> {
    let (mut sources, mut libraries) = (Vec::new(), Vec::new());
    for (i, file) in files.iter().enumerate() {
        match pleach_load::embedded_bitcode::of_file(file)? {
            Some(carried) => {
                let to = std::path::absolute(directory.join(format!("bitcode/{i}"))).map_err(unwritten)?;
                sources.extend(carried.write(&to).map_err(unwritten)?);
                libraries.extend(carried.libraries.iter().map(|l| format!("-l:{l}")));
            }
            None => sources.push(file.clone()),
        }
    }
    Ok((sources, libraries))
}

/// The user's compiler flags, for replay.
pub fn cc_flags(compile: &CompileOptions) -> Vec<String> {
    let mut flags: Vec<String> = compile.include.iter().map(|d| format!("-I{}", d.display())).collect();
    flags.extend(compile.define.iter().map(|d| format!("-D{d}")));
    flags.extend(compile.m32.then(|| "-m32".into()));
    flags.extend(compile.std.iter().map(|s| format!("-std={s}")));
    flags.extend(compile.cc_args.iter().cloned());
    flags
}
