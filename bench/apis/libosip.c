// One function of libosip's parser, chosen by API, on a string of unknown size.
#include <osipparser2/osip_parser.h>
#include <osipparser2/osip_port.h>
#include <osipparser2/sdp_message.h>
#include "input.h"

#define PARSE(type)                                   \
  do {                                                \
    osip_##type##_t *made;                            \
    if (osip_##type##_init(&made)) return 1;          \
    osip_##type##_parse(made, string("s", "n"));      \
    osip_##type##_free(made);                         \
  } while (0)

enum { via, uri, uri_headers, uri_params, call_id, cseq, content_type, from, content_length, contact, content_disposition, authorization, message, sdp_to_str };

int main(void) {
  switch (API) {
  case via: PARSE(via); break;
  case uri: PARSE(uri); break;
  case call_id: PARSE(call_id); break;
  case cseq: PARSE(cseq); break;
  case content_type: PARSE(content_type); break;
  case from: PARSE(from); break;
  case content_length: PARSE(content_length); break;
  case contact: PARSE(contact); break;
  case content_disposition: PARSE(content_disposition); break;
  case authorization: PARSE(authorization); break;
  case message: {
    osip_message_t *made;
    size_t n;
    char *text = (char *)block(&n, "s", "n");
    text[n - 1] = 0;
    if (parser_init() || osip_message_init(&made)) return 1;
    osip_message_parse(made, text, n);
    osip_message_free(made);
    break;
  }
  case sdp_to_str: {
    sdp_message_t *made;
    char *text;
    if (sdp_message_init(&made)) return 1;
    made->v_version = string("version", "n");
    sdp_message_o_origin_set(made, osip_strdup("u"), osip_strdup("1"), osip_strdup("2"), osip_strdup("IN"), osip_strdup("IP4"), osip_strdup("a"));
    made->s_name = string("name", "m");
    made->u_uri = string("uri", "k");
    if (!sdp_message_to_str(made, &text)) osip_free(text);
    sdp_message_free(made);
    break;
  }
  case uri_headers:
  case uri_params: {
    osip_uri_t *made;
    if (osip_uri_init(&made)) return 1;
    if (API == uri_headers)
      osip_uri_parse_headers(made, string("s", "n"));
    else
      osip_uri_parse_params(made, string("s", "n"));
    osip_uri_free(made);
  }
  }
  return 0;
}
