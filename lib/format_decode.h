/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parser of printf() formats, for core code that needs to know what a
 * format asks for without printing it. The function is in lib/vsprintf.c.
 *
 * It decodes one conversion. The caller skips the text before it.
 */
#ifndef _LIB_FORMAT_DECODE_H
#define _LIB_FORMAT_DECODE_H

#include <linux/build_bug.h>
#include <linux/compiler.h>

#define SIGN	1		/* unsigned/signed */
#define LEFT	2		/* left justified */
#define PLUS	4		/* show plus */
#define SPACE	8		/* space if plus */
#define ZEROPAD	16		/* pad with zero, must be 16 == '0' - ' ' */
#define SMALL	32		/* use lowercase in hex (must be 32 == 0x20) */
#define SPECIAL	64		/* prefix hex with "0x", octal with "0" */

static_assert(ZEROPAD == ('0' - ' '));
static_assert(SMALL == ('a' ^ 'A'));

enum format_state {
	FORMAT_STATE_NONE, /* Nothing decoded yet */
	FORMAT_STATE_NUM,
	FORMAT_STATE_WIDTH,
	FORMAT_STATE_PRECISION,
	FORMAT_STATE_CHAR,
	FORMAT_STATE_STR,
	FORMAT_STATE_PTR,
	FORMAT_STATE_PERCENT_CHAR,
	FORMAT_STATE_INVALID,
};

struct printf_spec {
	unsigned char	flags;		/* flags to number() */
	unsigned char	base;		/* number base, 8, 10 or 16 only */
	short		precision;	/* # of digits/chars */
	int		field_width;	/* width of output field */
} __packed;
static_assert(sizeof(struct printf_spec) == 8);

struct fmt {
	const char *str;
	unsigned char state;	// enum format_state
	unsigned char size;	// size of numbers
};

struct fmt format_decode(struct fmt fmt, struct printf_spec *spec);

#endif /* _LIB_FORMAT_DECODE_H */
