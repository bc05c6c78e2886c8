// One function of apr that reads or changes a string, chosen by API, on a string of unknown size.
#include "apr_cstr.h"
#include "apr_file_io.h"
#include "apr_fnmatch.h"
#include "apr_general.h"
#include "apr_lib.h"
#include "apr_strings.h"
#include "input.h"

enum { collapse, copy, arguments, name, newlines, natural, match, is_pattern, token, tokenize, split, number, prefix, root, merge, concat };

int main(void) {
  char *s = string("s", "n"), out[N + 1], *last;
  apr_pool_t *pool = NULL;
  switch (API) {
  case collapse: return apr_collapse_spaces(out, s) == out;
  case copy: return apr_cpystrn(out, s, sizeof out) == out;
  case name: return apr_filepath_name_get(s) == s;
  case newlines: return apr_cstr_count_newlines(s);
  case natural: return apr_strnatcmp(s, "a10b") < 0;
  case match: return apr_fnmatch("*.[ch]", s, 0);
  case is_pattern: return apr_fnmatch_test(s);
  case token: {
    int n = 0;
    for (char *t = apr_strtok(s, " ,", &last); t; t = apr_strtok(NULL, " ,", &last)) n++;
    return n > 3;
  }
  case tokenize: {
    int n = 0;
    for (char *t = apr_cstr_tokenize(":", &s); t; t = apr_cstr_tokenize(":", &s)) n++;
    return n > 3;
  }
  case number: return apr_strtoi64(s, &last, 10) < 0;
  case prefix: return apr_cstr_skip_prefix(s, "http://") != NULL;
  }
  apr_pool_initialize();
  apr_pool_create(&pool, NULL);
  switch (API) {
  case arguments: {
    char **made;
    return apr_tokenize_to_argv(s, &made, pool);
  }
  case split: return apr_cstr_split(s, ",", 1, pool)->nelts;
  case root: {
    const char *found, *path = s;
    return apr_filepath_root(&found, &path, 0, pool);
  }
  case merge: {
    char *made;
    return apr_filepath_merge(&made, "/a/b", s, 0, pool);
  }
  case concat: return *apr_pstrcat(pool, "a", s, "b", NULL);
  }
}
