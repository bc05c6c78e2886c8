//! Corpora and dictionaries are taken by the fuzzers that they are for: libFuzzer, and AFL++ where it is installed.

use std::path::Path;
use std::process::{Command, Output};

const PROGRAM: &str = "#include <stddef.h>\n#include <string.h>\n\
    int LLVMFuzzerTestOneInput(const unsigned char *d, size_t n) {\n  static volatile int seen;\n  \
    if (n > 4 && d[0] == 'k' && d[1] == '=')\n    seen = d[2] > 'm' ? 1 : 2;\n  \
    if (n == 5 && memcmp(d, \"magic\", 5) == 0)\n    seen = 3;\n  return 0;\n}\n";

fn run(program: &str, args: &[&str], directory: &Path) -> Output {
    let mut command = Command::new(program);
    for (name, value) in [
        ("AFL_NO_UI", "1"),
        ("AFL_NO_AFFINITY", "1"),
        ("AFL_SKIP_CPUFREQ", "1"),
        ("AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES", "1"),
        ("AFL_QUIET", "1"),
    ] {
        command.env(name, value);
    }
    command.args(args).current_dir(directory).output().unwrap_or_else(|why| panic!("{program}: {why}"))
}

fn text(out: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr))
}

fn explored() -> tempfile::TempDir {
    let place = tempfile::tempdir().expect("a directory");
    std::fs::write(place.path().join("a.c"), PROGRAM).expect("a program");
    let pleach = env!("CARGO_BIN_EXE_pleach");
    let out = run(pleach, &["test", "a.c", "--max-fuzz-size", "5", "--output-dir", "run", "-q"], place.path());
    assert!(out.status.success(), "{}", text(&out));
    for args in [
        &["export", "run", "--format", "libfuzzer", "--output", "libfuzzer"][..],
        &["export", "run", "--format", "afl", "--output", "afl"],
        &["export", "run", "--dictionary", "words.dict"],
    ] {
        let out = run(pleach, args, place.path());
        assert!(out.status.success(), "{}", text(&out));
    }
    place
}

fn files(directory: &Path) -> usize {
    std::fs::read_dir(directory).expect("a corpus").count()
}

#[test]
fn lib_fuzzer_takes_the_corpus() {
    let place = explored();
    let built = run("clang-19", &["-g", "-fsanitize=fuzzer", "a.c", "-o", "a.fuzzer"], place.path());
    assert!(built.status.success(), "{}", text(&built));
    let out = run("./a.fuzzer", &["-runs=0", "-dict=words.dict", "libfuzzer/corpus"], place.path());
    let said = text(&out);
    assert!(out.status.success(), "{said}");
    // The empty input is one that it has anyway.
    let inputs = files(&place.path().join("libfuzzer/corpus")) - 1;
    assert!(inputs > 5 && said.contains(&format!("{inputs} files found")), "{inputs}: {said}");
    assert!(said.contains("Dictionary: "), "{said}");
    // Nothing is left for the fuzzer to find.
    let more = run("./a.fuzzer", &["-runs=20000", "-max_len=5", "-seed=1", "libfuzzer/corpus"], place.path());
    let edges = |said: &str| said.rsplit(" cov: ").next().and_then(|l| l.split(' ').next()).map(str::to_owned);
    assert_eq!(edges(&said), edges(&text(&more)), "{}", text(&more));
}

#[test]
fn afl_takes_the_corpus_and_is_taken_from() {
    if Command::new("afl-fuzz").arg("-h").output().is_err() {
        println!("skipped: there is no AFL++");
        return;
    }
    let place = explored();
    let built = run("afl-clang-fast", &["-g", "-fsanitize=fuzzer", "a.c", "-o", "a.afl"], place.path());
    assert!(built.status.success(), "{}", text(&built));
    let args = ["-i", "afl/queue", "-o", "sync", "-M", "main", "-x", "words.dict", "-V", "2", "--", "./a.afl"];
    let out = run("afl-fuzz", &args, place.path());
    let said = text(&out);
    assert!(out.status.success() && said.contains("We're done here"), "{said}");
    assert!(files(&place.path().join("sync/main/queue")) >= files(&place.path().join("afl/queue")), "{said}");
    // As an instance of its campaign: it reads the queue that AFL++ wrote, and AFL++ imports what it writes.
    let pleach = env!("CARGO_BIN_EXE_pleach");
    let instance = ["test", "a.c", "--max-fuzz-size", "5", "--afl-sync", "sync", "--output-dir", "second", "-q"];
    let out = run(pleach, &instance, place.path());
    assert!(out.status.success() && files(&place.path().join("sync/pleach/queue")) > 5, "{}", text(&out));
    let mut again = Command::new("afl-fuzz");
    again.env("AFL_IMPORT_FIRST", "1").env("AFL_NO_UI", "1").env("AFL_NO_AFFINITY", "1").env("AFL_SKIP_CPUFREQ", "1");
    again.env("AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES", "1").current_dir(place.path());
    // The main instance goes on: it is the one that reads the others.
    let out = again.args(["-i", "-", "-o", "sync", "-M", "main", "-V", "3", "--", "./a.afl"]).output();
    let said = text(&out.expect("AFL++ runs"));
    let synced = place.path().join("sync/main/.synced");
    let names: Vec<_> = std::fs::read_dir(&synced).expect(&said).flatten().map(|e| e.file_name()).collect();
    assert!(names.iter().any(|n| n.to_string_lossy().starts_with("pleach")), "{names:?}\n{said}");
}
