/* Functions of the GNU library that musl lacks, or has beside its own malloc, which is left out. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *reallocarray(void *block, size_t count, size_t size)
{
	if (size && count > SIZE_MAX / size) {
		errno = ENOMEM;
		return 0;
	}
	return realloc(block, count * size);
}

void *rawmemchr(const void *from, int byte)
{
	const unsigned char *at = from;
	while (*at != (unsigned char)byte) at++;
	return (void *)at;
}
