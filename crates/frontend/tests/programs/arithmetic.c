/* Widths, signs, overflow builtins, floats, 128 bits, atomics, vectors. */
typedef int v4 __attribute__((vector_size(16)));
typedef unsigned __int128 u128;
static u128 wide(unsigned long a, unsigned long b) { u128 x = (u128)a * b; x += (u128)1 << 100; return x ^ ((u128)0x123456789abcdefUL << 64 | 5); }
static int lanes(v4 a, int i) { v4 b = {1, 2, 3, 4}; v4 c = a * b + (a > b); c[i] = 9; b = __builtin_shufflevector(c, a, 3, 4, 1, 6); return b[0] + 3 * b[1] + 5 * b[2] + 7 * b[3] + c[i ^ 1]; }
static int flags(int a, int b) { int r; unsigned u; long l; int o = __builtin_add_overflow(a, b, &r); o = o * 2 + __builtin_mul_overflow((unsigned)a, (unsigned)b, &u); o = o * 2 + __builtin_sub_overflow((long)a, (long)b, &l); return o * 7 + r % 5 + u % 3 + l % 11; }
static _Bool truth(double d) { return d; }
static int atomics(int *p) { int r = __atomic_fetch_add(p, 5, 5); r += __atomic_exchange_n(p, 3, 5) * 2; int e = 3; r += __atomic_compare_exchange_n(p, &e, 8, 0, 5, 5); e = 1; r += __atomic_compare_exchange_n(p, &e, 9, 0, 5, 5) + e; r += __sync_fetch_and_nand(p, 6); __sync_synchronize(); return r + *p; }
int main(void) {
  unsigned r = 0;
  u128 w = wide(0xdeadbeefcafebabeUL, 0x123456789UL);
  r = r * 31 + (unsigned)w + (unsigned)(w >> 70) + (unsigned)(w / 12345) + (unsigned)(w % 1000007);
  r = r * 31 + lanes((v4){5, 1, -2, 8}, 2);
  r = r * 31 + flags(2000000000, 2000000000) + flags(-7, 3);
  float f = 0.1f; double d = f; long double unused; (void)unused;
  for (int i = 0; i < 10; i++) { f = f * 1.5f + i; d = d / 3 - f; }
  r = r * 31 + (int)f + (int)(d * 100) + truth(0.25) + truth(0) + (unsigned char)(int)-d + (f > d) + (d != d) + !(d < f);
  r = r * 31 + (unsigned)(unsigned long)(f * 1e3f) + (int)__builtin_fabs(-2.5) + (int)__builtin_sqrt(50.0) + (int)__builtin_floor(-1.5);
  int cell = 10; r = r * 31 + atomics(&cell);
  int s = -17; unsigned u = 17;
  r = r * 31 + s / 4 + s % 4 + (s >> 2) + (u >> 2) + (s << 3) + (short)(s * 5000) + (signed char)(u * 9) + (s < (int)u) + ((unsigned)s < u);
  r = r * 31 + __builtin_popcount(0xf0f0) + __builtin_clz(77) + __builtin_ctzl(96) + __builtin_bswap32(0x01020304u) + (r << 7 | r >> 25);
  asm volatile("" ::: "memory"); asm("" : "+r"(r));
  return (r ^ r >> 8 ^ r >> 16 ^ r >> 24) & 0x7f;
}
