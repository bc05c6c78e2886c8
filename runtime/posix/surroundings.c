/* What the program finds around it: variables, commands, terminals. */
#include "files.h"

/* Empty until the program begins or sets something: other entries than `main` find it so. */
static char *no_variables[1];
char **__environ = no_variables;
extern char **environ __attribute__((weak, alias("__environ")));
extern char **_environ __attribute__((weak, alias("__environ")));
extern char **___environ __attribute__((weak, alias("__environ")));

/* A variable that the program did not set may be set anyway. */
char *getenv(const char *name) {
  size_t n = 0;
  while (name[n] && name[n] != '=') n++;
  if (n && !name[n] && __environ)
    for (char **e = __environ; *e; e++) {
      size_t i = 0;
      while (i < n && (*e)[i] == name[i]) i++;
      if (i == n && (*e)[n] == '=') return *e + n + 1;
    }
  pleach_assume_of("the environment variable `", name, "` is not set");
  return 0;
}

/* Any status that a command can have; there may be no shell. */
int system(const char *command) {
  static int said;
  if (!command) return __pleach_unknown() & 1;
  __pleach_reads_text(command);
  pleach_assume_once(&said, "commands that `system` runs change no files");
  int any = __pleach_unknown(), code = any >> 8 & 255;
  return any & 1 ? -1 : any & 2 ? code & 63 : code << 8;
}

int isatty(int fd) {
  static int said;
  extern int *__errno_location(void);
  struct description *d = pleach_description(fd);
  if (d && d->file->given && (d->file->mode & S_IFMT) == S_IFCHR) return 1;
  if (d && fd < 3) pleach_assume_once(&said, "standard input, output and error are no terminals");
  *__errno_location() = d ? ENOTTY : EBADF;
  return 0;
}

/* What the kernel tells a program at its start. */
unsigned long getauxval(unsigned long what) {
  enum { PAGE_SIZE_ = 6, USER = 11, EFFECTIVE_GROUP = 14, TICKS = 17, SECURE = 23 };
  extern int *__errno_location(void);
  fixed_parameters();
  if (what == PAGE_SIZE_) return 4096;
  if (what >= USER && what <= EFFECTIVE_GROUP) return 1000;
  if (what == TICKS) return 100;
  if (what != SECURE) *__errno_location() = ENOENT;
  return 0;
}
