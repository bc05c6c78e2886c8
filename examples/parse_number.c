/* A function without a main: its parameters are the input.
 *
 *   ./pleach test --entry parse_digits --check signed-overflow examples/parse_number.c
 */
#include <assert.h>

/* The value of two decimal digits, or -1. */
int parse_digits(char tens, char ones) {
  if (tens < '0' || tens > '9')
    return -1;
  if (ones < '0' || ones > '9')
    return -1;
  int value = (tens - '0') * 10 + ones - '0';
  assert(value >= 0);
  assert(value <= 98); /* wrong for one input */
  return value;
}
