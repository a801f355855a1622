// SPDX-License-Identifier: GPL-2.0
/*
 * The output of ktrace events: one conversion of the format after the other is
 * printed, with what the record has of its argument.
 */

#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/seq_buf.h>
#include <linux/string.h>

#include "trace.h"
#include "trace_ktrace.h"
#include "trace_ktrace_format.h"
#include "trace_output.h"

/* The most that a width or a precision makes of an argument, in characters */
#define KTRACE_MAX_WIDTH	1024

static u64 ktrace_value(const struct ktrace_field *field, const void *rec)
{
	const void *src = rec + field->offset;
	u64 val;

	switch (field->op) {
	case KTRACE_OP_8:
		val = *(u8 *)src;
		break;
	case KTRACE_OP_16:
		val = *(u16 *)src;
		break;
	case KTRACE_OP_32:
		val = *(u32 *)src;
		break;
	default:
		return *(u64 *)src;
	}

	if (field->is_signed)
		return sign_extend64(val, 8 * field->size - 1);

	return val;
}

/*
 * Find the bytes behind the fields. The buffer may come from before a crash, so
 * nothing in it is trusted.
 */
static const void *ktrace_data(struct trace_iterator *iter,
			       const struct ktrace_field *field, int *len)
{
	const void *rec = iter->ent;
	u32 loc = *(u32 *)(rec + field->offset);
	unsigned int offset = loc & 0xffff;

	*len = loc >> 16;
	if (offset > iter->ent_size || *len > iter->ent_size - offset)
		return NULL;

	return rec + offset;
}

static void ktrace_print_string(struct trace_iterator *iter,
				const struct ktrace_field *field,
				const char *spec, int prec)
{
	const char *str;
	int len;

	str = ktrace_data(iter, field, &len);
	if (!str) {
		trace_seq_puts(&iter->seq, "(fault)");
		return;
	}
	if (prec < 0)
		prec = KTRACE_MAX_STR;
	len = min(len, prec);

	/* spec ends with .*s */
	trace_seq_printf(&iter->seq, spec, len, str);
}

static void ktrace_print_pointed(struct trace_iterator *iter,
				 const struct ktrace_field *field,
				 const char *spec)
{
	/* As aligned as what has been copied */
	u64 copy[KTRACE_MAX_COPY / sizeof(u64)];
	const void *src;
	int len;

	if (field->op != KTRACE_OP_DUMP) {
		memcpy(copy, (void *)iter->ent + field->offset, field->size);
		trace_seq_printf(&iter->seq, spec, copy);
		return;
	}

	src = ktrace_data(iter, field, &len);
	if (!src) {
		trace_seq_puts(&iter->seq, "(fault)");
	} else if (len) {
		len = min_t(int, len, sizeof(copy));
		memcpy(copy, src, len);
		/* spec begins with %* */
		trace_seq_printf(&iter->seq, spec, len, copy);
	}
}

static void ktrace_print_field(struct trace_iterator *iter,
			       const struct ktrace_field *field,
			       const struct ktrace_conv *conv, int width, int prec)
{
	char flags[6], spec[48];
	struct seq_buf s;
	u64 val;

	/* They may come from the record, which may come from anywhere. */
	width = clamp(width, -KTRACE_MAX_WIDTH, KTRACE_MAX_WIDTH);
	prec = min(prec, KTRACE_MAX_WIDTH);

	seq_buf_init(&s, spec, sizeof(spec));
	ktrace_conv_flags(conv, flags);
	seq_buf_printf(&s, "%%%s", flags);

	if (field->op == KTRACE_OP_DUMP)
		seq_buf_putc(&s, '*');
	else if (width < 0 && conv->width_star)
		seq_buf_printf(&s, "-%d", -width);
	else if (width >= 0)
		seq_buf_printf(&s, "%d", width);

	if (field->op == KTRACE_OP_STRING)
		seq_buf_puts(&s, ".*");
	else if (prec >= 0)
		seq_buf_printf(&s, ".%d", prec);

	if (conv->conv == 'p' || conv->conv == 's' || conv->conv == 'c')
		seq_buf_printf(&s, "%c%.*s", conv->conv, conv->nr_ext, conv->ext);
	else
		seq_buf_printf(&s, "ll%c", conv->conv);

	/* Two numbers, five flags, eight letters fit. */
	if (WARN_ON_ONCE(seq_buf_has_overflowed(&s)))
		return;
	seq_buf_str(&s);

	if (field->op == KTRACE_OP_STRING) {
		ktrace_print_string(iter, field, spec, prec);
		return;
	}
	if (field->op > KTRACE_OP_64) {
		ktrace_print_pointed(iter, field, spec);
		return;
	}

	val = ktrace_value(field, iter->ent);
	if (conv->conv == 'p')
		trace_event_printf(iter, spec, (void *)(unsigned long)val);
	else if (conv->conv == 'c')
		trace_seq_printf(&iter->seq, spec, (int)val);
	else
		trace_seq_printf(&iter->seq, spec, val);
}

/* The text of a format between two conversions, where %% and %5% are % */
static void ktrace_print_text(struct trace_seq *s, const char *begin,
			      const char *end)
{
	const char *p;

	for (p = begin; p < end; p++) {
		if (*p != '%')
			continue;
		trace_seq_putmem(s, begin, p + 1 - begin);
		p = strchr(p + 1, '%');
		begin = p + 1;
	}
	trace_seq_putmem(s, begin, end - begin);
}

static enum print_line_t ktrace_print(struct trace_iterator *iter, int flags,
				      struct trace_event *trace_event)
{
	struct ktrace_event *event;
	const struct ktrace_field *field;
	struct trace_seq *s = &iter->seq;
	struct ktrace_conv conv;
	const char *begin;
	int width, prec;
	int ret;

	event = container_of(trace_event, struct ktrace_event, call.event);
	ret = trace_raw_output_prep(iter, trace_event);
	if (ret != TRACE_TYPE_HANDLED)
		return ret;

	if (iter->ent_size < event->size) {
		trace_seq_puts(s, "(truncated)\n");
		return trace_handle_return(s);
	}

	field = event->fields;
	for (begin = ktrace_event_fmt(event); ; begin = conv.end) {
		ktrace_next_conv(begin, &conv);
		ktrace_print_text(s, begin, ktrace_text_end(begin, &conv));
		if (conv.begin == conv.end)
			break;

		width = conv.spec.field_width;
		if (conv.width_star)
			width = ktrace_value(field++, iter->ent);
		prec = conv.spec.precision;
		if (conv.prec_star)
			prec = max((int)ktrace_value(field++, iter->ent), 0);
		ktrace_print_field(iter, field++, &conv, width, prec);
	}
	trace_seq_putc(s, '\n');

	return trace_handle_return(s);
}

struct trace_event_functions ktrace_event_funcs = {
	.trace	= ktrace_print,
};
