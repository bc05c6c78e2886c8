/* What every system call does. Those that are not here end the path with a reason. */
#include "files.h"

static int umask_ = 022;
enum { MAX_MAPS = 64 };

/* What the calls that take a path do with the file. */
static struct file *at_path(long at, const char *path, int follow, long *why) {
  struct name *n = pleach_find(at, path, follow, why);
  return n ? n->file : 0;
}

static struct file *at_descriptor(long fd, long *why) {
  struct description *d = pleach_description(fd);
  *why = -EBADF;
  return d ? d->file : 0;
}

/* With AT_EMPTY_PATH a descriptor stands for its file. */
static struct file *either(long at, const char *path, long flags, long *why) {
  if (!path || ((flags & AT_EMPTY_PATH) && !*path)) return at_descriptor(at, why);
  return at_path(at, path, flags & AT_SYMLINK_NOFOLLOW ? 0 : FOLLOW, why);
}

static long stat_(struct file *f, struct stat *out, const long *why) {
  if (!f) return *why;
  pleach_attributes(f, out);
  return 0;
}

static long access_(struct file *f, long mode, const long *why) {
  if (!f) return *why;
  return (mode & 1) && !(f->mode & 0111) ? -EACCES : 0;
}

static long change_mode(struct file *f, long mode, const long *why) {
  if (!f) return *why;
  f->mode = (f->mode & S_IFMT) | (mode & 07777);
  return 0;
}

static long change_owner(struct file *f, unsigned user, unsigned group, const long *why) {
  if (!f) return *why;
  return (user + 1 && user != f->uid) || (group + 1 && group != f->gid) ? denied() : 0;
}

static long change_times(struct file *f, const struct timespec *t, const long *why) {
  if (!f) return *why;
  for (int i = 0; i < 2; i++) {
    struct timespec *to = i ? &f->modified : &f->accessed;
    if (!t || t[i].nsec == 0x3fffffff) pleach_now(to);
    else if (t[i].nsec == 0x3ffffffe) continue;
    else if (t[i].nsec < 0 || t[i].nsec > 999999999) return -EINVAL;
    else *to = t[i];
  }
  return 0;
}

/* Everything can be read and written at once. */
static long poll_(struct poll *p, unsigned long n) {
  static int said;
  long ready = 0;
  pleach_assume_once(&said, "files can be read and written at once");
  for (unsigned long i = 0; i < n; i++) {
    p[i].got = p[i].fd < 0 ? 0 : pleach_description(p[i].fd) ? p[i].wanted & 5 : 32;
    ready += p[i].got != 0;
  }
  return ready;
}

/* Programs are not run: nothing here can be executed. */
static long execute(const char *path) {
  long why;
  struct file *f = at_path(AT_FDCWD, path, FOLLOW, &why);
  if (!f) return why;
  if (f->kind == DIRECTORY || !(f->mode & 0111)) return -EACCES;
  __pleach_unmodelled(59);
}

static long transfer(long fd, struct iovec *v, long n, int out) {
  long all = 0;
  for (long i = 0; i < n; i++) {
    if (!v[i].len) continue;
    long r = out ? pleach_write(fd, v[i].base, v[i].len) : pleach_read(fd, v[i].base, v[i].len);
    if (r < 0) return all ? all : r;
    all += r;
    if ((size_t)r < v[i].len) break;
  }
  return all;
}

/* Reads or writes at a place without moving the offset. */
static long transfer_at(long fd, char *bytes, size_t n, long offset, int out) {
  struct description *d = pleach_description(fd);
  if (!d) return -EBADF;
  if (d->file->kind != FILE_) return -ESPIPE;
  long before = d->offset;
  d->offset = offset;
  long r = out ? pleach_write(fd, bytes, n) : pleach_read(fd, bytes, n);
  d->offset = before;
  return r;
}

/* Nothing is a terminal, but for a symbolic file that is a device. The library asks for the window when it prints, which decides only when. */
static long ioctl_(long fd, long request, unsigned short *to) {
  enum { GET_TERMINAL = 0x5401, WINDOW_SIZE = 0x5413 };
  struct description *d = pleach_description(fd);
  if (!d) return -EBADF;
  if (!d->file->given || (d->file->mode & S_IFMT) != S_IFCHR) {
    static int said;
    if (request != WINDOW_SIZE && fd < 3) pleach_assume_once(&said, "standard input, output and error are no terminals");
    return -ENOTTY;
  }
  switch (request) {
  case GET_TERMINAL: memset(to, 0, 60); return 0;
  case WINDOW_SIZE: memset(to, 0, 8); to[0] = 24, to[1] = 80; return 0;
  default: return -EINVAL;
  }
}

static long make_node(long at, const char *path, long mode) {
  unsigned kind = mode & S_IFMT, rights = mode & 07777 & ~umask_;
  if (kind == S_IFIFO) return make(at, path, FIFO, S_IFIFO | rights, 0);
  if (kind && kind != S_IFREG) return denied();
  return make(at, path, FILE_, S_IFREG | rights, 0);
}

/* Memory that the program maps, each piece a block of its own. */
static struct {
  void *at;
  size_t size;
} maps[MAX_MAPS];

static long map(size_t size) {
  if (!size) return -EINVAL;
  for (int i = 0; i < MAX_MAPS; i++)
    if (!maps[i].at) {
      maps[i].at = calloc(1, size), maps[i].size = size;
      return maps[i].at ? (long)maps[i].at : -ENOMEM;
    }
  __pleach_unmodelled(9);
}

static int unmap(const void *at, size_t size) {
  for (int i = 0; i < MAX_MAPS; i++)
    if (maps[i].at == at && at && (maps[i].size + 4095) / 4096 == (size + 4095) / 4096) {
      free(maps[i].at);
      maps[i].at = 0;
      return 1;
    }
  return 0;
}

static long truncate_(struct file *f, long size, const long *why) { return f ? pleach_truncate_file(f, size) : *why; }

long __pleach_syscall(long n, long a, long b, long c, long d, long e, long f) {
  (void)f;
  const char *path = (const char *)a, *path_at = (const char *)b;
  long why;
  switch (n) {
  /* files that are open */
  case 0: return pleach_read(a, (char *)b, (size_t)c);
  case 1: return pleach_write(a, (const char *)b, (size_t)c);
  case 3: return pleach_close(a);
  case 5: return pleach_fstat(a, (struct stat *)b);
  case 7: case 271: return poll_((struct poll *)a, (unsigned long)b);
  case 8: return pleach_seek(a, b, c);
  case 16: return ioctl_(a, b, (unsigned short *)c);
  case 17: return transfer_at(a, (char *)b, (size_t)c, d, 0);
  case 18: return transfer_at(a, (char *)b, (size_t)c, d, 1);
  case 19: return transfer(a, (struct iovec *)b, c, 0);
  case 20: return transfer(a, (struct iovec *)b, c, 1);
  case 22: case 293: return pleach_pipe((int *)a);
  case 32: return pleach_duplicate(a, 0);
  case 33: case 292: return pleach_duplicate_to(a, b);
  case 72: return pleach_fcntl(a, b, c);
  case 73: nobody_locks(); /* flock */
  /* fallthrough */
  case 74: case 75: case 221: case 306: return pleach_description(a) ? 0 : -EBADF; /* advice, to disk */
  case 77: return truncate_(at_descriptor(a, &why), b, &why);
  case 162: return 0; /* sync */
  case 217: return list(a, (char *)b, c);
  case 285: return pleach_description(a) ? without("fallocate", -EOPNOTSUPP) : -EBADF;

  /* names */
  case 2: return pleach_open(AT_FDCWD, path, b, c & ~umask_);
  case 4: return stat_(at_path(AT_FDCWD, path, FOLLOW, &why), (struct stat *)b, &why);
  case 6: return stat_(at_path(AT_FDCWD, path, 0, &why), (struct stat *)b, &why);
  case 21: return access_(at_path(AT_FDCWD, path, FOLLOW, &why), b, &why);
  case 76: return truncate_(at_path(AT_FDCWD, path, FOLLOW, &why), b, &why);
  case 79: return get_cwd((char *)a, (size_t)b);
  case 80: return change_directory(pleach_find(AT_FDCWD, path, FOLLOW, &why), &why);
  case 81: {
    const long gone = -ENOENT;
    struct file *to = at_descriptor(a, &why);
    return to ? change_directory(name_of(to), &gone) : why;
  }
  case 82: return rename_(AT_FDCWD, path, AT_FDCWD, path_at, 1);
  case 83: return make(AT_FDCWD, path, DIRECTORY, S_IFDIR | (b & 07777 & ~umask_), 0);
  case 84: return remove_(AT_FDCWD, path, 1);
  case 85: return pleach_open(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, b & ~umask_);
  case 86: return link_(AT_FDCWD, path, AT_FDCWD, path_at, 0);
  case 87: return remove_(AT_FDCWD, path, 0);
  case 88: return make(AT_FDCWD, path_at, LINK, S_IFLNK | 0777, path);
  case 89: return read_link(AT_FDCWD, path, (char *)b, c);
  case 90: return change_mode(at_path(AT_FDCWD, path, FOLLOW, &why), b, &why);
  case 91: return change_mode(at_descriptor(a, &why), b, &why);
  case 92: return change_owner(at_path(AT_FDCWD, path, FOLLOW, &why), (unsigned)b, (unsigned)c, &why);
  case 93: return change_owner(at_descriptor(a, &why), (unsigned)b, (unsigned)c, &why);
  case 94: return change_owner(at_path(AT_FDCWD, path, 0, &why), (unsigned)b, (unsigned)c, &why);
  case 95: {
    static int said;
    int before = umask_;
    if (!said) pleach_assume_once(&said, "the mask for the rights of new files is 022");
    umask_ = (int)a & 0777;
    return before;
  }
  case 133: return make_node(AT_FDCWD, path, b);
  case 137: {
    struct file *on = at_path(AT_FDCWD, path, FOLLOW, &why);
    return on ? file_system(on, (unsigned long *)b) : why;
  }
  case 138: return file_system(at_descriptor(a, &why), (unsigned long *)b);
  case 257: return pleach_open(a, path_at, c, d & ~umask_);
  case 258: return make(a, path_at, DIRECTORY, S_IFDIR | (c & 07777 & ~umask_), 0);
  case 259: return make_node(a, path_at, c);
  case 260: return change_owner(either(a, path_at, e, &why), (unsigned)c, (unsigned)d, &why);
  case 262: return stat_(either(a, path_at, d, &why), (struct stat *)c, &why);
  case 263: return remove_(a, path_at, (c & AT_REMOVEDIR) != 0);
  case 264: case 316: return rename_(a, path_at, c, (const char *)d, n == 264 || !(e & 1));
  case 265: return link_(a, path_at, c, (const char *)d, e & AT_SYMLINK_FOLLOW ? FOLLOW : 0);
  case 266: return make(b, (const char *)c, LINK, S_IFLNK | 0777, path);
  case 267: return read_link(a, path_at, (char *)c, d);
  case 268: return change_mode(at_path(a, path_at, FOLLOW, &why), c, &why);
  case 269: return access_(at_path(a, path_at, FOLLOW, &why), c, &why);
  case 280: return change_times(either(a, path_at, d, &why), (const struct timespec *)c, &why);
  case 332: return -ENOSYS; /* statx: callers fall back to stat */
  case 439: return access_(either(a, path_at, d, &why), c, &why);
  case 188: case 189: case 190: case 191: case 192: case 193: case 194: case 195: case 196: case 197: case 198: case 199:
    return without("extended attributes of files", -EOPNOTSUPP);

  /* memory */
  case 9: if ((d & 0x20) && (c & 3) == 3) return map((size_t)b); __pleach_unmodelled(n); /* mmap: memory, read and written */
  case 10: if ((c & 3) == 3) return 0; __pleach_unmodelled(n); /* mprotect: memory can be read and written */
  case 11: if (unmap((const void *)a, (size_t)b)) return 0; __pleach_unmodelled(n); /* munmap: as a whole */
  case 28: if (c < 4) return 0; __pleach_unmodelled(n); /* madvise: what decides nothing */

  /* signals and processes; nobody else is there */
  case 13: return set_action(a, (const struct action *)b, (struct action *)c);
  case 14: return set_mask(a, (const unsigned long *)b, (unsigned long *)c);
  case 131: return set_stack((const struct stack *)a, (struct stack *)b);
  case 24: return 0;  /* sched_yield */
  case 35: case 230: return 0; /* sleeping takes no time */
  case 39: case 186: case 218: return identity(1000); /* getpid, gettid, set_tid_address */
  case 41: if (a == 1) return identity(-EAFNOSUPPORT); __pleach_unmodelled(n); /* nobody to talk to on the machine */
  case 59: return execute(path);
  case 60: case 231: _exit((int)a);
  case 61: return -ECHILD; /* wait4: fork has no model */
  case 62: return send_signal(0, (int)a, (int)b);
  case 200: return send_signal(1, (int)a, (int)b);
  case 234: return send_signal(1, (int)b, (int)c);
  case 127: if (a) *(unsigned long *)a = pending & blocked; return 0; /* sigpending */
  case 102: case 104: case 107: case 108: return identity(1000); /* user and group */
  case 105: case 106: case 113: case 114: case 117: case 119: /* set them */
    return identity(a == 1000 || a == -1 || (unsigned)a == ~0u ? 0 : -EPERM);
  case 109: return 0; /* setpgid */
  case 110: case 111: case 112: case 121: case 124: return identity(1); /* parent, group, session */
  case 115: return identity(0); /* groups */
  case 116: case 161: case 164: case 170: case 171: case 227: return denied(); /* setgroups, chroot, set the time and names */
  case 140: return identity(20); /* getpriority */
  case 141: return c < 0 ? denied() : 0;
  case 157: if (a == 15 || a == 4) return 0; __pleach_unmodelled(n); /* prctl: a name, no image of the memory */
  case 202: return 0; /* futex: nobody waits */

  /* the machine and the time */
  case 63: return uname_((char *)a);
  case 96: {
    struct timespec t;
    pleach_now(&t);
    if (a) ((long *)a)[0] = t.sec, ((long *)a)[1] = t.nsec / 1000;
    return 0;
  }
  case 97: return limit((unsigned long *)b);
  case 302: return limit((unsigned long *)d);
  case 160: return limit(0); /* setrlimit */
  case 99: return system_information((char *)a);
  case 100: fixed_parameters(); if (a) memset((char *)a, 0, 32); return 1000; /* times */
  case 98: fixed_parameters(); memset((char *)b, 0, 144); return 0; /* getrusage */
  case 12: fixed_parameters(); return 4096; /* brk: the end of the data stays where it is */
  case 201: {
    long sec = pleach_now(0);
    if (a) *(long *)a = sec;
    return sec;
  }
  case 204: fixed_parameters(); if (b < 8) return -EINVAL; memset((char *)c, 0, 8); *(char *)c = 1; return 8; /* one processor */
  case 228: pleach_now((struct timespec *)b); return 0;
  case 229: fixed_parameters(); if (b) ((struct timespec *)b)->sec = 0, ((struct timespec *)b)->nsec = 1; return 0;
  case 318: return random_bytes((char *)a, b);

  /* callers have another way */
  case 40: case 275: case 326: case 436: case 437: case 253: case 294:
    return without("sendfile, splice, copy_file_range, close_range, openat2 and inotify", -ENOSYS);
  default: __pleach_unmodelled(n);
  }
}
