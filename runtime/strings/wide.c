/* Functions of the C library that copy wide characters, and leave undefined what happens between ranges that overlap;
 * as in strings.c. */

typedef __SIZE_TYPE__ size_t;
typedef __WCHAR_TYPE__ wide;

void *memcpy(void *, const void *, size_t);

/* An error if `n` bytes at `to` and `m` bytes at `from` have one in common. */
void __pleach_disjoint(const char *to, size_t n, const char *from, size_t m, const char *who);

static size_t length_within(const wide *s, size_t most) {
  size_t n = 0;
  while (n < most && s[n]) n++;
  return n;
}

static size_t length(const wide *s) { return length_within(s, (size_t)-1); }

static void disjoint(const wide *to, size_t n, const wide *from, size_t m, const char *who) {
  __pleach_disjoint((const char *)to, n * sizeof *to, (const char *)from, m * sizeof *from, who);
}

static wide *copy(wide *to, const wide *from, const char *who) {
  size_t n = length(from);
  disjoint(to, n + 1, from, n + 1, who);
  memcpy(to, from, (n + 1) * sizeof *to);
  return to + n;
}

static wide *copy_within(wide *to, const wide *from, size_t most, const char *who) {
  size_t n = length_within(from, most), read = n < most ? n + 1 : most;
  if (read) disjoint(to, read, from, read, who);
  memcpy(to, from, n * sizeof *to);
  for (size_t i = n; i < most; i++) to[i] = 0;
  return to + n;
}

/* `n` characters; `read` of `from` are looked at for that. */
static wide *append(wide *to, const wide *from, size_t n, size_t read, const char *who) {
  size_t had = length(to);
  if (n) disjoint(to, had + n + 1, from, read, who);
  memcpy(to + had, from, n * sizeof *to);
  to[had + n] = 0;
  return to;
}

wide *wcscpy(wide *to, const wide *from) {
  copy(to, from, "wcscpy");
  return to;
}
wide *wcpcpy(wide *to, const wide *from) { return copy(to, from, "wcpcpy"); }
wide *wcsncpy(wide *to, const wide *from, size_t n) {
  copy_within(to, from, n, "wcsncpy");
  return to;
}
wide *wcpncpy(wide *to, const wide *from, size_t n) { return copy_within(to, from, n, "wcpncpy"); }
wide *wcscat(wide *to, const wide *from) {
  size_t n = length(from);
  return append(to, from, n, n + 1, "wcscat");
}
wide *wcsncat(wide *to, const wide *from, size_t most) {
  size_t n = length_within(from, most);
  return append(to, from, n, n < most ? n + 1 : most, "wcsncat");
}
wide *wmemcpy(wide *to, const wide *from, size_t n) {
  if (n) disjoint(to, n, from, n, "wmemcpy");
  return memcpy(to, from, n * sizeof *to);
}
wide *wmempcpy(wide *to, const wide *from, size_t n) {
  if (n) disjoint(to, n, from, n, "wmempcpy");
  return (wide *)memcpy(to, from, n * sizeof *to) + n;
}
