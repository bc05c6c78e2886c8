//! Runs the packaged clang on one file.

use crate::{FrontendError, Options};
use pleach_load::clang_flags::{self, CLANG, FOR_THE_ENGINE};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

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
        let header = options.work_dir.join(TEMPLATES.0);
        std::fs::write(&header, TEMPLATES.1).map_err(|why| FrontendError::WorkDir { path: header, why })?;
    }
    let stem = source.file_stem().map_or_else(|| "input".into(), |s| s.to_string_lossy().into_owned());
    let out = options.work_dir.join(format!("{index}-{stem}.bc"));
    let output = command(source, &out, options).output().map_err(unusable)?;
    let diagnostics = String::from_utf8_lossy(&output.stderr).trim_end().to_owned();
    if output.status.success() {
        return Ok(Compiled { bitcode: out, remarks: demoted(&diagnostics) });
    }
    let hint = hint(&diagnostics, options.m32);
    Err(FrontendError::Compile { path: source.to_path_buf(), diagnostics, hint })
}

/// Debian has the kernel's headers, `asm/*.h` among them, in the directory of the 64-bit target only; they serve both.
const KERNEL_HEADERS: &str = "/usr/include/x86_64-linux-gnu";

fn command(source: &Path, out: &Path, options: &Options) -> Command {
    let mut c = Command::new(CLANG);
    c.stdin(Stdio::null());
    c.args(FOR_THE_ENGINE).arg("-D__PLEACH__").arg(DEEP_NESTING);
    c.args(OLD_C.iter().map(|w| format!("-Wno-error={w}")));
    if options.m32 {
        c.args(["-m32", "-idirafter", KERNEL_HEADERS]);
    }
    if is_cxx(source) {
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
    c.args(clang_flags::checks(&options.cc_args, options.check_shifts));
    c.args(&options.cc_args);
    if !has_known_language(source) && !options.cc_args.iter().any(|a| a.starts_with("-x")) {
        c.args(["-x", "c"]);
    }
    c.arg("-o").arg(out).arg("--").arg(source);
    c
}

/// The errors that were made warnings so that old C compiles: `file:line:column: words`.
fn demoted(diagnostics: &str) -> Vec<String> {
    // A missing `return` is no error of clang's in C.
    let classes = OLD_C.iter().filter(|c| **c != "return-type").map(|c| format!(" [-W{c}]"));
    let classes: Vec<String> = classes.collect();
    let one = |line: &str| {
        let words = classes.iter().find_map(|c| line.strip_suffix(c.as_str()))?;
        Some(words.replacen(": warning: ", ": ", 1))
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
    use super::demoted;

    #[test]
    fn errors_that_were_made_warnings_are_kept() {
        let said = "a.c:1:2: warning: call to undeclared function 'f' [-Wimplicit-function-declaration]\n    1 | f();\n\
                    a.c:2:3: warning: unused variable 'x' [-Wunused-variable]\n2 warnings generated.";
        assert_eq!(demoted(said), ["a.c:1:2: call to undeclared function 'f'"]);
    }
}
