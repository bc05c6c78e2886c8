/* What uriparser's configure script would find with clang on Linux. */
#ifndef URI_CONFIG_H
#define URI_CONFIG_H
#define PACKAGE_VERSION "0"
#define HAVE_WPRINTF
#define HAVE_REALLOCARRAY
#endif
