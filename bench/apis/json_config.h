/* What a configure script would write for json-c. */
#define JSON_C_HAVE_INTTYPES_H 1
