/* A ring buffer driven by any sequence of three operations. One of them frees a message that is still queued.
 *
 *   ./pleach test --check leak examples/queue.c
 */
#include <klee/klee.h>
#include <stdlib.h>

#define SLOTS 2

static char *slot[SLOTS];
static int head, count;

static void put(void) {
  if (count == SLOTS)
    return;
  char *message = malloc(4);
  if (message)
    message[0] = 'm';
  slot[(head + count++) % SLOTS] = message;
}

static char take(void) {
  if (count == 0)
    return 0;
  char *message = slot[head];
  char c = message[0];
  free(message);
  head = (head + 1) % SLOTS;
  count--;
  return c;
}

/* Drops the newest message; the bug: it stays counted. */
static void drop(void) {
  if (count > 0)
    free(slot[(head + count - 1) % SLOTS]);
}

int main(void) {
  for (int step = 0; step < 3; step++) {
    switch (klee_choose(3)) {
    case 0:
      put();
      break;
    case 1:
      take();
      break;
    default:
      drop();
    }
  }
  while (count > 0)
    take();
  return 0;
}
