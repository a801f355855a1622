/* SPDX-License-Identifier: GPL-2.0 */
/* What the programs that compare share. It needs _GNU_SOURCE. */
#ifndef COMMON_H
#define COMMON_H

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Says what is wrong, behind the name of the program, and ends it. */
__attribute__((noreturn, format(printf, 1, 2)))
static inline void fail(const char *fmt, ...)
{
	va_list args;

	printf("%s: ", program_invocation_short_name);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf("\n");
	exit(1);
}

#endif
