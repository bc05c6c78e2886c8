/* Switches, computed goto, recursion, function pointers, constructors, variadic functions. */
#include <stdarg.h>
static int order;
__attribute__((constructor(102))) static void second(void) { order = order * 10 + 2; }
__attribute__((constructor(101))) static void one(void) { order = order * 10 + 1; }
static int cls(unsigned c) { switch (c) { case 0: return 9; case 1: case 2: case 3: c += 4; case 17: c++; break; case 0xffffffffu: return 1; default: c = 5; } return c; }
static long wide(long long v) { switch (v) { case 1LL << 40: return 1; case -1: return 2; default: return 3; } }
static int run(const int *code) {
  static void *ops[] = {&&push, &&add, &&mul, &&halt};
  int stack[8], sp = 0;
  goto *ops[*code++];
push: stack[sp++] = *code++; goto *ops[*code++];
add: sp--; stack[sp - 1] += stack[sp]; goto *ops[*code++];
mul: sp--; stack[sp - 1] *= stack[sp]; goto *ops[*code++];
halt: return stack[0];
}
static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
static int sumv(int n, ...) { va_list a, b; va_start(a, n); va_copy(b, a); int r = 0; for (int i = 0; i < n; i++) r += va_arg(a, int); r = r * 10 + va_arg(b, int); va_end(a); va_end(b); return r; }
static int mixv(const char *f, ...) { va_list a; va_start(a, f); int r = 0; for (; *f; f++) r = r * 3 + (*f == 'i' ? va_arg(a, int) : *f == 'l' ? (int)va_arg(a, long) : (int)va_arg(a, double)); va_end(a); return r; }
static int inc(int x) { return x + 1; }
static int dbl(int x) { return x * 2; }
static int (*const fns[])(int) = {inc, dbl, fib};
static int aliased(int x) { return x * 11; }
static int other_name(int x) __attribute__((alias("aliased")));
int main(void) {
  unsigned r = order;
  for (unsigned i = 0; i < 20; i++) r = r * 31 + cls(i);
  r = r * 31 + cls(-1) + wide(1LL << 40) + wide(-1) + wide(7);
  int code[] = {0, 3, 0, 4, 1, 0, 5, 2, 3};
  r = r * 31 + run(code);
  r = r * 31 + sumv(3, 4, 5, 6) + mixv("ildi", 3, 4L, 5.5, 6);
  for (int i = 0; i < 3; i++) r = r * 31 + fns[i](10);
  r = r * 31 + other_name(3);
  int i = 0, n = 0;
  do { if (i % 3 == 0) goto skip; n += i; skip: i++; } while (i < 10);
  r = r * 31 + n;
  return (r ^ r >> 8 ^ r >> 16 ^ r >> 24) & 0x7f;
}
