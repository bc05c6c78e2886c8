//! The native build of a Rust program, by the machine's own compiler.

use crate::compile::{Builder, absolute, run};
use crate::error::{ReplayError, Result};
use pleach_load::rust::{compiler, library};
use std::fs;
use std::path::{Path, PathBuf};

/// The contents of all files that the program is made of.
pub(crate) fn read_files(builder: &Builder, source: &Path) -> Result<Vec<Vec<u8>>> {
    let list = absolute(&builder.cache.join(format!("files.{}.d", std::process::id())));
    fs::create_dir_all(&builder.cache).map_err(ReplayError::io("create", &builder.cache))?;
    let mut command = compiler(&builder.info.cc_flags);
    command.current_dir(&builder.info.directory).arg("--emit=dep-info").arg("-o").arg(&list);
    run(command.args(found(builder, &builder.cache)?).arg(source))?;
    let text = fs::read_to_string(&list).map_err(ReplayError::io("read", &list))?;
    let _ = fs::remove_file(&list);
    let rule = text.lines().next().unwrap_or_default();
    let sources = rule.split_once(": ").map_or("", |(_, files)| files).split(' ').map(PathBuf::from);
    let crates = builder.info.cc_flags.iter().filter_map(|f| f.strip_prefix("--extern=")?.split_once('='));
    let files = sources.chain(crates.map(|(_, path)| path.into()));
    // A path with a space is cut in two, and counts by its name alone.
    Ok(files
        .map(|f| fs::read(builder.info.directory.join(&f)).unwrap_or(f.into_os_string().into_encoded_bytes()))
        .collect())
}

pub(crate) fn compile(builder: &Builder, linker: &str, directory: &Path, objects: &[PathBuf], to: &Path) -> Result<()> {
    let mut command = compiler(&builder.info.cc_flags);
    command.current_dir(&builder.info.directory).args(found(builder, directory)?);
    command.args(["--crate-type=bin", "--crate-name=program"]).arg(format!("-Clinker={linker}"));
    // Addresses of the program are those of the file, so that they can be turned into lines afterwards.
    command.args(["-Crelocation-model=static", "-Clink-arg=-no-pie", "-Clink-arg=-Wl,--wrap=main"]);
    command.args(objects.iter().map(|o| format!("-Clink-arg={}", absolute(o).display())));
    // The library of ours needs parts of the C library that only an archive has.
    command.arg("-Clink-arg=-lc").args(&builder.info.sources).arg("-o").arg(absolute(to));
    run(&mut command).map(drop)
}

/// Builds the crate `pleach`; the flags by which the program finds it.
fn found(builder: &Builder, directory: &Path) -> Result<Vec<String>> {
    let unwritable = ReplayError::io("write", directory);
    library(directory, &builder.info.cc_flags, unwritable, |build| run(build).map(drop))
}
