/* A small matcher for regular expressions, with a pattern that can be anything.
 *
 * Patterns: a character stands for itself, `.` for any, `[abc]` for one of a set; `*` after one of these repeats it.
 * The matcher has a bug: a pattern that ends inside a set is read beyond its end.
 *
 *   ./pleach test examples/regexp.c
 */
#include <klee/klee.h>

#define LENGTH 4

/* Where the item at `pattern` ends. */
static const char *item_end(const char *pattern) {
  if (*pattern == '[') {
    do
      pattern++;
    while (*pattern != ']'); /* the bug: the pattern may end first */
  }
  return pattern + 1;
}

/* Whether the item at `pattern` matches `c`. */
static int item_matches(const char *pattern, char c) {
  if (*pattern == '.')
    return 1;
  if (*pattern != '[')
    return *pattern == c;
  for (pattern++; *pattern != ']'; pattern++)
    if (*pattern == c)
      return 1;
  return 0;
}

static int matches(const char *pattern, const char *text) {
  if (*pattern == '\0')
    return *text == '\0';
  const char *next = item_end(pattern);
  if (*next == '*') {
    do {
      if (matches(next + 1, text))
        return 1;
    } while (*text != '\0' && item_matches(pattern, *text++));
    return 0;
  }
  return *text != '\0' && item_matches(pattern, *text) && matches(next, text + 1);
}

int main(void) {
  char pattern[LENGTH];
  klee_make_symbolic(pattern, sizeof pattern, "pattern");
  klee_assume(pattern[LENGTH - 1] == '\0');
  return matches(pattern, "ab");
}
