/* Random numbers are any numbers. A series begins anew with its seed: `srand` with a seed that was given before repeats what came then. */
#include "files.h"

enum { SERIES = 8, LENGTH = 64, LARGEST = 0x7fffffff };

/* A fixed series, as with KLEE, where such functions are called natively; else anything. */
static unsigned any(void) {
  static int said;
  static unsigned state = 12345;
  if (!__pleach_any_attributes()) return (unsigned)__pleach_unknown();
  pleach_assume_once(&said, "random numbers are a fixed series");
  state = state * 1103515245 + 12345;
  return state >> 16 | state << 16;
}

struct series {
  unsigned seed;
  int length;
  int numbers[LENGTH];
};
struct generator {
  struct series all[SERIES];
  int count, now, at;
};

static int next(struct generator *g) {
  struct series *s = &g->all[g->now];
  if (!g->count) g->count = 1, s->seed = 1;
  if (g->at < s->length) return s->numbers[g->at++];
  int n = (int)(any() & LARGEST);
  if (s->length < LENGTH && g->at == s->length) s->numbers[s->length++] = n, g->at++;
  return n;
}

static void begin(struct generator *g, unsigned seed) {
  if (!g->count) g->count = 1, g->all[0].seed = 1;
  g->at = 0;
  for (g->now = 0; g->now < g->count; g->now++)
    if (g->all[g->now].seed == seed) return;
  if (g->count < SERIES) {
    g->count++;
  } else {
    g->now--;
  }
  g->all[g->now].seed = seed;
  g->all[g->now].length = 0;
}

static struct generator of_rand, of_random, of_48;

int rand(void) { return next(&of_rand); }
void srand(unsigned seed) { begin(&of_rand, seed); }

/* Where the caller keeps the state, equal states have equal successors. Which of the known ones it is, is decided by
 * arithmetic: nothing forks. */
struct step {
  unsigned long long before, after, result;
};
struct steps {
  struct step all[LENGTH];
  int count;
};

static struct step step(struct steps *known, unsigned long long state) {
  unsigned long long low = any(), high = any();
  struct step new = {state, low | high << 32, any()};
  for (int i = known->count; i-- > 0;) {
    unsigned long long same = -(unsigned long long)(known->all[i].before == state);
    new.after = (new.after & ~same) | (known->all[i].after & same);
    new.result = (new.result & ~same) | (known->all[i].result & same);
  }
  if (known->count < LENGTH) known->all[known->count++] = new;
  return new;
}

static struct steps of_rand_r, of_48_bits;

int rand_r(unsigned *seed) {
  struct step now = step(&of_rand_r, *seed);
  *seed = (unsigned)now.after;
  return (int)(now.result & LARGEST);
}

long random(void) { return next(&of_random); }
void srandom(unsigned seed) { begin(&of_random, seed); }

/* The states of `random` are not distinguished. */
char *initstate(unsigned seed, char *state, size_t size) {
  static char *last;
  char *before = last;
  if (size < 8) return 0;
  last = state;
  begin(&of_random, seed);
  return before;
}
char *setstate(char *state) {
  static char *last;
  char *before = last;
  last = state;
  of_random.count = of_random.now = of_random.at = 0;
  return before;
}

static double fraction(unsigned n) { return n * (1.0 / 2147483648.0); }
static unsigned renew(unsigned short *state) {
  unsigned long long now = state[0] | (unsigned long long)state[1] << 16 | (unsigned long long)state[2] << 32;
  unsigned long long n = step(&of_48_bits, now).after;
  state[0] = (unsigned short)n, state[1] = (unsigned short)(n >> 16), state[2] = (unsigned short)(n >> 32);
  return (unsigned)(n >> 16);
}

double drand48(void) { return fraction((unsigned)next(&of_48)); }
long lrand48(void) { return next(&of_48); }
long mrand48(void) { return (int)((unsigned)next(&of_48) << 1 | (any() & 1)); }
double erand48(unsigned short *state) { return fraction(renew(state) & LARGEST); }
long nrand48(unsigned short *state) { return (long)(renew(state) & LARGEST); }
long jrand48(unsigned short *state) { return (int)renew(state); }
void srand48(long seed) { begin(&of_48, (unsigned)seed); }
void lcong48(unsigned short *p) { begin(&of_48, p[0] | (unsigned)p[1] << 16); }
unsigned short *seed48(unsigned short *seed) {
  static unsigned short before[3];
  begin(&of_48, seed[0] | (unsigned)seed[1] << 16);
  renew(before);
  return before;
}

unsigned arc4random(void) { return any(); }
unsigned arc4random_uniform(unsigned bound) { return (unsigned)((unsigned long long)any() * bound >> 32); }
void arc4random_buf(void *to, size_t n) {
  for (size_t i = 0; i < n; i++) ((char *)to)[i] = (char)any();
}

static long random_bytes(char *to, long n) {
  arc4random_buf(to, (size_t)n);
  return n;
}
