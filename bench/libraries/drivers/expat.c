#include "expat.h"
#include <stddef.h>
#include <stdint.h>

static void XMLCALL on_start(void *user, const XML_Char *name, const XML_Char **attributes) {
  (void)user;
  (void)name;
  (void)attributes;
}
static void XMLCALL on_end(void *user, const XML_Char *name) {
  (void)user;
  (void)name;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  XML_Parser parser = XML_ParserCreate(NULL);
  if (!parser)
    return 0;
  /* the hash of names is salted by the clock otherwise */
  XML_SetHashSalt(parser, 1);
  XML_SetElementHandler(parser, on_start, on_end);
  XML_Parse(parser, (const char *)data, (int)size, 1);
  XML_ParserFree(parser);
  return 0;
}
