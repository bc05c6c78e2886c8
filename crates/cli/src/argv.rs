//! Flags in the spelling of others: the compiler's `-m32` and `-std=c99` become options that the parser knows, and
//! KLEE's options of the symbolic environment go to the program's arguments, wherever they stand, in their order.

use pleach::libc::symbolic_option;
use pleach_cc::line::Line;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;

/// Flags of compilers whose value is the next argument.
const VALUE_FOLLOWS: [&str; 7] = ["-include", "-isystem", "-iquote", "-idirafter", "-U", "-L", "-l"];

/// Flags that only compilers have. What does not concern bitcode is left out, as by `pleach cc`.
fn is_of_compilers(flag: &str) -> bool {
    let letter = flag.strip_prefix('-').and_then(|f| f.chars().next());
    matches!(letter, Some('O' | 'g' | 'W' | 'f' | 'l' | 'L' | 'U' | 'w'))
        || ["-pthread", "-ansi", "-c", "-pedantic"].contains(&flag)
        || ["-isystem", "-march=", "-mtune="].iter().any(|b| flag.starts_with(b))
}

/// This command once more, for the functions that have no run below the directory yet.
pub fn with_rest_of_entries(directory: &Path) -> Command {
    let mut args = std::env::args_os();
    let program = std::env::current_exe().ok().or_else(|| args.next().map(Into::into)).unwrap_or_default();
    let given: Vec<OsString> = std::env::args_os().skip(1).filter(|a| !is_rest(a)).collect();
    let (command, others) = given.split_at(given.len().min(1));
    let mut rest = OsString::from(REST);
    rest.push(directory);
    let mut again = Command::new(program);
    again.args(command).arg(rest).args(others);
    again
}

const REST: &str = "--continue-entries=";

fn is_rest(arg: &OsStr) -> bool {
    arg.as_encoded_bytes().starts_with(REST.as_bytes())
}

pub fn normalize(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut args = args;
    let mut out = Vec::new();
    let mut symbolic: Vec<OsString> = Vec::new();
    let mut given = Vec::new();
    let mut compilers: Vec<OsString> = Vec::new();
    out.extend(args.by_ref().take(2));
    let command = out.get(1).and_then(|c| c.to_str()).unwrap_or_default().to_owned();
    let compiles = ["test", "verify", "reach", "ir"].contains(&command.as_str());
    while let Some(arg) = args.next() {
        match arg.to_str() {
            Some("--cc-arg") => {
                out.push(arg);
                out.extend(args.next());
            }
            Some("-p") if command == "test" || command == "init" => out.push("--compile-commands".into()),
            Some(flag) if compiles && VALUE_FOLLOWS.contains(&flag) => {
                compilers.push(arg);
                compilers.extend(args.next());
            }
            Some(flag) if compiles && is_of_compilers(flag) => compilers.push(arg),
            Some("--") => {
                given = args.by_ref().collect();
                break;
            }
            Some("-m32" | "-m64") => out.push(["-", arg.to_str().unwrap_or_default()].concat().into()),
            Some(flag) if flag.starts_with("-std=") => out.push(format!("-{flag}").into()),
            Some(flag) if symbolic_option(flag).is_some() => {
                let values = symbolic_option(flag).unwrap_or(0);
                symbolic.push(arg);
                symbolic.extend(args.by_ref().take(values));
            }
            _ => out.push(arg),
        }
    }
    for flag in Line::parse(&compilers).flags {
        let mut word = OsString::from("--cc-arg=");
        word.push(flag);
        out.push(word);
    }
    if !(symbolic.is_empty() && given.is_empty()) {
        out.push("--".into());
        out.append(&mut symbolic);
        out.append(&mut given);
    }
    out
}

/// KLEE's tools, which this program is under their names, too.
const KLEE_TOOLS: [&str; 5] = ["ktest-tool", "ktest-gen", "klee-replay", "klee-stats", "extract-bc"];

/// The arguments of `pleach klee …`, or of this program under the name `klee` or that of a tool of KLEE's.
pub fn for_klee(mut args: impl Iterator<Item = OsString>) -> Option<impl Iterator<Item = OsString>> {
    let name = args.next()?;
    let mut args = args.peekable();
    let own = std::path::Path::new(&name).file_name().and_then(|n| n.to_str()).unwrap_or_default();
    let tool = KLEE_TOOLS.iter().find(|t| **t == own).map(|t| OsString::from(*t));
    let is_klee = own == "klee" || tool.is_some() || args.next_if(|a| a == "klee").is_some();
    is_klee.then(|| tool.into_iter().chain(args))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compiler_flags_before_the_dashes_only() {
        let given = ["pleach", "test", "-m32", "-std=c99", "-DX=1", "--", "-m32"];
        let want = ["pleach", "test", "--m32", "--std=c99", "-DX=1", "--", "-m32"];
        assert_eq!(normalize(given.iter().map(OsString::from)), want.map(OsString::from));
    }

    #[test]
    fn flags_as_compilers_take_them() {
        let given = "pleach test -O2 -Wall -g -lm -include x.h a.c -fwrapv -p build --cc-arg -O1 -- -O2";
        let want = "pleach test a.c --compile-commands build --cc-arg -O1 --cc-arg=-Wall --cc-arg=-include --cc-arg=x.h \
                    --cc-arg=-fwrapv -- -O2";
        let words = |line: &str| line.split_whitespace().map(OsString::from).collect::<Vec<_>>();
        assert_eq!(normalize(words(given).into_iter()), words(want));
        let verify = words("pleach verify -p memsafety a.c");
        assert_eq!(normalize(verify.clone().into_iter()), verify);
    }

    #[test]
    fn klee_by_command_or_by_name() {
        let rest = |line: &str| for_klee(line.split(' ').map(OsString::from)).map(|a| a.collect::<Vec<_>>());
        assert_eq!(rest("/bin/klee a.bc klee"), Some(vec!["a.bc".into(), "klee".into()]));
        assert_eq!(rest("pleach klee a.bc"), Some(vec!["a.bc".into()]));
        assert_eq!(rest("pleach test klee"), None);
    }

    #[test]
    fn symbolic_options_go_to_the_program() {
        let given = ["pleach", "test", "--sym-args", "0", "2", "3", "a.c", "-sym-stdin", "4", "-q", "--", "x"];
        let want = ["pleach", "test", "a.c", "-q", "--", "--sym-args", "0", "2", "3", "-sym-stdin", "4", "x"];
        assert_eq!(normalize(given.iter().map(OsString::from)), want.map(OsString::from));
    }
}
