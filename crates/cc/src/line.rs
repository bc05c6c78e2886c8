//! A compiler's command line, as far as it says what is compiled and where the result goes.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// What one call of the compiler does.
#[derive(PartialEq, Eq, Debug)]
pub enum CompileStep {
    /// Nothing that makes code of sources: preprocessing, assembly, linking, options that only print information.
    Plain,
    /// Each source becomes an object.
    Objects,
    /// Sources are compiled and linked at once.
    Link,
}

#[derive(PartialEq, Eq, Debug)]
pub struct Source {
    pub path: PathBuf,
    /// `-x` that was in force
    pub language: Option<OsString>,
}

pub struct Line {
    pub step: CompileStep,
    pub sources: Vec<Source>,
    pub output: Option<PathBuf>,
    /// what the bitcode of each source is compiled with
    pub flags: Vec<OsString>,
}

/// Flags whose value is the next argument.
const WITH_VALUE: &str = "-o -x -I -D -U -include -imacros -isystem -iquote -idirafter -isysroot -iprefix -iwithprefix \
    -iwithprefixbefore -include-pch -cxx-isystem -L -l -u -T -e -z -rpath -Xclang -Xlinker -Xassembler \
    -Xpreprocessor -MF -MT -MQ -MJ -target --sysroot --param -mllvm -A -arch -B -F";

/// With one of these no object is made, or not from sources.
const PLAIN: &str = "-E -S -M -MM -fsyntax-only -emit-llvm -### --precompile --analyze";

/// What the bitcode is compiled without: outputs default_objects it, dependencies, optimisation, and what a compiler
/// adds to find or to hide errors, for that is the engine's business.
const LEFT_OUT: &str = "-c -MD -MMD -MG -MP -MV -pg -p -Werror -pedantic-errors --coverage -save-temps";
/// The same by how they begin.
const LEFT_OUT_BEGINNINGS: &str = "-O -g -flto -fsanitize -fno-sanitize -fprofile -fcoverage -fstack-protector -fstack-clash-protection \
    -fcf-protection -fembed-bitcode -ffat-lto -Werror= -save-temps= -Wl, -Wa, -fdebug-prefix-map";
/// The same, with a value that is joined or follows.
const LEFT_OUT_WITH_VALUE: &str = "-o -MF -MT -MQ -MJ -x -Xlinker -Xassembler -L -l -T -u";

fn has(list: &str, flag: &str) -> bool {
    list.split(' ').any(|f| f == flag)
}

impl Line {
    pub fn parse(args: &[OsString]) -> Line {
        let mut line = Line { step: CompileStep::Link, sources: Vec::new(), output: None, flags: Vec::new() };
        let mut language = None;
        let mut objects = false;
        let mut plain = false;
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let text = arg.to_string_lossy();
            let text = text.as_ref();
            let takes_value = has(WITH_VALUE, text);
            let value = if takes_value { args.next() } else { None };
            match text {
                "-o" => line.output = value.map(PathBuf::from),
                "-x" => language = value.filter(|v| *v != "none").cloned(),
                "-c" => objects = true,
                // What comes through a pipe cannot be read twice.
                "-" => plain = true,
                _ if has(PLAIN, text) => plain = true,
                _ if text.starts_with("-o") && !takes_value => line.output = Some(text[2..].into()),
                _ if text.starts_with("-x") && !takes_value => {
                    language = Some(text[2..].into()).filter(|l: &OsString| l != "none");
                }
                _ if !text.starts_with('-') => {
                    let path = PathBuf::from(arg);
                    if is_source(&path, language.as_deref()) {
                        line.sources.push(Source { path, language: language.clone() });
                    }
                    continue;
                }
                _ => {}
            }
            let begins = |list: &str| list.split(' ').any(|f| text.starts_with(f));
            let out = has(LEFT_OUT, text) || begins(LEFT_OUT_BEGINNINGS) || begins(LEFT_OUT_WITH_VALUE);
            if !out {
                line.flags.push(arg.clone());
                line.flags.extend(value.cloned());
            }
        }
        line.step = match (plain || line.sources.is_empty(), objects) {
            (true, _) => CompileStep::Plain,
            (false, true) => CompileStep::Objects,
            (false, false) => CompileStep::Link,
        };
        line
    }

    /// Where the compiler puts the object of a source.
    pub fn object(&self, source: &Source) -> PathBuf {
        let default_object = || PathBuf::from(source.path.file_name().unwrap_or_default()).with_extension("o");
        self.output.clone().unwrap_or_else(default_object)
    }

    /// Tests of build systems: compiled by the hundred and thrown away.
    pub fn is_a_probe(&self) -> bool {
        let probe = |path: &Path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("conftest") || path.iter().any(|p| p == "CMakeTmp" || p == "CMakeScratch")
        };
        let here = std::env::current_dir().unwrap_or_default();
        self.sources.iter().any(|s| probe(&s.path)) || probe(&here)
    }
}

fn is_source(path: &Path, language: Option<&OsStr>) -> bool {
    match language.map(|l| l.to_string_lossy()) {
        Some(l) => matches!(l.as_ref(), "c" | "c++" | "cpp-output" | "c++-cpp-output"),
        None => matches!(
            path.extension().and_then(|e| e.to_str()),
            Some("c" | "i" | "ii" | "cc" | "cp" | "cxx" | "cpp" | "CPP" | "c++" | "C" | "CC")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Line {
        Line::parse(&text.split_whitespace().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn what_a_call_does() {
        for plain in [
            "-E a.c",
            "-S a.c",
            "a.o b.a -o prog",
            "-c a.s",
            "-c a.S -o a.o",
            "--version",
            "-M a.c",
            "-c -xassembler a.c",
            "-c -xc -",
        ] {
            assert_eq!(line(plain).step, CompileStep::Plain, "{plain}");
        }
        for objects in ["-c a.c", "-O2 -o x.o -c a.c", "-c a.c b.c", "-MD -MF a.d -c a.cc", "-c -x c a.inc"] {
            assert_eq!(line(objects).step, CompileStep::Objects, "{objects}");
        }
        for link in ["a.c", "a.c b.o -lm -o prog", "-o prog a.c -Wl,-O1"] {
            assert_eq!(line(link).step, CompileStep::Link, "{link}");
        }
    }

    #[test]
    fn what_the_bitcode_is_compiled_with() {
        let l = line(
            "-std=gnu99 -DX -D Y=1 -I inc -Iinc2 -O2 -g3 -Wall -Werror -MT a.o -MD -MP -MF .deps/a.Tpo -fPIC -pthread -c -o a.o src/a.c \
             -D_FORTIFY_SOURCE=2 -fstack-protector-strong -Xclang -fno-pch-timestamp -include config.h -m32 -Llib -lx -L lib",
        );
        let want = "-std=gnu99 -DX -D Y=1 -I inc -Iinc2 -Wall -fPIC -pthread -D_FORTIFY_SOURCE=2 -Xclang -fno-pch-timestamp -include config.h -m32";
        assert_eq!(l.flags, want.split(' ').collect::<Vec<_>>());
        assert_eq!(l.object(&l.sources[0]), Path::new("a.o"));
        assert_eq!(line("-c src/b.c").object(&Source { path: "src/b.c".into(), language: None }), Path::new("b.o"));
    }

    #[test]
    fn probes() {
        assert!(line("-c conftest.c").is_a_probe());
        assert!(line("-o conftest -g conftest.c -lm").is_a_probe());
        assert!(!line("-c a.c").is_a_probe());
    }
}
