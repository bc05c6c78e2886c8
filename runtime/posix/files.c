/* Files and file descriptors. All of it is memory of the program under analysis: it forks with the path. */
#include "files.h"

static struct file files[MAX_FILES] = {
    [0] = {.kind = EMPTY, .name = "", .mode = S_IFCHR | 0666},
    [1] = {.kind = SINK, .name = "", .mode = S_IFCHR | 0666},
    [2] = {.kind = DIRECTORY, .name = ".", .mode = S_IFDIR | 0755, .linked = 1},
    [3] = {.kind = SINK, .name = "/dev/null", .mode = S_IFCHR | 0666, .linked = 1},
};
static int file_count = 4;

static struct description standard[3] = {
    {.users = 1, .flags = 0, .file = &files[0]},
    {.users = 1, .flags = O_WRONLY, .file = &files[1]},
    {.users = 1, .flags = O_WRONLY, .file = &files[1]},
};
static struct description others[MAX_OPEN];
static struct description *open_files[MAX_OPEN] = {&standard[0], &standard[1], &standard[2]};

int pleach_failures;
unsigned *pleach_read_fail, *pleach_write_fail, *pleach_close_fail, *pleach_ftruncate_fail, *pleach_getcwd_fail;

void pleach_take_for_given(int *said, const char *what) {
  if (*said) return;
  *said = 1;
  if (__pleach_unknown()) __pleach_assumed(what);
}

struct file *pleach_new_file(enum kind kind, const char *name, char *data, long size, unsigned mode) {
  if (file_count == MAX_FILES) return 0;
  struct file *f = &files[file_count++];
  int i = 0;
  for (; name[i]; i++) {
    if (i == LONGEST_NAME - 1) return 0;
    f->name[i] = name[i];
  }
  f->name[i] = 0;
  f->kind = kind;
  f->data = data;
  f->size = f->room = size;
  f->mode = mode;
  f->linked = i > 0;
  return f;
}

void pleach_attributes(struct file *f, struct stat *out) {
  memset(out, 0, sizeof *out);
  out->dev = 1;
  out->ino = (unsigned long)(f - files) + 1;
  out->nlink = 1;
  out->mode = f->mode;
  out->uid = out->gid = 1000;
  out->size = f->kind == FILE_ ? f->size : 0;
  out->blksize = 4096;
  out->blocks = 8;
  out->atime = out->mtime = out->ctime = 946684800;
}

void pleach_set_standard(int fd, struct file *f, int flags) {
  standard[fd].file = f;
  standard[fd].flags = flags;
}

/* `./A` and `.//A` are `A`; `..` and `/` are the one directory. */
struct file *pleach_find(const char *path) {
  if (path[0] == '/' && !path[1]) return &files[2];
  if (path[0] == '.' && path[1] == '.' && !path[2]) return &files[2];
  while (path[0] == '.' && path[1] == '/') {
    path += 2;
    while (*path == '/') path++;
    if (!*path) return &files[2];
  }
  for (int i = 0; i < file_count; i++) {
    if (!files[i].linked) continue;
    int k = 0;
    while (files[i].name[k] && files[i].name[k] == path[k]) k++;
    if (!files[i].name[k] && !path[k]) return &files[i];
  }
  static int said;
  if (path[0] == '/') pleach_take_for_given(&said, "files outside the directory do not exist");
  return 0;
}

struct description *pleach_description(long fd) {
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
  return fd;
}

static int has_slash(const char *path) {
  for (; *path; path++)
    if (*path == '/') return 1;
  return 0;
}

long pleach_open(const char *path, long flags, long mode) {
  int writes = (flags & O_ACCMODE) != 0;
  if (!*path) return -ENOENT;
  struct file *f = pleach_find(path);
  if (!f) {
    if (!(flags & O_CREAT) || has_slash(path)) return -ENOENT;
    f = pleach_new_file(FILE_, path, 0, 0, S_IFREG | (mode & 0755));
    if (!f) return -ENOSPC;
    return add(f, (int)flags);
  }
  if ((flags & O_CREAT) && (flags & O_EXCL)) return -EEXIST;
  if (f->kind == DIRECTORY && (writes || (flags & O_CREAT))) return -EISDIR;
  if (f->kind != DIRECTORY && (flags & O_DIRECTORY)) return -ENOTDIR;
  if ((flags & O_TRUNC) && writes && f->kind == FILE_) f->size = 0;
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
  open_files[fd] = 0;
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
  static int said;
  if (f == &files[0]) pleach_take_for_given(&said, "standard input is empty");
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
  if (d->file->kind != FILE_) return -ESPIPE;
  long base = whence == 0 ? 0 : whence == 1 ? d->offset : d->file->size;
  if (whence < 0 || whence > 2) return -EINVAL;
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
  pleach_attributes(d->file, out);
  return 0;
}

long pleach_duplicate(long fd, long lowest) {
  struct description *d = pleach_description(fd);
  if (!d) return -EBADF;
  if (lowest < 0 || lowest >= MAX_OPEN) return -EINVAL;
  long to = lowest_free(lowest);
  if (to < 0) return to;
  d->users++;
  open_files[to] = d;
  return to;
}

long pleach_duplicate_to(long fd, long to) {
  struct description *d = pleach_description(fd);
  if (!d || to < 0 || to >= MAX_OPEN) return -EBADF;
  if (fd == to) return to;
  if (open_files[to]) open_files[to]->users--;
  d->users++;
  open_files[to] = d;
  return to;
}

long pleach_pipe(int *fds) {
  struct file *f = pleach_new_file(PIPE, "", 0, 0, S_IFIFO | 0600);
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
