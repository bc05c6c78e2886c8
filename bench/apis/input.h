/* Inputs of unknown size for the drivers: a block of 1 to N bytes, or a string in one. */
#include <klee/klee.h>
#include <stdlib.h>

static unsigned char *block(size_t *n, const char *name, const char *size) {
  klee_make_symbolic(n, sizeof *n, size);
  klee_assume(*n >= 1);
  klee_assume(*n <= N);
  unsigned char *bytes = malloc(*n);
  if (!bytes) exit(0);
  klee_make_symbolic(bytes, *n, name);
  return bytes;
}

static char *string(const char *name, const char *size) {
  size_t n;
  char *s = (char *)block(&n, name, size);
#ifdef ASSUMED_END
  // Every byte stays a byte of the input.
  klee_assume(s[n - 1] == 0);
#else
  s[n - 1] = 0;
#endif
  return s;
}
