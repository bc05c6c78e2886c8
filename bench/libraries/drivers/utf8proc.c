#include "utf8proc.h"
#include "text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  utf8proc_uint8_t *out = NULL;
  if (size < 1)
    return 0;
  /* the first byte chooses the form */
  int options = data[0] & 1 ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE;
  options |= data[0] & 2 ? UTF8PROC_COMPAT : 0;
  options |= data[0] & 4 ? UTF8PROC_CASEFOLD : 0;
  options |= data[0] & 8 ? UTF8PROC_STRIPMARK : 0;
  options |= data[0] & 16 ? UTF8PROC_NLF2LF | UTF8PROC_STRIPCC : 0;
  options |= data[0] & 32 ? UTF8PROC_CHARBOUND : 0;
  utf8proc_map(data + 1, (utf8proc_ssize_t)size - 1, &out, options | UTF8PROC_STABLE);
  free(out);
  return 0;
}
