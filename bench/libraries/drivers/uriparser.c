#include <uriparser/Uri.h>
#include "text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = text_of(data, size);
  UriUriA uri;
  const char *error;
  if (uriParseSingleUriA(&uri, text, &error) == URI_SUCCESS) {
    char out[256];
    uriNormalizeSyntaxA(&uri);
    uriToStringA(out, &uri, sizeof out, NULL);
    uriFreeUriMembersA(&uri);
  }
  free(text);
  return 0;
}
