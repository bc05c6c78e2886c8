//! The front end as `pleach` uses it: a process of its own, with its executable next to it.

use pleach_load::{LoadError, Options, load};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

struct Scratch(TempDir);

impl Scratch {
    fn new() -> Scratch {
        Scratch(tempfile::tempdir().expect("a temporary directory"))
    }
    fn file(&self, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, contents).expect("write");
        path
    }
    fn options(&self, input: PathBuf) -> Options {
        let frontend = Some(env!("CARGO_BIN_EXE_pleach-frontend").into());
        Options { inputs: vec![input], work_dir: self.0.path().join("work"), frontend, ..Options::default() }
    }
}

const SOURCE: &str = "struct s { int a; struct s *n; } g = {1, &g};\n\
    int f(struct s *p, int n) { int r = 0; while (p && n--) { r += p->a; p = p->n; } return r; }\n\
    int main(void) { return f(&g, 3); }\n";

#[test]
fn the_program_is_the_one_that_was_lowered() {
    let scratch = Scratch::new();
    let mut options = scratch.options(scratch.file("good.c", SOURCE));
    let ours = load(&options).unwrap_or_else(|e| panic!("{e}"));
    let direct = pleach_frontend::load(&options).unwrap_or_else(|e| panic!("{e}"));
    assert!(ours == direct);
    // And found without being told where it is.
    options.frontend = None;
    load(&options).unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn refusals_come_through_in_its_words() {
    let scratch = Scratch::new();
    let mut options = scratch.options(scratch.0.path().join("missing.c"));
    options.inputs.push(scratch.file("bad.c", "int main(void) { return undeclared; }\n"));
    assert!(load(&options).expect_err("missing").to_string().ends_with("missing.c: no such file"));
    options.inputs.remove(0);
    let text = load(&options).expect_err("does not compile").to_string();
    assert!(text.contains("bad.c: does not compile\n"), "{text}");
    assert!(text.contains("use of undeclared identifier 'undeclared'"), "{text}");
}

/// LLVM's reader crashes on about one in twelve of these; we must not.
#[test]
fn damaged_bitcode() {
    let scratch = Scratch::new();
    load(&scratch.options(scratch.file("good.c", SOURCE))).unwrap_or_else(|e| panic!("{e}"));
    let whole = std::fs::read(scratch.0.path().join("work/0-good.bc")).expect("compiled file");
    let mut seed = 0x2545_F491_4F6C_DD1Du64;
    let mut crashed = 0;
    for _ in 0..64 {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        let mut bytes = whole.clone();
        let at = 4 + (seed >> 8) as usize % (bytes.len() - 4);
        bytes[at] ^= 1 << (seed % 8);
        match load(&scratch.options(scratch.file("damaged.bc", bytes))) {
            Ok(program) => assert!(pleach_ir::verify::verify(&program).is_ok()),
            Err(LoadError::Refused(why)) => assert!(why.contains("damaged.bc: "), "{why}"),
            Err(error @ LoadError::Crashed { .. }) => {
                assert!(error.to_string().contains("damaged.bc (the front end crashed"), "{error}");
                crashed += 1;
            }
            Err(other) => panic!("{other}"),
        }
    }
    assert!(crashed > 0, "no crash was seen, so none was survived");
}

#[test]
fn pleach_itself_is_without_llvm() {
    let contains_llvm = |executable: &str| {
        let bytes = std::fs::read(Path::new(executable)).expect("built");
        let needle = b"LLVMContextCreate";
        bytes.windows(needle.len()).any(|w| w == needle)
    };
    assert!(contains_llvm(env!("CARGO_BIN_EXE_pleach-frontend")));
    assert!(!contains_llvm(env!("CARGO_BIN_EXE_pleach")));
}
