/* What the drivers share: the input as a string of its own. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static inline char *text_of(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  if (!text)
    abort();
  memcpy(text, data, size);
  text[size] = 0;
  return text;
}
