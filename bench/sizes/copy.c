// Copies a string without its blanks into another block, and looks at the copy.
#include <klee/klee.h>
#include <stdlib.h>

int main(void) {
  size_t n;
  klee_make_symbolic(&n, sizeof n, "n");
  klee_assume(n <= N);
  char *s = malloc(n + 1), *d = malloc(n + 1);
  klee_make_symbolic(s, n + 1, "s");
  size_t kept = 0;
  for (size_t i = 0; i < n; i++)
    if (s[i] != ' ')
      d[kept++] = s[i];
  d[kept] = 0;
  klee_assert(kept <= n);
  for (size_t i = 0; i < kept; i++)
    klee_assert(d[i] != ' ');
  return 0;
}
