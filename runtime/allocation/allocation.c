/* Allocations that may fail (`--malloc-may-fail`). The program's own calls of the functions below come here, in the
   engine as in a native run: the names are those of `ld --wrap`. An input decides each time whether there is memory. */

typedef __SIZE_TYPE__ size_t;

enum { NO_MEMORY = 12 /* ENOMEM */ };

int klee_range(int begin, int end, const char *name);
int *__errno_location(void);
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__real_aligned_alloc(size_t align, size_t size);
void *__real_memalign(size_t align, size_t size);
int __real_posix_memalign(void **to, size_t align, size_t size);

static int fails(void) { return klee_range(0, 2, "allocation_fails"); }

static void *none(void) {
  *__errno_location() = NO_MEMORY;
  return 0;
}

void *__wrap_malloc(size_t size) { return fails() ? none() : __real_malloc(size); }

void *__wrap_calloc(size_t count, size_t size) { return fails() ? none() : __real_calloc(count, size); }

/* To no bytes: that frees the block. */
void *__wrap_realloc(void *block, size_t size) {
  return size != 0 && fails() ? none() : __real_realloc(block, size);
}

void *__wrap_reallocarray(void *block, size_t count, size_t size) {
  size_t bytes;
  return __builtin_mul_overflow(count, size, &bytes) ? none() : __wrap_realloc(block, bytes);
}

void *__wrap_aligned_alloc(size_t align, size_t size) { return fails() ? none() : __real_aligned_alloc(align, size); }

void *__wrap_memalign(size_t align, size_t size) { return fails() ? none() : __real_memalign(align, size); }

int __wrap_posix_memalign(void **to, size_t align, size_t size) {
  return fails() ? NO_MEMORY : __real_posix_memalign(to, align, size);
}

char *__wrap_strndup(const char *text, size_t most) {
  size_t length = 0;
  while (length < most && text[length]) length++;
  char *copy = __wrap_malloc(length + 1);
  if (!copy) return 0;
  for (size_t i = 0; i < length; i++) copy[i] = text[i];
  copy[length] = 0;
  return copy;
}

char *__wrap_strdup(const char *text) { return __wrap_strndup(text, (size_t)-1); }
