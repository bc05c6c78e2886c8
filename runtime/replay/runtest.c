/* KLEE's way of replaying: a program linked with this library takes its inputs from the test named by KTEST_FILE.
 *
 *   cc -shared -fPIC -I runtime/include -o libkleeRuntest.so runtime/replay/runtest.c
 *   cc prog.c -L . -l kleeRuntest && KTEST_FILE=klee-last/test000001.ktest ./a.out
 *
 * A test that does not fit ends the program with status 1, unless KLEE_RUN_TEST_ERRORS_NON_FATAL is set. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "klee/klee.h"

struct object {
  char *name;
  uint32_t size;
  unsigned char *bytes;
};

static struct object *objects;
static uint32_t count, next;

static __attribute__((noreturn)) void unusable(const char *why) {
  fprintf(stderr, "KLEE-RUNTIME: %s\n", why);
  exit(1);
}

static __attribute__((format(printf, 1, 2))) void misfit(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("KLEE_RUN_TEST_ERROR: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  if (!getenv("KLEE_RUN_TEST_ERRORS_NON_FATAL")) exit(1);
  fputs("KLEE_RUN_TEST_ERROR: Forcing execution to continue\n", stderr);
}

static uint32_t number(FILE *f) {
  unsigned char b[4];
  if (fread(b, 1, 4, f) != 4) unusable("the test is truncated");
  return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static unsigned char *bytes(FILE *f, uint32_t n) {
  unsigned char *to = n < 1u << 30 ? calloc((size_t)n + 1, 1) : 0;
  if (!to || (n && fread(to, 1, n, f) != n)) unusable("the test is truncated");
  return to;
}

static void load(void) {
  char typed[4096];
  const char *path = getenv("KTEST_FILE");
  if (!path) {
    fputs("KLEE-RUNTIME: KTEST_FILE not set, please enter .ktest path: ", stdout);
    fflush(stdout);
    if (!fgets(typed, sizeof typed, stdin)) unusable("cannot replay, no KTEST_FILE or user input");
    typed[strcspn(typed, "\n")] = 0;
    path = typed;
  }
  FILE *f = fopen(path, "rb");
  char magic[5];
  if (!f) unusable("unable to open .ktest file");
  if (fread(magic, 1, 5, f) != 5 || (memcmp(magic, "KTEST", 5) && memcmp(magic, "BOUT\n", 5))) unusable("not a .ktest file");
  uint32_t version = number(f);
  for (uint32_t n = number(f); n; n--) free(bytes(f, number(f)));
  if (version >= 2) number(f), number(f);
  uint32_t all = number(f);
  objects = all < 1u << 24 ? calloc((size_t)all + 1, sizeof *objects) : 0;
  if (!objects) unusable("the test is truncated");
  for (; count < all; count++) {
    objects[count].name = (char *)bytes(f, number(f));
    objects[count].size = number(f);
    objects[count].bytes = bytes(f, objects[count].size);
  }
  fclose(f);
}

/* `x` fits `x`, and `x_1`, `x_2`, … which are its later uses. */
static int fits(const char *have, const char *want) {
  size_t n = strlen(want);
  if (strncmp(have, want, n)) return 0;
  have += n;
  return !*have || (*have == '_' && have[1] && !have[1 + strspn(have + 1, "0123456789")]);
}

void klee_make_symbolic(void *to, size_t size, const char *name) {
  if (!objects) load();
  if (!name || !*name) name = "unnamed";
  memset(to, 0, size);
  if (next == count) {
    misfit("out of inputs. Will use zero if continuing.");
    return;
  }
  struct object *o = &objects[next++];
  if (!fits(o->name, name)) misfit("object name mismatch. Requesting \"%s\" but returning \"%s\"", name, o->name);
  if (o->size != size) misfit("object sizes differ. Expected %zu but got %u", size, o->size);
  memcpy(to, o->bytes, o->size < size ? o->size : size);
}

int klee_int(const char *name) {
  int x;
  klee_make_symbolic(&x, sizeof x, name);
  return x;
}

int klee_range(int begin, int end, const char *name) {
  int x = klee_int(name);
  if (x < begin || x >= end) misfit("invalid klee_range(%d,%d,%s) value, got: %d", begin, end, name, x);
  return x;
}

uintptr_t klee_choose(uintptr_t n) {
  uintptr_t x;
  klee_make_symbolic(&x, sizeof x, "klee_choose");
  if (x >= n) misfit("klee_choose failure. max = %ld, got = %ld", (long)n, (long)x);
  return x;
}

void klee_assume(uintptr_t condition) {
  if (!condition) misfit("invalid klee_assume");
}

void klee_silent_exit(int status) { exit(status); }
void klee_abort(void) { abort(); }
void klee_report_error(const char *file, int line, const char *message, const char *suffix) {
  fprintf(stderr, "%s:%d: %s (%s)\n", file, line, message, suffix ? suffix : "");
  exit(1);
}
unsigned klee_is_replay(void) { return 1; }
unsigned klee_is_symbolic(uintptr_t n) { return (void)n, 0; }
int klee_get_errno(void) { return errno; }
float klee_get_valuef(float x) { return x; }
double klee_get_valued(double x) { return x; }
long klee_get_valuel(long x) { return x; }
long long klee_get_valuell(long long x) { return x; }
int32_t klee_get_value_i32(int32_t x) { return x; }
int64_t klee_get_value_i64(int64_t x) { return x; }
void klee_prefer_cex(void *object, uintptr_t condition) { (void)object, (void)condition; }
void klee_posix_prefer_cex(void *object, uintptr_t condition) { (void)object, (void)condition; }
void klee_print_expr(const char *message, ...) { (void)message; }
void klee_print_range(const char *name, int x) { (void)name, (void)x; }
void klee_warning(const char *message) { fprintf(stderr, "KLEE: WARNING: %s\n", message); }
void klee_warning_once(const char *message) { klee_warning(message); }
void klee_stack_trace(void) {}
void klee_set_forking(unsigned enable) { (void)enable; }
void klee_open_merge(void) {}
void klee_close_merge(void) {}
void klee_mark_global(void *object) { (void)object; }
