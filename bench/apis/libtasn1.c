// One function of libtasn1's coding and decoding, chosen by API, on a block of unknown size.
#include <libtasn1.h>
#include "input.h"

enum { length_der, length_ber, tag_der, octet_der, bit_der, object_id_der, simple_decode, simple_encode, octet_encode, bit_encode };

int main(void) {
  size_t n;
  unsigned char *der = block(&n, "der", "n"), class, out[N + 8];
  int length = 0, rest, bits;
  unsigned long tag;
  char text[4 * N + 16];
  switch (API) {
  case length_der: return asn1_get_length_der(der, n, &length) < 0;
  case length_ber: return asn1_get_length_ber(der, n, &length) < 0;
  case tag_der: return asn1_get_tag_der(der, n, &class, &length, &tag);
  case octet_der: return asn1_get_octet_der(der, n, &rest, out, sizeof out, &length);
  case bit_der: return asn1_get_bit_der(der, n, &rest, out, sizeof out, &bits);
  case object_id_der: return asn1_get_object_id_der(der, n, &rest, text, sizeof text);
  case simple_decode: {
    const unsigned char *start;
    unsigned size;
    unsigned type;
    klee_make_symbolic(&type, sizeof type, "type");
    klee_assume(type <= 40);
    return asn1_decode_simple_der(type, der, n, &start, &size);
  }
  case simple_encode: {
    unsigned char tl[ASN1_MAX_TL_SIZE];
    unsigned size = sizeof tl, type;
    klee_make_symbolic(&type, sizeof type, "type");
    klee_assume(type <= 40);
    return asn1_encode_simple_der(type, der, n, tl, &size);
  }
  case octet_encode:
    length = sizeof out;
    asn1_octet_der(der, n, out, &length);
    return 0;
  case bit_encode:
    klee_make_symbolic(&bits, sizeof bits, "bits");
    klee_assume(bits >= 0 & bits <= (int)n * 8);
    length = sizeof out;
    asn1_bit_der(der, bits, out, &length);
    return 0;
  }
}
