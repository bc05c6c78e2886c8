#define JSMN_PARENT_LINKS
#define JSMN_STRICT
#include "jsmn.h"
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  jsmn_parser parser;
  jsmntok_t tokens[16];
  jsmn_init(&parser);
  jsmn_parse(&parser, (const char *)data, size, tokens, 16);
  return 0;
}
