#define MINIZ_NO_STDIO
#define MINIZ_NO_TIME
#include "miniz.h"
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  unsigned char out[256];
  tinfl_decompress_mem_to_mem(out, sizeof out, data, size, TINFL_FLAG_PARSE_ZLIB_HEADER);
  tinfl_decompress_mem_to_mem(out, sizeof out, data, size, 0);
  return 0;
}
