/* Calls each of many programs on every input, in one process as long as no memory error ends it.
 * Argument: a file for standard error. Writes to standard output, per program and input: the seed, the bytes of the
 * input in hexadecimal, and `exit CODE`, `error KIND LINE`, `excluded`, or `log` followed by what AddressSanitizer wrote
 * and a line `end`.
 *
 * The handlers of UndefinedBehaviorSanitizer are here, and the linker puts them in the place of the library's: they end
 * the run of one input, not the process. */
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

struct program {
  unsigned long seed;
  int (*main)(void);
};
extern const struct program programs[];
extern const int program_count;

enum { READS = 16, BYTES = 256 };

/* Where the enumeration stands; shared with the child that executes. */
struct state {
  int program;
  int choice[READS], choices[READS], reads;
  unsigned char bytes[BYTES];
  int used;
};
static struct state *at;
static sigjmp_buf finished;
static char outcome[64];
static int domain_count;
static unsigned long domain_values[32];

static void end(void) { siglongjmp(finished, 1); }

static void fail(const char *kind, unsigned line) {
  snprintf(outcome, sizeof outcome, "error %s %u", kind, line);
  end();
}

/* ---- inputs ---- */

void native_domain(int count, const unsigned long *values) {
  if (count > 32) _exit(3);
  domain_count = count;
  memcpy(domain_values, values, count * sizeof *values);
}

static int choose(int count) {
  if (at->reads >= READS) _exit(3);
  at->choices[at->reads] = count;
  return at->choice[at->reads++];
}

static void take(const void *value, size_t size) {
  if (at->used + size > BYTES) _exit(3);
  memcpy(at->bytes + at->used, value, size);
  at->used += size;
}

void klee_make_symbolic(void *address, size_t size, const char *name) {
  unsigned long value = domain_values[choose(domain_count)];
  memcpy(address, &value, size);
  take(&value, size);
}

int klee_int(const char *name) {
  int value;
  klee_make_symbolic(&value, sizeof value, name);
  return value;
}

int klee_range(int begin, int past, const char *name) {
  int value = begin + choose(past - begin);
  take(&value, sizeof value);
  return value;
}

uintptr_t klee_choose(uintptr_t count) {
  uintptr_t value = choose(count);
  take(&value, sizeof value);
  return value;
}

/* ---- ends ---- */

void klee_assume(uintptr_t condition) {
  if (condition) return;
  strcpy(outcome, "excluded");
  end();
}

void native_exit(int code) {
  snprintf(outcome, sizeof outcome, "exit %d", code & 255);
  end();
}

void native_abort(int line) { fail("abort", line); }

void __assert_fail(const char *text, const char *file, unsigned line, const char *function) { fail("assert", line); }

/* The smallest number divided by -1, where that is not checked. The line is found by the address. */
static void trapped(int signal, siginfo_t *info, void *context) {
  snprintf(outcome, sizeof outcome, "trap %p", info->si_addr);
  end();
}

/* ---- undefined behaviour ---- */

struct place {
  const char *file;
  uint32_t line, column;
};
struct type {
  uint16_t kind, info;
  char name[];
};

static int is_signed(const struct type *t) { return t->info & 1; }
static int width(const struct type *t) { return 1 << (t->info >> 1); }

/* What a handler is given: the number, or where it is if it is wider. */
static __int128 number(const struct type *t, uintptr_t value) {
  if (width(t) > 64) return *(__int128 *)value;
  if (!is_signed(t)) return value;
  int unused = 64 - width(t);
  return (int64_t)(value << unused) >> unused;
}

struct with_types {
  struct place place;
  const struct type *left, *right;
};

#define HANDLER(name, kind) \
  void __wrap___ubsan_handle_##name##_abort(struct place *p) { fail(kind, p->line); }

HANDLER(add_overflow, "signed-overflow")
HANDLER(sub_overflow, "signed-overflow")
HANDLER(mul_overflow, "signed-overflow")
HANDLER(negate_overflow, "signed-overflow")
HANDLER(load_invalid_value, "invalid-value")
HANDLER(float_cast_overflow, "float-cast")
HANDLER(invalid_builtin, "invalid-builtin")
HANDLER(builtin_unreachable, "unreachable")
HANDLER(missing_return, "unreachable")

void __wrap___ubsan_handle_divrem_overflow_abort(struct with_types *d, uintptr_t left, uintptr_t right) {
  fail(number(d->left, right) == 0 ? "div-zero" : "signed-overflow", d->place.line);
}

void __wrap___ubsan_handle_shift_out_of_bounds_abort(struct with_types *d, uintptr_t left, uintptr_t right) {
  __int128 count = number(d->right, right);
  /* Of a compound assignment this is the type before its promotion. */
  int bits = width(d->left) < 32 ? 32 : width(d->left);
  fail(count < 0 || count >= bits ? "overshift" : "signed-overflow", d->place.line);
}

void __wrap___ubsan_handle_type_mismatch_v1_abort(struct place *p, uintptr_t pointer) {
  fail(pointer ? "misaligned" : "null", p->line);
}

/* ---- the enumeration ---- */

static void print_input(void) {
  printf("%lu ", programs[at->program].seed);
  if (!at->used) printf("-");
  for (int i = 0; i < at->used; i++) printf("%02x", at->bytes[i]);
}

/* To the next input, or to the next program. */
static void advance(void) {
  int i = at->reads - 1;
  for (; i >= 0; i--) {
    if (++at->choice[i] < at->choices[i]) break;
    at->choice[i] = 0;
  }
  if (i < 0) at->program++;
}

static void child(const char *log) {
  if (!freopen(log, "w", stderr)) _exit(3);
  dup2(fileno(stderr), 2);
  struct sigaction action = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO | SA_NODEFER};
  sigaction(SIGFPE, &action, 0);
  alarm(120);
  while (at->program < program_count) {
    at->reads = at->used = 0;
    outcome[0] = 0;
    if (!sigsetjmp(finished, 0)) native_exit(programs[at->program].main());
    print_input();
    printf(" %s\n", outcome);
    fflush(stdout);
    advance();
  }
  _exit(0);
}

static void copy(const char *log) {
  char buffer[4096];
  FILE *f = fopen(log, "r");
  for (size_t n; f && (n = fread(buffer, 1, sizeof buffer, f)) > 0;) fwrite(buffer, 1, n, stdout);
  if (f) fclose(f);
}

int main(int argc, char **argv) {
  at = mmap(0, sizeof *at, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (argc != 2 || at == MAP_FAILED) return 1;
  while (at->program < program_count) {
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) child(argv[1]);
    int status = 0;
    if (pid < 0 || waitpid(pid, &status, 0) < 0) return 1;
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (code == 0) break;
    if (code == 3) return 1;
    print_input();
    printf(" log\n");
    if (code < 0) printf("signal %d\n", WTERMSIG(status));
    copy(argv[1]);
    printf("\nend\n");
    fflush(stdout);
    advance();
  }
  return 0;
}
