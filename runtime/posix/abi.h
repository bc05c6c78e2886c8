/* What the model needs to know of the system's interface: Linux on x86-64. The engine compiles this for its own use;
 * no header of the system is included. */
#ifndef PLEACH_POSIX_ABI_H
#define PLEACH_POSIX_ABI_H

typedef __SIZE_TYPE__ size_t;

/* The engine's functions. Memory of the system's own is always there. */
void *__pleach_malloc(size_t);
void *calloc(size_t, size_t);
void free(void *);
void *memcpy(void *, const void *, size_t);
void *memset(void *, int, size_t);
void abort(void) __attribute__((noreturn));
void _exit(int) __attribute__((noreturn));
void klee_make_symbolic(void *, size_t, const char *);
void klee_assume(unsigned long);
unsigned klee_is_symbolic(unsigned long);
void klee_prefer_cex(void *, unsigned long);
int klee_range(int, int, const char *);
void klee_report_error(const char *, int, const char *, const char *) __attribute__((noreturn));
/* Ends the path: system call `n` has no model. */
void __pleach_unmodelled(long n) __attribute__((noreturn));

/* Ends the program as `abort` does without a handler. */
void __pleach_aborted(void) __attribute__((noreturn));
/* A signal ends the program. */
void __pleach_killed(long number) __attribute__((noreturn));
/* Ends the path: a signal stops the program. */
void __pleach_stopped(long number) __attribute__((noreturn));

/* Any number. */
int __pleach_unknown(void);
/* The model assumes something: every answer of the run names it. The second with a name in the middle. */
void __pleach_assume(const char *what);
void __pleach_assume_of(const char *before, const char *name, const char *after);
/* `n` bytes that are no block of the program's heap. */
void *__pleach_own_memory(size_t n);
/* Whether symbolic files have any attributes, as with KLEE, and not those of an ordinary file. */
int __pleach_any_attributes(void);
/* The system reads `n` bytes, or a string: errors if they are not there. */
void __pleach_reads(const char *bytes, size_t n);
void __pleach_reads_text(const char *text);
/* The library's stream for standard output, if the program uses it and what it prints is wanted; and what it prints. */
struct stream;
struct stream *__pleach_echoed(void);
void __pleach_printed(int fd, const char *bytes, size_t n);

struct stat {
  unsigned long dev, ino, nlink;
  unsigned mode, uid, gid, pad;
  unsigned long rdev;
  long size, blksize, blocks;
  long atime, atime_ns, mtime, mtime_ns, ctime, ctime_ns;
  long unused[3];
};
struct iovec {
  char *base;
  size_t len;
};
struct poll {
  int fd;
  short wanted, got;
};
struct timespec {
  long sec, nsec;
};

enum {
  EPERM = 1, ENOENT = 2, ESRCH = 3, EIO = 5, ENXIO = 6, EBADF = 9, ECHILD = 10, ENOMEM = 12, EACCES = 13, EFAULT = 14, EEXIST = 17, EXDEV = 18,
  ENOTDIR = 20, EISDIR = 21, EINVAL = 22, EMFILE = 24, ENOTTY = 25, ENOSPC = 28, ESPIPE = 29, EPIPE = 32, ERANGE = 34, ENAMETOOLONG = 36,
  ENOSYS = 38, ENOTEMPTY = 39, ELOOP = 40, EOPNOTSUPP = 95, EAFNOSUPPORT = 97
};
enum { O_ACCMODE = 3, O_WRONLY = 1, O_RDWR = 2, O_CREAT = 0100, O_EXCL = 0200, O_TRUNC = 01000, O_APPEND = 02000, O_NONBLOCK = 04000,
       O_DIRECTORY = 0200000, O_NOFOLLOW = 0400000, O_CLOEXEC = 02000000 };
enum { S_IFMT = 0170000, S_IFIFO = 0010000, S_IFCHR = 0020000, S_IFDIR = 0040000, S_IFREG = 0100000, S_IFLNK = 0120000 };
enum { AT_FDCWD = -100, AT_SYMLINK_NOFOLLOW = 0x100, AT_REMOVEDIR = 0x200, AT_SYMLINK_FOLLOW = 0x400, AT_EMPTY_PATH = 0x1000 };

#endif
