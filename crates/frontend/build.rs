//! Compiles the model of the operating system and the runtime of C++ to bitcode, and says which parts of LLVM to link:
//! only those that read, verify and link modules, and statically, because mapping the whole shared library takes longer
//! and more memory than most programs. Without the archives the shared library serves.

use std::env;
use std::path::Path;
use std::process::Command;

const COMPONENTS: [&str; 6] = ["core", "analysis", "target", "bitreader", "irreader", "linker"];
const CONFIG: [&str; 2] = ["llvm-config-19", "llvm-config"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for (machine, suffix) in [("x86_64", ""), ("i686", "32")] {
        runtime("posix", "environment.c", machine, &format!("environment{suffix}.bc"));
        runtime("strings", "strings.c", machine, &format!("strings{suffix}.bc"));
        runtime("strings", "wide.c", machine, &format!("wide{suffix}.bc"));
        runtime("strings", "formatted.c", machine, &format!("formatted{suffix}.bc"));
        runtime("cxx", "runtime.c", machine, &format!("cxx{suffix}.bc"));
        runtime("allocation", "allocation.c", machine, &format!("allocation{suffix}.bc"));
    }
    println!("cargo::rerun-if-env-changed=LLVM_SYS_191_PREFIX");
    let config = env::var_os("LLVM_SYS_191_PREFIX").map(|p| Path::new(&p).join("bin/llvm-config").into_os_string());
    let candidates = config.into_iter().chain(CONFIG.map(Into::into));
    let config = candidates.into_iter().find(|c| output_of(c, &["--version"]).is_some_and(|v| v.starts_with("19.")));
    let config = config.expect("llvm-config of LLVM 19 was not found; install it with: apt install llvm-19-dev");
    let get = |args: &[&str]| output_of(&config, args).unwrap_or_else(|| panic!("llvm-config fails on {args:?}"));

    println!("cargo::rustc-link-search=native={}", get(&["--libdir"]));
    // Each library stands before those it uses, as the linker wants it.
    let archives = [&["--link-static", "--libs"][..], &COMPONENTS].concat();
    match output_of(&config, &archives) {
        Some(libraries) => {
            names(&libraries).for_each(|l| println!("cargo::rustc-link-lib=static:-bundle={l}"));
            let system = get(&["--link-static", "--system-libs"]);
            names(&system).for_each(|l| println!("cargo::rustc-link-lib=dylib={l}"));
        }
        None => names(&get(&["--link-shared", "--libs"])).for_each(|l| println!("cargo::rustc-link-lib=dylib={l}")),
    }
    println!("cargo::rustc-link-lib=dylib=stdc++");
}

/// As the C library is compiled, see `libc/build.sh`.
const FLAGS: &str = "-c -emit-llvm -std=c11 -ffreestanding -fno-builtin -nostdinc -O1 -g0 -fwrapv -fno-vectorize \
    -fno-slp-vectorize -fno-unroll-loops -fno-jump-tables -fno-stack-protector -fcf-protection=none -Wall -Werror";

/// A file of `runtime` to bitcode.
fn runtime(directory: &str, source: &str, machine: &str, to: &str) {
    // Read at run time: a build directory may be a copy.
    let here = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    let sources = Path::new(&here).join("../../runtime").join(directory);
    println!("cargo::rerun-if-changed={}", sources.display());
    let out = Path::new(&env::var_os("OUT_DIR").unwrap_or_default()).join(to);
    let mut clang = Command::new("clang-19");
    clang.args(FLAGS.split_whitespace()).arg(format!("--target={machine}-pc-linux-gnu"));
    clang.arg("-o").arg(out).arg(sources.join(source));
    let status = clang.status().expect("clang-19 was not found; install it with: apt install clang-19");
    assert!(status.success(), "runtime/{directory} does not compile");
}

/// What the program prints, if it succeeds.
fn output_of(program: &std::ffi::OsStr, args: &[&str]) -> Option<String> {
    let output = Command::new(program).args(args).output().ok().filter(|o| o.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The `-lNAME` of a list of flags. A library given by its path is one that LLVM's other parts use.
fn names(flags: &str) -> impl Iterator<Item = &str> {
    flags.split_whitespace().filter_map(|f| f.strip_prefix("-l"))
}
