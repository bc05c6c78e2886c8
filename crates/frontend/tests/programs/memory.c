/* Structures, arrays, pointers, bit-fields, unions, copies. */
typedef unsigned long size_t;
void *malloc(size_t);
struct node { struct node *next; int value; char tag[3]; };
struct bits { unsigned a : 3; int b : 5; unsigned c : 12; };
union pun { float f; unsigned u; unsigned char b[4]; };
struct big { int a[10]; double d; };
static int table[3][4] = {{1, 2, 3, 4}, {5, 6}, {7}};
static const char *names[] = {"zero", "one", "two"};
static int *into = &table[1][1];
static struct node last = {0, 42, "xy"}, first = {&last, 7, {1, 2, 3}};
static const char *mid = &"abcdef"[2];
static struct big make(int n) { struct big b = {{0}}; for (int i = 0; i < 10; i++) b.a[i] = n * i; b.d = n; return b; }
static int sum(struct big b) { int r = 0; for (int i = 0; i < 10; i++) r += b.a[i]; b.a[0] = 99; return r + (int)b.d; }
struct pair { int x, y; };
static struct pair mk(int x, int y) { struct pair p = {x, y}; return p; }
static int dot(struct pair a, struct pair b) { return a.x * b.x + a.y * b.y; }
struct vec { float x, y; };
static struct vec addv(struct vec a, struct vec b) { struct vec r = {a.x + b.x, a.y + b.y}; return r; }
static struct node *push(struct node *l, int v) { struct node *n = malloc(sizeof *n); n->next = l; n->value = v; return n; }
static int vla(int n) { int a[n]; for (int i = 0; i < n; i++) a[i] = i * i; { int b[n * 2]; b[n] = a[n - 1]; return b[n]; } }
int main(void) {
  unsigned r = 0;
  struct node *l = 0;
  for (int i = 0; i < 6; i++) l = push(l, i * 3);
  for (struct node *p = l; p; p = p->next) r = r * 31 + p->value;
  for (struct node *p = &first; p; p = p->next) r = r * 31 + p->value + p->tag[1];
  struct bits b = {5, -3, 1000};
  b.c += 77; b.b--; b.a ^= 7;
  r = r * 31 + b.a + b.b * 2 + b.c;
  union pun u; u.f = 1.5f; r = r * 31 + u.u + u.b[3];
  r = r * 31 + *into + into[-1] + table[2][0] + names[2][1] + *mid;
  struct big x = make(3), y = x; y.a[9] = 1;
  r = r * 31 + sum(x) + sum(y) + x.a[0];
  r = r * 31 + dot(mk(3, 4), mk(5, -6));
  struct vec v = addv((struct vec){1, 2}, (struct vec){3.5f, 4.25f});
  r = r * 31 + (int)(v.x * 8 + v.y * 16);
  r = r * 31 + vla(5) + vla(9);
  char buf[16]; __builtin_memset(buf, 3, sizeof buf); __builtin_memcpy(buf + 2, "hello", 6); __builtin_memmove(buf + 1, buf, 8);
  for (int i = 0; i < 16; i++) r = r * 31 + buf[i];
  return (r ^ r >> 8 ^ r >> 16 ^ r >> 24) & 0x7f;
}
