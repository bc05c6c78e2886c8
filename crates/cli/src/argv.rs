//! Compiler flags in the compiler's own spelling: `-m32` and `-std=c99` become options that the parser knows.

use std::ffi::OsString;

pub fn normalize(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut out = Vec::new();
    let mut program_args = false;
    for arg in args {
        program_args |= arg == "--";
        match arg.to_str() {
            Some("-m32" | "-m64") if !program_args => out.push(["-", arg.to_str().unwrap_or_default()].concat().into()),
            Some(flag) if !program_args && flag.starts_with("-std=") => out.push(format!("-{flag}").into()),
            _ => out.push(arg),
        }
    }
    out
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
}
