/* Two accounts and three transfers: can money appear from nowhere? Yes, when both sides of a transfer are one account.
 *
 *   ./pleach test examples/bank.c
 */
#include <assert.h>
#include <klee/klee.h>

static int balance[2] = {100, 50};

static void transfer(int from, int to, int amount) {
  int before = balance[to];
  if (amount < 0 || amount > balance[from])
    return;
  balance[from] -= amount;
  balance[to] = before + amount;
}

int main(void) {
  int from = klee_range(0, 2, "from"), to = klee_range(0, 2, "to");
  transfer(from, to, klee_int("amount"));
  assert(balance[0] + balance[1] == 150);
  return 0;
}
