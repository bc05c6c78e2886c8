/* Native replay: linked with the program under replay, hands out the inputs of one .ktest file and
 * notes how the program ends.
 *
 *   PLEACH_KTEST    the test (KTEST_FILE, as for KLEE's own library, is read when it is not set)
 *   PLEACH_WATCH    addresses of instructions, separated by commas (x86 only)
 *   PLEACH_SERVER   replay many tests: server.inc
 *   PLEACH_OUTCOME  file for the notes: one line each, fields separated by tabs
 *
 *     start                              the program's own code is next
 *     note  <what> <detail>              inputs that did not fit
 *     end   <kind> <file> <line> <text>  how the program ended, when it did not simply exit
 *     unwatched <address>                an instruction could not be watched
 *     hit   <address>                    a watched instruction was about to be executed, for the first time
 *     frame <address>                    program counters of that end, innermost first
 *
 * Linked with --wrap=main; the generated driver defines pleach_entry. Compiled for sanitizers, signal
 * handlers are left to them. */
#define _GNU_SOURCE
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

#include "klee/klee.h"

#define EXIT_ASSUME 97
#define EXIT_USER 98
#define EXIT_BAD_TEST 96
#define WEAK __attribute__((weak))

int pleach_entry(int argc, char **argv, char **envp);

static void show_output(void);

/* ---- notes ---- */

static int outcome = -1;
static volatile sig_atomic_t ended;

static char outcome_path[4096];

/* Out of the way of the program, whose own files have small numbers. */
static void open_outcome(void) {
  int fd = *outcome_path ? open(outcome_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
  int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 200);
  outcome = high < 0 ? fd : high;
  if (high >= 0) close(fd);
}

/* Only write(2) and the stack: also called from signal handlers. A program may have closed all its files. */
static void put_bytes(const char *bytes, size_t n) {
  int before = errno;
  if (!n) return;
  if (outcome >= 0 && write(outcome, bytes, n) < 0 && errno == EBADF) {
    open_outcome();
    if (outcome >= 0 && write(outcome, bytes, n) < 0) outcome = -1;
  }
  errno = before;
}

static void put(const char *text) {
  char line[512];
  size_t n = 0;
  for (; text && *text && n < sizeof line; text++) line[n++] = (*text == '\t' || *text == '\n') ? ' ' : *text;
  put_bytes(line, n);
}

static void put_raw(const char *text) { put_bytes(text, strlen(text)); }

#include "server.inc"

/* Before the constructors of the program, and of `watch` below. */
__attribute__((constructor(101))) static void start(void) {
  const char *path = getenv("PLEACH_OUTCOME");
  serve();
  if (!path || strlen(path) >= sizeof outcome_path) return;
  strcpy(outcome_path, path);
  open_outcome();
  put_raw("start\n");
}

static void put_number(uintptr_t number, unsigned base) {
  char digits[sizeof number * 8 + 1], *at = digits + sizeof digits - 1;
  *at = 0;
  do *--at = "0123456789abcdef"[number % base];
  while (number /= base);
  put(at);
}

static void note(const char *what, const char *detail) {
  put_raw("note\t"), put(what), put_raw("\t"), put(detail), put_raw("\n");
}

static void frame(void *address) {
  put_raw("frame\t0x"), put_number((uintptr_t)address, 16), put_raw("\n");
}

static void frames(void *first) {
  void *stack[64];
  int n = backtrace(stack, 64);
  if (first) frame(first);
  for (int i = 0; i < n; i++) frame(stack[i]);
}

/* The first end counts: what follows (abort after assert) is how it is carried out. */
static void end(const char *kind, const char *file, unsigned line, const char *text, void *first) {
  if (ended) return;
  ended = 1;
  put_raw("end\t"), put(kind), put_raw("\t"), put(file), put_raw("\t");
  put_number(line, 10), put_raw("\t"), put(text), put_raw("\n");
  frames(first);
  show_output();
}

/* ---- signals ---- */

#ifndef PLEACH_SANITIZED
static char signal_stack[65536];
static int watching;

static void *program_counter(ucontext_t *context) {
#if defined(__x86_64__)
  return (void *)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__i386__)
  return (void *)context->uc_mcontext.gregs[REG_EIP];
#elif defined(__aarch64__)
  return (void *)context->uc_mcontext.pc;
#else
  return 0;
#endif
}

static void *stack_pointer(ucontext_t *context) {
#if defined(__x86_64__)
  return (void *)context->uc_mcontext.gregs[REG_RSP];
#elif defined(__i386__)
  return (void *)context->uc_mcontext.gregs[REG_ESP];
#elif defined(__aarch64__)
  return (void *)context->uc_mcontext.sp;
#else
  return 0;
#endif
}

static void on_signal(int number, siginfo_t *info, void *context) {
  char text[2 * sizeof(uintptr_t) + 8];
  uintptr_t at = (uintptr_t)info->si_addr;
  uintptr_t sp = (uintptr_t)stack_pointer(context);
  int fault = number == SIGSEGV || number == SIGBUS;
  int sent = info->si_code <= 0; /* by a process, the program itself that is */
  const char *kind = number == SIGABRT  ? "abort"
                     : sent             ? "signal"
                     : number == SIGFPE ? "fpe"
                     : number == SIGILL || number == SIGTRAP ? "ill"
                     : fault && sp && at + 65536 > sp && at < sp + 65536 && at > 65536 ? "stack"
                     : at < 65536 && info->si_code != SI_KERNEL                        ? "null"
                                                                                       : "fault";
  char *end_of_text = text;
  *end_of_text++ = '0', *end_of_text++ = 'x';
  for (int shift = 8 * sizeof at - 4; shift >= 0; shift -= 4) *end_of_text++ = "0123456789abcdef"[at >> shift & 15];
  *end_of_text = 0;
  void *pc = program_counter(context);
  if (number == SIGTRAP) pc = (char *)pc - 1; /* the instruction is over */
#if defined(__x86_64__) || defined(__i386__)
  /* A call to nowhere: the caller is on top of the stack, and no unwinder can start from here. */
  if (number == SIGSEGV && !sent && (uintptr_t)pc == at && sp) {
    kind = at < 65536 ? "null-call" : "bad-call";
    pc = (char *)*(void **)sp - 1;
  }
#endif
  end(kind, "", 0, text, pc);
  signal(number, SIG_DFL);
  raise(number);
}

static void catch_signals(void) {
  /* The last one belongs to the watched addresses, if there are any. */
  static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};
  const size_t count = sizeof numbers / sizeof *numbers - (watching != 0);
  stack_t stack = {.ss_sp = signal_stack, .ss_size = sizeof signal_stack};
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND | SA_NODEFER;
  sigaltstack(&stack, 0);
  for (size_t i = 0; i < count; i++) sigaction(numbers[i], &action, 0);
}
#else
static void catch_signals(void) {}
#endif

/* ---- watched addresses ---- */

#if !defined(PLEACH_SANITIZED) && (defined(__x86_64__) || defined(__i386__))
#define BREAKPOINT 0xcc
#ifdef __x86_64__
#define PC REG_RIP
#else
#define PC REG_EIP
#endif

static struct watched {
  unsigned char *at, was;
} watched[4096];
static size_t watched_count;

/* A breakpoint works once: it notes, gives way to the instruction that was there, and goes back to it. */
static void on_breakpoint(int number, siginfo_t *info, void *context) {
  greg_t *pc = &((ucontext_t *)context)->uc_mcontext.gregs[PC];
  (void)info;
  for (size_t i = 0; i < watched_count; i++)
    if (watched[i].at == (unsigned char *)*pc - 1) {
      put_raw("hit\t0x"), put_number((uintptr_t)watched[i].at, 16), put_raw("\n");
      *watched[i].at = watched[i].was;
      *pc -= 1;
      return;
    }
  signal(number, SIG_DFL); /* the program's own */
  raise(number);
}

static void not_watched(unsigned char *at) { put_raw("unwatched\t0x"), put_number((uintptr_t)at, 16), put_raw("\n"); }

/* Before the constructors of the program. */
__attribute__((constructor(102))) static void watch(void) {
  const char *list = getenv("PLEACH_WATCH");
  struct sigaction action;
  if (!list) return;
  watching = 1;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_breakpoint;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGTRAP, &action, 0);
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  for (char *next; *list && watched_count < sizeof watched / sizeof *watched; list = *next == ',' ? next + 1 : next) {
    unsigned char *at = (unsigned char *)(uintptr_t)strtoull(list, &next, 16);
    if (next == list) break;
    int locked = mprotect((void *)((uintptr_t)at & -page), page, PROT_READ | PROT_WRITE | PROT_EXEC);
    if (locked || *at == BREAKPOINT) {
      not_watched(at);
      continue;
    }
    watched[watched_count++] = (struct watched){at, *at};
    *at = BREAKPOINT;
  }
  unsetenv("PLEACH_WATCH");
}
#endif

/* ---- the test ---- */

struct object {
  char *name;
  uint32_t size;
  unsigned char *bytes;
};

static struct object *objects;
static uint32_t object_count, object_next;
static int loaded;

static void bad_test(const char *why) {
  note("bad-test", why);
  fprintf(stderr, "pleach replay: %s\n", why);
  _exit(EXIT_BAD_TEST);
}

static uint32_t number_of(FILE *f) {
  unsigned char b[4];
  if (fread(b, 1, 4, f) != 4) bad_test("the test is truncated");
  return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static unsigned char *bytes_of(FILE *f, uint32_t n, uint32_t room) {
  if (n > room) bad_test("the test is truncated");
  unsigned char *bytes = calloc((size_t)n + 1, 1);
  if (!bytes) bad_test("there is no memory for the test");
  if (n && fread(bytes, 1, n, f) != n) bad_test("the test is truncated");
  return bytes;
}

static void load(void) {
  if (loaded) return;
  loaded = 1;
  const char *path = getenv("PLEACH_KTEST");
  if (!path) path = getenv("KTEST_FILE");
  if (!path) bad_test("neither PLEACH_KTEST nor KTEST_FILE is set");
  FILE *f = fopen(path, "rb");
  if (!f) bad_test("the test cannot be opened");
  fseek(f, 0, SEEK_END);
  long length = ftell(f);
  rewind(f);
  uint32_t room = length < 0 || length > 0x7fffffff ? 0x7fffffff : (uint32_t)length;
  char magic[5];
  if (fread(magic, 1, 5, f) != 5 || (memcmp(magic, "KTEST", 5) && memcmp(magic, "BOUT\n", 5)))
    bad_test("the test is not a .ktest file");
  uint32_t version = number_of(f);
  if (version > 3) bad_test("the test's version is too new");
  for (uint32_t n = number_of(f); n; n--) free(bytes_of(f, number_of(f), room));
  if (version >= 2) number_of(f), number_of(f);
  uint32_t count = number_of(f);
  if (count > room / 8) bad_test("the test is truncated");
  objects = calloc((size_t)count + 1, sizeof *objects);
  if (!objects) bad_test("there is no memory for the test");
  for (; object_count < count; object_count++) {
    struct object *o = &objects[object_count];
    o->name = (char *)bytes_of(f, number_of(f), room);
    o->size = number_of(f);
    o->bytes = bytes_of(f, o->size, room);
  }
  fclose(f);
}

/* `x` fits `x`, and `x_1`, `x_2`, … which are its later uses. */
static int fits(const char *have, const char *want) {
  size_t n = strlen(want);
  if (strncmp(have, want, n)) return 0;
  have += n;
  if (!*have) return 1;
  return *have == '_' && have[1] && !have[1 + strspn(have + 1, "0123456789")];
}

static void fetch(void *to, size_t size, const char *name) {
  load();
  if (!name) name = "unnamed";
  if (object_next >= object_count) {
    note("input-exhausted", name);
    memset(to, 0, size);
    return;
  }
  struct object *o = &objects[object_next++];
  char text[400];
  if (!fits(o->name, name)) {
    snprintf(text, sizeof text, "the program asks for `%.150s`, the test has `%.150s`", name, o->name);
    note("name-mismatch", text);
  }
  if (o->size != size) {
    snprintf(text, sizeof text, "`%.150s` is %zu bytes in the program, %u in the test", name, size, o->size);
    note("size-mismatch", text);
  }
  size_t n = o->size < size ? o->size : size;
  memcpy(to, o->bytes, n);
  memset((char *)to + n, 0, size - n);
}

/* For the driver: a parameter of the entry function. */
void pleach_parameter(void *to, size_t size, const char *name) { fetch(to, size, name); }

WEAK void __asan_poison_memory_region(const volatile void *, size_t);

/* For the driver: what a pointer parameter points to, in heap memory of exactly its size, so that a sanitizer sees an access beyond.
 * A test says by an object without bytes that it is null, and leaves out an object of no bytes. */
void *pleach_pointer_parameter(const char *name) {
  load();
  struct object *o = object_next < object_count ? &objects[object_next] : 0;
  size_t n = strlen(name);
  if (o && !strncmp(o->name, name, n) && !strcmp(o->name + n, ".null")) {
    object_next++;
    return 0;
  }
  size_t size = o && !strcmp(o->name, name) ? o->size : 0;
  void *to = malloc(size ? size : 1);
  if (!to) bad_test("there is no memory for the test");
  if (size) fetch(to, size, name);
  else if (__asan_poison_memory_region) __asan_poison_memory_region(to, 1);
  return to;
}

/* For the driver: the data of a fuzz target, in a buffer of exactly its size. */
unsigned char *pleach_fuzz_data(size_t *size) {
  load();
  struct object *data = object_next < object_count ? &objects[object_next++] : 0;
  *size = data ? data->size : 0;
  if (!data) note("input-exhausted", "data");
  if (object_next < object_count && !strcmp(objects[object_next].name, "size")) {
    uint64_t wanted = 0;
    fetch(&wanted, objects[object_next].size < 8 ? objects[object_next].size : 8, "size");
    if (wanted < *size) *size = (size_t)wanted;
  }
  unsigned char *copy = malloc(*size ? *size : 1);
  if (!copy) bad_test("there is no memory for the test");
  if (data) memcpy(copy, data->bytes, *size);
  return copy;
}

/* ---- the symbolic environment ---- */

/* The options of runtime/posix/start.c, with the values of the test instead of symbolic ones. */

/* `--name` and `-name` */
static int is_option(const char *text, const char *name) {
  return *text == '-' && !strcmp(text + (text[1] == '-' ? 2 : 1), name);
}

/* An argument is no block of the heap: freeing it is an error. Bytes that lie before it, which nobody may touch, make it so. */
static char *argument_of_test(int number, size_t length) {
  enum { BEFORE = 16 };
  char name[16], *block = malloc(BEFORE + length + 1), *bytes = block + BEFORE;
  if (!block) bad_test("there is no memory for the test");
  if (__asan_poison_memory_region) __asan_poison_memory_region(block, BEFORE);
  snprintf(name, sizeof name, "arg%02d", number);
  fetch(bytes, length + 1, name);
  bytes[length] = 0;
  return bytes;
}

/* A file with the bytes of the next input; of its attributes, the input after it, only the size can have several values. With
 * `up_to` they come before it: as many bytes follow, unless the file may be large. */
static int file_of_test(const char *path, const char *name, size_t size, int up_to) {
  enum { SIZE_AT = 48 }; /* in the attributes, as runtime/posix/abi.h has them */
  char label[32], attributes[144];
  char *bytes = malloc(size + 1);
  int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (!bytes || fd < 0) bad_test("a file of the test cannot be made");
  snprintf(label, sizeof label, "%s_stat", name);
  if (up_to) {
    int64_t wanted;
    fetch(attributes, sizeof attributes, label);
    memcpy(&wanted, attributes + SIZE_AT, sizeof wanted);
    size_t most = size;
    if (wanted >= 0 && (size_t)wanted < size) size = (size_t)wanted;
    fetch(bytes, most <= 4096 ? size : most, name);
  } else {
    fetch(bytes, size, name);
    fetch(attributes, sizeof attributes, label);
  }
  if (write(fd, bytes, size) != (ssize_t)size) bad_test("a file of the test cannot be written");
  free(bytes);
  return fd;
}

/* With --sym-stdout the output is a regular file; what is written goes to the real output at the end. */
static int real_output = -1, written_output = -1;

static void show_output(void) {
  char part[4096];
  off_t left = real_output < 0 ? 0 : lseek(1, 0, SEEK_CUR), at = 0;
  while (left > 0) {
    ssize_t n = pread(written_output, part, left < (off_t)sizeof part ? (size_t)left : sizeof part, at);
    if (n <= 0 || write(real_output, part, (size_t)n) != n) break;
    left -= n, at += n;
  }
  real_output = -1;
}

static void flush_and_show_output(void) {
  fflush(stdout);
  show_output();
}

static void output_of_test(void) {
  static char initial[1024];
  char attributes[144];
  fetch(initial, sizeof initial, "stdout"), fetch(attributes, sizeof attributes, "stdout_stat");
  int all = open(".stdout", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644), to = open(".stdout", O_WRONLY | O_CLOEXEC);
  /* out of the program's way */
  written_output = fcntl(all, F_DUPFD_CLOEXEC, 100), real_output = fcntl(1, F_DUPFD_CLOEXEC, 100);
  if (to < 0 || written_output < 0 || real_output < 0 || write(all, initial, sizeof initial) != sizeof initial || dup2(to, 1) < 0)
    bad_test("standard output cannot be made");
  close(all), close(to), unlink(".stdout");
  atexit(flush_and_show_output);
}

static void failure_of_test(const char *name) {
  unsigned call;
  fetch(&call, sizeof call, name);
  if (call && call < 65536) note("not-replayable", "a failing system call");
}

static void environment(int *argc, char ***argv) {
  char **in = *argv, **out = calloc((size_t)*argc + 101, sizeof *out);
  int n = 0, made = 0, files = 0, standard_output = 0, failures = 0, files_up_to = 0, stdin_up_to = 0;
  size_t file_size = 0, stdin_size = 0;
  if (!out) bad_test("there is no memory for the test");
  for (int i = 0; i < *argc; i++) {
    int left = *argc - i - 1;
    if (i && left >= 1 && is_option(in[i], "sym-arg")) {
      out[n++] = argument_of_test(made++, strtoul(in[++i], 0, 10));
    } else if (i && left >= 3 && is_option(in[i], "sym-args")) {
      int least = atoi(in[i + 1]), most = atoi(in[i + 2]), count = least;
      size_t length = strtoul(in[i + 3], 0, 10);
      if (least < most) fetch(&count, sizeof count, "n_args");
      for (int k = 0; k < count && made < 100; k++) out[n++] = argument_of_test(made++, length);
      i += 3;
    } else if (i && left >= 2 && (is_option(in[i], "sym-files") || is_option(in[i], "sym-files-up-to"))) {
      files_up_to = is_option(in[i], "sym-files-up-to");
      files = atoi(in[i + 1]), file_size = strtoul(in[i + 2], 0, 10);
      i += 2;
    } else if (i && left >= 2 && is_option(in[i], "sym-files-like")) {
      files = atoi(in[i + 1]), file_size = strlen(in[i + 2]);
      i += 2;
    } else if (i && left >= 1 && (is_option(in[i], "sym-stdin") || is_option(in[i], "sym-stdin-up-to"))) {
      stdin_up_to = is_option(in[i], "sym-stdin-up-to");
      stdin_size = strtoul(in[++i], 0, 10);
    } else if (i && left >= 1 && is_option(in[i], "sym-stdin-like")) {
      stdin_size = strlen(in[++i]), stdin_up_to = 0;
    } else if (i && left >= 1 && is_option(in[i], "sym-like-range")) {
      i++;
    } else if (i && is_option(in[i], "sym-stdout")) {
      standard_output = 1;
    } else if (i && is_option(in[i], "save-all-writes")) {
      /* always so */
    } else if (i && is_option(in[i], "fd-fail")) {
      failures = 1;
    } else if (i && left >= 1 && is_option(in[i], "max-fail")) {
      failures = atoi(in[++i]);
    } else {
      out[n++] = in[i];
    }
  }
  umask(022);
  for (int i = 0; i < files && i < 26; i++) {
    char path[] = {(char)('A' + i), 0}, name[] = "A_data";
    name[0] = path[0];
    close(file_of_test(path, name, file_size, files_up_to));
  }
  if (stdin_size) {
    int fd = file_of_test(".stdin", "stdin", stdin_size, stdin_up_to), reader = open(".stdin", O_RDONLY | O_CLOEXEC);
    if (reader < 0 || dup2(reader, 0) < 0) bad_test("standard input cannot be made");
    close(fd), close(reader), unlink(".stdin");
  }
  if (failures) {
    failure_of_test("read_fail"), failure_of_test("write_fail"), failure_of_test("close_fail");
    failure_of_test("ftruncate_fail"), failure_of_test("getcwd_fail");
  }
  if (standard_output) output_of_test();
  *argc = n, *argv = out;
}

int __wrap_main(int argc, char **argv, char **envp) {
  void *warm[1];
  backtrace(warm, 1); /* loads the unwinder now, not in a signal handler */
  catch_signals();
  load();
  unsetenv("PLEACH_KTEST"), unsetenv("PLEACH_OUTCOME"), unsetenv("KTEST_FILE");
  environment(&argc, &argv);
  return pleach_entry(argc, argv, envp);
}

/* ---- ends ---- */

static __attribute__((noreturn)) void leave(int status) {
  fflush(0);
  show_output();
  _exit(status);
}

WEAK void __assert_fail(const char *assertion, const char *file, unsigned line, const char *function) {
  fprintf(stderr, "%s:%u: %s: assertion `%s' failed\n", file, line, function ? function : "?", assertion);
  end("assert", file, line, assertion, 0);
  abort();
}

void klee_assert_fail(const char *assertion, const char *file, unsigned line, const char *function) {
  __assert_fail(assertion, file, line, function);
}

void klee_abort(void) {
  end("abort", "", 0, "klee_abort", 0);
  abort();
}

void klee_silent_exit(int status) {
  note("silent-exit", "");
  exit(status);
}

void klee_report_error(const char *file, int line, const char *message, const char *suffix) {
  fprintf(stderr, "%s:%d: %s (%s)\n", file, line, message, suffix ? suffix : "");
  end("user", file, (unsigned)line, message, 0);
  leave(EXIT_USER);
}

void klee_assume(uintptr_t condition) {
  if (condition) return;
  end("assume", "", 0, "an assumption does not hold", 0);
  leave(EXIT_ASSUME);
}

WEAK void __VERIFIER_assume(int condition) { klee_assume(condition != 0); }

WEAK void reach_error(void) {
  end("error", "", 0, "reach_error", 0);
  abort();
}

WEAK void __VERIFIER_error(void) {
  end("error", "", 0, "__VERIFIER_error", 0);
  abort();
}

WEAK void __VERIFIER_assert(int condition) {
  if (condition) return;
  end("assert", "", 0, "__VERIFIER_assert", 0);
  abort();
}

/* Entered by every function of a program that has error functions of its own (-finstrument-functions). */
extern void *const pleach_error_functions[];
extern const unsigned pleach_error_function_count;

void __cyg_profile_func_enter(void *function, void *site) {
  for (unsigned i = 0; i < pleach_error_function_count; i++) {
    if (function != pleach_error_functions[i]) continue;
    end("error", "", 0, "an error function is called", (char *)site - 1);
    abort();
  }
}

void __cyg_profile_func_exit(void *function, void *site) { (void)function, (void)site; }

/* ---- inputs ---- */

void klee_make_symbolic(void *addr, size_t nbytes, const char *name) { fetch(addr, nbytes, name); }

int klee_int(const char *name) {
  int x;
  fetch(&x, sizeof x, name);
  return x;
}

int klee_range(int begin, int end_, const char *name) {
  if (begin >= end_) klee_report_error("klee_range", 0, "invalid range", "user");
  if (begin + 1 == end_) return begin; /* one value: not an input */
  int x = klee_int(name);
  klee_assume(begin <= x && x < end_);
  return x;
}

uintptr_t klee_choose(uintptr_t n) {
  uintptr_t x;
  fetch(&x, sizeof x, "klee_choose");
  klee_assume(x < n);
  return x;
}

WEAK void __VERIFIER_nondet_memory(void *addr, size_t nbytes) { fetch(addr, nbytes, "__VERIFIER_nondet_memory"); }

#define NONDET(suffix, type)                                  \
  WEAK type __VERIFIER_nondet_##suffix(void) {                \
    type x;                                                   \
    fetch(&x, sizeof x, "__VERIFIER_nondet_" #suffix);        \
    return x;                                                 \
  }

WEAK _Bool __VERIFIER_nondet_bool(void) {
  unsigned char x;
  fetch(&x, sizeof x, "__VERIFIER_nondet_bool");
  return x != 0;
}

#include "nondet.inc"

/* ---- the rest: little to do in a replay ---- */

void klee_prefer_cex(void *object, uintptr_t condition) { (void)object, (void)condition; }
void klee_posix_prefer_cex(void *object, uintptr_t condition) { (void)object, (void)condition; }
size_t klee_get_obj_size(void *ptr) {
  note("not-replayable", "klee_get_obj_size");
  return (void)ptr, 0;
}
unsigned klee_is_symbolic(uintptr_t n) {
  note("not-replayable", "klee_is_symbolic");
  return (void)n, 0;
}
unsigned klee_is_replay(void) { return 1; }
float klee_get_valuef(float expr) { return expr; }
double klee_get_valued(double expr) { return expr; }
long klee_get_valuel(long expr) { return expr; }
long long klee_get_valuell(long long expr) { return expr; }
int32_t klee_get_value_i32(int32_t expr) { return expr; }
int64_t klee_get_value_i64(int64_t expr) { return expr; }
void klee_check_memory_access(const void *address, size_t size) {
  for (size_t i = 0; i < size; i++) (void)((const volatile char *)address)[i];
}
int klee_get_errno(void) { return errno; }
void klee_define_fixed_object(void *addr, size_t nbytes) {
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)addr & -page;
  uintptr_t stop = ((uintptr_t)addr + nbytes + page - 1) & -page;
  void *at = mmap((void *)start, stop - start, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (at == MAP_FAILED) note("not-replayable", "klee_define_fixed_object");
}
void klee_print_expr(const char *msg, ...) { fprintf(stderr, "%s\n", msg); }
void klee_print_range(const char *name, int arg) { fprintf(stderr, "%s: %d\n", name, arg); }
void klee_warning(const char *message) { fprintf(stderr, "warning: %s\n", message); }
void klee_warning_once(const char *message) { klee_warning(message); }
void klee_stack_trace(void) {}
void klee_set_forking(unsigned enable) { (void)enable; }
void klee_open_merge(void) {}
void klee_close_merge(void) {}
void klee_mark_global(void *object) { (void)object; }
void klee_alias_function(const char *fn_name, const char *new_fn_name) {
  note("not-replayable", "klee_alias_function");
  (void)fn_name, (void)new_fn_name;
}
