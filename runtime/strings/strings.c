/* Functions of the C library that copy strings, and leave undefined what happens between ranges that overlap. The string is
 * looked at first, so that its length is known; then the ranges are compared, as AddressSanitizer does; then it is copied. */

typedef __SIZE_TYPE__ size_t;

void *memcpy(void *, const void *, size_t);
void *memset(void *, int, size_t);
void abort(void) __attribute__((noreturn));

/* An error if `n` bytes at `to` and `m` bytes at `from` have one in common. */
void __pleach_disjoint(const char *to, size_t n, const char *from, size_t m, const char *who);

static size_t length(const char *s) {
  size_t n = 0;
  while (s[n]) n++;
  return n;
}

static size_t length_within(const char *s, size_t most) {
  size_t n = 0;
  while (n < most && s[n]) n++;
  return n;
}

static char *copy(char *to, const char *from, size_t room, const char *who) {
  size_t n = length(from);
  if (n >= room) abort();
  __pleach_disjoint(to, n + 1, from, n + 1, who);
  memcpy(to, from, n + 1);
  return to + n;
}

static char *append(char *to, const char *from, size_t room, const char *who) {
  size_t had = length(to), n = length(from);
  if (had + n >= room) abort();
  if (n) __pleach_disjoint(to, had + n + 1, from, n + 1, who);
  memcpy(to + had, from, n);
  to[had + n] = 0;
  return to;
}

static char *copy_within(char *to, const char *from, size_t most, const char *who) {
  size_t n = length_within(from, most), read = n < most ? n + 1 : most;
  if (read) __pleach_disjoint(to, read, from, read, who);
  memcpy(to, from, n);
  memset(to + n, 0, most - n);
  return to + n;
}

enum { ANY = -1 };

char *strcpy(char *to, const char *from) {
  copy(to, from, (size_t)ANY, "strcpy");
  return to;
}
char *stpcpy(char *to, const char *from) { return copy(to, from, (size_t)ANY, "stpcpy"); }
char *strcat(char *to, const char *from) { return append(to, from, (size_t)ANY, "strcat"); }
char *strncpy(char *to, const char *from, size_t n) {
  copy_within(to, from, n, "strncpy");
  return to;
}
char *stpncpy(char *to, const char *from, size_t n) { return copy_within(to, from, n, "stpncpy"); }

char *strncat(char *to, const char *from, size_t most) {
  size_t n = length_within(from, most), read = n < most ? n + 1 : most, had = length(to);
  if (n) __pleach_disjoint(to, had + n + 1, from, read, "strncat");
  memcpy(to + had, from, n);
  to[had + n] = 0;
  return to;
}

/* BSD's: as much as there is room for, and always the end; the result is what it would have been. */
size_t strlcpy(char *to, const char *from, size_t room) {
  size_t n = length(from), taken = n < room ? n : room - 1;
  if (!room) return n;
  __pleach_disjoint(to, taken + 1, from, n + 1, "strlcpy");
  memcpy(to, from, taken);
  to[taken] = 0;
  return n;
}
size_t strlcat(char *to, const char *from, size_t room) {
  size_t had = length_within(to, room), n = length(from), taken = n < room - had ? n : room - had - 1;
  if (had == room) return room + n;
  if (n) __pleach_disjoint(to, had + taken + 1, from, n + 1, "strlcat");
  memcpy(to + had, from, taken);
  to[had + taken] = 0;
  return had + n;
}

/* Up to the first `stop`, or `most` bytes. */
void *memccpy(void *to, const void *from, int stop, size_t most) {
  const unsigned char *source = from;
  size_t n = 0;
  while (n < most && source[n] != (unsigned char)stop) n++;
  size_t taken = n < most ? n + 1 : most;
  if (taken) __pleach_disjoint(to, taken, from, taken, "memccpy");
  memcpy(to, from, taken);
  return n < most ? (char *)to + taken : 0;
}

/* Under _FORTIFY_SOURCE: `room` is what the compiler knows of the target's size. */
char *__strcpy_chk(char *to, const char *from, size_t room) {
  copy(to, from, room, "strcpy");
  return to;
}
char *__stpcpy_chk(char *to, const char *from, size_t room) { return copy(to, from, room, "stpcpy"); }
char *__strcat_chk(char *to, const char *from, size_t room) { return append(to, from, room, "strcat"); }
