/* Signals that the program sends to itself. That nobody else sends any is assumed where it has handlers. */
#include "files.h"

enum { SIGNALS = 64, SIG_BLOCK = 0, SIG_UNBLOCK = 1, SIG_SETMASK = 2, SS_DISABLE = 2 };
enum { SIGABRT = 6, SIGKILL = 9, SIGCHLD = 17, SIGCONT = 18, SIGSTOP = 19, SIGTTOU = 22, SIGURG = 23, SIGWINCH = 28 };
enum { SA_SIGINFO = 4, SA_NODEFER = 0x40000000, SA_RESETHAND = (int)0x80000000u };

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
static unsigned long blocked, pending;
static struct stack alternate = {0, SS_DISABLE, 0};

static unsigned long bit(long number) { return 1ul << (number - 1); }

/* What a signal does that has no handler: nothing, or it ends the program, or stops it. */
static void by_default(long number) {
  if (number == SIGCHLD || number == SIGCONT || number == SIGURG || number == SIGWINCH) return;
  if (number == SIGABRT) __pleach_aborted();
  if (number >= SIGSTOP && number <= SIGTTOU) __pleach_stopped(number);
  __pleach_killed(number);
}

/* One signal arrives: its handler runs, with the signals of its mask blocked. */
static void take(long number) {
  struct action *a = &actions[number - 1], now = *a;
  unsigned long before = blocked;
  pending &= ~bit(number);
  if (now.handler == (void *)1) return;
  if (!now.handler) {
    by_default(number);
    return;
  }
  if (now.flags & (unsigned)SA_RESETHAND) a->handler = 0;
  blocked |= now.mask | (now.flags & SA_NODEFER ? 0 : bit(number));
  if (now.flags & SA_SIGINFO) {
    static int information[32];
    static long context[121];
    information[0] = (int)number;
    information[2] = -6; /* by tkill */
    information[4] = information[5] = 1000;
    ((void (*)(int, int *, long *))now.handler)((int)number, information, context);
  } else {
    ((void (*)(int))now.handler)((int)number);
  }
  blocked = before;
}

/* What is pending and not blocked arrives, the lowest number first. */
static void take_pending(void) {
  while (pending & ~blocked) {
    long number = 1;
    while (!(pending & ~blocked & bit(number))) number++;
    take(number);
  }
}

/* The program sends itself a signal. One that is ignored is lost even if it is blocked. */
static void send_to_self(long number) {
  if (actions[number - 1].handler == (void *)1) return;
  pending |= bit(number);
  if (number == SIGKILL || number == SIGSTOP) by_default(number);
  take_pending();
}

/* `abort`: the signal cannot be blocked, and if its handler returns the program ends anyway. */
void __pleach_abort(void) {
  blocked &= ~bit(SIGABRT);
  if (actions[SIGABRT - 1].handler != (void *)1) send_to_self(SIGABRT);
  __pleach_aborted();
}

static long set_action(long number, const struct action *new, struct action *old) {
  if (number < 1 || number > SIGNALS) return -EINVAL;
  if (new && (number == 9 || number == 19)) return -EINVAL; /* kill and stop cannot be caught */
  struct action was = actions[number - 1];
  if (new) {
    static int said;
    if (new->handler > (void *)1) pleach_assume_once(&said, "no signals come from outside");
    actions[number - 1] = *new;
    if (new->handler == (void *)1) pending &= ~bit(number);
  }
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
  blocked &= ~(bit(SIGKILL) | bit(SIGSTOP));
  if (old) *old = was;
  take_pending();
  return 0;
}

static long set_stack(const struct stack *new, struct stack *old) {
  struct stack was = alternate;
  if (new) alternate = *new;
  if (old) *old = was;
  return 0;
}
