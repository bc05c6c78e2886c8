//! Runs the packaged clang on one file.

use crate::{FrontendError, Options};
use pleach_load::clang_flags::{self, CLANG, FOR_THE_ENGINE};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

/// What clang refuses in old C although it means something; other compilers only warn.
const OLD_C: &[&str] = &[
    "implicit-function-declaration",
    "implicit-int",
    "int-conversion",
    "incompatible-function-pointer-types",
    "return-type",
    "return-mismatch",
];

/// Templates that the C++ library has in its object code are needed as code here; a header says so before any other.
const TEMPLATES: (&str, &str) = (
    "templates.h",
    "#if __has_include(<bits/c++config.h>)\n#include <bits/c++config.h>\n#undef _GLIBCXX_EXTERN_TEMPLATE\n\
     #define _GLIBCXX_EXTERN_TEMPLATE 0\n#endif\n",
);

/// Generated code nests deeper than clang allows by itself.
const DEEP_NESTING: &str = "-fbracket-depth=4096";

/// Where the bitcode is, and what clang had to say that is an error by its own rules.
pub(crate) struct Compiled {
    pub bitcode: PathBuf,
    pub remarks: Vec<String>,
}

/// Compiles `source` to unoptimised bitcode with debug information.
pub(crate) fn compile(source: &Path, index: usize, options: &Options) -> Result<Compiled, FrontendError> {
    std::fs::create_dir_all(&options.work_dir)
        .map_err(|why| FrontendError::WorkDir { path: options.work_dir.clone(), why })?;
    if is_cxx(source) {
        write_templates(options)?;
    }
    let out = place(source, index, options);
    let read = out.with_extension("d");
    let mut output = command(source, &out, options, &Pass::Whole { read: &read }).output().map_err(unusable)?;
    if checks_are_ours(options) && !is_preprocessed(source, options) && asks_for_sanitizers(&read, options) {
        let text = out.with_extension("i");
        let preprocessed = command(source, &text, options, &Pass::Preprocess).output().map_err(unusable)?;
        if preprocessed.status.success() {
            let rest = command(&text, &out, options, &Pass::Rest { cxx: is_cxx(source) }).output().map_err(unusable)?;
            // What is wrong with both is better said of the source itself.
            if rest.status.success() || output.status.success() {
                output = rest;
            }
        }
    }
    let diagnostics = String::from_utf8_lossy(&output.stderr).trim_end().to_owned();
    if output.status.success() {
        return Ok(Compiled { bitcode: out, remarks: demoted(&diagnostics) });
    }
    if is_out_of_time(output.status) {
        return Err(FrontendError::OutOfTime);
    }
    let hint = hint(&diagnostics, options.m32);
    Err(FrontendError::Compile { path: source.to_path_buf(), diagnostics, hint })
}

fn write_templates(options: &Options) -> Result<(), FrontendError> {
    let header = options.work_dir.join(TEMPLATES.0);
    std::fs::write(&header, TEMPLATES.1).map_err(|why| FrontendError::WorkDir { path: header, why })
}

/// Where the bitcode of the input of this index goes.
fn place(source: &Path, index: usize, options: &Options) -> PathBuf {
    let stem = source.file_stem().map_or_else(|| "input".into(), |s| s.to_string_lossy().into_owned());
    options.work_dir.join(format!("{index}-{stem}.bc"))
}

/// What a compilation would be of.
pub(crate) struct Text {
    /// the text behind the preprocessor, and what the compiler says of itself
    pub seen: [Vec<u8>; 2],
    /// the files that are read
    pub files: Vec<PathBuf>,
}

/// The text that a compilation would see. `None`: it cannot be told, or does not tell all.
pub(crate) fn text(source: &Path, index: usize, options: &Options) -> Option<Text> {
    if is_preprocessed(source, options) {
        return Some(Text { seen: [Vec::new(), Vec::new()], files: vec![source.to_path_buf()] });
    }
    std::fs::create_dir_all(&options.work_dir).ok()?;
    if is_cxx(source) {
        write_templates(options).ok()?;
    }
    let (out, read) = (place(source, index, options).with_extension("text"), place(source, index, options));
    let read = read.with_extension("text.d");
    let output = command(source, &out, options, &Pass::Text { read: &read }).output().ok()?;
    let rule = std::fs::read(&read).ok()?;
    let files = prerequisites(&rule);
    let asks = checks_are_ours(options) && asks_for_sanitizers(&read, options);
    (output.status.success() && !files.is_empty() && !asks)
        .then(|| std::fs::read(&out).map(|text| Text { seen: [text, output.stderr], files }))?
        .ok()
}

/// The system ended the compiler for its processor time. Clang's own handler makes a status of the signal.
fn is_out_of_time(status: ExitStatus) -> bool {
    const SIGXCPU: i32 = 24;
    status.signal() == Some(SIGXCPU) || status.code() == Some(128 + SIGXCPU)
}

/// What of a compilation is done.
enum Pass<'a> {
    /// All of it; `read`: which files it reads is written there.
    Whole { read: &'a Path },
    /// Only the text that the rest would see, with all that the compiler says of itself; `read` as before.
    Text { read: &'a Path },
    /// Without the checks, so that the source does not see them.
    Preprocess,
    /// What is left of a C or C++ source behind that.
    Rest { cxx: bool },
}

/// How a source asks whether it is compiled with checks of undefined behaviour.
const ASKS: &str = "undefined_behavior_sanitizer";

/// Whether the checks are inserted by the engine: the native build has none.
fn checks_are_ours(options: &Options) -> bool {
    !options.cc_args.iter().any(|a| a.starts_with("-fsanitize"))
}

/// Whether one of the files that a compilation read, or an option, contains the test for them. `read`: a rule for
/// `make`.
fn asks_for_sanitizers(read: &Path, options: &Options) -> bool {
    if options.cc_args.iter().chain(&options.defines).any(|a| a.contains(ASKS)) {
        return true;
    }
    // SOUND: who cannot be read may ask.
    let Ok(rule) = std::fs::read(read) else { return true };
    let asks = |path: PathBuf| std::fs::read(path).map_or(true, |text| contains(&text, ASKS.as_bytes()));
    prerequisites(&rule).into_iter().any(asks)
}

fn contains(text: &[u8], what: &[u8]) -> bool {
    text.windows(what.len()).any(|w| w == what)
}

/// The files behind the colon of a rule.
pub(crate) fn prerequisites(rule: &[u8]) -> Vec<PathBuf> {
    let start = rule.windows(2).position(|w| w[0] == b':' && w[1].is_ascii_whitespace()).map_or(0, |i| i + 1);
    let (mut all, mut name) = (Vec::new(), Vec::new());
    let mut bytes = rule[start..].iter().copied().peekable();
    while let Some(b) = bytes.next() {
        match (b, bytes.peek().copied()) {
            (b'\\', Some(b'\n')) => drop(bytes.next()),
            (b'\\', Some(next @ (b' ' | b'#'))) | (b'$', Some(next @ b'$')) => {
                bytes.next();
                name.push(next);
            }
            (b, _) if b.is_ascii_whitespace() => all.push(std::mem::take(&mut name)),
            (b, _) => name.push(b),
        }
    }
    all.push(name);
    all.into_iter().filter(|n| !n.is_empty()).map(|n| PathBuf::from(OsString::from_vec(n))).collect()
}

/// Debian has the kernel's headers, `asm/*.h` among them, in the directory of the 64-bit target only; they serve both.
const KERNEL_HEADERS: &str = "/usr/include/x86_64-linux-gnu";

fn command(source: &Path, out: &Path, options: &Options, pass: &Pass) -> Command {
    let mut c = Command::new(CLANG);
    c.stdin(Stdio::null());
    c.args(FOR_THE_ENGINE).arg("-D__PLEACH__").arg(DEEP_NESTING);
    c.args(OLD_C.iter().map(|w| format!("-Wno-error={w}")));
    if options.m32 {
        c.args(["-m32", "-idirafter", KERNEL_HEADERS]);
    }
    match pass {
        Pass::Whole { read } => drop(c.arg("-MD").arg("-MF").arg(read)),
        Pass::Text { read } => drop(c.args(["-E", "-v", "-MD", "-MF"]).arg(read)),
        Pass::Preprocess => drop(c.arg("-E")),
        Pass::Rest { cxx } => drop(c.arg("-x").arg(if *cxx { "c++-cpp-output" } else { "cpp-output" })),
    }
    let from_source = !matches!(pass, Pass::Rest { .. });
    if is_cxx(source) && from_source {
        c.arg("-include").arg(options.work_dir.join(TEMPLATES.0));
    }
    if let Some(std) = &options.std {
        c.arg(format!("-std={std}"));
    }
    for d in &options.defines {
        c.arg(format!("-D{d}"));
    }
    for i in options.include_dirs.iter().chain(&options.runtime_include) {
        c.arg("-I").arg(i);
    }
    if !matches!(pass, Pass::Preprocess) {
        c.args(clang_flags::checks(&options.cc_args, options.check_shifts));
    }
    c.args(&options.cc_args);
    if from_source && !has_known_language(source) && !options.cc_args.iter().any(|a| a.starts_with("-x")) {
        c.args(["-x", "c"]);
    }
    c.arg("-o").arg(out).arg("--").arg(source);
    c
}

/// The errors that were made warnings so that old C compiles: `file:line:column: message`.
fn demoted(diagnostics: &str) -> Vec<String> {
    // A missing `return` is no error of clang's in C.
    let classes = OLD_C.iter().filter(|c| **c != "return-type").map(|c| format!(" [-W{c}]"));
    let classes: Vec<String> = classes.collect();
    let one = |line: &str| {
        let message = classes.iter().find_map(|c| line.strip_suffix(c.as_str()))?;
        Some(message.replacen(": warning: ", ": ", 1))
    };
    diagnostics.lines().filter_map(one).collect()
}

fn unusable(why: std::io::Error) -> FrontendError {
    match why.kind() {
        std::io::ErrorKind::NotFound => FrontendError::NoClang,
        _ => FrontendError::ClangUnusable { why },
    }
}

fn is_cxx(source: &Path) -> bool {
    matches!(source.extension().and_then(|e| e.to_str()), Some("cpp" | "cc" | "cxx" | "C" | "ii"))
}

/// What is preprocessed can no longer ask for anything, and clang says neither what it reads nor its text again.
fn is_preprocessed(source: &Path, options: &Options) -> bool {
    matches!(source.extension().and_then(|e| e.to_str()), Some("i" | "ii"))
        && !options.cc_args.iter().any(|a| a.starts_with("-x"))
}

fn has_known_language(source: &Path) -> bool {
    matches!(source.extension().and_then(|e| e.to_str()), Some("c" | "i")) || is_cxx(source)
}

fn hint(diagnostics: &str, m32: bool) -> &'static str {
    let lacks_header = diagnostics.contains("file not found");
    if m32 && lacks_header && ["bits/", "gnu/stubs-32.h", "sys/cdefs.h"].iter().any(|h| diagnostics.contains(h)) {
        "; the 32-bit C headers are missing, install them with: apt install libc6-dev-i386"
    } else if lacks_header && diagnostics.contains("'klee/klee.h'") {
        "; the directory of klee/klee.h is not among the include directories"
    } else {
        ""
    }
}

#[cfg(test)]
mod tests {
    use super::{demoted, prerequisites};
    use std::path::PathBuf;

    #[test]
    fn the_files_of_a_rule() {
        let rule = b"out/0-a.bc: a.c \\\n  with\\ space.h /usr/include/x$$.h \\\n last.h\n";
        assert_eq!(prerequisites(rule), ["a.c", "with space.h", "/usr/include/x$.h", "last.h"].map(PathBuf::from));
    }

    #[test]
    fn errors_that_were_made_warnings_are_kept() {
        let said = "a.c:1:2: warning: call to undeclared function 'f' [-Wimplicit-function-declaration]\n    1 | f();\n\
                    a.c:2:3: warning: unused variable 'x' [-Wunused-variable]\n2 warnings generated.";
        assert_eq!(demoted(said), ["a.c:1:2: call to undeclared function 'f'"]);
    }
}
