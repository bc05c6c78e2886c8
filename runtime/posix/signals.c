/* Signals: what is set can be read again. None is ever delivered. */
#include "abi.h"

enum { SIGNALS = 64, SIG_BLOCK = 0, SIG_UNBLOCK = 1, SIG_SETMASK = 2, SS_DISABLE = 2 };

struct action {
  void *handler;
  unsigned long flags;
  void *restorer;
  unsigned long mask;
};
struct stack {
  void *at;
  int flags;
  size_t size;
};

static struct action actions[SIGNALS];
static unsigned long blocked;
static struct stack alternate = {0, SS_DISABLE, 0};

static long set_action(long number, const struct action *new, struct action *old) {
  if (number < 1 || number > SIGNALS) return -EINVAL;
  if (new && (number == 9 || number == 19)) return -EINVAL; /* kill and stop cannot be caught */
  struct action was = actions[number - 1];
  if (new) actions[number - 1] = *new;
  if (old) *old = was;
  return 0;
}

static long set_mask(long how, const unsigned long *new, unsigned long *old) {
  unsigned long was = blocked;
  if (new) switch (how) {
    case SIG_BLOCK: blocked |= *new; break;
    case SIG_UNBLOCK: blocked &= ~*new; break;
    case SIG_SETMASK: blocked = *new; break;
    default: return -EINVAL;
    }
  if (old) *old = was;
  return 0;
}

static long set_stack(const struct stack *new, struct stack *old) {
  struct stack was = alternate;
  if (new) alternate = *new;
  if (old) *old = was;
  return 0;
}
