/* What every system call does. Those that are not here end the path with a reason. */
#include "files.h"

static int umask_ = 022;

static long get_cwd(char *to, size_t size) {
  static unsigned calls;
  if (pleach_failures && *pleach_getcwd_fail == ++calls) {
    pleach_failures--;
    return -ERANGE;
  }
  static int said;
  pleach_take_for_given(&said, "the directory is /");
  if (size < 2) return -ERANGE;
  to[0] = '/';
  to[1] = 0;
  return 2;
}

/* Starts with the year 2000; every look at the clock takes a millisecond. */
static long now(struct timespec *to) {
  static int said;
  pleach_take_for_given(&said, "the time is one of the year 2000");
  static long sec = 946684800, nsec;
  nsec += 1000000;
  if (nsec >= 1000000000) sec++, nsec -= 1000000000;
  if (to) to->sec = sec, to->nsec = nsec;
  return sec;
}

static void copy_text(char *to, const char *text) {
  while ((*to++ = *text++)) {}
}

static long uname_(char *to) {
  static int said;
  pleach_take_for_given(&said, "the machine is called pleach");
  memset(to, 0, 6 * 65);
  copy_text(to, "Linux");
  copy_text(to + 65, "pleach");
  copy_text(to + 130, "6.1.0");
  copy_text(to + 195, "#1");
  copy_text(to + 260, "x86_64");
  return 0;
}

static long stat_(const char *path, struct stat *out) {
  struct file *f = *path ? pleach_find(path) : 0;
  if (!f) return -ENOENT;
  pleach_attributes(f, out);
  return 0;
}

static long access_(const char *path, long mode) {
  struct file *f = *path ? pleach_find(path) : 0;
  if (!f) return -ENOENT;
  return (mode & 1) && !(f->mode & 0111) ? -EACCES : 0;
}

static long unlink_(const char *path) {
  struct file *f = *path ? pleach_find(path) : 0;
  if (!f) return -ENOENT;
  if (f->kind != FILE_) return -EISDIR;
  f->linked = 0;
  return 0;
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

static long identity(long n) {
  static int said;
  pleach_take_for_given(&said, "processes, users and groups have fixed numbers");
  return n;
}

static long fcntl_(long fd, long command, long argument) {
  struct description *d = pleach_description(fd);
  if (!d) return -EBADF;
  switch (command) {
  case 0: case 1030: return pleach_duplicate(fd, argument);
  case 1: case 2: case 4: return 0; /* close-on-exec, flags */
  case 3: return d->flags;
  case 5: case 6: case 7: return 0; /* locks */
  default: return -EINVAL;
  }
}

/* There is one directory. */
static long change_directory(struct file *f) { return !f ? -ENOENT : f->kind == DIRECTORY ? 0 : -ENOTDIR; }

static long truncate_(struct file *f, long size) { return f ? pleach_truncate_file(f, size) : -ENOENT; }

long __pleach_syscall(long n, long a, long b, long c, long d, long e, long f) {
  (void)e, (void)f;
  struct description *open;
  switch (n) {
  case 0: return pleach_read(a, (char *)b, (size_t)c);
  case 1: return pleach_write(a, (const char *)b, (size_t)c);
  case 2: return pleach_open((const char *)a, b, c & ~umask_);
  case 3: return pleach_close(a);
  case 4: case 6: return stat_((const char *)a, (struct stat *)b);
  case 5: return pleach_fstat(a, (struct stat *)b);
  case 8: return pleach_seek(a, b, c);
  case 9: { /* mmap: memory only */
    if (!(d & 0x20)) __pleach_unmodelled(n);
    void *p = calloc(1, (size_t)b);
    return p ? (long)p : -12;
  }
  case 10: case 11: case 28: return 0; /* mprotect, munmap, madvise */
  case 13: return set_action(a, (const struct action *)b, (struct action *)c);
  case 14: return set_mask(a, (const unsigned long *)b, (unsigned long *)c);
  case 16: /* ioctl: nothing is a terminal */
    return pleach_description(a) ? -ENOTTY : -EBADF;
  case 17: return transfer_at(a, (char *)b, (size_t)c, d, 0);
  case 18: return transfer_at(a, (char *)b, (size_t)c, d, 1);
  case 19: return transfer(a, (struct iovec *)b, c, 0);
  case 20: return transfer(a, (struct iovec *)b, c, 1);
  case 21: return access_((const char *)a, b);
  case 22: case 293: return pleach_pipe((int *)a);
  case 24: return 0; /* sched_yield */
  case 32: return pleach_duplicate(a, 0);
  case 33: case 292: return pleach_duplicate_to(a, b);
  case 35: case 230: return 0; /* sleeping takes no time */
  case 39: case 186: case 218: return identity(1000); /* getpid, gettid, set_tid_address */
  case 60: case 231: _exit((int)a);
  case 62: case 200: /* kill, tkill */
    if (b == 6) abort();
    __pleach_unmodelled(n);
  case 63: return uname_((char *)a);
  case 72: return fcntl_(a, b, c);
  case 74: case 75: return pleach_description(a) ? 0 : -EBADF;
  case 76: return truncate_(pleach_find((const char *)a), b);
  case 77:
    open = pleach_description(a);
    return open ? pleach_truncate_file(open->file, b) : -EBADF;
  case 79: return get_cwd((char *)a, (size_t)b);
  case 80: return change_directory(*(const char *)a ? pleach_find((const char *)a) : 0);
  case 81:
    open = pleach_description(a);
    return open ? change_directory(open->file) : -EBADF;
  case 85: return pleach_open((const char *)a, O_CREAT | O_WRONLY | O_TRUNC, b & ~umask_);
  case 87: return unlink_((const char *)a);
  case 89: return *(const char *)a && pleach_find((const char *)a) ? -EINVAL : -ENOENT; /* no symbolic links */
  case 95: {
    int before = umask_;
    umask_ = (int)a & 0777;
    return before;
  }
  case 96: {
    struct timespec t;
    now(&t);
    if (a) ((long *)a)[0] = t.sec, ((long *)a)[1] = t.nsec / 1000;
    return 0;
  }
  case 97: case 160: case 302: { /* limits on resources: none, and none can be set */
    unsigned long *was = (unsigned long *)(n == 302 ? d : n == 97 ? b : 0);
    if (was) was[0] = was[1] = ~0ul;
    return 0;
  }
  case 102: case 104: case 107: case 108: return identity(1000); /* user and group */
  case 110: case 111: case 121: case 124: return identity(1); /* parent, group, session */
  case 131: return set_stack((const struct stack *)a, (struct stack *)b);
  case 201: {
    long sec = now(0);
    if (a) *(long *)a = sec;
    return sec;
  }
  case 202: return 0; /* futex: nobody waits */
  case 228: now((struct timespec *)b); return 0;
  case 234: if (c == 6) abort(); __pleach_unmodelled(n);
  case 257: return a == AT_FDCWD || *(const char *)b == '/' ? pleach_open((const char *)b, c, d & ~umask_) : -EBADF;
  case 262:
    if ((d & AT_EMPTY_PATH) && !*(const char *)b) return pleach_fstat(a, (struct stat *)c);
    return stat_((const char *)b, (struct stat *)c);
  case 263: return unlink_((const char *)b);
  case 269: case 439: return access_((const char *)b, c);
  case 318: return -ENOSYS; /* getrandom */
  case 332: return -ENOSYS; /* statx: callers fall back to stat */
  default: __pleach_unmodelled(n);
  }
}
