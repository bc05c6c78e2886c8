#include "ini.h"
#include "text.h"

static int handle(void *user, const char *section, const char *name, const char *value) {
  (void)user;
  return section[0] != 'x' && name[0] != 'x' && value[0] != 'x';
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = text_of(data, size);
  ini_parse_string(text, handle, NULL);
  free(text);
  return 0;
}
