// One function of busybox's libbb that reads or changes a string, chosen by API, on a string of unknown size.
enum { CAPACITY = N };
#undef N
#include "libbb.h"
#define N CAPACITY
#include "input.h"

enum { path, trimmed, decode, lower, blanks, words, component, count, number, escapes, name_end, last_of, lines, mode, printable, pairs };

int main(void) {
  char *s = string("s", "n"), out[N + 1];
  switch (API) {
  case path: return bb_simplify_abs_path_inplace(s) == s;
  case trimmed: return *trim(s);
  case decode: return percent_decode_in_place(s, 1) != s;
  case lower: return *str_tolower(s);
  case blanks: return *skip_whitespace(s);
  case words: {
    int n = 0;
    for (char *p = skip_whitespace(s); *p; p = skip_whitespace(skip_non_whitespace(p))) n++;
    return n > 3;
  }
  case component: return bb_get_last_path_component_strip(s) == s;
  case count: return count_strstr(s, "ab");
  case number: return bb_strtou(s, NULL, 10) > 7;
  case escapes: strcpy_and_process_escape_sequences(out, s); return *out;
  case name_end: return *endofname(s);
  case last_of: return strrstr(s, "ab") != NULL;
  case lines: return *xmalloc_substitute_string(s, 0, "a", "bb");
  case mode: return bb_parse_mode(s, 0644);
  case printable: return *printable_string2(NULL, s);
  case pairs: return index_in_strings("add\0delete\0show\0", s);
  }
}
