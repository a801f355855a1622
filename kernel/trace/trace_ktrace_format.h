/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_KERNEL_TRACE_KTRACE_FORMAT_H
#define _LINUX_KERNEL_TRACE_KTRACE_FORMAT_H

#include <linux/types.h>

#include "../../lib/format_decode.h"

/**
 * struct ktrace_conv - a conversion in a format: %-8.3lx
 * @begin: the %, or the end of the format
 * @end: behind the conversion
 * @ext: the letters behind a %p
 * @spec: flags, width and precision, as format_decode() finds them
 * @nr_ext: number of letters in @ext
 * @state: enum format_state
 * @size: bytes of a number
 * @conv: the letter; 0 at the end of the format
 * @width_star: an argument says the width
 * @prec_star: an argument says the precision
 */
struct ktrace_conv {
	const char		*begin;
	const char		*end;
	const char		*ext;
	struct printf_spec	spec;
	unsigned int		nr_ext;
	u8			state;
	u8			size;
	char			conv;
	bool			width_star;
	bool			prec_star;
};

void ktrace_next_conv(const char *fmt, struct ktrace_conv *conv);
const char *ktrace_text_end(const char *begin, const struct ktrace_conv *conv);
void ktrace_conv_flags(const struct ktrace_conv *conv, char flags[static 6]);

#endif /* _LINUX_KERNEL_TRACE_KTRACE_FORMAT_H */
