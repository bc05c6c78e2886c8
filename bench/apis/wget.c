// One function of wget that reads or changes a string, chosen by API, on a string of unknown size.
#include "url.c"
#include "html-parse.h"
#include "res.h"
#include "input.h"

struct options opt;
const char *exec_name = "wget", *program_name = "wget";
void logprintf(enum log_options o, const char *fmt, ...) { }
void logputs(enum log_options o, const char *s) { }
void debug_logprintf(const char *fmt, ...) { }
void xalloc_die(void) { exit(2); }
static void no_tag(struct taginfo *tag, void *arg) { }

enum { parse, escape, unescape, simplify, scheme, shorthand, directory, element, html_suffix, tail, separate, base64, merge, robots, html };

int main(void) {
  char *s = string("s", "n"), out[N + 8];
  switch (API) {
  case parse: {
    int error;
    return url_parse(s, &error, NULL, true) != NULL;
  }
  case escape: return url_escape(s) != s;
  case unescape: url_unescape(s); return 0;
  case simplify: return path_simplify(SCHEME_HTTP, s);
  case scheme: return url_has_scheme(s);
  case shorthand: return rewrite_shorthand_url(s) != NULL;
  case directory: {
    char *dir, *file;
    split_path(s, &dir, &file);
    return *dir == 0;
  }
  case element: {
    struct growable made = {0};
    append_uri_pathel(s, s + strlen(s), false, &made);
    return 0;
  }
  case html_suffix: return has_html_suffix_p(s);
  case tail: return match_tail(s, ".html", true);
  case separate: return sepstring(s) != NULL;
  case base64: return wget_base64_decode(s, out, sizeof out) < 0;
  case merge: return uri_merge("http://a/b/c", s) != NULL;
  case robots: return res_parse(s, strlen(s)) != NULL;
  case html: map_html_tags(s, strlen(s), no_tag, NULL, 0, NULL, NULL); return 0;
  }
}
