//! Building the program natively, once per program and kind of build.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use pleach_report::testcomp::program_hash;
use pleach_report::{RunInfo, rundir};

use crate::assets;
use crate::driver;
use crate::error::{ReplayError, Result};
use crate::rust_build;
use crate::static_entry;
use pleach_load::rust::is_rust;

/// Most of a compiler's complaint that is kept.
const LONGEST_MESSAGE: usize = 8 << 10;

/// What the compiler of today rejects and the programs of yesterday do.
const LENIENT: &[&str] = &[
    "-w",
    "-Wno-implicit-function-declaration",
    "-Wno-implicit-int",
    "-Wno-int-conversion",
    "-Wno-incompatible-function-pointer-types",
    "-Wno-return-type",
];

/// Debian has the kernel's headers, `asm/*.h` among them, in the directory of the 64-bit target only; they serve both.
const KERNEL_HEADERS: &str = "/usr/include/x86_64-linux-gnu";

/// Functions that `runtime/allocation` wraps.
const FALLIBLE: [&str; 9] =
    ["malloc", "calloc", "realloc", "reallocarray", "aligned_alloc", "memalign", "posix_memalign", "strdup", "strndup"];

/// A built program.
#[derive(Clone, Debug)]
pub(crate) struct Binary {
    pub path: PathBuf,
}

/// Builds the program of one run.
pub(crate) struct Builder<'a> {
    pub info: &'a RunInfo,
    /// Where builds are kept.
    pub cache: PathBuf,
    pub compilers: &'a [String],
}

impl Builder<'_> {
    /// Whether sanitizers can see into all of the program; bitcode is instrumented only by its own front end.
    pub fn instrumentable(&self) -> bool {
        self.info.sources.iter().all(|s| is_source(s))
    }

    /// Builds, or finds an earlier build of the same contents.
    pub fn build(&self, sanitized: bool) -> Result<Binary> {
        if self.info.sources.is_empty() {
            return Err(ReplayError::NoSources);
        }
        let compiler = self.compiler()?;
        let key = self.key(&compiler, sanitized)?;
        let directory = self.cache.join(&key[..16]);
        let path = directory.join("program");
        if path.is_file() {
            return Ok(Binary { path });
        }
        self.write_runtime(&directory)?;
        // A name of its own: two processes may build the same program at the same time.
        let temporary = directory.join(format!("program.{}", std::process::id()));
        let objects = self.compile_runtime(&compiler, &directory, sanitized)?;
        let mut result = self.compile_program(&compiler, &directory, &objects, &temporary, sanitized);
        let is_hidden = |why: &str| why.contains(&undefined(&self.info.entry));
        let all_c = !self.info.sources.iter().any(|s| is_rust(s));
        if matches!(&result, Err(ReplayError::Build(why)) if all_c && is_hidden(why)) {
            result = self.link_static_entry(&compiler, &directory, &objects, &temporary, sanitized);
        }
        objects.iter().for_each(|o| drop(fs::remove_file(o)));
        result?;
        fs::rename(&temporary, &path).map_err(ReplayError::io("write", &path))?;
        Ok(Binary { path })
    }

    fn compiler(&self) -> Result<String> {
        let works = |name: &&String| {
            let quiet = Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
            quiet.is_ok_and(|s| s.success())
        };
        let found = self.compilers.iter().find(works).cloned();
        found.ok_or_else(|| ReplayError::NoCompiler(self.compilers.join(", ")))
    }

    /// A name for everything that goes into the build. C is preprocessed first, so that headers count too.
    fn key(&self, compiler: &str, sanitized: bool) -> Result<String> {
        let mut all = Vec::new();
        let mut add = |part: &[u8]| {
            all.extend_from_slice(&(part.len() as u64).to_le_bytes());
            all.extend_from_slice(part);
        };
        add(format!("{compiler} {sanitized} {:?}", self.info.cc_flags).as_bytes());
        if self.info.malloc_may_fail {
            add(assets::ALLOCATION_C.as_bytes());
        }
        for text in
            [assets::REPLAY_C, assets::KLEE_H, assets::NONDET_INC, assets::SERVER_INC, &driver::source(self.info)]
        {
            add(text.as_bytes());
        }
        let headers = self.cache.join("include");
        write(&headers.join("klee/klee.h"), assets::KLEE_H)?;
        for source in &self.info.sources {
            if is_rust(source) {
                rust_build::read_files(self, source)?.iter().for_each(|text| add(text));
            } else if is_source(source) {
                let mut command = self.command(compiler);
                command.arg("-E").args(LENIENT).args(&self.info.cc_flags).arg("-I").arg(absolute(&headers));
                add(&run(command.arg(source))?.stdout);
            } else {
                let path = self.info.directory.join(source);
                add(&fs::read(&path).map_err(ReplayError::io("read", &path))?);
            }
        }
        Ok(program_hash(&all))
    }

    fn write_runtime(&self, directory: &Path) -> Result<()> {
        write(&directory.join("replay.c"), assets::REPLAY_C)?;
        write(&directory.join("nondet.inc"), assets::NONDET_INC)?;
        write(&directory.join("server.inc"), assets::SERVER_INC)?;
        write(&directory.join("include/klee/klee.h"), assets::KLEE_H)?;
        write(&directory.join("driver.c"), &driver::source(self.info))?;
        write(&directory.join("allocation.c"), assets::ALLOCATION_C)?;
        write(&directory.join("runtime.c"), "#include \"replay.c\"\n#include \"driver.c\"\n")
    }

    /// The library and the driver, as objects. They are built without the user's flags (`-D`, `-std=` are not meant for
    /// them), except the machine.
    fn compile_runtime(&self, compiler: &str, directory: &Path, sanitized: bool) -> Result<Vec<PathBuf>> {
        let machine = self.info.cc_flags.iter().filter(|f| f.starts_with("-m") || f.starts_with("--target"));
        // A compiler takes longer to start than to compile either of them.
        let mut sources = if driver::names_nothing(self.info) { vec!["runtime"] } else { vec!["replay", "driver"] };
        if self.info.malloc_may_fail {
            sources.push("allocation");
        }
        let mut objects = Vec::new();
        for source in sources {
            let object = directory.join(format!("{source}.{}.o", std::process::id()));
            let mut command = self.command(compiler);
            command.args(["-O0", "-g", "-w", "-c", "-fno-omit-frame-pointer"]).args(machine.clone());
            if sanitized {
                command.arg("-DPLEACH_SANITIZED");
            }
            if self.info.malloc_may_fail && source != "allocation" {
                // Only the program's allocations fail.
                command.args(FALLIBLE.map(|name| format!("-D{name}=__real_{name}")));
            }
            command.arg("-I").arg(absolute(&directory.join("include")));
            let source = directory.join(source).with_extension("c");
            run(command.arg(absolute(&source)).arg("-o").arg(absolute(&object)))?;
            objects.push(object);
        }
        Ok(objects)
    }

    fn compile_program(
        &self,
        compiler: &str,
        directory: &Path,
        objects: &[PathBuf],
        to: &Path,
        sanitized: bool,
    ) -> Result<()> {
        if self.info.sources.iter().any(|s| is_rust(s)) {
            if sanitized {
                return Err(ReplayError::Build("rustc has no sanitizers".into()));
            }
            return rust_build::compile(self, compiler, directory, objects, to);
        }
        let mut command = self.compile_command(compiler, directory, sanitized);
        command.args(&self.info.sources);
        self.link(command, objects, to)
    }

    /// The sources as objects, in which the entry is made visible, and linked. It is `static`: the driver cannot call
    /// it otherwise.
    fn link_static_entry(
        &self,
        compiler: &str,
        directory: &Path,
        runtime: &[PathBuf],
        to: &Path,
        sanitized: bool,
    ) -> Result<()> {
        let object = |n: usize| absolute(&directory.join(format!("source{n}.{}.o", std::process::id())));
        let objects: Vec<PathBuf> = (0..self.info.sources.len()).map(object).collect();
        let result = (|| {
            for (source, object) in self.info.sources.iter().zip(&objects) {
                let mut command = self.compile_command(compiler, directory, sanitized);
                run(command.arg("-c").arg(source).arg("-o").arg(object))?;
            }
            static_entry::make_visible(&objects, &self.info.entry)?;
            let mut command = self.compile_command(compiler, directory, sanitized);
            command.args(&objects);
            self.link(command, runtime, to)
        })();
        objects.iter().for_each(|o| drop(fs::remove_file(o)));
        result
    }

    /// What compiles a source of the program, whatever becomes of it.
    fn compile_command(&self, compiler: &str, directory: &Path, sanitized: bool) -> Command {
        let mut command = self.command(compiler);
        command.args(LENIENT);
        if compiler.contains("clang") {
            // As in the front end.
            command.arg("-fbracket-depth=4096");
        }
        command.args(&self.info.cc_flags).arg("-I").arg(absolute(&directory.join("include")));
        // After the user's flags: replay is about the program as it is written.
        command.args(["-O0", "-g", "-fno-omit-frame-pointer", "-fno-inline"]);
        if !self.info.error_functions.is_empty() {
            command.arg("-finstrument-functions");
        }
        if sanitized {
            command.args([
                "-fsanitize=address,undefined,float-cast-overflow",
                "-fsanitize-recover=undefined,float-cast-overflow",
            ]);
            // ASan leaves out accesses it takes for safe, those to globals at constant offsets among them.
            if compiler.contains("clang") {
                command.args(["-mllvm", "-asan-opt=0"]);
            }
        }
        command
    }

    fn link(&self, mut command: Command, objects: &[PathBuf], to: &Path) -> Result<()> {
        command.args(["-x", "none"]).args(objects.iter().map(|o| absolute(o)));
        // Addresses of the program are those of the file, so that they can be turned into lines afterwards.
        if self.info.sources.iter().any(|s| is_cxx(s)) {
            command.arg("-lstdc++");
        }
        command.args(["-no-pie", "-Wl,--wrap=main", "-lm", "-lpthread", "-ldl"]);
        if self.info.malloc_may_fail {
            command.args(FALLIBLE.map(|name| format!("-Wl,--wrap={name}")));
        }
        command.args(&self.info.libraries).arg("-o").arg(absolute(to));
        run(&mut command).map(drop)
    }

    fn command(&self, compiler: &str) -> Command {
        let mut command = Command::new(compiler);
        if self.info.directory.is_dir() {
            command.current_dir(&self.info.directory);
        }
        if self.info.cc_flags.iter().any(|f| f == "-m32") {
            command.args(["-idirafter", KERNEL_HEADERS]);
        }
        command
    }
}

/// What linkers say of an entry that no object offers.
fn undefined(entry: &str) -> String {
    format!("undefined reference to `{entry}'")
}

fn is_cxx(path: &Path) -> bool {
    matches!(extension(path), "cpp" | "cc" | "cxx" | "C")
}

fn is_source(path: &Path) -> bool {
    extension(path) == "c" || is_cxx(path)
}

fn extension(path: &Path) -> &str {
    path.extension().and_then(|e| e.to_str()).unwrap_or("")
}

pub(crate) fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

fn write(path: &Path, text: &str) -> Result<()> {
    if fs::read(path).is_ok_and(|old| old == text.as_bytes()) {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(ReplayError::io("create", parent))?;
    }
    Ok(rundir::write_atomically(path, text.as_bytes())?)
}

pub(crate) fn run(command: &mut Command) -> Result<Output> {
    let program = PathBuf::from(command.get_program());
    let output = command.stdin(Stdio::null()).output().map_err(ReplayError::io("run", &program))?;
    if output.status.success() {
        return Ok(output);
    }
    let mut message = String::from_utf8_lossy(&output.stderr).into_owned();
    message.truncate(message.floor_char_boundary(LONGEST_MESSAGE));
    Err(ReplayError::Build(message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrapped_has_a_wrapper_and_no_wrapper_is_left_out() {
        let defined = |name: &&str| assets::ALLOCATION_C.contains(&format!("__wrap_{name}("));
        assert!(FALLIBLE.iter().all(defined));
        let lines = assets::ALLOCATION_C.lines().filter(|l| !l.starts_with([' ', '}', '/']) && l.contains("__wrap_"));
        assert_eq!(lines.count(), FALLIBLE.len());
    }
}
