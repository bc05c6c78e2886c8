//! Programs that try to get out of the sandbox, as the user who runs the tests and, for root, as another one too.
//!
//! Each exits with 0 if everything it tried was refused, else with the number of what was not.

mod support;

use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{SocketAddr, UnixListener};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

use pleach_replay::{Ending, Isolation, Report};
use support::{Program, exit};

const HEADER: &str = r#"
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <arpa/inet.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
/* a file of the machine that is there, and one that need not be */
#define EACH(what) { const char *path = "/pleach/program"; if (what) return 1; path = TARGET; if (what) return 2; }
static int reads(const char *path) { return open(path, O_RDONLY) >= 0; }
"#;

/// A program that tries something, and a file outside that it may know.
struct Escape {
    program: Program,
    target: PathBuf,
}

impl Escape {
    fn new(name: &str, body: &str) -> Self {
        Self::with(name, &[], body)
    }

    fn with(name: &str, definitions: &[String], body: &str) -> Self {
        let mut program =
            Program::new(&format!("escape-{name}"), &format!("{HEADER}int main(void) {{\n{body}\nreturn 0; }}\n"));
        let target = program.path().join("target");
        std::fs::write(&target, "precious").unwrap();
        std::fs::set_permissions(&target, std::fs::Permissions::from_mode(0o666)).unwrap();
        program.info.cc_flags = vec![format!("-DTARGET=\"{}\"", target.display()), "-w".into()];
        program.info.cc_flags.push(format!("-DPID={}", std::process::id()));
        program.info.cc_flags.extend_from_slice(definitions);
        Self { program, target }
    }

    fn is_refused(&self) -> Report {
        let attributes = |path: &Path| {
            let m = path.metadata().unwrap();
            (m.mode(), m.uid(), m.gid(), m.mtime(), m.nlink(), m.size())
        };
        let before = attributes(&self.target);
        let report = self.program.replay(&[], exit(0));
        let said = String::from_utf8_lossy(&report.observed.stdout);
        assert_eq!(report.observed.ending, Ending::Exit(0), "{:?}\n{said}", report.observed);
        assert_eq!(attributes(&self.target), before);
        assert_eq!(std::fs::read_to_string(&self.target).unwrap(), "precious");
        report
    }
}

/// Processes with this name; the kernel cuts names to 15 bytes.
fn running(name: &str) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let named = |e: &std::fs::DirEntry| std::fs::read_to_string(e.path().join("comm")).is_ok_and(|n| n.trim() == name);
    processes.filter(named).count()
}

struct Bystander(Child);

impl Bystander {
    fn new() -> Self {
        Self(Command::new("sleep").arg("600").spawn().unwrap())
    }

    fn lives(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }
}

impl Drop for Bystander {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn truncate() {
    Escape::new("truncate", "EACH(!truncate(path, 0)) EACH(open(path, O_WRONLY | O_TRUNC) >= 0)").is_refused();
}

#[test]
fn unlink() {
    Escape::new("unlink", "EACH(!unlink(path)) EACH(!rmdir(path))").is_refused();
}

#[test]
fn chmod() {
    Escape::new("chmod", "EACH(!chmod(path, 0777)) EACH(!fchmod(open(path, O_RDONLY), 0777))").is_refused();
}

#[test]
fn chown() {
    Escape::new("chown", "EACH(!chown(path, getuid(), getgid())) EACH(!chown(path, -1, getgid()))").is_refused();
}

#[test]
fn change_times() {
    let body = "struct timespec t[2] = {{1, 0}, {1, 0}};\nEACH(!utimensat(AT_FDCWD, path, t, 0))\n\
                EACH(!futimens(open(path, O_RDONLY), t))";
    Escape::new("times", body).is_refused();
}

#[test]
fn rename() {
    Escape::new("rename", "EACH(!rename(path, \"/tmp/mine\")) EACH(!rename(\"/tmp\", path))").is_refused();
}

#[test]
fn through_a_symbolic_link() {
    let body = "EACH(symlink(path, \"link\") || open(\"link\", O_RDWR | O_TRUNC) >= 0 || unlink(\"link\"))\n\
                if (symlink(\"/proc/1/root\", \"root\") || reads(\"root/etc/passwd\")) return 3;";
    Escape::new("symlink", body).is_refused();
}

#[test]
fn through_a_hard_link() {
    Escape::new(
        "hardlink",
        "EACH(!link(path, \"mine\")) EACH(!linkat(AT_FDCWD, path, AT_FDCWD, \"mine\", AT_SYMLINK_FOLLOW))",
    )
    .is_refused();
}

#[test]
fn write_to_the_common_temporary_directory() {
    let name = format!("/tmp/pleach-escape-{}", std::process::id());
    let define = [format!("-DNAME=\"{name}\"")];
    // The program has one of its own.
    let body = "int fd = open(NAME, O_CREAT | O_WRONLY, 0666);\nif (fd < 0 || write(fd, \"x\", 1) != 1) return 1;";
    Escape::with("tmp", &define, body).is_refused();
    assert!(!Path::new(&name).exists());
}

#[test]
fn write_to_the_home_directory() {
    let home = std::env::var("HOME").unwrap_or_else(|_| "/root".into());
    let name = format!("{home}/.pleach-escape-{}", std::process::id());
    let define = [format!("-DNAME=\"{name}\"")];
    let body = "if (open(NAME, O_CREAT | O_WRONLY, 0666) >= 0) return 1;\n\
                if (open(\"/usr/mine\", O_CREAT | O_WRONLY, 0666) >= 0) return 2;\n\
                if (open(\"/mine\", O_CREAT | O_WRONLY, 0666) >= 0 || !mkdir(\"/dir\", 0777)) return 3;";
    Escape::with("home", &define, body).is_refused();
    assert!(!Path::new(&name).exists());
}

#[test]
fn kill_the_one_who_started_it() {
    // In a container this process may have a number that the supervisor or the program has in the sandbox.
    let body = "for (int s = 1; s < 32; s++) if (PID > 2 && !kill(PID, s)) return 1;\nkill(getppid(), SIGKILL);\n\
                kill(getppid(), SIGSTOP);\nif (getppid() != 1) return 2;";
    Escape::new("parent", body).is_refused();
}

#[test]
fn kill_everybody() {
    let mut bystander = Bystander::new();
    let define = [format!("-DOTHER={}", bystander.0.id())];
    Escape::with("everybody", &define, "kill(-1, SIGTERM);\nif (!kill(OTHER, SIGTERM)) return 1;").is_refused();
    assert!(bystander.lives());
}

#[test]
fn look_into_another_process() {
    let mut bystander = Bystander::new();
    let define = [format!("-DOTHER={}", bystander.0.id())];
    let body = "int victims[] = {PID, OTHER, 1};\nfor (int i = 0; i < 3; i++) {\n \
                if (!ptrace(PTRACE_ATTACH, victims[i], 0, 0)) return i + 1;\n \
                char byte; struct iovec own = {&byte, 1}, other = {(void *)HEADERS, 1};\n \
                if (process_vm_readv(victims[i], &own, 1, &other, 1, 0) >= 0) return i + 11; }\n\
                if (reads(\"/proc/1/mem\") || reads(\"/proc/1/environ\")) return 21;";
    let define = [define[0].clone(), "-DHEADERS=0x400000".into()];
    Escape::with("ptrace", &define, body).is_refused();
    assert!(bystander.lives());
}

#[test]
fn leave_a_daemon_behind() {
    let body = "if (!fork()) { setsid(); if (!fork()) { prctl(PR_SET_NAME, NAME); signal(SIGHUP, SIG_IGN); sleep(600); }\n\
                _exit(0); }\nwait(0); usleep(100000);";
    let name = format!("daemon{}", std::process::id());
    Escape::with("daemon", &[format!("-DNAME=\"{name}\"")], body).is_refused();
    assert_eq!(running(&name), 0);
}

#[test]
fn fork_without_end() {
    let name = format!("bomb{}", std::process::id());
    let body = "prctl(PR_SET_NAME, NAME);\nfor (int i = 0; i < 5000; i++) {\n pid_t child = fork();\n \
                if (!child) for (;;) pause();\n if (child < 0) return errno != EAGAIN; }\nreturn 2;";
    Escape::with("bomb", &[format!("-DNAME=\"{name}\"")], body).is_refused();
    assert_eq!(running(&name), 0);
}

#[test]
fn a_run_that_is_cut_off_leaves_nothing_behind() {
    let name = format!("late{}", std::process::id());
    let body = "prctl(PR_SET_NAME, NAME); if (!fork()) setsid();\nfor (;;) pause();";
    let mut escape = Escape::with("late", &[format!("-DNAME=\"{name}\"")], body);
    escape.program.options.limits.time = Duration::from_millis(500);
    let report = escape.program.replay(&[], exit(0));
    assert_eq!(report.observed.ending, Ending::TimedOut);
    assert_eq!(running(&name), 0);
}

#[test]
fn a_socket_without_a_file() {
    let name = format!("pleach-escape-{}", std::process::id());
    let _listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    let body = "struct sockaddr_un a = {AF_UNIX};\nstrcpy(a.sun_path + 1, NAME);\n\
                int s = socket(AF_UNIX, SOCK_STREAM, 0);\n\
                if (!connect(s, (void *)&a, sizeof(sa_family_t) + 1 + strlen(NAME))) return 1;\n\
                if (errno != ECONNREFUSED) return 2;";
    Escape::with("abstract", &[format!("-DNAME=\"{name}\"")], body).is_refused();
}

#[test]
fn the_network() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let define = [format!("-DPORT={}", listener.local_addr().unwrap().port())];
    let body = "struct sockaddr_in a = {AF_INET, htons(PORT)};\na.sin_addr.s_addr = htonl(INADDR_LOOPBACK);\n\
                if (!connect(socket(AF_INET, SOCK_STREAM, 0), (void *)&a, sizeof a)) return 1;\n\
                for (int family = 0; family < 64; family++)\n \
                if (family != AF_UNIX && family != AF_INET && family != AF_INET6 && socket(family, SOCK_DGRAM, 0) >= 0)\n  \
                return family;";
    Escape::with("network", &define, body).is_refused();
}

#[test]
fn secrets() {
    let escape = Escape::new(
        "secrets",
        "EACH(path[1] == 't' && reads(path))\nif (reads(TARGET)) return 3;\n\
         const char *all[] = {SECRET, SOURCE, \"/etc/passwd\", \"/etc/shadow\", \"/root\", \"/home\", \"/var\", \"/sys\",\n \
         \"/proc/sys\", \"/proc/kcore\", \"/proc/1/root/root\", \"/dev/kmsg\", \"/dev/tty\", \"/run\", \"/old\"};\n\
         for (int i = 0; i < sizeof all / sizeof *all; i++) if (reads(all[i])) return i + 10;",
    );
    let secret = escape.program.path().join(".ssh/id");
    std::fs::create_dir(secret.parent().unwrap()).unwrap();
    std::fs::write(&secret, "secret").unwrap();
    let mut escape = escape;
    escape.program.info.cc_flags.push(format!("-DSECRET=\"{}\"", secret.display()));
    escape.program.info.cc_flags.push(format!("-DSOURCE=\"{}\"", escape.program.path().join("a.c").display()));
    escape.is_refused();
}

#[test]
#[allow(unsafe_code)]
fn shared_memory() {
    let key = std::process::id() as i32 | 0x5000_0000;
    // SAFETY: plain system calls; the segment is removed below.
    let segment = unsafe { libc::shmget(key, 4096, libc::IPC_CREAT | 0o666) };
    assert!(segment >= 0);
    let name = format!("/dev/shm/pleach-escape-{}", std::process::id());
    std::fs::write(&name, "shared").unwrap();
    let define = [format!("-DKEY={key}"), format!("-DSEGMENT={segment}"), format!("-DNAME=\"{name}\"")];
    let body = "if (shmget(KEY, 0, 0) >= 0) return 1;\nif (shmat(SEGMENT, 0, 0) != (void *)-1) return 2;\n\
                if (reads(NAME)) return 3;";
    Escape::with("shm", &define, body).is_refused();
    // SAFETY: as above.
    unsafe { libc::shmctl(segment, libc::IPC_RMID, std::ptr::null_mut()) };
    std::fs::remove_file(&name).unwrap();
}

#[test]
fn mounts_and_namespaces() {
    let body = "if (!mount(\"none\", \"/tmp\", \"tmpfs\", 0, \"\")) return 1;\n\
                if (!mount(0, \"/usr\", 0, MS_REMOUNT | MS_BIND, 0)) return 2;\nif (!umount2(\"/usr\", MNT_DETACH)) return 3;\n\
                if (!unshare(CLONE_NEWUSER)) return 4;\nif (!unshare(CLONE_NEWNS)) return 5;\n\
                if (!chroot(\"/tmp\")) return 6;\n\
                if (syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0) >= 0) return 7;\n\
                if (syscall(SYS_clone3, 0, 0) >= 0 || errno != ENOSYS) return 8;\n\
                if (!setns(open(\"/proc/1/ns/mnt\", O_RDONLY), 0)) return 9;\nif (!sethostname(\"x\", 1)) return 10;";
    Escape::new("mount", body).is_refused();
}

#[test]
fn privileges() {
    let body = "struct statvfs v;\nif (!getuid() || !geteuid() || !getgid()) return 1;\n\
                if (statvfs(\"/usr\", &v) || !(v.f_flag & ST_NOSUID) || !(v.f_flag & ST_RDONLY)) return 2;\n\
                if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1) return 3;\n\
                if (!setuid(0) || !setgid(0) || !setresuid(0, 0, 0)) return 4;\n\
                FILE *f = fopen(\"/proc/self/status\", \"r\"); char line[256], none[] = \"0000000000000000\";\n\
                if (!f) return 5;\n\
                while (fgets(line, sizeof line, f))\n \
                if ((!strncmp(line, \"CapEff\", 6) || !strncmp(line, \"CapPrm\", 6)) && !strstr(line, none)) return 6;";
    Escape::new("privileges", body).is_refused();
}

#[test]
fn fill_the_disk() {
    let body = "char *bytes = calloc(1, 1 << 20), name[20]; long total = 0;\n\
                for (int i = 0; i < 64; i++) {\n sprintf(name, i % 2 ? \"/tmp/%d\" : \"%d\", i);\n \
                int fd = open(name, O_CREAT | O_WRONLY, 0600);\n \
                for (int k = 0; k < 8; k++) { ssize_t n = write(fd, bytes, 1 << 20); if (n > 0) total += n; } }\n\
                return total > 70l << 20;";
    let escape = Escape::new("disk", body);
    escape.is_refused();
    // What the program itself says of its end is not lost by that.
    let body = "char *bytes = calloc(1, 1 << 20);\nfor (int i = 0; i < 64; i++) { char name[20]; sprintf(name, \"%d\", i);\n \
                int fd = open(name, O_CREAT | O_WRONLY, 0600); for (int k = 0; k < 8; k++) write(fd, bytes, 1 << 20); }\n\
                for (int fd = 0; fd < 1024; fd++) close(fd);\n__builtin_trap();";
    let report = Escape::new("full", body).program.replay(&[], exit(0));
    assert!(matches!(&report.observed.ending, Ending::Error(_)), "{:?}", report.observed);
    assert!(!report.observed.stack.is_empty(), "{:?}", report.observed);
}

#[test]
fn type_into_the_terminal() {
    let body = "char c = 'x';\nif (open(\"/dev/tty\", O_RDWR) >= 0) return 1;\n\
                for (int fd = 0; fd < 256; fd++) if (!ioctl(fd, TIOCSTI, &c) || errno != EPERM) return 2;\n\
                if (syscall(SYS_ioctl, 0, TIOCSTI | 1l << 32, &c) != -1 || errno != EPERM) return 3;";
    Escape::new("terminal", body).is_refused();
}

#[test]
fn the_kernel() {
    let body = "long calls[] = {SYS_keyctl, SYS_add_key, SYS_request_key, SYS_bpf, SYS_perf_event_open, SYS_io_uring_setup,\n\
                SYS_userfaultfd, SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load, SYS_reboot,\n\
                SYS_settimeofday, SYS_clock_settime, SYS_adjtimex, SYS_swapon, SYS_syslog, SYS_open_by_handle_at};\n\
                for (int i = 0; i < sizeof calls / sizeof *calls; i++)\n \
                if (syscall(calls[i], 0, 0, 0, 0, 0) != -1 || errno != EPERM) return i + 1;";
    Escape::new("kernel", body).is_refused();
}

#[test]
fn inherited_files() {
    // What the program did not open itself: the three standard streams, none of them a terminal, and the notes.
    let body = "for (int fd = 3; fd < 1024; fd++) if (fd != 200 && fcntl(fd, F_GETFD) >= 0) return 1;\n\
                if (isatty(0) || isatty(1) || isatty(2) || read(0, &(char){0}, 1) != 0) return 2;";
    Escape::new("inherited", body).is_refused();
}

/// Set in a process that may make no namespaces.
const WITHOUT: &str = "PLEACH_TEST_WITHOUT_NAMESPACES";

/// Without namespaces there is less, and that must be requested; still nothing stays behind. The test starts itself
/// once more where there are none.
#[test]
fn without_namespaces() {
    if std::env::var_os(WITHOUT).is_some() {
        nothing_runs_unasked();
        an_unsafe_run_is_still_limited();
        println!("{WITHOUT}");
    } else if let Some(limited) = Limited::new() {
        limited.run("without_namespaces");
    }
}

fn nothing_runs_unasked() {
    let escape = Escape::new("refused", "");
    let error = escape.program.replayer().replay(&support::test(&[], exit(0))).unwrap_err();
    assert!(error.to_string().contains("does not give the replayed program namespaces of its own"), "{error}");
}

fn an_unsafe_run_is_still_limited() {
    let name = format!("unsafe{}", std::process::id());
    let body = "if (!fork()) { setsid(); if (!fork()) { prctl(PR_SET_NAME, NAME); sleep(600); }\n_exit(0); }\nwait(0);\n\
                usleep(100000);\nif (mkdir(\"own\", 0777) || open(\"own/file\", O_CREAT | O_WRONLY, 0666) < 0) return 1;\n\
                if (open(TARGET, O_WRONLY) >= 0 || !truncate(TARGET, 0) || !unlink(TARGET)) return 2;\n\
                if (syscall(SYS_bpf, 0, 0, 0) != -1 || errno != EPERM) return 3;";
    let mut escape = Escape::with("unsafe", &[format!("-DNAME=\"{name}\"")], body);
    escape.program.options.isolation = Isolation::AsFarAsPossible;
    escape.is_refused();
    assert_eq!(running(&name), 0);
}

/// All of the above once more, as a user without any privilege.
#[test]
fn as_an_ordinary_user() {
    let Some(user) = Ordinary::new("ordinary") else { return };
    let status = user.command().args(["--skip", "as_an_ordinary_user", "--skip", "without_namespaces"]).status();
    assert!(status.unwrap().success());
}

/// This test program as another user, for root only.
struct Ordinary(PathBuf);

impl Ordinary {
    const ID: u32 = 54321;

    fn new(purpose: &str) -> Option<Self> {
        // SAFETY: takes and touches nothing.
        #[allow(unsafe_code)]
        let root = unsafe { libc::geteuid() } == 0;
        let own = std::env::temp_dir().join(format!("pleach-{purpose}-{}", std::process::id()));
        if !root {
            return None;
        }
        std::fs::create_dir_all(&own).unwrap();
        std::os::unix::fs::chown(&own, Some(Self::ID), Some(Self::ID)).unwrap();
        // By a process of its own: a file that some thread's child still has open for writing cannot be executed.
        let copied = Command::new("cp").arg(std::env::current_exe().unwrap()).arg(own.join("tests")).status();
        assert!(copied.unwrap().success());
        Some(Self(own))
    }

    fn command(&self) -> Command {
        let mut command = Command::new(self.0.join("tests"));
        command.uid(Self::ID).gid(Self::ID).env("TMPDIR", &self.0).env("HOME", &self.0).current_dir(&self.0);
        command
    }
}

impl Drop for Ordinary {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A user namespace in which no further one may be made, as on a machine that forbids them.
struct Limited(Option<Ordinary>);

impl Limited {
    fn new() -> Option<Self> {
        let made = Command::new("unshare").args(["--user", "--map-current-user", "true"]).output();
        let made = made.is_ok_and(|o| o.status.success());
        made.then(|| Self(Ordinary::new("limited")))
    }

    fn run(&self, test: &str) {
        let exe = std::env::current_exe().unwrap();
        let exe = self.0.as_ref().map_or(exe, |user| user.0.join("tests"));
        let script = "echo 0 >/proc/sys/user/max_user_namespaces && exec setpriv --bounding-set -all --inh-caps -all \
                      --ambient-caps -all \"$0\" --exact --nocapture \"$1\"";
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "sh", "-c", script]).arg(exe).arg(test).env(WITHOUT, "1");
        if let Some(user) = &self.0 {
            command.uid(Ordinary::ID).gid(Ordinary::ID).env("TMPDIR", &user.0).env("HOME", &user.0);
        }
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success() && text.contains(WITHOUT) && text.contains("1 passed"),
            "{text}\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}
