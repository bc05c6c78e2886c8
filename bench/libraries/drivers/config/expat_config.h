/* What expat's configure script would find with clang on Linux. */
#ifndef EXPAT_CONFIG_H
#define EXPAT_CONFIG_H
#define BYTEORDER 1234
#define HAVE_GETRANDOM 1
#define XML_CONTEXT_BYTES 1024
#define XML_DTD 1
#define XML_GE 1
#define XML_NS 1
#define PACKAGE "expat"
#define VERSION "0"
#define PACKAGE_VERSION "0"
#endif
