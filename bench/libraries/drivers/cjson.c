#include "cJSON.h"
#include "text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  cJSON *json = cJSON_ParseWithLength((const char *)data, size);
  if (json) {
    char *printed = cJSON_PrintUnformatted(json);
    cJSON_free(printed);
    cJSON_Delete(json);
  }
  return 0;
}
