/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The extensions of %p that vsnprintf() knows, see pointer() in lib/vsprintf.c,
 * and what it needs of the pointer. Recorders that print later, when the
 * pointer may be stale, copy that.
 *
 * scripts/mod/modpost includes this file, too.
 */
#ifndef _LINUX_PRINTF_EXT_H
#define _LINUX_PRINTF_EXT_H

enum printf_ext_kind {
	PRINTF_EXT_VALUE,	/* the pointer itself */
	PRINTF_EXT_BYTES,	/* a number of bytes */
	PRINTF_EXT_SOCKADDR,	/* as many as its address family takes */
	PRINTF_EXT_DUMP,	/* as many as the field width says */
	PRINTF_EXT_OBJECT,	/* an object, which may point to others */
};

struct printf_ext {
	const char		*letters;
	enum printf_ext_kind	kind;
	unsigned int		size;
};

/*
 * Letters behind the %p, kind, most bytes. The first entry that a format begins
 * with counts.
 */
static const struct printf_ext printf_exts[] = {
	{ "S",  PRINTF_EXT_VALUE,    0 },
	{ "s",  PRINTF_EXT_VALUE,    0 },
	{ "B",  PRINTF_EXT_VALUE,    0 },
	{ "K",  PRINTF_EXT_VALUE,    0 },
	{ "x",  PRINTF_EXT_VALUE,    0 },
	{ "e",  PRINTF_EXT_VALUE,    0 },
	{ "h",  PRINTF_EXT_DUMP,     64 },
	{ "M",  PRINTF_EXT_BYTES,    6 },
	{ "m",  PRINTF_EXT_BYTES,    6 },
	{ "I4", PRINTF_EXT_BYTES,    4 },
	{ "i4", PRINTF_EXT_BYTES,    4 },
	{ "I6", PRINTF_EXT_BYTES,    16 },
	{ "i6", PRINTF_EXT_BYTES,    16 },
	{ "IS", PRINTF_EXT_SOCKADDR, 28 },
	{ "iS", PRINTF_EXT_SOCKADDR, 28 },
	{ "U",  PRINTF_EXT_BYTES,    16 },
	{ "4c", PRINTF_EXT_BYTES,    4 },
	{ "4",  PRINTF_EXT_OBJECT,   0 },
	{ "I",  PRINTF_EXT_OBJECT,   0 },
	{ "i",  PRINTF_EXT_OBJECT,   0 },
	{ "R",  PRINTF_EXT_OBJECT,   0 },
	{ "r",  PRINTF_EXT_OBJECT,   0 },
	{ "b",  PRINTF_EXT_OBJECT,   0 },
	{ "E",  PRINTF_EXT_OBJECT,   0 },
	{ "V",  PRINTF_EXT_OBJECT,   0 },
	{ "N",  PRINTF_EXT_OBJECT,   0 },
	{ "a",  PRINTF_EXT_OBJECT,   0 },
	{ "d",  PRINTF_EXT_OBJECT,   0 },
	{ "t",  PRINTF_EXT_OBJECT,   0 },
	{ "C",  PRINTF_EXT_OBJECT,   0 },
	{ "D",  PRINTF_EXT_OBJECT,   0 },
	{ "g",  PRINTF_EXT_OBJECT,   0 },
	{ "G",  PRINTF_EXT_OBJECT,   0 },
	{ "O",  PRINTF_EXT_OBJECT,   0 },
	{ "f",  PRINTF_EXT_OBJECT,   0 },
	{ "A",  PRINTF_EXT_OBJECT,   0 },
	{ "u",  PRINTF_EXT_OBJECT,   0 },
	{ "k",  PRINTF_EXT_OBJECT,   0 },
};

#endif /* _LINUX_PRINTF_EXT_H */
