//! Programs compiled and run for real.

mod support;

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use pleach_replay::{Ending, Report, SanitizerUse, Verdict};
use pleach_report::{EntryKind, ErrorKind, InputType, KTest, Parameter, Prediction, RunDir, TestId};
use support::{Program, error, exit, test};

const KLEE: &str = "#include <klee/klee.h>\n#include <stdlib.h>\n#include <string.h>\n#include <assert.h>\n";

fn agrees(report: &Report) {
    let stderr = String::from_utf8_lossy(&report.observed.stderr);
    assert_eq!(report.verdict, Verdict::Agrees, "{:?}\n{stderr}", report.observed);
}

/// `body` starts on line 5.
fn klee(name: &str, body: &str) -> Program {
    Program::new(name, &format!("{KLEE}{body}"))
}

#[test]
fn exit_codes_and_inputs() {
    let program = klee(
        "exit",
        "int main(int argc, char **argv) {\n int x; klee_make_symbolic(&x, sizeof x, \"x\");\n \
         int y = klee_range(0, 10, \"y\"); klee_assume(x > 2);\n return x + y + argc; }\n",
    );
    let inputs: &[(&str, &[u8])] = &[("x", &[3, 0, 0, 0]), ("y", &[4, 0, 0, 0])];
    agrees(&program.replay(inputs, exit(8)));
    agrees(&program.replay(inputs, Prediction::Exit { code: None }));
    let wrong = program.replay(inputs, exit(9));
    assert_eq!(wrong.verdict.as_str(), "disagrees");
    assert!(wrong.verdict.to_string().contains("expected exit with 9, but it exited with 8"), "{}", wrong.verdict);
    let mut with_args = test(inputs, exit(10));
    with_args.args = vec!["a".into(), "b".into(), "c".into()];
    agrees(&program.replayer().replay(&with_args).unwrap());
    let assume = program.replay(&[("x", &[1, 0, 0, 0]), ("y", &[4, 0, 0, 0])], exit(8));
    assert_eq!(assume.observed.ending, Ending::AssumptionFailed);
    assert_eq!(assume.verdict.as_str(), "disagrees");
    let missing = program.replay(&[("z", &[3, 0])], exit(4));
    let notes = missing.observed.notes.join("\n");
    for part in ["name-mismatch", "size-mismatch", "input-exhausted: y"] {
        assert!(notes.contains(part), "{notes}");
    }
}

#[test]
fn asserts_aborts_and_user_errors() {
    let program = klee(
        "assert",
        "int main(void) {\n int x = klee_int(\"x\");\n if (x == 1) assert(x > 1);\n if (x == 2) abort();\n \
         if (x == 3) klee_report_error(\"a.c\", 77, \"mine\", \"user\");\n if (x == 4) klee_abort();\n \
         klee_assert(x != 5);\n klee_silent_exit(6);\n}\n",
    );
    let replay = |x: u8, predicted| program.replay(&[("x", &[x, 0, 0, 0])], predicted);
    agrees(&replay(1, error(ErrorKind::Assert, 7)));
    agrees(&replay(2, error(ErrorKind::Abort, 8)));
    agrees(&replay(3, error(ErrorKind::User, 77)));
    agrees(&replay(4, error(ErrorKind::Abort, 10)));
    agrees(&replay(5, error(ErrorKind::Assert, 11)));
    agrees(&replay(6, exit(6)));
    assert_eq!(replay(1, error(ErrorKind::Assert, 8)).verdict.as_str(), "disagrees");
    assert_eq!(replay(1, exit(0)).verdict.as_str(), "disagrees");
    assert_eq!(replay(2, error(ErrorKind::Assert, 8)).verdict.as_str(), "disagrees");
    assert_eq!(replay(6, error(ErrorKind::Assert, 7)).verdict.as_str(), "disagrees");
}

#[test]
fn verifier_functions() {
    let program = Program::new(
        "verifier",
        "extern void abort(void);\nextern int __VERIFIER_nondet_int(void);\n\
         extern unsigned char __VERIFIER_nondet_uchar(void);\nextern _Bool __VERIFIER_nondet_bool();\n\
         void reach_error() { abort(); }\n\
         void __VERIFIER_assert(int cond) { if (!cond) { reach_error(); abort(); } }\n\
         int main(void) {\n int x = __VERIFIER_nondet_int(); unsigned char y = __VERIFIER_nondet_uchar();\n \
         __VERIFIER_assert(x != 7);\n return __VERIFIER_nondet_bool() + y; }\n",
    );
    let (int, uchar, bool) = ("__VERIFIER_nondet_int", "__VERIFIER_nondet_uchar", "__VERIFIER_nondet_bool");
    agrees(&program.replay(&[(int, &[1, 0, 0, 0]), (uchar, &[200]), (bool, &[1])], exit(201)));
    let failing: &[(&str, &[u8])] = &[(int, &[7, 0, 0, 0]), (uchar, &[0])];
    for line in [5, 6, 9] {
        agrees(&program.replay(failing, error(ErrorKind::Assert, line)));
    }
    assert_eq!(program.replay(failing, error(ErrorKind::Assert, 10)).verdict.as_str(), "disagrees");
}

#[test]
fn faults_in_a_plain_build() {
    let program = klee(
        "fault",
        "int f(int n) { volatile char big[10000]; big[0] = n; return f(n + 1) + big[0]; }\n\
         int main(void) {\n int x = klee_int(\"x\"), *p = 0;\n if (x == 1) return 10 / (x - 1);\n \
         if (x == 2) *p = 1;\n if (x == 3) return f(0);\n \
         if (x == 4) { p = malloc(4); free(p);\n  free(p); }\n if (x == 5) memset(p, 1, 4);\n \
         if (x == 6) *(char *)\"text\" = 1;\n \
         if (x == 7) ((void (*)(void))0)();\n return 0; }\n",
    );
    let mut program = program;
    program.options.sanitizers = SanitizerUse::Never;
    let replay = |x: u8, predicted| program.replay(&[("x", &[x, 0, 0, 0])], predicted);
    agrees(&replay(1, error(ErrorKind::DivZero, 8)));
    agrees(&replay(2, error(ErrorKind::Null, 9)));
    agrees(&replay(3, error(ErrorKind::StackOverflow, 5)));
    agrees(&replay(4, error(ErrorKind::DoubleFree, 12)));
    agrees(&replay(5, error(ErrorKind::Null, 13)));
    agrees(&replay(6, error(ErrorKind::Readonly, 14)));
    agrees(&replay(7, error(ErrorKind::BadCall, 15)));
    assert_eq!(replay(7, error(ErrorKind::BadCall, 14)).verdict.as_str(), "disagrees");
    assert_eq!(replay(2, error(ErrorKind::Null, 10)).verdict.as_str(), "disagrees");
    assert_eq!(replay(2, exit(0)).verdict.as_str(), "disagrees");
}

#[test]
fn errors_only_sanitizers_see() {
    let program = klee(
        "sanitize",
        "int a[4]; struct { int b[2]; int c; } s;\nint main(void) {\n int x = klee_int(\"x\"), *p = malloc(16);\n \
         if (x == 1) return p[4];\n if (x == 2) p[4] = 1;\n if (x == 3) { free(p);\n  return *p; }\n \
         if (x == 4) return x << (x + 60);\n if (x == 5) return x + 2147483647;\n if (x == 6) return a[x + 1000000];\n \
         if (x == 7) { p = 0;\n  return 0; }\n if (x == 8) free(p + 1);\n if (x == 9) return a[x - 5];\n \
         if (x == 10) __builtin_unreachable();\n free(p);\n return 0; }\n",
    );
    let replayer = program.replayer();
    let replay = |x: u8, predicted| replayer.replay(&test(&[("x", &[x, 0, 0, 0])], predicted)).unwrap();
    let sanitized = replay(1, error(ErrorKind::OobRead, 8));
    agrees(&sanitized);
    assert!(sanitized.observed.sanitized);
    agrees(&replay(2, error(ErrorKind::OobWrite, 9)));
    agrees(&replay(3, error(ErrorKind::UseAfterFree, 11)));
    agrees(&replay(4, error(ErrorKind::Overshift, 12)));
    agrees(&replay(5, error(ErrorKind::SignedOverflow, 13)));
    agrees(&replay(8, error(ErrorKind::BadFree, 17)));
    agrees(&replay(9, error(ErrorKind::OobRead, 18)));
    agrees(&replay(10, error(ErrorKind::Unreachable, 19)));
    let leak = replay(7, error(ErrorKind::Leak, 15));
    assert!(matches!(leak.verdict, Verdict::Agrees | Verdict::Undetermined { .. }), "{leak:?}");
    assert_eq!(replay(1, error(ErrorKind::OobRead, 9)).verdict.as_str(), "disagrees");
    assert_eq!(replay(0, error(ErrorKind::SignedOverflow, 13)).verdict.as_str(), "disagrees");
    assert_eq!(replay(0, error(ErrorKind::OobRead, 8)).verdict.as_str(), "undetermined");
}

#[test]
fn sanitizers_on_request() {
    let mut program = klee(
        "always",
        "int main(void) {\n int x = klee_int(\"x\"), *p = malloc(4);\n x = x + 2147483647;\n \
         if (x < 0) p[1] = 1;\n assert(x != 2147483647);\n free(p); return 2; }\n",
    );
    program.options.sanitizers = SanitizerUse::Always;
    let replayer = program.replayer();
    let replay = |x: i32, predicted| replayer.replay(&test(&[("x", &x.to_le_bytes())], predicted)).unwrap();
    agrees(&replay(-5, exit(2)));
    agrees(&replay(0, error(ErrorKind::Assert, 9)));
    agrees(&replay(3, error(ErrorKind::OobWrite, 8)));
    // The overflow came first, and the error after it is still seen.
    agrees(&replay(3, error(ErrorKind::SignedOverflow, 7)));
    let silent = replay(3, exit(2));
    assert_eq!(silent.verdict.as_str(), "disagrees");
    assert!(silent.verdict.to_string().contains("oob-write at"), "{}", silent.verdict);
    assert!(serde_json::to_string(&silent).unwrap().contains("\"verdict\":\"disagrees\""));
}

#[test]
fn limits_hold() {
    let mut program = klee(
        "limits",
        "#include <stdio.h>\n#include <unistd.h>\nint main(void) {\n int x = klee_int(\"x\");\n \
         if (x == 1) for (;;) {}\n if (x == 2) return malloc((size_t)1 << 40) == 0;\n \
         if (x == 3) for (int i = 0; i < 1000000; i++) puts(\"much\");\n \
         if (x == 4) { if (!fork()) for (;;) pause(); }\n \
         if (x == 5) for (;;) { char *p = malloc(1 << 20); if (!p) return 9; memset(p, 1, 1 << 20); }\n \
         if (x == 6) { if (!fork()) { setsid(); sleep(30); } else usleep(100000); }\n return 0; }\n",
    );
    program.options.limits.time = Duration::from_secs(1);
    program.options.limits.memory = 256 << 20;
    program.options.limits.output = 1000;
    let looping = |predicted| program.replay(&[("x", &[1, 0, 0, 0])], predicted);
    let start = Instant::now();
    let endless = looping(exit(0));
    assert_eq!(endless.observed.ending, Ending::TimedOut);
    assert_eq!(endless.verdict.as_str(), "undetermined");
    assert!(start.elapsed() < Duration::from_secs(15));
    agrees(&looping(error(ErrorKind::LoopLimit, 9)));

    program.options.limits.time = Duration::from_secs(60);
    let replay = |x: u8, predicted| program.replay(&[("x", &[x, 0, 0, 0])], predicted);
    agrees(&replay(2, exit(1)));
    let much = replay(3, exit(0));
    agrees(&much);
    assert_eq!(much.observed.stdout.len(), 1000);
    agrees(&replay(4, exit(0)));
    agrees(&replay(5, exit(9)));
    // A descendant in a session of its own keeps the pipes open; nobody waits for it.
    let start = Instant::now();
    agrees(&replay(6, exit(0)));
    assert!(start.elapsed() < Duration::from_secs(15));
}

#[test]
fn files_outside_the_scratch_directory_are_safe() {
    let program = klee(
        "files",
        "#include <stdio.h>\nint main(void) {\n FILE *f = fopen(TARGET, \"w\"), *g = fopen(\"own\", \"w\");\n \
         fopen(\"/dev/null\", \"w\");\n return (f != 0) + 2 * (g != 0); }\n",
    );
    let mut program = program;
    let target = program.path().join("victim");
    std::fs::write(&target, "precious").unwrap();
    program.info.cc_flags = vec![format!("-DTARGET=\"{}\"", target.display())];
    let report = program.replay(&[], exit(2));
    agrees(&report);
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "precious");
}

#[test]
fn entry_functions_and_fuzz_targets() {
    let mut program = klee(
        "entry",
        "struct pair { char c; int n; };\nint main(void) { return 3; }\n\
         int f(struct pair p, const char *s, unsigned short u) {\n assert(p.n != 5 || s[0] != 'x' || u != 258);\n \
         return 1; }\n\
         int LLVMFuzzerTestOneInput(const unsigned char *d, size_t n) {\n if (n == 3 && d[0] == 'a') abort();\n \
         return 0; }\nstruct big { int a[10]; } big(int n) { struct big b = {{n}}; assert(n != 9); return b; }\n",
    );
    program.info.entry = "f".into();
    let field = |name: &str, offset, ty| pleach_report::Field { name: name.into(), offset, ty };
    let pair = InputType::Struct {
        name: "struct pair".into(),
        size: 8,
        fields: vec![field("c", 0, InputType::char()), field("n", 4, InputType::int())],
    };
    let parameter = |name: &str, ty, by_pointer| Parameter { name: name.into(), ty, by_pointer };
    let short = InputType::Int { name: "unsigned short".into(), bits: 16, signed: false };
    program.info.entry_kind = EntryKind::Function {
        parameters: vec![
            parameter("p", pair, false),
            parameter("s", InputType::array(InputType::char(), 2), true),
            parameter("u", short, false),
        ],
        returns: Some(InputType::int()),
    };
    let inputs: &[(&str, &[u8])] = &[("p", &[0, 0, 0, 0, 5, 0, 0, 0]), ("s", b"xy"), ("u", &[2, 1])];
    agrees(&program.replay(inputs, error(ErrorKind::Assert, 8)));
    let inputs: &[(&str, &[u8])] = &[("p", &[0, 0, 0, 0, 6, 0, 0, 0]), ("s", b"xy"), ("u", &[2, 1])];
    agrees(&program.replay(inputs, exit(0)));

    program.info.entry = "big".into();
    let big = InputType::Struct {
        name: "struct big".into(),
        size: 40,
        fields: vec![field("a", 0, InputType::array(InputType::int(), 10))],
    };
    program.info.entry_kind =
        EntryKind::Function { parameters: vec![parameter("n", InputType::int(), false)], returns: Some(big) };
    agrees(&program.replay(&[("n", &[1, 0, 0, 0])], exit(0)));
    agrees(&program.replay(&[("n", &[9, 0, 0, 0])], error(ErrorKind::Assert, 13)));

    program.info.entry = "LLVMFuzzerTestOneInput".into();
    program.info.entry_kind = EntryKind::Fuzz;
    agrees(&program.replay(&[("data", b"abc")], error(ErrorKind::Abort, 11)));
    agrees(&program.replay(&[("data", b"abcd")], exit(0)));
    agrees(&program.replay(&[("data", b"abcd"), ("size", &[3, 0, 0, 0, 0, 0, 0, 0])], error(ErrorKind::Abort, 11)));
}

#[test]
fn bitcode_is_replayed_too() {
    let mut program = klee("bitcode", "int main(void) {\n int x = klee_int(\"x\"), a[2] = {1, 2};\n return a[x]; }\n");
    let include = program.path().join("include/klee");
    std::fs::create_dir_all(&include).unwrap();
    std::fs::write(include.join("klee.h"), pleach_replay::assets::KLEE_H).unwrap();
    for (name, flags) in [("a.bc", &["-c"][..]), ("a.ll", &["-S"])] {
        let mut clang = std::process::Command::new("clang-19");
        clang.args(["-g", "-emit-llvm", "-Iinclude", "a.c", "-o", name]).args(flags);
        assert!(clang.current_dir(program.path()).status().unwrap().success());
        program.info.sources = vec![name.into()];
        agrees(&program.replay(&[("x", &[1, 0, 0, 0])], exit(2)));
        let hidden = program.replay(&[("x", &[2, 0, 0, 0])], error(ErrorKind::OobRead, 7));
        assert_eq!(hidden.verdict.as_str(), "undetermined", "{hidden:?}");
    }
}

#[test]
fn what_does_not_build_is_an_error_in_words() {
    let program = Program::new("broken", "int main(void) { return }\n");
    let error = program.replayer().replay(&test(&[], exit(0))).unwrap_err();
    assert!(error.to_string().contains("expected expression"), "{error}");
    let mut program = Program::new("nocc", "int main(void) { return 0; }\n");
    program.options.compilers = vec!["no-such-compiler".into()];
    let error = program.replayer().replay(&test(&[], exit(0))).unwrap_err();
    assert!(error.to_string().contains("no-such-compiler"), "{error}");
    let mut program = Program::new("gone", "int main(void) { return 0; }\n");
    program.info.sources = vec!["missing.c".into()];
    assert!(program.replayer().replay(&test(&[], exit(0))).is_err());
}

#[test]
fn flags_reach_the_program_and_changes_are_noticed() {
    let mut program = klee("flags", "#include \"h.h\"\nint main(void) { return VALUE + H; }\n");
    program.info.cc_flags = vec!["-DVALUE=40".into(), "-Iinc".into(), "-std=c99".into()];
    std::fs::create_dir(program.path().join("inc")).unwrap();
    std::fs::write(program.path().join("inc/h.h"), "#define H 2\n").unwrap();
    agrees(&program.replay(&[], exit(42)));
    std::fs::write(program.path().join("inc/h.h"), "#define H 3\n").unwrap();
    agrees(&program.replay(&[], exit(43)));
}

#[test]
fn a_whole_run() {
    let program = klee("all", "int main(void) {\n int x = klee_int(\"x\");\n assert(x != 3);\n return x; }\n");
    let run = RunDir::create(Some(&program.path().join("out"))).unwrap();
    run.write_run_info(&program.info).unwrap();
    for x in 1..=8u8 {
        let predicted = if x == 3 { error(ErrorKind::Assert, 7) } else { exit(if x == 5 { 6 } else { x.into() }) };
        let mut case = test(&[("x", &[x, 0, 0, 0])], predicted);
        case.id = TestId(x.into());
        if x % 2 == 0 { run.pack_test(&case).unwrap() } else { run.write_test(&case, None).unwrap() }
    }
    run.flush().unwrap();
    let mut options = program.options.clone();
    options.jobs = 2;
    let seen = std::sync::Mutex::new(Vec::new());
    let go = std::sync::atomic::AtomicBool::new(false);
    let tests = run.tests().unwrap();
    assert_eq!(run.tests_in_files().unwrap().len(), 4);
    let note = |progress: pleach_replay::Progress, _: &Report| seen.lock().unwrap().push(progress.done);
    let rows = pleach_replay::replay_all(&run, &tests, options.clone(), &go, &note).unwrap();
    assert_eq!(seen.into_inner().unwrap().len(), 8);
    let table = pleach_replay::table(&rows);
    assert!(table.ends_with("8 tests: 7 agree, 1 disagree, 0 undetermined\n"), "{table}");
    assert!(table.contains("test000005  disagrees"), "{table}");

    // Stopped after the third.
    options.jobs = 1;
    let stop = |progress: pleach_replay::Progress, _: &Report| go.store(progress.done == 3, Ordering::Relaxed);
    let rows = pleach_replay::replay_all(&run, &tests, options.clone(), &go, &stop).unwrap();
    assert_eq!(rows.iter().map(|r| r.test.0).collect::<Vec<_>>(), [1, 2, 3]);

    let replayer = pleach_replay::Replayer::new(&run, options).unwrap();
    let replay_file = |path: &std::path::Path| replayer.replay(&pleach_replay::read_test(path)?);
    agrees(&replay_file(&run.file("test000003.ktest")).unwrap());
    let lone = run.file("lone.ktest");
    std::fs::write(&lone, KTest::from(&test(&[("x", &[4, 0, 0, 0])], exit(0))).to_bytes()).unwrap();
    let report = replay_file(&lone).unwrap();
    assert_eq!(report.observed.ending, Ending::Exit(4));
    std::fs::write(&lone, b"KTEST\0\0").unwrap();
    assert!(replay_file(&lone).is_err());
}

#[test]
fn traps_are_aborts() {
    let program = klee(
        "trap",
        "int main(void) {\n int x = klee_int(\"x\");\n if (x == 1) __builtin_trap();\n if (x == 2)\n  \
         __builtin_debugtrap();\n if (x == 3) __builtin_unreachable();\n return 0; }\n",
    );
    let replayer = program.replayer();
    let replay = |x: u8, predicted| replayer.replay(&test(&[("x", &[x, 0, 0, 0])], predicted)).unwrap();
    agrees(&replay(1, error(ErrorKind::Abort, 7)));
    agrees(&replay(2, error(ErrorKind::Abort, 9)));
    agrees(&replay(3, error(ErrorKind::Unreachable, 10)));
    assert_eq!(replay(1, error(ErrorKind::Abort, 8)).verdict.as_str(), "disagrees");
    assert_eq!(replay(2, error(ErrorKind::Abort, 10)).verdict.as_str(), "disagrees");
    assert_eq!(replay(1, exit(0)).verdict.as_str(), "disagrees");
}

/// Whatever keeps the program from running, or a sanitizer from looking, contradicts nothing.
#[test]
fn what_cannot_be_run_contradicts_nothing() {
    let undetermined = |report: &Report, part: &str| {
        assert_eq!(report.verdict.as_str(), "undetermined", "{report:?}");
        assert!(report.verdict.to_string().contains(part), "{}", report.verdict);
    };
    // Larger than its limit on memory: the kernel ends it before it starts.
    let mut large = klee("large", "char all[1 << 30];\nint main(void) { return all[5]; }\n");
    large.options.limits.memory = 64 << 20;
    undetermined(&large.replay(&[], exit(0)), "could not be run");
    undetermined(&large.replay(&[], error(ErrorKind::Assert, 6)), "could not be run");
    // A loader that does not find a library.
    let mut loader = klee("loader", "int main(void) { return 0; }\n");
    let library = loader.path().join("libgone.so");
    let mut clang = std::process::Command::new("clang-19");
    clang.args(["-shared", "-x", "c", "/dev/null", "-o"]).arg(&library);
    assert!(clang.status().unwrap().success());
    loader.info.libraries = vec!["-Wl,--no-as-needed".into(), library.display().to_string()];
    undetermined(&loader.replay(&[], exit(0)), "libgone.so");
    // A sanitizer that may not use the memory it needs.
    let mut greedy = klee(
        "greedy",
        "int main(void) {\n char *p = malloc(300 << 20); memset(p, 1, 300 << 20); sleep(2);\n return p[300 << 20]; }\n",
    );
    greedy.options.limits.memory = 128 << 20;
    greedy.options.sanitizers = SanitizerUse::Always;
    undetermined(&greedy.replay(&[], error(ErrorKind::OobRead, 7)), "rss limit");
    // Frames are larger with sanitizers, and the stack is not.
    let deep = "int f(int n) { volatile char a[64]; a[0] = n; return n ? f(n - 1) + a[0] : 0; }\n\
                int main(void) { int *p = malloc(4); f(60000); return p[1]; }\n";
    undetermined(&klee("deep", deep).replay(&[], error(ErrorKind::OobRead, 6)), "stack");
    // Something that a sanitizer stops a program for and that is no error of ours.
    let told = "typedef const void *p;\nvoid __sanitizer_annotate_contiguous_container(p, p, p, p) __attribute__((weak));\n\
                int main(void) { char a[20]; if (__sanitizer_annotate_contiguous_container)\n\
                __sanitizer_annotate_contiguous_container(a + 8, a, a + 1, a); int *p = malloc(4); return p[1]; }\n";
    undetermined(&klee("told", told).replay(&[], error(ErrorKind::OobRead, 8)), "bad parameters");
    // Strings that are copied into themselves are one.
    let overlap = "int main(void) { char a[20] = \"abcdef\"; strcpy(a + 1, a + klee_int(\"x\")); int *p = malloc(4); return p[1]; }\n";
    let replay = |kind| klee("overlap", overlap).replay(&[("x", &[0; 4])], error(kind, 5));
    agrees(&replay(ErrorKind::Overlap));
    assert_eq!(replay(ErrorKind::OobRead).verdict.as_str(), "disagrees");
}

/// A breakpoint that cannot be set shows nothing about its line.
#[test]
fn lines_that_cannot_be_watched_are_not_missed() {
    use pleach_replay::Line;
    let program = klee(
        "watched",
        "int main(void) {\n int x = klee_int(\"x\");\n if (x == 1)\n  __asm__ volatile(\"int3\");\n if (x == 2)\n  \
         x = 7;\n if (x == 3) for (;;)\n  ;\n x = 8;\n return x; }\n",
    );
    let mut program = program;
    program.options.limits.time = Duration::from_secs(1);
    let line = |line| Line { file: "a.c".into(), line };
    let passes = |x: u8, at| program.replayer().passes(&test(&[("x", &[x, 0, 0, 0])], exit(8)), &[line(at)]).unwrap();
    assert_eq!(passes(2, 10), [Some(true)]);
    assert_eq!(passes(0, 10), [Some(false)]);
    assert_eq!(passes(0, 8), [None]);
    // The run is cut off before it comes there.
    assert_eq!(passes(3, 13), [None]);
    assert_eq!(passes(3, 7), [Some(true)]);
}

/// 32-bit programs include the kernel's headers, which are in the directory of another target.
#[test]
fn programs_for_32_bits() {
    let body = "#include <errno.h>\n#include <sys/ioctl.h>\nint main(void) { errno = ENOTTY; assert(klee_int(\"x\") != 3);\n \
                return sizeof(long) + klee_int(\"y\"); }\n";
    let mut program = klee("m32", body);
    program.info.cc_flags = vec!["-m32".into()];
    agrees(&program.replay(&[("x", &[1, 0, 0, 0]), ("y", &[5, 0, 0, 0])], exit(9)));
    agrees(&program.replay(&[("x", &[3, 0, 0, 0])], error(ErrorKind::Assert, 7)));
}
