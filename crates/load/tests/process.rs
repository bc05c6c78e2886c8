//! Front ends that misbehave: each is a shell script in place of the real one.

use pleach_load::{LoadError, Options, load};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// An executable, gone when dropped.
struct Script(PathBuf);

impl Script {
    fn new(body: &str) -> Script {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("pleach-load-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        // Written by a process of its own: a file that this one opens for writing is inherited by each child that
        // another test starts meanwhile, and what some process has open for writing cannot be run.
        let write = r#"printf '#!/bin/sh\n%s\n' "$1" >"$0" && chmod 755 "$0""#;
        let status = Command::new("sh").args(["-c", write]).arg(&path).arg(body).status().expect("sh");
        assert!(status.success(), "{status}");
        Script(path)
    }
    fn load(&self) -> LoadError {
        let inputs = vec!["first.c".into(), "second.bc".into()];
        load(&Options { inputs, frontend: Some(self.0.clone()), ..Options::default() }).expect_err("no program")
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn a_crash_is_one_sentence_that_names_the_input() {
    // The second input was being read.
    let error = Script::new(r"cat >/dev/null; printf '\000\000\000\001'; kill -SEGV $$").load();
    assert_eq!(error.to_string(), "LLVM could not read second.bc (the front end crashed with signal 11)");
    // Before and after the inputs nobody knows whose fault it is.
    for said in ["", r"printf '\000\001\001';"] {
        let error = Script::new(&format!("cat >/dev/null; {said} kill -ABRT $$")).load();
        assert_eq!(error.to_string(), "LLVM could not read first.c, second.bc (the front end crashed with signal 6)");
    }
}

#[test]
fn a_refusal_passes_through() {
    let error = Script::new(r"cat >/dev/null; printf '\000\000\003\005sorry'").load();
    assert!(matches!(&error, LoadError::Refused(why) if why == "sorry"), "{error:?}");
    let error = Script::new(r"cat >/dev/null; printf '\000\000'; echo 'LLVM cannot go on: tired' >&2; exit 2").load();
    assert_eq!(error.to_string(), "first.c: LLVM cannot go on: tired");
}

#[test]
fn an_answer_that_is_none() {
    for body in ["exit 0", "exec <&-; echo hello", r"printf '\002'", "echo panicked >&2; exit 101"] {
        let error = Script::new(body).load();
        assert!(matches!(error, LoadError::NoAnswer { .. }), "{body}: {error:?}");
    }
    let text = Script::new("echo panicked >&2; exit 101").load().to_string();
    assert!(text.contains("exit status: 101\npanicked"), "{text}");
}

#[test]
fn no_front_end() {
    let options = Options { frontend: Some("/nowhere/pleach-frontend".into()), ..Options::default() };
    let error = load(&options).expect_err("there is none");
    assert!(matches!(error, LoadError::NotFound { .. }), "{error:?}");
    let options = Options { frontend: Some("/".into()), ..Options::default() };
    assert!(matches!(load(&options), Err(LoadError::Unusable { .. })));
}
