// Four paths; one of them aborts, another fails. Which ones, only the registers know.
#include <assert.h>
#include <klee/klee.h>
#include <stdlib.h>

int main(void) {
  int x = klee_int("x"), first, second;
  if (x & 1)
    first = 1;
  else
    first = 2;
  if (x & 2)
    second = 1;
  else
    second = 2;
  if (first == 2 && second == 2)
    abort();
  assert(first == 2 || second == 2);
  return 0;
}
