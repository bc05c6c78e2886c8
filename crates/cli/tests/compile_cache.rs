//! What is compiled is kept for the next time, and is compiled anew when anything that it is made from changes.

use pleach_ir::Program;
use pleach_load::{Options, load};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

struct Project(TempDir);

impl Project {
    fn new(files: &[(&str, &str)]) -> Project {
        let project = Project(tempfile::tempdir().expect("a directory"));
        for (name, text) in files {
            project.write(name, text);
        }
        project
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a directory")).expect("writable");
        std::fs::write(path, text).expect("writable");
    }

    /// Files that are this old were not changed while they are compiled.
    fn settle(&self) {
        std::thread::sleep(Duration::from_millis(250));
    }

    fn options(&self, inputs: &[&str]) -> Options {
        // A directory of its own for each request, as `pleach` has it.
        let work = tempfile::Builder::new().prefix("work").tempdir_in(self.0.path()).expect("a directory");
        Options {
            inputs: inputs.iter().map(|i| self.path(i)).collect(),
            include_dirs: vec![self.path("first"), self.path("second")],
            work_dir: work.keep(),
            cache: Some(self.path("cache")),
            frontend: Some(env!("CARGO_BIN_EXE_pleach-frontend").into()),
            ..Options::default()
        }
    }

    /// With the cache. It must be what comes without.
    fn load(&self, options: &Options) -> Program {
        let ours = load(options).unwrap_or_else(|e| panic!("{e}"));
        let fresh = load(&Options { cache: None, ..options.clone() }).unwrap_or_else(|e| panic!("{e}"));
        assert!(ours == fresh, "the cache gives another program");
        ours
    }

    fn kept(&self) -> usize {
        std::fs::read_dir(self.path("cache")).map_or(0, Iterator::count)
    }
}

const MAIN: &str = "#include \"value.h\"\n#if __has_include(\"more.h\")\n#include \"more.h\"\n#endif\n\
    #ifndef MORE\n#define MORE 0\n#endif\nint main(void) { return VALUE + MORE; }\n";

fn project() -> Project {
    let files =
        [("main.c", MAIN), ("second/value.h", "#define VALUE 1\n"), ("other.c", "int other(void) { return 7; }\n")];
    let project = Project::new(&files);
    std::fs::create_dir(project.path("first")).expect("writable");
    project.settle();
    project
}

#[test]
fn a_second_run_compiles_nothing() {
    let project = project();
    let first = project.load(&project.options(&["main.c", "other.c"]));
    assert_eq!(project.kept(), 3, "the bitcode of two sources, and a program");
    let again = project.load(&project.options(&["main.c", "other.c"]));
    assert!(first == again);
    assert_eq!(project.kept(), 3);
    // That it is taken from there shows when something else lies there.
    project.write("other.c", "int other(void) { return 8; }\n");
    project.settle();
    let names = |p: &Project| -> Vec<PathBuf> {
        let mut all: Vec<_> = std::fs::read_dir(p.path("cache")).expect("kept").flatten().map(|e| e.path()).collect();
        all.sort_by_key(|p| std::fs::metadata(p).map(|m| m.len()).unwrap_or(0));
        all
    };
    let before = names(&project);
    let second = project.load(&project.options(&["main.c", "other.c"]));
    assert_eq!(project.kept(), 5, "one source and the program are new");
    let new: Vec<PathBuf> = names(&project).into_iter().filter(|p| !before.contains(p)).collect();
    let programs = |of: &[PathBuf]| of.iter().filter(|p| decodes(p)).cloned().collect::<Vec<_>>();
    let (old, new) = (programs(&before), programs(&new));
    assert_eq!((old.len(), new.len()), (1, 1));
    std::fs::copy(&old[0], &new[0]).expect("writable");
    let swapped = load(&project.options(&["main.c", "other.c"])).expect("a program");
    assert!(swapped == first && swapped != second, "it was read from the cache");
}

/// Whether it is a program: an answer of the front end behind a checksum.
fn decodes(path: &Path) -> bool {
    let bytes = std::fs::read(path).expect("readable");
    let reply = pleach_load::wire::decode_reply(&bytes[32..]);
    matches!(reply.outcome, pleach_load::wire::FrontendReply::Program(_))
}

#[test]
fn headers_that_change_move_or_appear() {
    let project = project();
    let load = || project.load(&project.options(&["main.c"]));
    let first = load();
    project.write("second/value.h", "#define VALUE 2\n");
    project.settle();
    let changed = load();
    assert!(first != changed, "a header has changed");
    project.write("first/value.h", "#define VALUE 3\n");
    project.settle();
    let shadowed = load();
    assert!(shadowed != changed && shadowed != first, "another header is found first");
    project.write("first/more.h", "#define MORE 10\n");
    project.settle();
    assert!(load() != shadowed, "a header that was asked for has come into existence");
    for gone in ["first/more.h", "first/value.h"] {
        std::fs::remove_file(project.path(gone)).expect("removable");
    }
    project.write("second/value.h", "#define VALUE 1\n");
    project.settle();
    let kept = project.kept();
    assert!(load() == first);
    assert_eq!(project.kept(), kept, "the first one is still there");
}

#[test]
fn columns_of_the_source_are_kept() {
    let project = project();
    let load = || project.load(&project.options(&["other.c"]));
    let first = load();
    project.write("other.c", "int other(void) {     return 7; }\n");
    project.settle();
    assert!(load() != first, "the text behind the preprocessor is the same, the columns are not");
}

#[test]
fn flags_and_libraries_make_another_program() {
    let project = project();
    let first = project.load(&project.options(&["main.c"]));
    let with = Options { cc_args: vec!["-DMORE=5".into()], ..project.options(&["main.c"]) };
    assert!(project.load(&with) != first);
    let m32 = Options { m32: true, ..project.options(&["other.c"]) };
    assert!(project.load(&m32) != project.load(&project.options(&["other.c"])));
    let both = project.load(&project.options(&["main.c", "other.c"]));
    assert!(both != project.load(&project.options(&["other.c", "main.c"])), "the order counts");
}

#[test]
fn a_file_that_was_just_written_is_not_kept() {
    let project = Project::new(&[("main.c", "int main(void) { return 0; }\n")]);
    project.load(&project.options(&["main.c"]));
    // Nobody knows whether it was changed between the digest and the compiler.
    assert_eq!(project.kept(), 0);
}

#[test]
fn what_the_preprocessor_does_not_see_is_not_kept() {
    let project = project();
    let plugin =
        Options { cc_args: vec!["-Xclang".into(), "-fno-validate-pch".into()], ..project.options(&["main.c"]) };
    project.load(&plugin);
    assert_eq!(project.kept(), 0);
    project.write(
        "asks.c",
        "#if __has_feature(undefined_behavior_sanitizer)\n#error no\n#endif\nint main(void) { return 0; }\n",
    );
    project.settle();
    project.load(&project.options(&["asks.c"]));
    assert_eq!(project.kept(), 0);
}

#[test]
fn modules_of_rust_count() {
    let project = Project::new(&[
        ("main.rs", "mod part;\nfn main() { std::process::exit(part::VALUE) }\n"),
        ("part.rs", "pub const VALUE: i32 = 1;\n"),
    ]);
    project.settle();
    let load = || load(&project.options(&["main.rs"])).unwrap_or_else(|e| panic!("{e}"));
    let first = load();
    assert_eq!(project.kept(), 2, "the program, and which files it has");
    project.write("part.rs", "pub const VALUE: i32 = 2;\n");
    project.settle();
    assert!(load() != first, "a module has changed");
    project.write("part.rs", "pub const VALUE: i32 = 1;\n");
    project.settle();
    let kept = project.kept();
    assert!(load() == first);
    assert_eq!(project.kept(), kept);
    // Two places for a module are an error of the compiler's.
    project.write("part/mod.rs", "pub const VALUE: i32 = 3;\n");
    let refused = pleach_load::load(&project.options(&["main.rs"])).map(|_| ()).map_err(|e| e.to_string());
    assert!(refused.as_ref().is_err_and(|e| e.contains("found at both")), "{refused:?}");
}
