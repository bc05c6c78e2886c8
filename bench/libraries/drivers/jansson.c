#include "jansson.h"
#include "text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  json_error_t error;
  json_t *json = json_loadb((const char *)data, size, JSON_DECODE_ANY, &error);
  if (json) {
    free(json_dumps(json, JSON_ENCODE_ANY));
    json_decref(json);
  }
  return 0;
}
