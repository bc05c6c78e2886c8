/* `vsnprintf`, and with it `sprintf` and its like, over musl's `vfprintf`. What an argument gives is compared with what was
 * written so far: a string that is copied into itself is undefined. As in the GNU library its end is written last. */

typedef __SIZE_TYPE__ size_t;
typedef __builtin_va_list list;
enum { EOVERFLOW = 75, LARGEST = 0x7fffffff };

void *memcpy(void *, const void *, size_t);
int *__errno_location(void);
void __pleach_disjoint(const char *to, size_t n, const char *from, size_t m, const char *who);

/* A stream of musl 1.2.3. */
struct stream {
  unsigned flags;
  char *rpos, *rend;
  int (*close)(struct stream *);
  char *wend, *wpos, *zero, *wbase;
  size_t (*read)(struct stream *, char *, size_t), (*write)(struct stream *, const char *, size_t);
  long long (*seek)(struct stream *, long long, int);
  char *buf;
  size_t buf_size;
  struct stream *prev, *next;
  int fd, pipe_pid;
  long lockcount;
  int mode, lock, lbf;
  void *cookie;
  long long off;
  char *getln_buf;
  void *zero_too;
  char *shend;
  long long shlim, shcnt;
  struct stream *prev_locked, *next_locked;
  void *locale;
};
int vfprintf(struct stream *, const char *, list);

struct target {
  char *start, *at;
  size_t left;
};

static void put(struct target *t, const char *from, size_t n) {
  if (n > t->left) n = t->left;
  if (!n) return;
  __pleach_disjoint(t->start, (size_t)(t->at - t->start) + n, from, n, "sprintf");
  memcpy(t->at, from, n);
  t->at += n;
  t->left -= n;
}

static size_t take(struct stream *f, const char *from, size_t n) {
  put(f->cookie, from, n);
  return n;
}

int vsnprintf(char *to, size_t room, const char *format, list arguments) {
  char none, buffer[1];
  struct target t = {room ? to : &none, room ? to : &none, room ? room - 1 : 0};
  /* A buffer that is full: each piece is given to `take` from where it is. */
  struct stream f = {.lbf = -1, .write = take, .lock = -1, .cookie = &t};
  f.buf = f.wbase = f.wpos = f.wend = buffer;
  f.buf_size = sizeof buffer;
  if (room > LARGEST) {
    *__errno_location() = EOVERFLOW;
    return -1;
  }
  int n = vfprintf(&f, format, arguments);
  *t.at = 0;
  return n;
}
