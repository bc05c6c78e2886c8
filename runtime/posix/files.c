/* Files and file descriptors. All of it is memory of the program under analysis: it forks with the path. */
#include "files.h"

static struct file files[MAX_FILES] = {
    [0] = {.kind = EMPTY, .mode = S_IFCHR | 0666},
    [1] = {.kind = SINK, .mode = S_IFCHR | 0666},
    [2] = {.kind = DIRECTORY, .mode = S_IFDIR | 0755, .links = 1},
    [3] = {.kind = SINK, .mode = S_IFCHR | 0666, .links = 1},
    [4] = {.kind = ZEROS, .mode = S_IFCHR | 0666, .links = 1},
    [5] = {.kind = DIRECTORY, .mode = S_IFDIR | 0755, .links = 1},
    [6] = {.kind = DIRECTORY, .mode = S_IFDIR | 01777, .links = 1},
};
static int file_count = 7;

/* The directory, devices, the root, which is the directory for who looks into it, and the one for temporary files. */
struct name pleach_names[MAX_NAMES] = {
    {".", &files[2]}, {"/dev/null", &files[3]}, {"/dev/zero", &files[4]}, {"/", &files[5]}, {"/tmp", &files[6]}};
struct name *pleach_directory = &pleach_names[0];

static struct description standard[3] = {
    {.users = 1, .flags = 0, .file = &files[0]},
    {.users = 1, .flags = O_WRONLY, .file = &files[1]},
    {.users = 1, .flags = O_WRONLY, .file = &files[1]},
};
static struct description others[MAX_OPEN];
static struct description *open_files[MAX_OPEN] = {&standard[0], &standard[1], &standard[2]};
static char close_on_exec[MAX_OPEN];

int pleach_failures;
unsigned *pleach_read_fail, *pleach_write_fail, *pleach_close_fail, *pleach_ftruncate_fail, *pleach_getcwd_fail;

/* The path depends on the system from here on: a number of the system's is zero where it is as the model says. */
static void depend_on_system(int *said) {
  if (!*said) klee_assume(__pleach_unknown() == 0);
  *said = 1;
}

void pleach_assume_once(int *said, const char *what) {
  if (*said) return;
  depend_on_system(said);
  __pleach_assume(what);
}

void pleach_assume_of(const char *before, const char *name, const char *after) {
  static int said;
  depend_on_system(&said);
  __pleach_assume_of(before, name, after);
}

/* The streams that the program is started with. */
static void no_files(struct file *f) {
  static int said;
  if (f == &files[0] || f == &files[1])
    pleach_assume_once(&said, "standard input, output and error are devices without contents");
}

struct file *pleach_new_file(enum kind kind, char *data, long size, unsigned mode) {
  int i = 0;
  while (i < file_count && files[i].kind != UNUSED) i++;
  if (i == MAX_FILES) return 0;
  if (i == file_count) file_count++;
  struct file *f = &files[i];
  memset(f, 0, sizeof *f);
  f->kind = kind;
  f->data = data;
  f->size = f->room = size;
  f->mode = mode;
  f->uid = f->gid = 1000;
  f->accessed.sec = f->modified.sec = 946684800;
  return f;
}

void pleach_attributes(struct file *f, struct stat *out) {
  if (f->given) {
    *out = *f->given;
  } else {
    memset(out, 0, sizeof *out);
    out->dev = 1;
    out->ino = (unsigned long)(f - files) + 1;
    out->nlink = (unsigned long)(f->links ? f->links : 1) + (f->kind == DIRECTORY);
    out->blksize = 4096;
  }
  out->mode = f->mode;
  out->uid = f->uid;
  out->gid = f->gid;
  out->size = f->kind == FILE_ || f->kind == LINK ? f->size : f->kind == DIRECTORY ? 4096 : 0;
  out->blocks = 8;
  out->atime = f->accessed.sec, out->atime_ns = f->accessed.nsec;
  out->mtime = out->ctime = f->modified.sec, out->mtime_ns = out->ctime_ns = f->modified.nsec;
}

void pleach_set_standard(int fd, struct file *f, int flags) {
  standard[fd].file = f;
  standard[fd].flags = flags;
}

/* Of descriptors only an int counts: programs that make system calls themselves give no more. */
struct description *pleach_description(long fd) {
  fd = (int)fd;
  if (fd < 0 || fd >= MAX_OPEN) return 0;
  return open_files[fd];
}

static long lowest_free(long from) {
  for (long fd = from; fd < MAX_OPEN; fd++)
    if (!open_files[fd]) return fd;
  return -EMFILE;
}

static long add(struct file *f, int flags) {
  long fd = lowest_free(0);
  if (fd < 0) return fd;
  struct description *d = others; /* not on the heap, where it would be a leak of the program's */
  while (d->users) d++;
  d->offset = 0;
  d->users = 1;
  d->flags = flags;
  d->file = f;
  open_files[fd] = d;
  close_on_exec[fd] = (flags & O_CLOEXEC) != 0;
  return fd;
}

/* With KLEE, opening for writing asks for rights that anybody has. One condition, so that a path splits once. */
static int allowed(const struct file *f, long flags) {
  int write = (flags & O_ACCMODE) != 0, read = (flags & O_ACCMODE) == O_RDWR;
  return !((write & !(f->mode & 0222)) | (read & !(f->mode & 0444)));
}

long pleach_open(long at, const char *path, long flags, long mode) {
  int writes = (flags & O_ACCMODE) != 0, create = (flags & O_CREAT) != 0, only = (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL);
  long why;
  int anew = create && !only && (flags & O_TRUNC) ? UNSAID : 0;
  struct name *n = pleach_find(at, path, (only || (flags & O_NOFOLLOW) ? 0 : FOLLOW) | anew, &why);
  struct file *f;
  if (!n) {
    if (!create || why != -ENOENT) return why;
    static int said;
    pleach_assume_once(&said, "files can be created and written");
    f = pleach_new_file(FILE_, 0, 0, S_IFREG | (mode & 07777));
    if (!f) return -ENOSPC;
    why = pleach_new_name(at, path, f);
    if (why) {
      f->kind = UNUSED;
      return why;
    }
    return add(f, (int)flags);
  }
  f = n->file;
  if (only) return -EEXIST;
  if (f->kind == LINK) return -ELOOP;
  if (f->kind == FIFO) __pleach_unmodelled(2); /* waits for the other end */
  if (f->kind == DIRECTORY && (writes || create)) return -EISDIR;
  if (f->kind != DIRECTORY && (flags & O_DIRECTORY)) return -ENOTDIR;
  if (f->given && !allowed(f, flags)) return -EACCES;
  /* With KLEE symbolic files keep their size. */
  if ((flags & O_TRUNC) && writes && f->kind == FILE_ && !f->given) f->size = 0;
  return add(f, (int)flags);
}

long pleach_close(long fd) {
  static unsigned calls;
  struct description *d = pleach_description(fd);
  if (!d) return -EBADF;
  if (pleach_failures && *pleach_close_fail == ++calls) {
    pleach_failures--;
    return -EIO;
  }
  d->users--;
  open_files[(int)fd] = 0;
  return 0;
}

long pleach_read(long fd, char *to, size_t n) {
  static unsigned calls;
  struct description *d = pleach_description(fd);
  if (!d || (d->flags & O_ACCMODE) == O_WRONLY) return -EBADF;
  if (pleach_failures && *pleach_read_fail == ++calls) {
    pleach_failures--;
    return -EIO;
  }
  struct file *f = d->file;
  if (f->kind == DIRECTORY) return -EISDIR;
  if (n && !to) return -EFAULT;
  if (f->kind == ZEROS) {
    memset(to, 0, n);
    return (long)n;
  }
  static int said;
  if (f == &files[0]) pleach_assume_once(&said, "standard input is empty");
  if (f->kind != FILE_ && f->kind != PIPE) return 0;
  long left = f->size - d->offset;
  if (left <= 0) return 0;
  if (n > (size_t)left) n = (size_t)left;
  memcpy(to, f->data + d->offset, n);
  d->offset += (long)n;
  return (long)n;
}

/* Room for `size` bytes; what is new is zero. */
static int grow(struct file *f, long size) {
  if (size > f->room) {
    long room = f->room * 2 > size ? f->room * 2 : size;
    char *data = calloc(1, (size_t)room);
    if (!data) return 0;
    if (f->size) memcpy(data, f->data, (size_t)f->size);
    free(f->data);
    f->data = data;
    f->room = room;
  } else if (size > f->size) {
    memset(f->data + f->size, 0, (size_t)(size - f->size));
  }
  f->size = size;
  return 1;
}

long pleach_write(long fd, const char *from, size_t n) {
  static unsigned calls;
  struct description *d = pleach_description(fd);
  if (!d || (d->flags & O_ACCMODE) == 0) return -EBADF;
  if (pleach_failures && *pleach_write_fail == ++calls) {
    pleach_failures--;
    return -EIO;
  }
  struct file *f = d->file;
  if (f->kind == DIRECTORY) return -EISDIR;
  int device = f->kind == ZEROS || f == &files[3];
  if (n && !from) return device ? (long)n : -EFAULT;
  __pleach_reads(from, n);
  if (d == &standard[1] || d == &standard[2]) __pleach_printed(d == &standard[1] ? 1 : 2, from, n);
  if (f->kind != FILE_ && f->kind != PIPE) return (long)n;
  if (!n) return 0;
  if (f->kind == PIPE || (d->flags & O_APPEND)) d->offset = f->size;
  long end = d->offset + (long)n;
  if (end > f->size && !grow(f, end)) return -ENOSPC;
  memcpy(f->data + d->offset, from, n);
  d->offset = end;
  return (long)n;
}

long pleach_seek(long fd, long offset, long whence) {
  struct description *d = pleach_description(fd);
  if (!d) return -EBADF;
  no_files(d->file);
  if (d->file->kind != FILE_ && d->file->kind != DIRECTORY) return -ESPIPE;
  long size = d->file->size, base = whence == 1 ? d->offset : whence == 2 ? size : 0;
  if (whence < 0 || whence > 4) return -EINVAL;
  if (whence > 2 && (offset < 0 || offset >= size)) return -ENXIO;
  if (whence == 4) offset = size; /* the only hole is the end */
  if (base + offset < 0) return -EINVAL;
  d->offset = base + offset;
  return d->offset;
}

long pleach_truncate_file(struct file *f, long size) {
  static unsigned calls;
  if (pleach_failures && *pleach_ftruncate_fail == ++calls) {
    pleach_failures--;
    return -EIO;
  }
  if (f->kind != FILE_ || size < 0) return -EINVAL;
  if (size <= f->size)
    f->size = size;
  else if (!grow(f, size))
    return -ENOSPC;
  return 0;
}

long pleach_fstat(long fd, struct stat *out) {
  struct description *d = pleach_description(fd);
  if (!d) return -EBADF;
  no_files(d->file);
  pleach_attributes(d->file, out);
  return 0;
}

/* Which descriptors are free, and that there is one. */
static void nothing_else_open(void) {
  static int said;
  pleach_assume_once(&said, "no other files are open, and more can be opened");
}

long pleach_duplicate(long fd, long lowest) {
  struct description *d = pleach_description(fd);
  if (!d) return -EBADF;
  nothing_else_open();
  if (lowest < 0 || lowest >= MAX_OPEN) return -EINVAL;
  long to = lowest_free(lowest);
  if (to < 0) return to;
  d->users++;
  open_files[to] = d;
  close_on_exec[to] = 0;
  return to;
}

long pleach_duplicate_to(long fd, long to) {
  struct description *d = pleach_description(fd);
  if (!d || to < 0 || to >= MAX_OPEN) return -EBADF;
  if (fd == to) return to;
  if (open_files[to]) open_files[to]->users--;
  d->users++;
  open_files[to] = d;
  close_on_exec[to] = 0;
  return to;
}

long pleach_fcntl(long fd, long command, long argument) {
  enum { DUPFD, GETFD, SETFD, GETFL, SETFL, GETLK, SETLK, SETLKW, DUPFD_CLOEXEC = 1030, UNLCK = 2 };
  struct description *d = pleach_description(fd);
  if (!d) return -EBADF;
  char *flag = &close_on_exec[(int)fd];
  switch (command) {
  case DUPFD: case DUPFD_CLOEXEC: {
    long to = pleach_duplicate(fd, (int)argument); /* given as an int, which is half of what is read */
    if (to >= 0) close_on_exec[to] = command == DUPFD_CLOEXEC;
    return to;
  }
  case GETFD: return *flag;
  case SETFD: *flag = argument & 1; return 0;
  case GETFL: return d->flags;
  case SETFL: d->flags = (d->flags & ~(O_APPEND | O_NONBLOCK)) | ((int)argument & (O_APPEND | O_NONBLOCK)); return 0;
  case GETLK: nobody_locks(); *(short *)argument = UNLCK; return 0;
  case SETLK: case SETLKW: nobody_locks(); return 0;
  default: return -EINVAL;
  }
}

long pleach_pipe(int *fds) {
  nothing_else_open();
  struct file *f = pleach_new_file(PIPE, 0, 0, S_IFIFO | 0600);
  if (!f) return -EMFILE;
  long in = add(f, 0);
  if (in < 0) return in;
  long out = add(f, O_WRONLY);
  if (out < 0) {
    open_files[in] = 0;
    return out;
  }
  fds[0] = (int)in;
  fds[1] = (int)out;
  return 0;
}
