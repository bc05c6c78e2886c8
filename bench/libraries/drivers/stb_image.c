#define STB_IMAGE_IMPLEMENTATION
#define STBI_NO_STDIO
#define STBI_NO_SIMD
#define STBI_NO_THREAD_LOCALS
#define STBI_MAX_DIMENSIONS 64
#include "stb_image.h"
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  int width, height, channels;
  unsigned char *image = stbi_load_from_memory(data, (int)size, &width, &height, &channels, 4);
  stbi_image_free(image);
  return 0;
}
