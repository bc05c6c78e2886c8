// Backward §5: counts for each node of a list how many nodes refer to it. The assertion fails for a node whose
// in-degree is greater than its index and than A. Refutable within B iterations iff A + 2 <= B, in both readings: nodes
// do not refer to themselves (the print), or they may and the index itself has to be greater than A (SELF).
#include <assert.h>
#ifndef A
#define A 1
#endif
struct node {
  struct node *next;
  struct node *ref;
};

void degree(struct node *list) {
  int index = 0;
  for (struct node *n = list; n; n = n->next) {
    int in = 0;
    for (struct node *m = list; m; m = m->next) {
#ifdef SELF
      if (m->ref == n)
        in++;
#else
      if (m->ref == n && m != n)
        in++;
#endif
    }
#ifdef SELF
    assert(!(index > A && in > index));
#else
    assert(!(in > A && in > index));
#endif
    index++;
  }
}
