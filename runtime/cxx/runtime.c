/* What compiled C++ needs from its runtime library, as the Itanium ABI lays it down: memory, guards of static variables, casts, exceptions.
 * The engine compiles this for its own use and links it with programs that need it; unwinding itself is the engine's. */
typedef __SIZE_TYPE__ size_t;
typedef __INTPTR_TYPE__ word;

void *malloc(size_t);
void *calloc(size_t, size_t);
void *aligned_alloc(size_t, size_t);
void free(void *);
void abort(void) __attribute__((noreturn));
void klee_report_error(const char *, int, const char *, const char *) __attribute__((noreturn));
/* Goes on in the nearest caller that has a landing pad; ends the path as `abort` does if there is none. */
void __pleach_unwind(void) __attribute__((noreturn));
void __pleach_resume(void) __attribute__((noreturn));

/* ---- memory ---- */
static void *make(size_t n) { return malloc(n ? n : 1); }
void *_Znwm(size_t n) { return make(n); }
void *_Znam(size_t n) { return make(n); }
void *_Znwj(size_t n) { return make(n); }
void *_Znaj(size_t n) { return make(n); }
void *_ZnwmRKSt9nothrow_t(size_t n, const void *t) { return (void)t, make(n); }
void *_ZnamRKSt9nothrow_t(size_t n, const void *t) { return (void)t, make(n); }
void *_ZnwmSt11align_val_t(size_t n, size_t align) { return aligned_alloc(align, (n + align - 1) / align * align); }
void *_ZnamSt11align_val_t(size_t n, size_t align) { return _ZnwmSt11align_val_t(n, align); }
void _ZdlPv(void *p) { free(p); }
void _ZdaPv(void *p) { free(p); }
void _ZdlPvm(void *p, size_t n) { (void)n, free(p); }
void _ZdaPvm(void *p, size_t n) { (void)n, free(p); }
void _ZdlPvj(void *p, size_t n) { (void)n, free(p); }
void _ZdaPvj(void *p, size_t n) { (void)n, free(p); }
void _ZdlPvRKSt9nothrow_t(void *p, const void *t) { (void)t, free(p); }
void _ZdaPvRKSt9nothrow_t(void *p, const void *t) { (void)t, free(p); }
void _ZdlPvSt11align_val_t(void *p, size_t a) { (void)a, free(p); }
void _ZdaPvSt11align_val_t(void *p, size_t a) { (void)a, free(p); }
void _ZdlPvmSt11align_val_t(void *p, size_t n, size_t a) { (void)n, (void)a, free(p); }
void _ZdaPvmSt11align_val_t(void *p, size_t n, size_t a) { (void)n, (void)a, free(p); }
const char _ZSt7nothrow = 0;

/* ---- static variables of functions, and what never happens ---- */
int __cxa_guard_acquire(char *guard) { return !*guard; }
void __cxa_guard_release(char *guard) { *guard = 1; }
void __cxa_guard_abort(char *guard) { (void)guard; }
void *__dso_handle = 0;
static void fail(const char *why) { klee_report_error("C++ runtime", 0, why, "cxx.err"); }
void __cxa_pure_virtual(void) { fail("a pure virtual function is called"); }
void __cxa_deleted_virtual(void) { fail("a deleted virtual function is called"); }
void _ZSt9terminatev(void) { abort(); }
int __gxx_personality_v0(void) { return 0; }

/* ---- types ---- */
struct type { void **table; const char *name; };
struct single { struct type type; const struct type *base; };
struct several {
  struct type type;
  unsigned flags, count;
  struct { const struct type *type; word offset_and_flags; } bases[];
};
struct pointer { struct type type; unsigned flags; const struct type *to; };

/* The tables' addresses distinguish the kinds of types; an object points behind the first two entries. */
#define TABLE(name) void *name[8]
TABLE(_ZTVN10__cxxabiv123__fundamental_type_infoE);
TABLE(_ZTVN10__cxxabiv117__class_type_infoE);
TABLE(_ZTVN10__cxxabiv120__si_class_type_infoE);
TABLE(_ZTVN10__cxxabiv121__vmi_class_type_infoE);
TABLE(_ZTVN10__cxxabiv119__pointer_type_infoE);
TABLE(_ZTVN10__cxxabiv116__enum_type_infoE);
TABLE(_ZTVN10__cxxabiv117__array_type_infoE);
TABLE(_ZTVN10__cxxabiv120__function_type_infoE);
TABLE(_ZTVN10__cxxabiv129__pointer_to_member_type_infoE);

#define BASIC(code)                                                                                                      \
  static const char name_##code[] = #code;                                                                               \
  struct type _ZTI##code = {&_ZTVN10__cxxabiv123__fundamental_type_infoE[2], name_##code}
#define BASIC_POINTERS(code)                                                                                             \
  static const char name_P##code[] = "P" #code, name_PK##code[] = "PK" #code;                                            \
  struct pointer _ZTIP##code = {{&_ZTVN10__cxxabiv119__pointer_type_infoE[2], name_P##code}, 0, &_ZTI##code};            \
  struct pointer _ZTIPK##code = {{&_ZTVN10__cxxabiv119__pointer_type_infoE[2], name_PK##code}, 1, &_ZTI##code}
#define BOTH(code) BASIC(code); BASIC_POINTERS(code)
BOTH(v); BOTH(b); BOTH(c); BOTH(a); BOTH(h); BOTH(s); BOTH(t); BOTH(i); BOTH(j); BOTH(l); BOTH(m); BOTH(x); BOTH(y); BOTH(f); BOTH(d); BOTH(e); BOTH(w);
BASIC(Dn); BASIC(n); BASIC(o);

static int same(const struct type *a, const struct type *b) {
  if (a == b) return 1;
  const char *p = a->name, *q = b->name;
  if (p == q) return 1;
  if (*p == '*' || *q == '*') return 0;
  while (*p && *p == *q) p++, q++;
  return *p == *q;
}

static int is(const struct type *t, void **table) { return t->table == table + 2; }

/* The part of type `to` in the object of type `from`; `object` may be null when only the types matter. */
static int upcast(const struct type *from, const struct type *to, char **object) {
  if (same(from, to)) return 1;
  if (is(from, _ZTVN10__cxxabiv120__si_class_type_infoE)) return upcast(((const struct single *)from)->base, to, object);
  if (!is(from, _ZTVN10__cxxabiv121__vmi_class_type_infoE)) return 0;
  const struct several *s = (const struct several *)from;
  for (unsigned i = 0; i < s->count; i++) {
    word flags = s->bases[i].offset_and_flags, offset = flags >> 8;
    if (!(flags & 2)) continue; /* not public */
    char *part = *object;
    /* The offset of a virtual base is in the object's table. */
    if (part) part += flags & 1 ? *(word *)(*(char **)part + offset) : offset;
    if (upcast(s->bases[i].type, to, &part)) {
      *object = part;
      return 1;
    }
  }
  return 0;
}

void *__dynamic_cast(char *object, const struct type *from, const struct type *to, word hint) {
  (void)from, (void)hint;
  word *table = *(word **)object;
  char *whole = object + table[-2];
  return upcast((const struct type *)table[-1], to, &whole) ? whole : 0;
}

/* ---- exceptions ---- */
struct exception {
  _Alignas(16) const struct type *type; /* what is thrown lies behind */
  void (*destroy)(void *);
  char *object; /* the part that the handler takes */
  struct exception *below;
  int handlers, rethrown;
  word fill[2];
};
static struct exception *flying, *caught;
static int uncaught;

void *__cxa_allocate_exception(size_t n) { return (struct exception *)calloc(1, sizeof(struct exception) + n) + 1; }
void __cxa_free_exception(void *o) { free((struct exception *)o - 1); }
void *__cxa_current_exception_type(void) { return caught ? (void *)caught->type : 0; }
int __cxa_uncaught_exceptions(void) { return uncaught; }
int _ZSt19uncaught_exceptionsv(void) { return uncaught; }
_Bool _ZSt18uncaught_exceptionv(void) { return uncaught != 0; }

void __cxa_throw(void *o, const struct type *type, void (*destroy)(void *)) {
  struct exception *e = (struct exception *)o - 1;
  e->type = type;
  e->destroy = destroy;
  flying = e;
  uncaught++;
  __pleach_unwind();
}

/* What a landing pad gets. */
void *__pleach_flying(void) { return flying + 1; }

/* Whether a handler for `type` (null: any) takes the exception, unless one before it did. */
int __pleach_catches(const struct type *type, int taken) {
  struct exception *e = flying;
  if (taken) return 0;
  e->object = (char *)(e + 1);
  if (!type || same(e->type, type)) {
    if (is(e->type, _ZTVN10__cxxabiv119__pointer_type_infoE)) e->object = *(char **)e->object;
    return 1;
  }
  if (is(type, _ZTVN10__cxxabiv119__pointer_type_infoE) && is(e->type, _ZTVN10__cxxabiv119__pointer_type_infoE)) {
    const struct pointer *want = (const struct pointer *)type, *have = (const struct pointer *)e->type;
    char *to = *(char **)e->object;
    if (have->flags & ~want->flags & 7) return 0; /* would lose const */
    if (!same(want->to, &_ZTIv) && !upcast(have->to, want->to, &to)) return 0;
    e->object = to;
    return 1;
  }
  char *part = e->object;
  if (!upcast(e->type, type, &part)) return 0;
  e->object = part;
  return 1;
}

void *__cxa_get_exception_ptr(void *o) { return ((struct exception *)o - 1)->object; }

void *__cxa_begin_catch(void *o) {
  struct exception *e = (struct exception *)o - 1;
  uncaught--;
  e->rethrown = 0;
  e->handlers++;
  if (caught != e) e->below = caught, caught = e;
  return e->object;
}

void __cxa_end_catch(void) {
  struct exception *e = caught;
  if (!e || --e->handlers) return;
  caught = e->below;
  if (e->rethrown) return;
  if (e->destroy) e->destroy(e + 1);
  free(e);
}

void __cxa_rethrow(void) {
  if (!caught) abort();
  flying = caught;
  caught->rethrown = 1;
  uncaught++;
  __pleach_unwind();
}

void _Unwind_Resume(void *o) {
  flying = (struct exception *)o - 1;
  __pleach_resume();
}

#include "library.c"
