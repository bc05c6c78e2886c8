#include "lz4.h"
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char out[256], packed[LZ4_COMPRESSBOUND(64)];
  int n = LZ4_decompress_safe((const char *)data, out, (int)size, sizeof out);
  if (n > 0 && n <= 64)
    LZ4_compress_default(out, packed, n, sizeof packed);
  return 0;
}
