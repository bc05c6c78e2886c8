/* Calls the program's main (renamed to program_main) in a child process for every input of a domain.
 * Arguments: a file for the child's standard error, then for each input byte the number of its values.
 * Writes to standard output, per input: its bytes in hexadecimal, `exit CODE`, `excluded`, or `log` followed by what
 * the child wrote and a line `end`. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SANITIZER = 246, EXCLUDED = 247, LOGGED = 248, LONGEST = 16 };

extern int program_main();
static unsigned char input[LONGEST];
static size_t used;

void klee_make_symbolic(void *address, size_t size, const char *name) {
  if (used + size > LONGEST) abort();
  memcpy(address, input + used, size);
  used += size;
}

void klee_assume(uintptr_t condition) {
  if (!condition) _exit(EXCLUDED);
}

static void end(const char *text) {
  if (write(2, text, strlen(text)) < 0) _exit(1);
  _exit(LOGGED);
}

void __assert_fail(const char *text, const char *file, unsigned line, const char *function) {
  char buffer[64];
  snprintf(buffer, sizeof buffer, "assert at %u\n", line);
  end(buffer);
}

void program_abort(void) {
  char buffer[64];
  snprintf(buffer, sizeof buffer, "abort()\n#0 %p\n", (char *)__builtin_return_address(0) - 1);
  end(buffer);
}

static void child(const char *log) {
  if (!freopen(log, "w", stderr)) _exit(1);
  dup2(fileno(stderr), 2);
  if (!freopen("/dev/null", "w", stdout)) _exit(1);
  alarm(10);
  exit(program_main());
}

static void copy(const char *log) {
  char buffer[4096];
  FILE *f = fopen(log, "r");
  for (size_t n; f && (n = fread(buffer, 1, sizeof buffer, f)) > 0;) fwrite(buffer, 1, n, stdout);
  if (f) fclose(f);
}

int main(int argc, char **argv) {
  int bytes = argc - 2;
  if (bytes < 1 || bytes > LONGEST) return 1;
  for (;;) {
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) child(argv[1]);
    int status = 0;
    if (pid < 0 || waitpid(pid, &status, 0) < 0) return 1;
    for (int i = 0; i < bytes; i++) printf("%02x", input[i]);
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (code == EXCLUDED) {
      printf(" excluded\n");
    } else if (code >= 0 && code != SANITIZER && code != LOGGED) {
      printf(" exit %d\n", code);
    } else {
      printf(" log\n");
      if (code < 0) printf("signal %d\n", WTERMSIG(status));
      copy(argv[1]);
      printf("\nend\n");
    }
    int at = bytes - 1;
    for (; at >= 0; at--) {
      if (input[at] + 1 < atoi(argv[2 + at])) {
        input[at]++;
        break;
      }
      input[at] = 0;
    }
    if (at < 0) return 0;
  }
}
