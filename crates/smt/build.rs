//! Finds the static Bitwuzla, building it first if need be, and says what to link.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The release `backend/bitwuzla/ffi.rs` is written against.
const RELEASE: &str = "bitwuzla-0.9.1";

fn main() {
    for name in ["BITWUZLA_PREFIX", "PLEACH_CACHE", "XDG_CACHE_HOME", "HOME"] {
        println!("cargo::rerun-if-env-changed={name}");
    }
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo"));
    let script = manifest.join("../../solvers/build-bitwuzla.sh");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={}", script.display());

    let prefix = match set("BITWUZLA_PREFIX") {
        Some(given) => PathBuf::from(given),
        None => {
            // The script knows by its stamp whether the cache is complete and current; asking it
            // every time is cheaper than repeating its rules here.
            run(&script);
            cache().join(RELEASE)
        }
    };
    let lib = prefix.join("lib");
    let archive = lib.join("libbitwuzla.a");
    assert!(archive.exists(), "{} is missing; check BITWUZLA_PREFIX or the cache", archive.display());
    // A cleared cache must be noticed, or the next link fails with nothing to say why.
    println!("cargo::rerun-if-changed={}", archive.display());

    // Order matters to the linker: each library before those it uses.
    println!("cargo::rustc-link-search=native={}", lib.display());
    println!("cargo::rustc-link-lib=static=bitwuzla");
    println!("cargo::rustc-link-lib=static=cadical");
    for name in ["mpfr", "gmp", "z3", "stdc++"] {
        println!("cargo::rustc-link-lib=dylib={name}");
    }
}

/// An empty variable counts as unset, as it does for the shell's `${NAME:-default}`.
fn set(name: &str) -> Option<std::ffi::OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

/// Same rule as in the build script.
fn cache() -> PathBuf {
    if let Some(dir) = set("PLEACH_CACHE") {
        return dir.into();
    }
    let base = set("XDG_CACHE_HOME").map(PathBuf::from);
    let base = base.or_else(|| set("HOME").map(|home| PathBuf::from(home).join(".cache")));
    base.expect("none of PLEACH_CACHE, XDG_CACHE_HOME and HOME is set").join("pleach")
}

fn run(script: &Path) {
    // What the script prints would be taken for directives if it went to standard output.
    let output = Command::new("bash")
        .arg(script)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .unwrap_or_else(|error| panic!("cannot run {}: {error}", script.display()));
    eprint!("{}", String::from_utf8_lossy(&output.stdout));
    assert!(output.status.success(), "{} failed: {}", script.display(), output.status);
}
