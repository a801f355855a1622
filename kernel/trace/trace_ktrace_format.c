// SPDX-License-Identifier: GPL-2.0
/*
 * The formats of ktrace events: what fields a record has, and what tools are
 * told of them.
 *
 * A format is cut into conversions, one for each argument that is not a star.
 * The conversion alone decides how its argument is recorded, so all sites with
 * the same format make the same records, whatever the types of their arguments.
 */

#include <linux/ctype.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/printf_ext.h>
#include <linux/seq_buf.h>
#include <linux/slab.h>

#include "trace.h"
#include "trace_ktrace.h"
#include "trace_ktrace_format.h"

/* Conversions */

/* Finds the first conversion at @fmt or later, without %%. */
void ktrace_next_conv(const char *fmt, struct ktrace_conv *conv)
{
	struct fmt pos = { .str = fmt };

	*conv = (struct ktrace_conv){ };
	do {
		pos.str = strchrnul(pos.str, '%');
		conv->begin = pos.str;
		if (!*pos.str) {
			conv->end = pos.str;
			return;
		}
		pos = format_decode(pos, &conv->spec);
	} while (pos.state == FORMAT_STATE_PERCENT_CHAR);

	if (pos.state == FORMAT_STATE_WIDTH) {
		conv->width_star = true;
		conv->spec.field_width = 0;
		pos = format_decode(pos, &conv->spec);
	}
	if (pos.state == FORMAT_STATE_PRECISION) {
		conv->prec_star = true;
		conv->spec.precision = 0;
		pos = format_decode(pos, &conv->spec);
	}

	conv->state = pos.state;
	conv->size = pos.size;
	conv->conv = pos.state == FORMAT_STATE_INVALID ? *pos.str : pos.str[-1];
	conv->ext = pos.str;
	if (pos.state == FORMAT_STATE_PTR) {
		while (isalnum(*pos.str))
			pos.str++;
	}
	conv->nr_ext = pos.str - conv->ext;
	conv->end = pos.str;
}

/* The end of the text before a conversion; not the newline of a whole line */
const char *ktrace_text_end(const char *begin, const struct ktrace_conv *conv)
{
	const char *end = conv->begin;

	return !*end && end > begin && end[-1] == '\n' ? end - 1 : end;
}

/* The flags as a string */
void ktrace_conv_flags(const struct ktrace_conv *conv, char flags[static 6])
{
	static const struct {
		u8	flag;
		char	c;
	} names[] = {
		{ LEFT, '-' }, { PLUS, '+' }, { SPACE, ' ' }, { SPECIAL, '#' },
		{ ZEROPAD, '0' },
	};

	for (int i = 0; i < ARRAY_SIZE(names); i++) {
		if (conv->spec.flags & names[i].flag)
			*flags++ = names[i].c;
	}
	*flags = 0;
}

/* Types, by conversion */

struct ktrace_type {
	const char	*name;
	u8		size;
	bool		is_signed;
};

static const struct ktrace_type ktrace_char = {
	"char", sizeof(char), is_signed_type(char)
};

static const struct ktrace_type ktrace_int = { "int", sizeof(int), true };

static const struct ktrace_type ktrace_ptr = { "void *", sizeof(void *), false };

/* %d and %i, and the others */
static const struct ktrace_type ktrace_numbers[][2] = {
	{ { "s8", sizeof(s8), true }, { "u8", sizeof(u8), false } },
	{ { "s16", sizeof(s16), true }, { "u16", sizeof(u16), false } },
	{ { "int", sizeof(int), true }, { "unsigned int", sizeof(int), false } },
	{ { "s64", sizeof(s64), true }, { "u64", sizeof(u64), false } },
	{ { "long", sizeof(long), true }, { "unsigned long", sizeof(long), false } },
};

/* A u64 in a structure is less aligned than its size on some architectures. */
static unsigned int ktrace_align(const struct ktrace_type *type)
{
	return min_t(unsigned int, type->size, __alignof__(struct { u64 x; }));
}

/* %ld, %zd or %td, and not %lld */
static bool ktrace_conv_is_long(const struct ktrace_conv *conv)
{
	const char *mod = conv->ext - 2;

	return strchr("lzt", *mod) && (*mod != 'l' || mod[-1] != 'l');
}

static const struct ktrace_type *ktrace_conv_type(const struct ktrace_conv *conv)
{
	bool is_unsigned = !(conv->spec.flags & SIGN);

	switch (conv->state) {
	case FORMAT_STATE_CHAR:
		return &ktrace_char;
	case FORMAT_STATE_PTR:
		return &ktrace_ptr;
	default:
		if (ktrace_conv_is_long(conv))
			return &ktrace_numbers[4][is_unsigned];
		return &ktrace_numbers[ilog2(conv->size)][is_unsigned];
	}
}

/* The extension of a %p; NULL for a plain one */
static const struct printf_ext *ktrace_find_ext(const struct ktrace_conv *conv)
{
	for (int i = 0; i < ARRAY_SIZE(printf_exts); i++) {
		if (conv->nr_ext && strstarts(conv->ext, printf_exts[i].letters))
			return &printf_exts[i];
	}

	return NULL;
}

/* Does libtraceevent print the extension as the kernel does? */
static bool ktrace_tools_know(const struct ktrace_conv *conv)
{
	return conv->ext[0] != '4' &&
	       !(conv->ext[0] == 'M' && conv->nr_ext > 1 && conv->ext[1] == 'R');
}

/* Making an event of a site */

/*
 * struct ktrace_maker - what is known of an event while it is made
 * @event: the event
 * @names: the names of its fields
 * @types: the names of their types
 * @nr: number of fields
 * @size: bytes of the record so far
 * @text: strings that @names and @types point to
 * @print_fmt: the format for tools, without arguments
 * @print_args: the arguments for @print_fmt
 * @error: why there is no event
 */
struct ktrace_maker {
	struct ktrace_event	*event;
	const char		*names[KTRACE_MAX_ARGS];
	const char		*types[KTRACE_MAX_ARGS];
	unsigned int		nr;
	unsigned int		size;
	struct seq_buf		text;
	struct seq_buf		print_fmt;
	struct seq_buf		print_args;
	/* A format of KTRACE_MAX_FMT bytes fits, whatever is in it. */
	char			text_buf[2 * KTRACE_MAX_FMT];
	char			print_fmt_buf[5 * KTRACE_MAX_FMT];
	char			print_args_buf[5 * KTRACE_MAX_FMT];
	char			error[80];
};

#define ktrace_refuse(maker, errno, fmt...)				\
({									\
	snprintf((maker)->error, sizeof((maker)->error), fmt);		\
	errno;								\
})

static bool ktrace_name_is_taken(struct ktrace_maker *maker, const char *name)
{
	for (int i = 0; i < maker->nr; i++) {
		if (!strcmp(maker->names[i], name))
			return true;
	}

	/* Fields of each record, and names that filters know in each event */
	return str_has_prefix(name, "common_");
}

/* Appends a string to the maker's text and returns it. */
static __printf(2, 3) const char *
ktrace_text(struct ktrace_maker *maker, const char *fmt, ...)
{
	const char *str = maker->text.buffer + seq_buf_used(&maker->text);
	va_list ap;

	va_start(ap, fmt);
	seq_buf_vprintf(&maker->text, fmt, ap);
	va_end(ap);
	seq_buf_putc(&maker->text, 0);

	return seq_buf_has_overflowed(&maker->text) ? "" : str;
}

/*
 * The name for the next field: what is before the = of "name=%d", with an
 * opening quote or bracket or the 0x of a number between them, or argN.
 */
static const char *ktrace_field_name(struct ktrace_maker *maker,
				     const char *begin,
				     const struct ktrace_conv *conv,
				     const char *suffix)
{
	const char *end = conv->begin;
	char name[64] = "";
	const char *p;

	if (end - begin > 2 && end[-1] == 'x' && end[-2] == '0')
		end -= 2;
	if (end - begin > 1 && strchr("\"'([<{", end[-1]))
		end--;

	if (end > begin && end[-1] == '=') {
		end--;
		for (p = end; p > begin && (isalnum(p[-1]) || p[-1] == '_'); p--)
			;
		if (p < end && !isdigit(*p))
			snprintf(name, sizeof(name), "%.*s%s", (int)(end - p), p,
				 suffix);
	}

	if (!name[0] || ktrace_name_is_taken(maker, name))
		snprintf(name, sizeof(name), "arg%u", maker->nr + 1);
	while (ktrace_name_is_taken(maker, name) &&
	       strlcat(name, "_", sizeof(name)) < sizeof(name))
		;

	return ktrace_text(maker, "%s", name);
}

static int ktrace_add_field(struct ktrace_maker *maker, const char *name,
			    u8 op, unsigned int size, unsigned int align,
			    unsigned int bound, const char *type, bool star)
{
	struct ktrace_event *event = maker->event;
	unsigned int offset = ALIGN(maker->size, align);
	struct ktrace_field *field;

	if (maker->nr >= event->nr_fields)
		return ktrace_refuse(maker, -EINVAL, "too few arguments for the format");

	field = &event->fields[maker->nr];
	field->op = op;
	field->value = op & KTRACE_OP_SIZE;
	field->star = star;
	field->offset = offset;
	field->size = bound;

	if (offset != maker->size)
		event->holes = true;
	if (op > KTRACE_OP_64) {
		if (event->contents != KTRACE_VALUES) {
			event->contents = KTRACE_ANYTHING;
		} else {
			event->first_piece = maker->nr;
			event->contents = op == KTRACE_OP_STRING && !star &&
					  bound > 1 ?
					  KTRACE_A_STRING : KTRACE_ANYTHING;
		}
	}

	maker->size = offset + size;
	maker->names[maker->nr] = name;
	maker->types[maker->nr] = type;
	maker->nr++;

	return 0;
}

/* A field that keeps the value of the argument */
static int ktrace_add_value(struct ktrace_maker *maker, const char *name,
			    const struct ktrace_type *type)
{
	int ret;

	ret = ktrace_add_field(maker, name, ilog2(type->size), type->size,
			       ktrace_align(type), type->size, type->name, false);
	if (!ret)
		maker->event->fields[maker->nr - 1].is_signed = type->is_signed;

	return ret;
}

static int ktrace_add_star(struct ktrace_maker *maker, const char *begin,
			   const struct ktrace_conv *conv, const char *suffix)
{
	const char *name = ktrace_field_name(maker, begin, conv, suffix);

	return ktrace_add_value(maker, name, &ktrace_int);
}

/* The format for tools, up to @end, as between quotes in C */
static void ktrace_print_literal(struct ktrace_maker *maker, const char *begin,
				 const char *end)
{
	struct seq_buf *s = &maker->print_fmt;

	for (; begin < end; begin++) {
		switch (*begin) {
		case '\n':
			seq_buf_puts(s, "\\n");
			break;
		case '\t':
			seq_buf_puts(s, "\\t");
			break;
		case '"':
		case '\\':
			seq_buf_putc(s, '\\');
			fallthrough;
		default:
			/* Tools stop at others, or print the digits of an escape. */
			if (isascii(*begin) && isprint(*begin))
				seq_buf_putc(s, *begin);
			else
				seq_buf_putc(s, '?');
		}
	}
}

/*
 * A conversion for tools, which do not know all lengths, mix up the arguments
 * when they meet a flag that they do not know, and print the letters behind %p
 * that they do not know.
 */
static void ktrace_print_conv(struct ktrace_maker *maker,
			      const struct ktrace_conv *conv, bool copied)
{
	struct seq_buf *s = &maker->print_fmt;
	char flags[6];

	ktrace_conv_flags(conv, flags);
	seq_buf_putc(s, '%');
	for (const char *p = flags; *p; p++) {
		if (*p != '+' && *p != ' ')
			seq_buf_putc(s, *p);
	}
	if (conv->width_star)
		seq_buf_putc(s, '*');
	else if (conv->spec.field_width >= 0)
		seq_buf_printf(s, "%d", conv->spec.field_width);

	if (conv->prec_star) {
		/* What a record has of a string is cut already. */
		if (conv->state != FORMAT_STATE_STR)
			seq_buf_puts(s, ".*");
	} else if (conv->spec.precision >= 0) {
		seq_buf_printf(s, ".%d", conv->spec.precision);
	}

	if (conv->state == FORMAT_STATE_NUM) {
		if (ktrace_conv_is_long(conv))
			seq_buf_putc(s, 'l');
		else if (conv->size == sizeof(u8))
			seq_buf_puts(s, "hh");
		else if (conv->size == sizeof(u16))
			seq_buf_putc(s, 'h');
		else if (conv->size == sizeof(u64))
			seq_buf_puts(s, "ll");
	}

	seq_buf_putc(s, conv->conv);
	if (copied)
		seq_buf_printf(s, "%.*s", conv->nr_ext, conv->ext);
	else if (conv->nr_ext && conv->ext[0] == 's')
		seq_buf_putc(s, 's');
	else if (conv->nr_ext && strchr("SB", conv->ext[0]))
		seq_buf_putc(s, 'S');
}

static int ktrace_add_string(struct ktrace_maker *maker, const char *name,
			     const struct ktrace_conv *conv)
{
	unsigned int size = KTRACE_MAX_STR;

	if (!conv->prec_star && conv->spec.precision >= 0)
		size = min(size, conv->spec.precision + 1U);
	ktrace_print_conv(maker, conv, false);
	seq_buf_printf(&maker->print_args, ", __get_str(%s)", name);

	return ktrace_add_field(maker, name, KTRACE_OP_STRING, 4, 4, size,
				"__data_loc char[]", conv->prec_star);
}

static int ktrace_add_dump(struct ktrace_maker *maker, const char *name,
			   const struct ktrace_conv *conv)
{
	struct seq_buf *args = &maker->print_args;
	unsigned int size = KTRACE_MAX_COPY;

	if (conv->prec_star || conv->spec.precision >= 0)
		return ktrace_refuse(maker, -EINVAL, "%%ph with a precision");
	if (!conv->width_star) {
		if (conv->spec.field_width < 1)
			return ktrace_refuse(maker, -EINVAL, "%%ph without a size");
		size = min_t(unsigned int, size, conv->spec.field_width);
	}
	/* Tools have no %ph. This is the nearest that they can print. */
	seq_buf_puts(&maker->print_fmt, "%s");
	seq_buf_puts(args, ", __print_hex");
	if (conv->nr_ext > 1 && conv->ext[1] == 'N')
		seq_buf_puts(args, "_str");
	seq_buf_printf(args, "(__get_dynamic_array(%s), ", name);
	seq_buf_printf(args, "__get_dynamic_array_len(%s))", name);

	return ktrace_add_field(maker, name, KTRACE_OP_DUMP, 4, 4, size,
				"__data_loc u8[]", conv->width_star);
}

static int ktrace_add_bytes(struct ktrace_maker *maker, const char *name,
			    const struct ktrace_conv *conv,
			    const struct printf_ext *ext)
{
	const char *type = ktrace_text(maker, "u8[%u]", ext->size);
	bool sockaddr = ext->kind == PRINTF_EXT_SOCKADDR;

	if (ktrace_tools_know(conv)) {
		ktrace_print_conv(maker, conv, true);
		seq_buf_printf(&maker->print_args, ", REC->%s", name);
	} else {
		seq_buf_puts(&maker->print_fmt, "%s");
		seq_buf_printf(&maker->print_args, ", __print_hex(REC->%s, %u)",
			       name, ext->size);
	}

	return ktrace_add_field(maker, name,
				sockaddr ? KTRACE_OP_SOCKADDR : KTRACE_OP_COPY,
				ext->size, sockaddr ? 2 : 1, ext->size, type,
				false);
}

/*
 * Tools lose their way when a width or a precision is negative, and print all of
 * one that is too big.
 */
static void ktrace_print_star(struct ktrace_maker *maker, int otherwise)
{
	const char *name = maker->names[maker->nr - 1];

	seq_buf_printf(&maker->print_args, ", REC->%s & 0xfffffc00 ? %d : REC->%s",
		       name, otherwise, name);
}

/* The fields of the stars */
static int ktrace_add_stars(struct ktrace_maker *maker, const char *begin,
			    const struct ktrace_conv *conv, bool dump)
{
	int ret;

	if (conv->width_star) {
		/* The size of a dump, see ktrace_add_dump() */
		ret = ktrace_add_star(maker, begin, conv, dump ? "_len" : "_width");
		if (ret)
			return ret;
		if (!dump)
			ktrace_print_star(maker, 0);
	}
	if (conv->prec_star) {
		ret = ktrace_add_star(maker, begin, conv, "_len");
		if (ret)
			return ret;
		if (conv->state != FORMAT_STATE_STR)
			ktrace_print_star(maker, 1);
	}

	return 0;
}

/* Fields and output of one conversion, which is not the end of the format */
static int ktrace_add_conv(struct ktrace_maker *maker, const char *begin,
			   const struct ktrace_conv *conv)
{
	const struct printf_ext *ext = NULL;
	const char *name;
	bool dump;
	int ret;

	/* A % with a width takes an argument, and prints none. */
	if (conv->state == FORMAT_STATE_INVALID ||
	    conv->state == FORMAT_STATE_PERCENT_CHAR)
		return ktrace_refuse(maker, -EOPNOTSUPP, "%%%c can not be recorded",
				     conv->conv);

	/* The longest are of three letters; vsnprintf() skips all that follow. */
	if (conv->nr_ext > 8)
		return ktrace_refuse(maker, -EINVAL,
				     "%%p%.*s... swallows the text behind it",
				     8, conv->ext);

	if (conv->state == FORMAT_STATE_PTR)
		ext = ktrace_find_ext(conv);
	if (conv->nr_ext && (!ext || ext->kind == PRINTF_EXT_OBJECT))
		return ktrace_refuse(maker, -EOPNOTSUPP,
				     "%%p%.*s would follow the pointer when the record is read",
				     conv->nr_ext, conv->ext);

	dump = ext && ext->kind == PRINTF_EXT_DUMP;
	ret = ktrace_add_stars(maker, begin, conv, dump);
	if (ret)
		return ret;

	name = ktrace_field_name(maker, begin, conv, "");
	if (conv->state == FORMAT_STATE_STR)
		return ktrace_add_string(maker, name, conv);
	if (dump)
		return ktrace_add_dump(maker, name, conv);
	if (ext && ext->kind != PRINTF_EXT_VALUE)
		return ktrace_add_bytes(maker, name, conv, ext);

	ktrace_print_conv(maker, conv, false);
	seq_buf_printf(&maker->print_args, ", REC->%s", name);

	return ktrace_add_value(maker, name, ktrace_conv_type(conv));
}

static int ktrace_parse(struct ktrace_maker *maker, const char *fmt)
{
	struct ktrace_event *event = maker->event;
	unsigned int nr = event->nr_fields;
	const char *begin = fmt;
	struct ktrace_conv conv;
	int ret;

	if (strlen(fmt) > KTRACE_MAX_FMT)
		return ktrace_refuse(maker, -E2BIG, "the format is too long");

	seq_buf_putc(&maker->print_fmt, '"');
	do {
		ktrace_next_conv(begin, &conv);
		ktrace_print_literal(maker, begin, ktrace_text_end(begin, &conv));
		if (conv.begin == conv.end)
			break;
		ret = ktrace_add_conv(maker, begin, &conv);
		if (ret)
			return ret;
		begin = conv.end;
	} while (true);
	seq_buf_putc(&maker->print_fmt, '"');

	if (maker->nr != nr)
		return ktrace_refuse(maker, -EINVAL, "too many arguments for the format");

	if (seq_buf_has_overflowed(&maker->text) ||
	    seq_buf_has_overflowed(&maker->print_fmt) ||
	    seq_buf_has_overflowed(&maker->print_args))
		return ktrace_refuse(maker, -E2BIG, "the format is too long");

	event->size = maker->size;
	/* Without holes, as many bytes as that are only words. */
	if (nr && event->contents == KTRACE_VALUES && !event->holes &&
	    event->size == sizeof(struct trace_entry) + nr * sizeof(u64))
		event->contents = KTRACE_WORDS;
	if (event->contents == KTRACE_A_STRING && event->holes)
		event->contents = KTRACE_ANYTHING;

	return 0;
}

/*
 * struct ktrace_call_fields - the fields of an event for filters and tools
 * @list: the fields, the last one first
 * @fields: the same; their strings are behind them, and those of @call
 */
struct ktrace_call_fields {
	struct list_head		list;
	struct ftrace_event_field	fields[];
};

static DEFINE_MUTEX(ktrace_fields_mutex);

/* A string of the maker's text, in the copy of that at @text */
static const char *ktrace_copied(const struct ktrace_maker *maker,
				 const char *text, const char *str)
{
	if (str < maker->text_buf ||
	    str >= maker->text_buf + sizeof(maker->text_buf))
		return str;

	return text + (str - maker->text_buf);
}

static void ktrace_define_field(const struct ktrace_field *field,
				struct ftrace_event_field *call_field)
{
	call_field->filter_type = filter_assign_type(call_field->type);
	call_field->offset = field->offset;
	call_field->size = field->size;
	call_field->is_signed = field->is_signed;
	if (field->op == KTRACE_OP_STRING || field->op == KTRACE_OP_DUMP) {
		call_field->size = sizeof(u32);
		call_field->is_signed = field->op == KTRACE_OP_STRING &&
					is_signed_type(char);
	} else if (field->op >= KTRACE_OP_COPY) {
		call_field->len = field->size;
	}
}

/* The fields of an event in one allocation, and its format for tools */
static struct ktrace_call_fields *
ktrace_define_fields(struct ktrace_maker *maker, struct trace_event_call *call)
{
	size_t print_len = seq_buf_used(&maker->print_fmt);
	size_t args_len = seq_buf_used(&maker->print_args);
	size_t text_len = seq_buf_used(&maker->text);
	struct ktrace_call_fields *fields;
	char *text;

	fields = kzalloc(struct_size(fields, fields, maker->nr) + text_len +
			 print_len + args_len + 1, GFP_KERNEL);
	if (!fields)
		return NULL;

	text = (char *)&fields->fields[maker->nr];
	memcpy(text, maker->text.buffer, text_len);
	INIT_LIST_HEAD(&fields->list);
	for (int i = 0; i < maker->nr; i++) {
		struct ftrace_event_field *field = &fields->fields[i];

		field->name = ktrace_copied(maker, text, maker->names[i]);
		field->type = ktrace_copied(maker, text, maker->types[i]);
		ktrace_define_field(&maker->event->fields[i], field);
		list_add(&field->link, &fields->list);
	}

	call->print_fmt = text + text_len;
	memcpy(call->print_fmt, maker->print_fmt.buffer, print_len);
	memcpy(call->print_fmt + print_len, maker->print_args.buffer, args_len);

	return fields;
}

static void ktrace_free_maker(struct ktrace_maker *maker)
{
	if (maker)
		ktrace_free_event(maker->event);
	kfree(maker);
}

DEFINE_FREE(ktrace_free_maker, struct ktrace_maker *, ktrace_free_maker(_T))

/* A maker with an event that has no name yet */
static struct ktrace_maker *ktrace_new_maker(unsigned int nr)
{
	struct ktrace_maker *maker __free(ktrace_free_maker) = NULL;
	struct ktrace_event *event;

	maker = kzalloc_obj(*maker);
	if (!maker)
		return NULL;

	event = kzalloc_flex(*event, fields, nr);
	if (!event)
		return NULL;

	event->nr_fields = nr;
	event->first_piece = nr;
	event->contents = KTRACE_VALUES;
	maker->event = event;
	maker->size = sizeof(struct trace_entry);
	seq_buf_init(&maker->text, maker->text_buf, sizeof(maker->text_buf));
	seq_buf_init(&maker->print_fmt, maker->print_fmt_buf,
		     sizeof(maker->print_fmt_buf));
	seq_buf_init(&maker->print_args, maker->print_args_buf,
		     sizeof(maker->print_args_buf));

	return no_free_ptr(maker);
}

/*
 * ktrace_get_fields - the fields that filters, triggers and tools see
 * @call: the trace event
 *
 * They are made from the format, with the format for tools, when somebody asks
 * for the first time, and stay as long as the event.
 *
 * Context: may sleep, with or without event_mutex and trace_event_sem
 *
 * Return: the list, which has no fields if there is no memory for them.
 */
struct list_head *ktrace_get_fields(struct trace_event_call *call)
{
	struct ktrace_maker *maker __free(ktrace_free_maker) = NULL;
	struct ktrace_event *event = to_ktrace_event(call);
	struct ktrace_call_fields *fields;
	static LIST_HEAD(no_fields);

	/* Pairs with the release below. */
	fields = smp_load_acquire(&call->data);
	if (fields)
		return &fields->list;

	guard(mutex)(&ktrace_fields_mutex);
	fields = call->data;
	if (!fields) {
		maker = ktrace_new_maker(event->nr_fields);
		if (maker && !ktrace_parse(maker, ktrace_event_fmt(event)))
			fields = ktrace_define_fields(maker, call);
		/* After the fields and print_fmt */
		smp_store_release(&call->data, fields);
	}

	return fields ? &fields->list : &no_fields;
}

/*
 * ktrace_free_event - undo ktrace_make_event()
 * @event: the event, which is not registered; NULL is ignored
 */
void ktrace_free_event(struct ktrace_event *event)
{
	if (!event)
		return;

	kfree(event->call.data);
	if (event->call.name != event->name)
		kfree(event->call.name);
	/* The kernel's own text is not copied. */
	kfree_const(event->name);
	kfree(event);
}

/*
 * ktrace_make_event - make an event of a site
 * @site: the site
 * @system: the system of the event
 * @copy: copy the strings of the site, which may go
 * @error: on failure: why there is no event
 * @size: bytes of @error
 *
 * Return: the event, which is not registered yet, or an error pointer: -ENOMEM,
 * -EINVAL, -EOPNOTSUPP or -E2BIG for a format that can't be recorded.
 */
struct ktrace_event *ktrace_make_event(const struct ktrace_site *site,
				       struct ktrace_system *system,
				       bool copy, char *error, size_t size)
{
	struct ktrace_maker *maker __free(ktrace_free_maker) = NULL;
	const char *name = ktrace_site_name(site);
	const char *fmt = ktrace_site_fmt(site);
	unsigned int nr = site->nr_args;
	struct ktrace_event *event;
	int ret;

	if (nr > KTRACE_MAX_ARGS) {
		snprintf(error, size, "too many arguments");
		return ERR_PTR(-EINVAL);
	}

	maker = ktrace_new_maker(nr);
	if (!maker) {
		snprintf(error, size, "no memory");
		return ERR_PTR(-ENOMEM);
	}

	ret = ktrace_parse(maker, fmt);
	if (ret) {
		strscpy(error, maker->error, size);
		return ERR_PTR(ret);
	}

	/* A module takes its own strings with it. */
	if (copy)
		name = kmemdup(name, fmt + strlen(fmt) + 1 - name, GFP_KERNEL);
	if (!name) {
		snprintf(error, size, "no memory");
		return ERR_PTR(-ENOMEM);
	}

	event = no_free_ptr(maker->event);
	event->name = name;
	event->call.name = name;
	event->call.class = &system->class;
	event->call.event.funcs = &ktrace_event_funcs;
	event->call.flags = TRACE_EVENT_FL_DYNAMIC | TRACE_EVENT_FL_KTRACE |
			    TRACE_EVENT_FL_TP_RECORD;

	return event;
}
