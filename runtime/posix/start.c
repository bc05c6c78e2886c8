/* What happens before main: options for symbolic arguments and files are taken out of the arguments and carried out.
 * Their names, and those of the inputs they make, are KLEE's (version 3.2). */
#include "files.h"

int main(int, char **, char **);

extern char *__progname, *__progname_full, **__environ;

enum { MAX_ARGS = 1024, MAX_SYMBOLIC = 100 };

static int args_made;

static void wrong(const char *why) { klee_report_error("options of the symbolic environment", 0, why, "user.err"); }

/* `--name` and `-name` */
static int is(const char *text, const char *name) {
  if (*text++ != '-') return 0;
  if (*text == '-') text++;
  while (*name && *text == *name) text++, name++;
  return *text == *name;
}

static int number(const char *text) {
  int n = 0;
  if (!text || !*text) wrong("a number is missing");
  for (; *text; text++) {
    if (*text < '0' || *text > '9' || n > 100000000) wrong("not a number");
    n = n * 10 + (*text - '0');
  }
  return n;
}

static char *symbolic_argument(int length) {
  char name[] = "argNN", *bytes = __pleach_own_memory((size_t)length + 1);
  if (args_made == MAX_SYMBOLIC) wrong("more than 100 symbolic arguments");
  name[3] = (char)('0' + args_made / 10);
  name[4] = (char)('0' + args_made % 10);
  args_made++;
  klee_make_symbolic(bytes, (size_t)length + 1, name);
  bytes[length] = 0;
  return bytes;
}

/* The options that end in `-like`: bytes are those of the text, symbolic where it has a `?`. A range of two characters
 * bounds the symbolic ones. The known ones are stored as well as assumed, so that nothing is computed from symbolic variables. */
static const char *range;

static void make_like(char *data, const char *text) {
  for (int i = 0; text[i]; i++) {
    if (text[i] != '?') {
      klee_assume(data[i] == text[i]);
      data[i] = text[i];
    } else if (range) {
      klee_assume((range[0] <= data[i]) & (data[i] <= range[1]));
    }
  }
}

static int length(const char *text) {
  int n = 0;
  while (text[n]) n++;
  if (!n) wrong("the text of a file is empty");
  return n;
}

/* Any attributes but those that nothing could have. What a test would rather have is an ordinary file. */
static void any_attributes(struct file *f, struct stat *have, const struct stat *ordinary) {
  klee_assume((have->ino & 0x7fffffff) != 0);
  klee_assume((have->blksize & ~0xffffl) == 0);
  klee_prefer_cex(have, (have->mode & ~(S_IFMT | 0777u)) == 0);
  klee_prefer_cex(have, have->dev == ordinary->dev);
  klee_prefer_cex(have, have->rdev == 0);
  klee_prefer_cex(have, (have->mode & 0777) == 0644);
  klee_prefer_cex(have, (have->mode & S_IFMT) == S_IFREG);
  klee_prefer_cex(have, have->nlink == 1);
  klee_prefer_cex(have, have->uid == ordinary->uid);
  klee_prefer_cex(have, have->gid == ordinary->gid);
  klee_prefer_cex(have, have->blksize == ordinary->blksize);
  klee_prefer_cex(have, have->atime == ordinary->atime);
  klee_prefer_cex(have, have->mtime == ordinary->mtime);
  klee_prefer_cex(have, have->ctime == ordinary->ctime);
  f->given = have;
  f->mode = have->mode;
  f->uid = have->uid, f->gid = have->gid;
  f->accessed.sec = have->atime, f->accessed.nsec = have->atime_ns;
  f->modified.sec = have->mtime, f->modified.nsec = have->mtime_ns;
}

/* A regular file of symbolic bytes. Its attributes are an input too, so that tests have the same parts as KLEE's, but with
 * one possible value, unless it is to be as with KLEE. With `up_to`, its size is any up to `size`, and so is that of the
 * block that holds its bytes, which is explored as `--symbolic-size` says; but no block is larger than 4096 bytes that way. */
static struct file *symbolic_file(const char *file_name, const char *name, const char *stat_name, int size, const char *like,
                                  int up_to) {
  struct stat *attributes = __pleach_own_memory(sizeof *attributes), is;
  long bytes = size;
  if (up_to) {
    klee_make_symbolic(attributes, sizeof *attributes, stat_name);
    bytes = attributes->size;
    klee_assume((0 <= bytes) & (bytes <= size));
  }
  long room = size <= 4096 ? bytes : size;
  char *data = __pleach_malloc((size_t)room);
  klee_make_symbolic(data, (size_t)room, name);
  if (like) make_like(data, like);
  struct file *f = pleach_new_file(FILE_, data, room, S_IFREG | 0644);
  if (!f || (*file_name && pleach_new_name(AT_FDCWD, file_name, f))) wrong("too many symbolic files");
  f->size = bytes;
  if (!up_to) klee_make_symbolic(attributes, sizeof *attributes, stat_name);
  pleach_attributes(f, &is);
  if (__pleach_any_attributes()) {
    any_attributes(f, attributes, &is);
    return f;
  }
  const unsigned long *have = (const unsigned long *)attributes, *want = (const unsigned long *)&is;
  for (unsigned i = 0; i < sizeof is / sizeof *want; i++) klee_assume(have[i] == want[i]);
  return f;
}

static unsigned *failing(const char *name) {
  unsigned *n = __pleach_malloc(sizeof *n);
  klee_make_symbolic(n, sizeof *n, name);
  return n;
}

/* The head of musl's stdio streams. */
struct stream {
  unsigned flags;
  char *rpos, *rend;
  int (*close)(struct stream *);
  char *wend, *wpos, *zero, *wbase;
  size_t (*read)(struct stream *, char *, size_t), (*write)(struct stream *, const char *, size_t);
  long (*seek)(struct stream *, long, int);
  char *buf;
  size_t buf_size;
};
enum { F_SVB = 64 };

/* As setvbuf(stdout, 0, _IONBF, 0): output is seen when it is written, also on a path that does not end well. */
static void do_not_buffer(struct stream *f) {
  if (!f) return;
  f->buf_size = 0;
  f->flags |= F_SVB;
}

int __pleach_start(int argc, char **argv, char **envp) {
  static char *out[MAX_ARGS + 1];
  int n = 0, files = 0, file_size = 0, stdin_size = 0, symbolic_stdout = 0, files_up_to = 0, stdin_up_to = 0;
  const char *files_like = 0, *stdin_like = 0;
  for (int i = 0; i < argc; i++) {
    const char *a = argv[i];
    int left = argc - i - 1;
    if (i && is(a, "sym-arg")) {
      if (left < 1) wrong("--sym-arg takes a length");
      if (n == MAX_ARGS) wrong("too many arguments");
      out[n++] = symbolic_argument(number(argv[++i]));
    } else if (i && is(a, "sym-args")) {
      if (left < 3) wrong("--sym-args takes a smallest number, a largest number and a length");
      int least = number(argv[i + 1]), most = number(argv[i + 2]), length = number(argv[i + 3]);
      i += 3;
      if (least > most || !most) wrong("--sym-args is given an empty range");
      int count = least == most ? least : klee_range(least, most + 1, "n_args");
      for (int k = 0; k < count; k++) {
        if (n == MAX_ARGS) wrong("too many arguments");
        out[n++] = symbolic_argument(length);
      }
    } else if (i && (is(a, "sym-files") || is(a, "sym-files-up-to"))) {
      if (left < 2) wrong("--sym-files takes a number of files and their size");
      files_up_to = is(a, "sym-files-up-to");
      if (files) wrong("--sym-files is given twice");
      files = number(argv[i + 1]), file_size = number(argv[i + 2]);
      i += 2;
      if (!files) wrong("--sym-files is given no files");
      if (!file_size) wrong("--sym-files is given files of no bytes");
      if (files > 26) wrong("more than 26 symbolic files");
    } else if (i && is(a, "sym-files-like")) {
      if (left < 2) wrong("--sym-files-like takes a number of files and their text");
      if (files) wrong("--sym-files is given twice");
      files = number(argv[i + 1]), files_like = argv[i + 2], file_size = length(files_like);
      i += 2;
      if (!files) wrong("--sym-files-like is given 0");
      if (files > 26) wrong("more than 26 symbolic files");
    } else if (i && (is(a, "sym-stdin") || is(a, "sym-stdin-up-to"))) {
      if (left < 1) wrong("--sym-stdin takes a size");
      stdin_size = number(argv[++i]), stdin_like = 0;
      stdin_up_to = is(a, "sym-stdin-up-to");
    } else if (i && is(a, "sym-stdin-like")) {
      if (left < 1) wrong("--sym-stdin-like takes a text");
      stdin_like = argv[++i], stdin_size = length(stdin_like), stdin_up_to = 0;
    } else if (i && is(a, "sym-like-range")) {
      if (left < 1 || length(argv[i + 1]) != 2) wrong("--sym-like-range takes two characters");
      range = argv[++i];
    } else if (i && is(a, "sym-stdout")) {
      symbolic_stdout = 1;
    } else if (i && is(a, "save-all-writes")) {
      /* always so */
    } else if (i && is(a, "fd-fail")) {
      pleach_failures = 1;
    } else if (i && is(a, "max-fail")) {
      if (left < 1) wrong("--max-fail takes a number");
      pleach_failures = number(argv[++i]);
    } else {
      if (n == MAX_ARGS) wrong("too many arguments");
      out[n++] = argv[i];
    }
  }
  for (int i = 0; i < files; i++) {
    char file[] = "A", data[] = "A_data", attributes[] = "A_data_stat";
    file[0] = data[0] = attributes[0] = (char)('A' + i);
    symbolic_file(file, data, attributes, file_size, files_like, files_up_to);
  }
  if (stdin_size) pleach_set_standard(0, symbolic_file("", "stdin", "stdin_stat", stdin_size, stdin_like, stdin_up_to), 0);
  if (pleach_failures) {
    pleach_read_fail = failing("read_fail");
    pleach_write_fail = failing("write_fail");
    pleach_close_fail = failing("close_fail");
    pleach_ftruncate_fail = failing("ftruncate_fail");
    pleach_getcwd_fail = failing("getcwd_fail");
  }
  if (symbolic_stdout) pleach_set_standard(1, symbolic_file("", "stdout", "stdout_stat", 1024, 0, 0), O_WRONLY);
  do_not_buffer(__pleach_echoed());
  __environ = envp;
  __progname = __progname_full = out[0];
  for (char *p = out[0]; *p; p++)
    if (*p == '/') __progname = p + 1;
  return main(n, out, envp);
}
