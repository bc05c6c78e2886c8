// A table of counted length: the sum of its rows.
#include <klee/klee.h>
#include <stdlib.h>

int main(void) {
  size_t rows;
  klee_make_symbolic(&rows, sizeof rows, "rows");
  klee_assume(rows <= N);
  unsigned char *table = calloc(rows, 2);
  klee_make_symbolic(table, rows * 2, "table");
  unsigned sum = 0;
  for (size_t i = 0; i < rows; i++)
    if (table[2 * i])
      sum += table[2 * i + 1];
  klee_assert(sum <= 255 * N);
  return 0;
}
