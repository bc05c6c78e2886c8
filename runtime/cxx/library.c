/* The parts of the C++ library that are in its object code and that its headers use: exceptions it throws, the nodes of lists and
 * trees, sizes of hash tables. Included by runtime.c. Names and layouts are those of GNU's library. */

/* ---- std::exception and its children: a table, and a text of their own for those that have one ---- */
struct std_exception { void **table; char *text; };

static char *copied(const char *s) {
  size_t n = 0;
  while (s[n]) n++;
  char *to = malloc(n + 1);
  for (size_t i = 0; i <= n; i++) to[i] = s[i];
  return to;
}
static void destroy_plain(void *e) { (void)e; }
static void destroy_text(void *e) { free(((struct std_exception *)e)->text); }
static void delete_plain(void *e) { free(e); }
static void delete_text(void *e) { destroy_text(e), free(e); }
static const char *what_text(void *e) { return ((struct std_exception *)e)->text; }

/* A class without a text of its own, named `mangled`; `what` is its name. */
#define PLAIN(mangled, base, shown)                                                                                      \
  static const char name_##mangled[] = #mangled;                                                                         \
  struct single _ZTI##mangled = {{&_ZTVN10__cxxabiv120__si_class_type_infoE[2], name_##mangled}, (struct type *)base};   \
  static const char *what_##mangled(void *e) { return (void)e, shown; }                                                  \
  void *_ZTV##mangled[5] = {0, &_ZTI##mangled, (void *)destroy_plain, (void *)delete_plain, (void *)what_##mangled};

static const char name_St9exception[] = "St9exception";
struct type _ZTISt9exception = {&_ZTVN10__cxxabiv117__class_type_infoE[2], name_St9exception};
const char *_ZNKSt9exception4whatEv(void *e) { return (void)e, "std::exception"; }
void _ZNSt9exceptionD0Ev(void *e) { free(e); }
void _ZNSt9exceptionD1Ev(void *e) { (void)e; }
void _ZNSt9exceptionD2Ev(void *e) { (void)e; }
void *_ZTVSt9exception[5] = {0, &_ZTISt9exception, (void *)destroy_plain, (void *)delete_plain, (void *)_ZNKSt9exception4whatEv};

PLAIN(St9bad_alloc, &_ZTISt9exception, "std::bad_alloc")
PLAIN(St20bad_array_new_length, &_ZTISt9bad_alloc, "std::bad_array_new_length")
PLAIN(St8bad_cast, &_ZTISt9exception, "std::bad_cast")
PLAIN(St10bad_typeid, &_ZTISt9exception, "std::bad_typeid")
PLAIN(St17bad_function_call, &_ZTISt9exception, "bad_function_call")
void _ZNSt9bad_allocD2Ev(void *e) { (void)e; }
void _ZNSt9bad_allocD1Ev(void *e) { (void)e; }
void _ZNSt20bad_array_new_lengthD1Ev(void *e) { (void)e; }
void _ZNSt8bad_castD2Ev(void *e) { (void)e; }

/* A class with a text: constructors from characters, from a string (whose first word points to its characters) and from its like. */
#define TEXT(mangled, base)                                                                                              \
  static const char name_##mangled[] = #mangled;                                                                         \
  struct single _ZTI##mangled = {{&_ZTVN10__cxxabiv120__si_class_type_infoE[2], name_##mangled}, (struct type *)base};   \
  void *_ZTV##mangled[5] = {0, &_ZTI##mangled, (void *)destroy_text, (void *)delete_text, (void *)what_text};            \
  static void set_##mangled(struct std_exception *e, const char *s) { e->table = _ZTV##mangled + 2, e->text = copied(s); } \
  void _ZN##mangled##C1EPKc(struct std_exception *e, const char *s) { set_##mangled(e, s); }                             \
  void _ZN##mangled##C2EPKc(struct std_exception *e, const char *s) { set_##mangled(e, s); }                             \
  void _ZN##mangled##C1ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE(struct std_exception *e, char **s) { set_##mangled(e, *s); } \
  void _ZN##mangled##C2ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE(struct std_exception *e, char **s) { set_##mangled(e, *s); } \
  void _ZN##mangled##C1ERKS_(struct std_exception *e, struct std_exception *o) { set_##mangled(e, o->text); }            \
  void _ZN##mangled##C2ERKS_(struct std_exception *e, struct std_exception *o) { set_##mangled(e, o->text); }            \
  void _ZN##mangled##D1Ev(void *e) { destroy_text(e); }                                                                  \
  void _ZN##mangled##D2Ev(void *e) { destroy_text(e); }                                                                  \
  void _ZN##mangled##D0Ev(void *e) { delete_text(e); }

TEXT(St11logic_error, &_ZTISt9exception)
TEXT(St12domain_error, &_ZTISt11logic_error)
TEXT(St16invalid_argument, &_ZTISt11logic_error)
TEXT(St12length_error, &_ZTISt11logic_error)
TEXT(St12out_of_range, &_ZTISt11logic_error)
TEXT(St13runtime_error, &_ZTISt9exception)
TEXT(St11range_error, &_ZTISt13runtime_error)
TEXT(St14overflow_error, &_ZTISt13runtime_error)
TEXT(St15underflow_error, &_ZTISt13runtime_error)
const char *_ZNKSt11logic_error4whatEv(void *e) { return what_text(e); }
const char *_ZNKSt13runtime_error4whatEv(void *e) { return what_text(e); }

static void throw_plain(void *type, void **table) {
  struct std_exception *e = __cxa_allocate_exception(sizeof e->table);
  e->table = table + 2;
  __cxa_throw(e, type, destroy_plain);
}
#define THROW_TEXT(function, mangled)                                                                                    \
  void function(const char *s) {                                                                                         \
    struct std_exception *e = __cxa_allocate_exception(sizeof *e);                                                       \
    set_##mangled(e, s);                                                                                                 \
    __cxa_throw(e, &_ZTI##mangled.type, destroy_text);                                                                   \
  }
#define THROW_PLAIN(function, mangled) void function(void) { throw_plain(&_ZTI##mangled, _ZTV##mangled); }
THROW_PLAIN(_ZSt17__throw_bad_allocv, St9bad_alloc)
THROW_PLAIN(_ZSt28__throw_bad_array_new_lengthv, St20bad_array_new_length)
THROW_PLAIN(_ZSt16__throw_bad_castv, St8bad_cast)
THROW_PLAIN(_ZSt18__throw_bad_typeidv, St10bad_typeid)
THROW_PLAIN(_ZSt25__throw_bad_function_callv, St17bad_function_call)
THROW_PLAIN(__cxa_bad_cast, St8bad_cast)
THROW_PLAIN(__cxa_bad_typeid, St10bad_typeid)
THROW_PLAIN(__cxa_throw_bad_array_new_length, St20bad_array_new_length)
THROW_TEXT(_ZSt19__throw_logic_errorPKc, St11logic_error)
THROW_TEXT(_ZSt20__throw_domain_errorPKc, St12domain_error)
THROW_TEXT(_ZSt24__throw_invalid_argumentPKc, St16invalid_argument)
THROW_TEXT(_ZSt20__throw_length_errorPKc, St12length_error)
THROW_TEXT(_ZSt20__throw_out_of_rangePKc, St12out_of_range)
THROW_TEXT(_ZSt21__throw_runtime_errorPKc, St13runtime_error)
THROW_TEXT(_ZSt19__throw_range_errorPKc, St11range_error)
THROW_TEXT(_ZSt22__throw_overflow_errorPKc, St14overflow_error)
/* The format is given as it is, without its numbers. */
void _ZSt24__throw_out_of_range_fmtPKcz(const char *s, ...) { _ZSt20__throw_out_of_rangePKc(s); }
_Bool _ZNKSt9type_infoeqERKS_(const struct type *a, const struct type *b) { return same(a, b); }
_Bool _ZNKSt9type_info6beforeERKS_(const struct type *a, const struct type *b) { return a->name < b->name; }

/* ---- lists ---- */
struct node { struct node *next, *previous; };
void _ZNSt8__detail15_List_node_base7_M_hookEPS0_(struct node *n, struct node *at) {
  n->next = at;
  n->previous = at->previous;
  at->previous->next = n;
  at->previous = n;
}
void _ZNSt8__detail15_List_node_base9_M_unhookEv(struct node *n) {
  n->next->previous = n->previous;
  n->previous->next = n->next;
}
void _ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_(struct node *at, struct node *first, struct node *last) {
  if (at == last) return;
  struct node *before = at->previous, *tail = last->previous;
  first->previous->next = last;
  last->previous = first->previous;
  before->next = first;
  first->previous = before;
  tail->next = at;
  at->previous = tail;
}

/* ---- trees: in order, and not balanced; nothing but time depends on that. The header's children are the first and last node. ---- */
struct tree { int black; struct tree *parent, *left, *right; };
struct tree *_ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base(struct tree *n) {
  if (n->right) {
    for (n = n->right; n->left; n = n->left) {}
    return n;
  }
  struct tree *p = n->parent;
  while (n == p->right) n = p, p = p->parent;
  return n->right != p ? p : n;
}
struct tree *_ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base(struct tree *n) {
  if (!n->black && n->parent && n->parent->parent == n) return n->right; /* the header, alone not black */
  if (n->left) {
    for (n = n->left; n->right; n = n->right) {}
    return n;
  }
  struct tree *p = n->parent;
  while (n == p->left) n = p, p = p->parent;
  return p;
}
const struct tree *_ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base(struct tree *n) { return _ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base(n); }
const struct tree *_ZSt18_Rb_tree_decrementPKSt18_Rb_tree_node_base(struct tree *n) { return _ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base(n); }

void _ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_(_Bool left, struct tree *n, struct tree *parent, struct tree *header) {
  n->parent = parent;
  n->left = n->right = 0;
  n->black = 1;
  if (left) {
    parent->left = n; /* also the header's first node when the tree is empty */
    if (parent == header) header->parent = header->right = n;
    else if (parent == header->left) header->left = n;
  } else {
    parent->right = n;
    if (parent == header->right) header->right = n;
  }
}

static void put(struct tree *n, struct tree *in_place_of, struct tree *header) {
  struct tree *p = in_place_of->parent;
  if (header->parent == in_place_of) header->parent = n;
  else if (p->left == in_place_of) p->left = n;
  else p->right = n;
  if (n) n->parent = p;
}
struct tree *_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_(struct tree *n, struct tree *header) {
  struct tree *next = _ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base(n);
  struct tree *before = n == header->left ? header : _ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base(n);
  if (header->left == n) header->left = next;
  if (header->right == n) header->right = before;
  if (n->left && n->right) {
    struct tree *s = n->right;
    while (s->left) s = s->left;
    if (s != n->right) {
      put(s->right, s, header);
      s->right = n->right;
      s->right->parent = s;
    }
    put(s, n, header);
    s->left = n->left;
    s->left->parent = s;
  } else {
    put(n->left ? n->left : n->right, n, header);
  }
  return n;
}

/* ---- hash tables ---- */
struct policy { float most; size_t next; };
struct need { _Bool rehash; size_t buckets; };
size_t _ZNKSt8__detail20_Prime_rehash_policy11_M_next_bktEm(struct policy *p, size_t n) {
  size_t k = 1;
  while (k < n) k = 2 * k + 1;
  p->next = (size_t)((float)k * p->most);
  return k;
}
struct need _ZNKSt8__detail20_Prime_rehash_policy14_M_need_rehashEmmm(struct policy *p, size_t buckets, size_t used, size_t more) {
  struct need r = {0, 0};
  if (used + more <= p->next && buckets > 1) return r;
  size_t least = (size_t)((float)(used + more) / p->most) + 1;
  if (least < 11) least = 11;
  if (least < buckets) {
    p->next = (size_t)((float)buckets * p->most);
    return r;
  }
  r.rehash = 1;
  r.buckets = _ZNKSt8__detail20_Prime_rehash_policy11_M_next_bktEm(p, least < 2 * buckets ? 2 * buckets : least);
  return r;
}
size_t _ZSt11_Hash_bytesPKvmm(const unsigned char *p, size_t n, size_t seed) {
  for (size_t i = 0; i < n; i++) seed = (seed ^ p[i]) * (size_t)1099511628211ul;
  return seed;
}
