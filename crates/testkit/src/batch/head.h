/* In front of many programs in one file: what they call. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void native_domain(int count, const unsigned long *values);
__attribute__((noreturn)) void native_exit(int code);
__attribute__((noreturn)) void native_abort(int line);

#define DOMAIN(...) \
  native_domain(sizeof((unsigned long[]){__VA_ARGS__}) / 8, (const unsigned long[]){__VA_ARGS__});
#define exit(code) native_exit(code)
#define abort() native_abort(__LINE__)
