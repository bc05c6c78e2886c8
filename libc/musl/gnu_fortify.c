/* The functions that the GNU library's headers call under _FORTIFY_SOURCE. `room` is what the compiler knows of the target's size, all ones if
 * nothing. Where more would be written, the program aborts. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Noreturn void __chk_fail(void)
{
	abort();
}

static void need(size_t n, size_t room)
{
	if (n > room) __chk_fail();
}

/* As long as it fits: the bytes before the end are written, the one that does not fit is not. */
char *__stpcpy_chk(char *to, const char *from, size_t room)
{
	for (size_t i = 0;; i++) {
		need(i + 1, room);
		if (!(to[i] = from[i])) return to + i;
	}
}

char *__strcpy_chk(char *to, const char *from, size_t room)
{
	__stpcpy_chk(to, from, room);
	return to;
}

char *__strcat_chk(char *to, const char *from, size_t room)
{
	size_t n = strlen(to);
	__stpcpy_chk(to + n, from, room - n);
	return to;
}

char *__strncpy_chk(char *to, const char *from, size_t n, size_t room)
{
	need(n, room);
	return strncpy(to, from, n);
}

char *__stpncpy_chk(char *to, const char *from, size_t n, size_t room)
{
	need(n, room);
	return stpncpy(to, from, n);
}

char *__strncat_chk(char *to, const char *from, size_t n, size_t room)
{
	need(strlen(to) + strnlen(from, n) + 1, room);
	return strncat(to, from, n);
}

void *__mempcpy_chk(void *to, const void *from, size_t n, size_t room)
{
	need(n, room);
	return mempcpy(to, from, n);
}

void __explicit_bzero_chk(void *to, size_t n, size_t room)
{
	need(n, room);
	explicit_bzero(to, n);
}

/* ---- printing: `flag` asks for checks of the format, which are not made ---- */

int __vsnprintf_chk(char *to, size_t n, int flag, size_t room, const char *format, va_list arguments)
{
	need(n, room);
	return vsnprintf(to, n, format, arguments);
}

int __vsprintf_chk(char *to, int flag, size_t room, const char *format, va_list arguments)
{
	if (room == (size_t)-1) return vsprintf(to, format, arguments);
	int n = vsnprintf(to, room, format, arguments);
	if (n >= 0) need((size_t)n + 1, room);
	return n;
}

int __vfprintf_chk(FILE *to, int flag, const char *format, va_list arguments)
{
	return vfprintf(to, format, arguments);
}

int __vprintf_chk(int flag, const char *format, va_list arguments)
{
	return vprintf(format, arguments);
}

int __vasprintf_chk(char **to, int flag, const char *format, va_list arguments)
{
	return vasprintf(to, format, arguments);
}

#define PASS(call) \
	va_list arguments; \
	va_start(arguments, format); \
	int n = call; \
	va_end(arguments); \
	return n;

int __snprintf_chk(char *to, size_t size, int flag, size_t room, const char *format, ...)
{
	PASS(__vsnprintf_chk(to, size, flag, room, format, arguments))
}

int __sprintf_chk(char *to, int flag, size_t room, const char *format, ...)
{
	PASS(__vsprintf_chk(to, flag, room, format, arguments))
}

int __fprintf_chk(FILE *to, int flag, const char *format, ...)
{
	PASS(vfprintf(to, format, arguments))
}

int __printf_chk(int flag, const char *format, ...)
{
	PASS(vprintf(format, arguments))
}

int __dprintf_chk(int to, int flag, const char *format, ...)
{
	PASS(vdprintf(to, format, arguments))
}

int __asprintf_chk(char **to, int flag, const char *format, ...)
{
	PASS(vasprintf(to, format, arguments))
}

/* ---- reading ---- */

char *__fgets_chk(char *to, size_t room, int n, FILE *from)
{
	if (n > 0) need((size_t)n, room);
	return fgets(to, n, from);
}

size_t __fread_chk(void *to, size_t room, size_t size, size_t count, FILE *from)
{
	if (size && count > room / size) __chk_fail();
	return fread(to, size, count, from);
}

ssize_t __read_chk(int fd, void *to, size_t n, size_t room)
{
	need(n, room);
	return read(fd, to, n);
}

ssize_t __pread_chk(int fd, void *to, size_t n, off_t at, size_t room)
{
	need(n, room);
	return pread(fd, to, n, at);
}

ssize_t __readlink_chk(const char *path, char *to, size_t n, size_t room)
{
	need(n, room);
	return readlink(path, to, n);
}

char *__getcwd_chk(char *to, size_t n, size_t room)
{
	need(n, room);
	return getcwd(to, n);
}

char *__realpath_chk(const char *path, char *to, size_t room)
{
	need(4096, room);
	return realpath(path, to);
}
