// How long is the string? One exit, N rounds at most.
#include <klee/klee.h>
#include <stdlib.h>

int main(void) {
  size_t n;
  klee_make_symbolic(&n, sizeof n, "n");
  klee_assume(n >= 1);
  klee_assume(n <= N);
  char *s = malloc(n);
  klee_make_symbolic(s, n, "s");
  s[n - 1] = 0;
  size_t i = 0;
  while (s[i])
    i++;
  klee_assert(i < n);
  return i > 2;
}
