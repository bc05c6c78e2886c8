// How long is the string in a buffer of N bytes, and where does its first blank stand?
#include <klee/klee.h>

int main(void) {
  static char s[N];
  klee_make_symbolic(s, N, "s");
  klee_assume(s[N - 1] == 0);
  unsigned length = 0, blank = 0;
  while (s[length])
    length++;
  while (s[blank] && s[blank] != ' ')
    blank++;
  klee_assert(length < N && blank < N);
  return length > 2;
}
