/* The file system of the model: symbolic files A, B, …, files the program creates, and what is open. */
#ifndef PLEACH_POSIX_FILES_H
#define PLEACH_POSIX_FILES_H
#include "abi.h"

enum { MAX_FILES = 32, MAX_NAMES = 64, MAX_OPEN = 64, LONGEST_NAME = 64, DEVICES = 3, ROOT = 3, TEMPORARY = 4, FIXED_NAMES = 5 };

/* FILE_: bytes in memory. SINK: takes everything. ZEROS: gives zeros and takes everything. EMPTY: at its end. PIPE: bytes, read once. FIFO: a pipe with a name, which would wait to be
 * opened. LINK: its bytes are another name. */
enum kind { UNUSED, FILE_, SINK, ZEROS, EMPTY, PIPE, FIFO, LINK, DIRECTORY };

struct file {
  enum kind kind;
  char *data;
  long size, room;
  unsigned mode, uid, gid;
  int links; /* names that lead to it */
  struct timespec accessed, modified;
  const struct stat *given; /* what an input says of it, and `mode` and so on are taken from that */
};

/* `d/x`: from the one directory that the program starts in, or from the root with a slash in front. */
struct name {
  char text[LONGEST_NAME];
  struct file *file; /* none: free */
};

/* What dup and fork would share. */
struct description {
  int users, flags;
  struct file *file;
  long offset;
};

extern int pleach_failures;
extern unsigned *pleach_read_fail, *pleach_write_fail, *pleach_close_fail, *pleach_ftruncate_fail, *pleach_getcwd_fail;

/* Says, once on a path, that the program learned something of the system that could be otherwise. */
void pleach_assume_once(int *said, const char *what);
/* The same about something with a name. */
void pleach_assume_of(const char *before, const char *name, const char *after);

struct file *pleach_new_file(enum kind kind, char *data, long size, unsigned mode);
void pleach_attributes(struct file *f, struct stat *out);
void pleach_set_standard(int fd, struct file *f, int flags);
long pleach_now(struct timespec *to);

/* names.c */
/* UNSAID: that there is no such file decides nothing. */
enum { FOLLOW = 1, UNSAID = 2 };
struct name *pleach_find(long at, const char *path, int follow, long *why);
long pleach_new_name(long at, const char *path, struct file *f);
extern struct name pleach_names[MAX_NAMES];
extern struct name *pleach_directory; /* where the program is */

long pleach_open(long at, const char *path, long flags, long mode);
long pleach_close(long fd);
long pleach_read(long fd, char *to, size_t n);
long pleach_write(long fd, const char *from, size_t n);
long pleach_seek(long fd, long offset, long whence);
long pleach_truncate_file(struct file *f, long size);
long pleach_fstat(long fd, struct stat *out);
long pleach_duplicate(long fd, long lowest);
long pleach_duplicate_to(long fd, long to);
long pleach_pipe(int *fds);
long pleach_fcntl(long fd, long command, long argument);
struct description *pleach_description(long fd);

#endif
