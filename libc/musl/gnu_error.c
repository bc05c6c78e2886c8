/* Functions of the GNU library that programs configured on a GNU system expect and musl lacks. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- error messages, <error.h> ---- */

unsigned error_message_count;
int error_one_per_line;
void (*error_print_progname)(void);

static void report(int status, int number, const char *file, unsigned line, const char *format, va_list arguments)
{
	fflush(stdout);
	if (error_print_progname) error_print_progname();
	else fprintf(stderr, "%s:", program_invocation_name);
	if (file) fprintf(stderr, "%s:%u: ", file, line);
	else if (!error_print_progname) fputc(' ', stderr);
	vfprintf(stderr, format, arguments);
	error_message_count++;
	if (number) fprintf(stderr, ": %s", strerror(number));
	fputc('\n', stderr);
	fflush(stderr);
	if (status) exit(status);
}

void error(int status, int number, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	report(status, number, 0, 0, format, arguments);
	va_end(arguments);
}

void error_at_line(int status, int number, const char *file, unsigned line, const char *format, ...)
{
	static const char *last_file;
	static unsigned last_line;
	va_list arguments;
	if (error_one_per_line) {
		if (line == last_line && file && last_file && (file == last_file || !strcmp(file, last_file))) return;
		last_file = file, last_line = line;
	}
	va_start(arguments, format);
	report(status, number, file, line, format, arguments);
	va_end(arguments);
}
