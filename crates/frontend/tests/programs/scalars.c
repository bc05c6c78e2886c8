/* Locals in every pattern that promotion and forwarding touch. */
static int twice(int x) { x = x + x; return x; }
static int swap_loop(int n) {
  int a = 1, b = 2, c = 3;
  while (n-- > 0) { int t = a; a = b; b = c; c = t; }
  return a * 100 + b * 10 + c;
}
static unsigned char wrap(unsigned char c) { c++; c = (unsigned char)(c * 3); return c; }
static int post(int *p) { int i = 0; p[i++] = 4; p[i++] = 5; int k = i++; int j = ++i; return j * k; }
static int chain(int v) { int a, b, c; a = b = c = v; b += a--; c = a = b; return a * 7 + b * 3 + c; }
static long mixed(short s, signed char c, long l) { l += s; l -= c; s = (short)l; return s ^ l; }
static int uninit(int c) { int x; if (c) x = 4; return c ? x : 1; }
static int nested(int n) { int r = 0; for (int i = 0; i < n; i++) for (int j = i; j < n; j++) { if (j == 3) continue; if (i == 5) break; r += i * j; } return r; }
static int sideeffects(int a) { int b = a; b = (a = b + 1, a + b); b += (a += b, a - 1); return a ^ b; }
static int logic(int a, int b) { int r = a && b || !a; r += a ? b ? 1 : 2 : 3; return r; }
int main(void) {
  int p[4] = {0};
  unsigned r = 0;
  r = r * 31 + twice(5);
  for (int i = 0; i < 5; i++) r = r * 31 + swap_loop(i);
  r = r * 31 + wrap(200);
  r = r * 31 + post(p) + p[0] + p[1];
  r = r * 31 + chain(9);
  r = r * 31 + (unsigned)mixed(-300, -5, 123456789L);
  r = r * 31 + uninit(1) + uninit(0);
  r = r * 31 + nested(8);
  r = r * 31 + sideeffects(3);
  for (int i = 0; i < 4; i++) r = r * 31 + logic(i & 1, i >> 1);
  return (r ^ r >> 8 ^ r >> 16 ^ r >> 24) & 0x7f;
}
