// One function of json-c, chosen by API, on a string of unknown size.
#include "json_object.h"
#include "json_pointer.h"
#include "json_tokener.h"
#include "json_util.h"
#include "input.h"

enum { parse, print, integer, real, equal, pointer, boolean, assign };

int main(void) {
  char *s = string("s", "n");
  switch (API) {
  case parse: return json_tokener_parse(s) != NULL;
  case print: return *json_object_to_json_string(json_object_new_string(s));
  case integer: {
    int64_t made;
    return json_parse_int64(s, &made);
  }
  case real: {
    double made;
    return json_parse_double(s, &made);
  }
  case equal: return json_object_equal(json_object_new_string("abcdefghi"), json_object_new_string(s));
  case pointer: {
    struct json_object *found, *o = json_object_new_object();
    json_object_object_add(o, "a", json_object_new_int(1));
    return json_pointer_get(o, s, &found);
  }
  case boolean: return json_object_get_boolean(json_object_new_string(s));
  case assign: {
    struct json_object *o = json_object_new_string("short");
    return json_object_set_string(o, s);
  }
  }
}
