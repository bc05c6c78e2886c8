//! Tests that share a sandbox: each sees what it would see in one of its own.

mod support;

use std::time::{Duration, Instant};

use pleach_replay::{Ending, Replayer, Report, SanitizerUse, Verdict};
use pleach_report::{ErrorKind, Prediction};
use support::{Program, error, exit, test};

const HEADER: &str = r#"
#include <assert.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>
#include <klee/klee.h>
"#;

fn program(name: &str, body: &str) -> Program {
    Program::new(&format!("server-{name}"), &format!("{HEADER}{body}"))
}

fn replay(replayer: &Replayer, x: u8, predicted: Prediction) -> Report {
    replayer.replay_of_many(&test(&[("x", &[x, 0, 0, 0])], predicted)).unwrap()
}

fn agrees(report: &Report) {
    let stderr = String::from_utf8_lossy(&report.observed.stderr);
    assert_eq!(report.verdict, Verdict::Agrees, "{:?}\n{stderr}", report.observed);
}

#[test]
fn what_a_test_leaves_the_next_does_not_see() {
    // Each way to leave something: a file, a closed directory, a process, shared memory, a pipe that does not block.
    let body = r#"
        int main(void) {
          int x = klee_int("x");
          if (access("file", F_OK) == 0 || access("/tmp/d", F_OK) == 0 || access("/dev/shm/s", F_OK) == 0) return 90;
          if (shmget(7, 64, 0) >= 0) return 91;
          if (fcntl(1, F_GETFL) & O_NONBLOCK) return 92;
          struct stat info;
          if (stat(".", &info) || (info.st_mode & 0777) != 0755) return 93;
          if (access("/work/alive", F_OK) == 0) return 94;
          fclose(fopen("file", "w"));
          if (x == 1) mkdir("/tmp/d", 0700), fclose(fopen("/tmp/d/f", "w")), chmod("/tmp/d", 0);
          if (x == 2) close(open("/dev/shm/s", O_CREAT | O_WRONLY, 0600));
          if (x == 3) shmget(7, 64, IPC_CREAT | 0600);
          if (x == 4) fcntl(1, F_SETFL, fcntl(1, F_GETFL) | O_NONBLOCK);
          if (x == 5) chmod(".", 0700);
          if (x == 6 && !fork()) for (;;) fclose(fopen("/work/alive", "w")), usleep(1000);
          printf("x is %d\n", x);
          return x;
        }"#;
    let program = program("leaves", body);
    let replayer = program.replayer();
    for x in (0..7).chain(0..7) {
        let report = replay(&replayer, x, exit(x.into()));
        agrees(&report);
        assert_eq!(String::from_utf8_lossy(&report.observed.stdout), format!("x is {x}\n"));
    }
}

#[test]
fn errors_are_seen_with_their_lines() {
    let body = "int main(void) {\n int x = klee_int(\"x\"), *p = malloc(4), *q = 0;\n if (x == 1) assert(x > 1);\n \
        if (x == 2) *q = 1;\n if (x == 3) p[1] = 1;\n if (x == 4) { p = 0; return 0; }\n free(p);\n return x; }\n";
    let program = program("errors", body);
    let replayer = program.replayer();
    for _ in 0..2 {
        agrees(&replay(&replayer, 1, error(ErrorKind::Assert, 14)));
        agrees(&replay(&replayer, 2, error(ErrorKind::Null, 15)));
        agrees(&replay(&replayer, 3, error(ErrorKind::OobWrite, 16)));
        agrees(&replay(&replayer, 4, error(ErrorKind::Leak, 17)));
        agrees(&replay(&replayer, 5, exit(5)));
        assert_eq!(replay(&replayer, 1, error(ErrorKind::Assert, 15)).verdict.as_str(), "disagrees");
        assert_eq!(replay(&replayer, 5, exit(6)).verdict.as_str(), "disagrees");
    }
}

#[test]
fn time_ends_a_test_and_not_those_after_it() {
    let mut program = program("time", "int main(void) { int x = klee_int(\"x\"); while (x == 1); return x; }\n");
    program.options.limits.time = Duration::from_millis(300);
    let replayer = program.replayer();
    agrees(&replay(&replayer, 0, exit(0)));
    let begun = Instant::now();
    let late = replay(&replayer, 1, exit(1));
    assert_eq!(late.observed.ending, Ending::TimedOut);
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    agrees(&replay(&replayer, 2, exit(2)));
}

#[test]
fn a_test_that_ends_the_server_is_decided_without_it() {
    let body = "int main(void) { int x = klee_int(\"x\"); if (x == 1 && getppid() != 1) kill(getppid(), SIGKILL);\n \
        return x; }\n";
    let program = program("kill", body);
    let replayer = program.replayer();
    for x in [0, 1, 2, 1] {
        agrees(&replay(&replayer, x, exit(x.into())));
    }
}

#[test]
fn much_output_is_cut_and_does_not_block() {
    let body = "int main(void) { int x = klee_int(\"x\"); for (int i = 0; i < 200000; i++) putchar('a' + x);\n \
        fputs(\"end\", stderr); return x; }\n";
    let program = program("output", body);
    let replayer = program.replayer();
    for x in [0, 1] {
        let report = replay(&replayer, x, exit(x.into()));
        agrees(&report);
        assert_eq!(report.observed.stdout, vec![b'a' + x; 64 << 10]);
        assert_eq!(report.observed.stderr, b"end");
    }
}

#[test]
fn one_sandbox_for_all() {
    // In a sandbox of its own the parent is the first process.
    let body = "int main(void) { int x = klee_int(\"x\"); printf(\"%d\", getppid()); return x & 63; }\n";
    let mut program = program("one", body);
    program.options.sanitizers = SanitizerUse::Never;
    let replayer = program.replayer();
    let parents: Vec<_> = (0..50).map(|x| replay(&replayer, x, exit((x & 63).into())).observed.stdout).collect();
    assert_eq!(parents, vec![b"2".to_vec(); 50]);
    let alone = replayer.replay(&test(&[("x", &[1, 0, 0, 0])], exit(1))).unwrap();
    assert_eq!(alone.observed.stdout, b"1");
}
