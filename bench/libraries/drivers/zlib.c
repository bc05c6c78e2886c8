#include "zlib.h"
#include <stddef.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  unsigned char out[256];
  z_stream z;
  memset(&z, 0, sizeof z);
  /* zlib or gzip, by the header */
  if (inflateInit2(&z, 15 + 32) != Z_OK)
    return 0;
  z.next_in = (unsigned char *)data;
  z.avail_in = (unsigned)size;
  z.next_out = out;
  z.avail_out = sizeof out;
  inflate(&z, Z_FINISH);
  inflateEnd(&z);
  return 0;
}
