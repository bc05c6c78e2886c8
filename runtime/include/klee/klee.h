/* Intrinsics of symbolic execution, with the names and prototypes KLEE gives them, so that programs
 * written for KLEE compile unchanged. Under `pleach test` the engine implements them; under
 * `pleach replay` the replay library does. */
#ifndef KLEE_H
#define KLEE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#define PLEACH_NORETURN [[noreturn]]
#else
#define PLEACH_NORETURN __attribute__((noreturn))
#endif

/* ---- inputs ---- */

/* The object at `addr`, all `nbytes` of it, becomes an input called `name` (NULL: "unnamed"). */
void klee_make_symbolic(void *addr, size_t nbytes, const char *name);
/* A new input in [begin, end). */
int klee_range(int begin, int end, const char *name);
/* A new input of type int. */
int klee_int(const char *name);
/* A new input in [0, n). */
uintptr_t klee_choose(uintptr_t n);

/* ---- constraints and ends ---- */

/* Only paths on which `condition` holds are continued. */
void klee_assume(uintptr_t condition);
/* A wish for the values of a test; has no influence on which paths exist. */
void klee_prefer_cex(void *object, uintptr_t condition);
void klee_posix_prefer_cex(void *object, uintptr_t condition);
/* Ends the path without a test. */
PLEACH_NORETURN void klee_silent_exit(int status);
/* Ends the path with an `abort` error. */
PLEACH_NORETURN void klee_abort(void);
/* Ends the path with a `user` error at file:line. */
PLEACH_NORETURN void klee_report_error(const char *file, int line, const char *message, const char *suffix);

/* ---- queries to the engine ---- */

/* Size of the object that `ptr` is the start of. */
size_t klee_get_obj_size(void *ptr);
/* Whether `n` depends on an input. */
unsigned klee_is_symbolic(uintptr_t n);
/* 1 in a replay, 0 under the engine. */
unsigned klee_is_replay(void);
/* A value that the argument can have on this path; the path goes on with that value. */
float klee_get_valuef(float expr);
double klee_get_valued(double expr);
long klee_get_valuel(long expr);
long long klee_get_valuell(long long expr);
int32_t klee_get_value_i32(int32_t expr);
int64_t klee_get_value_i64(int64_t expr);
/* An error unless all of [address, address + size) is accessible. */
void klee_check_memory_access(const void *address, size_t size);
/* The path's value of errno. */
int klee_get_errno(void);

/* ---- messages ---- */

void klee_print_expr(const char *msg, ...);
void klee_print_range(const char *name, int arg);
void klee_warning(const char *message);
void klee_warning_once(const char *message);
void klee_stack_trace(void);

/* ---- control of the exploration ---- */

void klee_set_forking(unsigned enable);
void klee_open_merge(void);
void klee_close_merge(void);
/* The object is shared by all paths of a process model. */
void klee_mark_global(void *object);
/* Makes [addr, addr + nbytes) an object of the program. */
void klee_define_fixed_object(void *addr, size_t nbytes);
/* Calls of `fn_name` go to `new_fn_name` from now on. */
void klee_alias_function(const char *fn_name, const char *new_fn_name);

#ifdef __GLIBC__
#define PLEACH_ASSERT_LINE unsigned int
#else
#define PLEACH_ASSERT_LINE int
#endif

/* Like assert, also with NDEBUG. */
#define klee_assert(expr) \
  ((expr) ? (void)0 : pleach_assert_failed(#expr, __FILE__, __LINE__, __extension__ __PRETTY_FUNCTION__))

/* The C library's own entry point for failed assertions, under a name that does not collide with <assert.h>. */
PLEACH_NORETURN void pleach_assert_failed(const char *assertion, const char *file, PLEACH_ASSERT_LINE line,
                                          const char *function) __asm__("__assert_fail");

#undef PLEACH_ASSERT_LINE
#undef PLEACH_NORETURN

#ifdef __cplusplus
}
#endif

#endif
