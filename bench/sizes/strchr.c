// A chain of CALLS calls of strchr over SIZE bytes, each from behind what the last one found (Memory, Fig. 1.8).
#include <assert.h>
#include <klee/klee.h>
#include <stddef.h>

static const char *find(const char *s, char c) {
  for (; *s != c; s++)
    if (!*s)
      return NULL;
  return s;
}

int main(void) {
  static char s[SIZE];
  klee_make_symbolic(s, sizeof s, "s");
  klee_assume(s[SIZE - 1] == 0);
  const char *at = s;
  for (int i = 0; i < CALLS; i++) {
    const char *found = find(at, '/');
    if (!found)
      return 1;
    assert(*found == '/' && found >= at);
    at = found + 1;
  }
  return 0;
}
