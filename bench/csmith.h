/* Included before a program of csmith: what it prints must be EXPECTED, formatted by the C library that it runs with. */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
static char pleach_printed[4096];
static size_t pleach_length;
__attribute__((destructor)) static void pleach_compare(void) { assert(strcmp(pleach_printed, EXPECTED) == 0); }
static int pleach_print(const char *format, ...) {
  va_list list;
  va_start(list, format);
  int n = vsnprintf(pleach_printed + pleach_length, sizeof pleach_printed - pleach_length, format, list);
  va_end(list);
  pleach_length += (size_t)n;
  return n;
}
#define printf pleach_print
