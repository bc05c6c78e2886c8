// Two ways out of the loop, and a use of the place that was found.
#include <klee/klee.h>
#include <stdlib.h>

int main(void) {
  size_t n;
  klee_make_symbolic(&n, sizeof n, "n");
  klee_assume(n <= N);
  char *s = malloc(n);
  klee_make_symbolic(s, n, "s");
  char *at = NULL;
  for (size_t i = 0; i < n; i++)
    if (s[i] == '=') {
      at = s + i;
      break;
    }
  if (at)
    klee_assert(*at == '=');
  return 0;
}
