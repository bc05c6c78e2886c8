/* What the program learns of the machine, its users and the time. Most of it is assumed. */
#include "files.h"

static long get_cwd(char *to, size_t size) {
  static unsigned calls;
  if (pleach_failures && *pleach_getcwd_fail == ++calls) {
    pleach_failures--;
    return -ERANGE;
  }
  static int said;
  const char *text = pleach_directory->text;
  size_t n = 0;
  /* Where the directory for temporary files is, is known. */
  if (text[0] != '/' || !text[1]) pleach_assume_once(&said, "the directory is /");
  if (text[0] == '.') text = "/";
  if (*text != '/') {
    if (size < 2) return -ERANGE;
    to[n++] = '/';
  }
  do
    if (n == size) return -ERANGE;
  while ((to[n++] = *text++));
  return (long)n;
}

/* Starts with the year 2000; every look at the clock takes a millisecond. */
long pleach_now(struct timespec *to) {
  static int said;
  pleach_assume_once(&said, "the time is one of the year 2000");
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
  pleach_assume_once(&said, "the machine is called pleach");
  memset(to, 0, 6 * 65);
  copy_text(to, "Linux");
  copy_text(to + 65, "pleach");
  copy_text(to + 130, "6.1.0");
  copy_text(to + 195, "#1");
  copy_text(to + 260, "x86_64");
  return 0;
}

static long identity(long n) {
  static int said;
  pleach_assume_once(&said, "processes, users and groups have fixed numbers");
  return n;
}

/* Somebody with no rights but the own ones. */
static long denied(void) { return identity(-EPERM); }

static void fixed_parameters(void) {
  static int said;
  pleach_assume_once(&said, "the machine has fixed parameters");
}

/* Other processes may. */
static void nobody_locks(void) {
  static int said;
  pleach_assume_once(&said, "nobody else locks the files");
}

/* Something that other systems may have. */
static long without(const char *what, long why) {
  pleach_assume_of("the system is without ", what, "");
  return why;
}

static long file_system(struct file *f, unsigned long *to) {
  if (!f) return -EBADF;
  fixed_parameters();
  memset(to, 0, 120);
  to[0] = 0xef53, to[1] = 4096;
  to[2] = 1 << 20, to[3] = to[4] = 1 << 19; /* blocks: all, free, for everybody */
  to[5] = 1 << 16, to[6] = 1 << 15;         /* files: all, free */
  to[8] = 255, to[9] = 4096;
  return 0;
}

static long system_information(char *to) {
  fixed_parameters();
  memset(to, 0, 112);
  *(long *)to = 1000; /* seconds since the start */
  *(unsigned long *)(to + 32) = (unsigned long)(1ull << 32), *(unsigned long *)(to + 40) = 1ul << 31; /* memory: all, free */
  *(unsigned short *)(to + 80) = 1;
  *(unsigned *)(to + 104) = 1;
  return 0;
}

/* Limits on resources: none, and none can be set. */
static long limit(unsigned long *to) {
  static int said;
  pleach_assume_once(&said, "resources are not limited");
  if (to) to[0] = to[1] = ~0ul;
  return 0;
}

/* Signals: to itself, to the first process, or to nobody. `thread`: by the number of a thread, which is that of the process or the library's. */
static long send_signal(int thread, long to, long number) {
  if (number < 0 || number > 64) return -EINVAL;
  int self = to == 1000 || (thread ? to == 1 : to == 0 || to == -1000);
  if (!self) return to == 1 ? denied() : identity(-ESRCH);
  if (number) send_to_self(number);
  return 0;
}
