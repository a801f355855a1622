// SPDX-License-Identifier: GPL-2.0
/*
 * The formats of ktrace events: what fields a record has, what tools are told
 * of them, and what a record reads like.
 *
 * A format is cut into conversions, one for each argument that is not a star.
 * How an argument is recorded depends on its conversion and on its type, which
 * the compiler has found out. The output is made by printing one conversion
 * after the other, so what is printed of a record is what printk() would have
 * printed at the time.
 */

#include <linux/bitops.h>
#include <linux/ctype.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/seq_buf.h>
#include <linux/slab.h>

#include "trace.h"
#include "trace_ktrace.h"
#include "trace_output.h"

/* Formats */

/* A conversion in a format: %-8.3lx */
struct ktrace_conv {
	const char	*begin;		/* the %, or the end of the format */
	const char	*end;		/* behind it */
	const char	*ext;		/* what follows a p */
	unsigned int	nr_ext;
	int		width;
	int		prec;
	bool		width_star;
	bool		prec_star;
	char		flags[6];
	char		mod;		/* H for hh, L for ll */
	char		conv;		/* 0 at the end of the format */
};

static const char *ktrace_next_number(const char *p, int *number)
{
	for (*number = 0; isdigit(*p); p++)
		*number = 10 * *number + *p - '0';

	return p;
}

/*
 * Finds the first conversion at @fmt or later, without %%. The compiler has
 * seen to it that conversions are correct.
 */
static void ktrace_next_conv(const char *fmt, struct ktrace_conv *conv)
{
	unsigned int nr = 0;
	const char *p = fmt;

	*conv = (struct ktrace_conv){ .width = -1, .prec = -1 };

	while (*p && (p[0] != '%' || p[1] == '%'))
		p += *p == '%' ? 2 : 1;

	conv->begin = p;
	conv->end = p;
	if (!*p)
		return;

	for (p++; *p && strchr("-+ #0", *p); p++) {
		if (nr < sizeof(conv->flags) - 1)
			conv->flags[nr++] = *p;
	}

	if (*p == '*') {
		conv->width_star = true;
		p++;
	} else if (isdigit(*p)) {
		p = ktrace_next_number(p, &conv->width);
	}

	if (*p == '.') {
		p++;
		if (*p == '*') {
			conv->prec_star = true;
			p++;
		} else {
			p = ktrace_next_number(p, &conv->prec);
		}
	}

	if (p[0] && p[0] == p[1] && (*p == 'h' || *p == 'l')) {
		conv->mod = toupper(*p);
		p += 2;
	} else if (*p && strchr("hlLqjzt", *p)) {
		conv->mod = *p == 'q' || *p == 'j' ? 'L' : *p;
		p++;
	}

	conv->conv = *p;
	if (*p)
		p++;

	if (conv->conv == 'p') {
		conv->ext = p;
		while (isalnum(*p))
			p++;
		conv->nr_ext = p - conv->ext;
	}
	conv->end = p;
}

/* The end of the text before a conversion; not the newline of a whole line */
static const char *ktrace_text_end(const char *begin,
				   const struct ktrace_conv *conv)
{
	const char *end = conv->begin;

	return !*end && end > begin && end[-1] == '\n' ? end - 1 : end;
}

/* What of a pointer's extension is done when it is read, by its value */
static bool ktrace_ext_is_value(const struct ktrace_conv *conv)
{
	return !conv->nr_ext || strchr("SsBKxe", conv->ext[0]);
}

struct ktrace_ext {
	const char	*ext;
	const char	*type;
	u8		size;
	u8		op;
	bool		tools;		/* libtraceevent has it too */
};

/* Extensions that dereference, by their beginning, longer ones first */
static const struct ktrace_ext ktrace_exts[] = {
	{ "MR", "u8[6]",  6,  KTRACE_OP_COPY, false },
	{ "M",	"u8[6]",  6,  KTRACE_OP_COPY, true },
	{ "m",	"u8[6]",  6,  KTRACE_OP_COPY, true },
	{ "I4",	"u8[4]",  4,  KTRACE_OP_COPY, true },
	{ "i4",	"u8[4]",  4,  KTRACE_OP_COPY, true },
	{ "I6",	"u8[16]", 16, KTRACE_OP_COPY, true },
	{ "i6",	"u8[16]", 16, KTRACE_OP_COPY, true },
	{ "IS",	"u8[28]", 28, KTRACE_OP_SOCKADDR, true },
	{ "iS",	"u8[28]", 28, KTRACE_OP_SOCKADDR, true },
	{ "U",	"u8[16]", 16, KTRACE_OP_COPY, true },
	{ "4c",	"u8[4]",  4,  KTRACE_OP_COPY, false },
	{ "h",	"__data_loc u8[]", KTRACE_MAX_COPY, KTRACE_OP_DUMP, false },
};

static const struct ktrace_ext *ktrace_find_ext(const struct ktrace_conv *conv)
{
	for (int i = 0; i < ARRAY_SIZE(ktrace_exts); i++) {
		const struct ktrace_ext *ext = &ktrace_exts[i];

		if (strlen(ext->ext) <= conv->nr_ext &&
		    !strncmp(ext->ext, conv->ext, strlen(ext->ext)))
			return ext;
	}

	return NULL;
}

static const struct {
	const char	*name;
	u8		size;
	u8		align;
	bool		is_signed;
} ktrace_types[KTRACE_NR_TYPES] = {
#define KTRACE_TYPE(_type, _name, _is_signed)				\
	{								\
		.name		= _name,				\
		.size		= sizeof(_type),			\
		.align		= __alignof__(struct { _type x; }),	\
		.is_signed	= _is_signed,				\
	}
	[KTRACE_BOOL]	= KTRACE_TYPE(bool, "bool", false),
	[KTRACE_CHAR]	= KTRACE_TYPE(char, "char", is_signed_type(char)),
	[KTRACE_S8]	= KTRACE_TYPE(signed char, "signed char", true),
	[KTRACE_U8]	= KTRACE_TYPE(unsigned char, "unsigned char", false),
	[KTRACE_S16]	= KTRACE_TYPE(short, "short", true),
	[KTRACE_U16]	= KTRACE_TYPE(unsigned short, "unsigned short", false),
	[KTRACE_S32]	= KTRACE_TYPE(int, "int", true),
	[KTRACE_U32]	= KTRACE_TYPE(unsigned int, "unsigned int", false),
	[KTRACE_LONG]	= KTRACE_TYPE(long, "long", true),
	[KTRACE_ULONG]	= KTRACE_TYPE(unsigned long, "unsigned long", false),
	[KTRACE_S64]	= KTRACE_TYPE(long long, "long long", true),
	[KTRACE_U64]	= KTRACE_TYPE(unsigned long long, "unsigned long long",
				      false),
	[KTRACE_PTR]	= KTRACE_TYPE(void *, "void *", false),
};

static unsigned int ktrace_nr_types(u64 types)
{
	unsigned int nr = 0;

	for (; types; types >>= 4)
		nr++;

	return nr;
}

/* Making an event of a site */

/* What is known of an event while it is made. */
struct ktrace_maker {
	struct ktrace_event	*event;
	const struct ktrace_site *site;
	/* Names of the fields, then of their types, NULL for the usual one. */
	const char		*names[KTRACE_MAX_ARGS];
	const char		*types[KTRACE_MAX_ARGS];
	unsigned int		nr;
	unsigned int		size;
	/* The strings, and print_fmt. */
	struct seq_buf		text;
	struct seq_buf		print_fmt;
	struct seq_buf		print_args;
	char			text_buf[1024];
	char			print_fmt_buf[1024];
	char			print_args_buf[1024];
	/* Why not. */
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

	/* What each record has got, and what filters know of each event. */
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

/* The type of the next argument, KTRACE_NONE when there is none */
static enum ktrace_type ktrace_next_type(struct ktrace_maker *maker)
{
	unsigned int type;

	if (maker->nr >= KTRACE_MAX_ARGS)
		return KTRACE_NONE;

	type = maker->site->types >> (4 * maker->nr) & 0xf;

	return type < KTRACE_NR_TYPES ? type : KTRACE_NONE;
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
	field->type = ktrace_next_type(maker);
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
			event->contents = op == KTRACE_OP_STRING && !star ?
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
static int ktrace_add_value(struct ktrace_maker *maker, const char *name)
{
	enum ktrace_type type = ktrace_next_type(maker);
	unsigned int size = ktrace_types[type].size;

	if (!size)
		return ktrace_refuse(maker, -EINVAL,
				     "argument %u is missing, or has no type that can be recorded",
				     maker->nr + 1);

	return ktrace_add_field(maker, name, ilog2(size), size,
				ktrace_types[type].align, size, NULL, false);
}

static int ktrace_add_star(struct ktrace_maker *maker, const char *begin,
			   const struct ktrace_conv *conv, const char *suffix)
{
	const char *name = ktrace_field_name(maker, begin, conv, suffix);

	switch (ktrace_next_type(maker)) {
	case KTRACE_BOOL ... KTRACE_U32:
		return ktrace_add_value(maker, name);
	default:
		return ktrace_refuse(maker, -EINVAL,
				     "argument %u is no int for a *", maker->nr + 1);
	}
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
			seq_buf_putc(s, *begin);
		}
	}
}

/*
 * The length of a number, for tools. libtraceevent reads fields as unsigned and
 * has no sign for what is shorter than an int, unless the format says how short.
 */
static char ktrace_print_mod(struct ktrace_maker *maker,
			     const struct ktrace_conv *conv)
{
	if (conv->conv == 'd' || conv->conv == 'i') {
		switch (ktrace_next_type(maker)) {
		case KTRACE_S8:
			return 'H';
		case KTRACE_S16:
			return 'h';
		default:
			break;
		}
	}

	return conv->mod;
}

/*
 * A conversion for tools, which do not know all lengths, mix up the arguments
 * when they meet a flag that they do not know, and print the letters behind %p
 * that they do not know.
 */
static void ktrace_print_conv(struct ktrace_maker *maker,
			      const struct ktrace_conv *conv)
{
	char mod = ktrace_print_mod(maker, conv);
	struct seq_buf *s = &maker->print_fmt;

	seq_buf_putc(s, '%');
	for (const char *p = conv->flags; *p; p++) {
		if (*p != '+' && *p != ' ')
			seq_buf_putc(s, *p);
	}
	if (conv->width_star)
		seq_buf_putc(s, '*');
	else if (conv->width >= 0)
		seq_buf_printf(s, "%d", conv->width);

	if (conv->prec_star)
		seq_buf_puts(s, ".*");
	else if (conv->prec >= 0)
		seq_buf_printf(s, ".%d", conv->prec);

	switch (mod) {
	case 'H':
		seq_buf_puts(s, "hh");
		break;
	case 'L':
		seq_buf_puts(s, "ll");
		break;
	case 'z':
	case 't':
		seq_buf_putc(s, 'l');
		break;
	case 0:
		break;
	default:
		seq_buf_putc(s, mod);
	}

	seq_buf_putc(s, conv->conv);
	if (conv->conv != 'p' || !ktrace_ext_is_value(conv))
		seq_buf_printf(s, "%.*s", conv->nr_ext, conv->ext);
	else if (conv->nr_ext && conv->ext[0] == 's')
		seq_buf_putc(s, 's');
	else if (conv->nr_ext && strchr("SB", conv->ext[0]))
		seq_buf_putc(s, 'S');
}

/* Fields and output of one conversion, which is not the end of the format */
static int ktrace_add_conv(struct ktrace_maker *maker, const char *begin,
			   const struct ktrace_conv *conv)
{
	struct seq_buf *args = &maker->print_args;
	const struct ktrace_ext *ext = NULL;
	const char *name;
	unsigned int size;
	bool star;
	int ret;

	/* The longest are of three; what follows them belongs to them. */
	if (conv->nr_ext > 8)
		return ktrace_refuse(maker, -EINVAL,
				     "%%p%.*s... swallows the text behind it",
				     8, conv->ext);

	if (conv->conv == 'p' && !ktrace_ext_is_value(conv)) {
		ext = ktrace_find_ext(conv);
		if (!ext)
			return ktrace_refuse(maker, -EOPNOTSUPP,
					     "%%p%.*s would follow the pointer when the record is read",
					     conv->nr_ext, conv->ext);
	} else if (!conv->conv || !strchr("diuxXocsp", conv->conv)) {
		return ktrace_refuse(maker, -EOPNOTSUPP, "%%%c can not be recorded",
				     conv->conv);
	}

	if (conv->width_star) {
		/* The size of a dump, see below */
		star = ext && ext->op == KTRACE_OP_DUMP;
		ret = ktrace_add_star(maker, begin, conv, star ? "_len" : "_width");
		if (ret)
			return ret;
		if (!star)
			seq_buf_printf(args, ", REC->%s", maker->names[maker->nr - 1]);
	}
	if (conv->prec_star) {
		ret = ktrace_add_star(maker, begin, conv, "_len");
		if (ret)
			return ret;
		seq_buf_printf(args, ", REC->%s", maker->names[maker->nr - 1]);
	}

	name = ktrace_field_name(maker, begin, conv, "");

	if (conv->conv != 's' && conv->conv != 'p') {
		if (ktrace_next_type(maker) == KTRACE_PTR)
			return ktrace_refuse(maker, -EINVAL, "%%%c for a pointer",
					     conv->conv);
		ktrace_print_conv(maker, conv);
		seq_buf_printf(args, ", REC->%s", name);
		return ktrace_add_value(maker, name);
	}

	if (ktrace_next_type(maker) != KTRACE_PTR)
		return ktrace_refuse(maker, -EINVAL,
				     "argument %u is missing, or no pointer",
				     maker->nr + 1);

	if (conv->conv == 's') {
		size = KTRACE_MAX_STR;
		if (conv->prec >= 0)
			size = min(size, conv->prec + 1U);
		ktrace_print_conv(maker, conv);
		seq_buf_printf(args, ", __get_str(%s)", name);
		return ktrace_add_field(maker, name, KTRACE_OP_STRING, 4, 4, size,
					"__data_loc char[]", conv->prec_star);
	}

	if (!ext) {
		ktrace_print_conv(maker, conv);
		seq_buf_printf(args, ", REC->%s", name);
		return ktrace_add_value(maker, name);
	}

	if (ext->op == KTRACE_OP_DUMP) {
		size = ext->size;
		if (!conv->width_star) {
			if (conv->width < 1)
				return ktrace_refuse(maker, -EINVAL, "%%ph without a size");
			size = min_t(unsigned int, size, conv->width);
		}
		/* Tools have no %ph: as near to it as they can get */
		seq_buf_puts(&maker->print_fmt, "%s");
		seq_buf_puts(args, ", __print_hex");
		if (conv->nr_ext > 1 && conv->ext[1] == 'N')
			seq_buf_puts(args, "_str");
		seq_buf_printf(args, "(__get_dynamic_array(%s), ", name);
		seq_buf_printf(args, "__get_dynamic_array_len(%s))", name);
		return ktrace_add_field(maker, name, ext->op, 4, 4, size,
					ext->type, conv->width_star);
	}

	if (ext->tools) {
		ktrace_print_conv(maker, conv);
		seq_buf_printf(args, ", REC->%s", name);
	} else {
		seq_buf_puts(&maker->print_fmt, "%s");
		seq_buf_printf(args, ", __print_hex(REC->%s, %u)", name, ext->size);
	}
	return ktrace_add_field(maker, name, ext->op, ext->size,
				ext->op == KTRACE_OP_SOCKADDR ? 2 : 1,
				ext->size, ext->type, false);
}

static int ktrace_parse(struct ktrace_maker *maker, const char *fmt)
{
	struct ktrace_event *event = maker->event;
	const char *begin = fmt;
	struct ktrace_conv conv;
	int ret;

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

	if (maker->nr != event->nr_fields)
		return ktrace_refuse(maker, -EINVAL, "too many arguments for the format");

	if (seq_buf_has_overflowed(&maker->text) ||
	    seq_buf_has_overflowed(&maker->print_fmt) ||
	    seq_buf_has_overflowed(&maker->print_args))
		return ktrace_refuse(maker, -E2BIG, "the format is too long");

	event->size = maker->size;

	return 0;
}

/* The fields that filters, triggers and tools see */
static int ktrace_define_fields(struct ktrace_maker *maker, const char *text)
{
	struct ktrace_event *event = maker->event;
	const char *type, *name;
	bool is_signed;
	int size, ret;

	for (int i = 0; i < event->nr_fields; i++) {
		struct ktrace_field *field = &event->fields[i];

		name = text + (maker->names[i] - maker->text.buffer);
		type = maker->types[i];
		size = field->size;
		is_signed = false;
		if (!type) {
			type = ktrace_types[field->type].name;
			is_signed = ktrace_types[field->type].is_signed;
		} else if (field->op == KTRACE_OP_STRING ||
			   field->op == KTRACE_OP_DUMP) {
			size = sizeof(u32);
			is_signed = field->op == KTRACE_OP_STRING &&
				    is_signed_type(char);
		}

		ret = trace_define_field(&event->call, type, name, field->offset,
					 size, is_signed, FILTER_OTHER);
		if (ret)
			return ret;

		if (field->op >= KTRACE_OP_COPY)
			list_first_entry(&event->call_fields,
					 struct ftrace_event_field, link)->len = size;
	}

	return 0;
}

void ktrace_free_event(struct ktrace_event *event)
{
	if (IS_ERR_OR_NULL(event))
		return;

	trace_destroy_fields(&event->call);
	kfree(event->text);
	kfree(event);
}

DEFINE_FREE(ktrace_free_event, struct ktrace_event *, ktrace_free_event(_T))

/* The name, the format and what has been made of them, in one allocation */
static int ktrace_set_text(struct ktrace_maker *maker, bool copy)
{
	struct ktrace_event *event = maker->event;
	const char *name = maker->site->name;
	size_t print_len = seq_buf_used(&maker->print_fmt);
	size_t args_len = seq_buf_used(&maker->print_args);
	size_t text_len = seq_buf_used(&maker->text);
	size_t name_len = 0;
	char *text;

	/* That of the kernel stays, that of a module goes with it. */
	if (copy)
		name_len = ktrace_site_fmt(maker->site) - name +
			   strlen(ktrace_site_fmt(maker->site)) + 1;

	text = kmalloc(text_len + name_len + print_len + args_len + 1, GFP_KERNEL);
	if (!text)
		return -ENOMEM;

	event->text = text;
	memcpy(text, maker->text.buffer, text_len);
	text += text_len;
	if (copy) {
		name = memcpy(text, name, name_len);
		text += name_len;
	}
	event->call.name = name;
	event->fmt = name + strlen(name) + 1;

	event->call.print_fmt = text;
	memcpy(text, maker->print_fmt.buffer, print_len);
	memcpy(text + print_len, maker->print_args.buffer, args_len);
	text[print_len + args_len] = 0;

	return 0;
}

struct ktrace_event *ktrace_make_event(const struct ktrace_site *site,
				       bool copy, char *error, size_t size)
{
	struct ktrace_maker *maker __free(kfree) = kzalloc_obj(*maker);
	struct ktrace_event *event __free(ktrace_free_event) = NULL;
	unsigned int nr = ktrace_nr_types(site->types);
	int ret;

	/* An event without its class can't be freed. */
	if (maker)
		event = kzalloc_flex(*event, fields, nr);
	if (!event) {
		snprintf(error, size, "no memory");
		return ERR_PTR(-ENOMEM);
	}

	INIT_LIST_HEAD(&event->call_fields);
	event->nr_fields = nr;
	event->first_piece = nr;
	event->contents = KTRACE_VALUES;
	event->types = site->types;
	event->call.class = &ktrace_event_class;
	event->call.event.funcs = &ktrace_event_funcs;
	event->call.flags = TRACE_EVENT_FL_DYNAMIC | TRACE_EVENT_FL_KTRACE;

	maker->event = event;
	maker->site = site;
	maker->size = sizeof(struct trace_entry);
	seq_buf_init(&maker->text, maker->text_buf, sizeof(maker->text_buf));
	seq_buf_init(&maker->print_fmt, maker->print_fmt_buf,
		     sizeof(maker->print_fmt_buf));
	seq_buf_init(&maker->print_args, maker->print_args_buf,
		     sizeof(maker->print_args_buf));
	snprintf(maker->error, sizeof(maker->error), "no memory");

	ret = ktrace_parse(maker, ktrace_site_fmt(site));
	if (!ret)
		ret = ktrace_set_text(maker, copy);
	if (!ret)
		ret = ktrace_define_fields(maker, event->text);
	if (ret) {
		strscpy(error, maker->error, size);
		return ERR_PTR(ret);
	}

	return no_free_ptr(event);
}

/* Output */

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

	if (ktrace_types[field->type].is_signed)
		return sign_extend64(val, 8 * field->size - 1);

	return val;
}

/* The value as printf() takes it from its arguments for this conversion */
static u64 ktrace_convert(const struct ktrace_conv *conv, u64 val)
{
	unsigned int bits = 32;

	switch (conv->mod) {
	case 'H':
		bits = 8;
		break;
	case 'h':
		bits = 16;
		break;
	case 'l':
	case 'z':
	case 't':
		bits = BITS_PER_LONG;
		break;
	case 'L':
		bits = 64;
		break;
	}

	if (conv->conv == 'd' || conv->conv == 'i')
		return sign_extend64(val, bits - 1);

	return val & GENMASK_ULL(bits - 1, 0);
}

/*
 * What is behind the fields. The buffer may come from before a crash: nothing
 * in it is believed.
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
	if (prec >= 0)
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
	char spec[48];
	struct seq_buf s;
	u64 val;

	/* They may come from the record, which may come from anywhere. */
	width = clamp(width, -KTRACE_MAX_WIDTH, KTRACE_MAX_WIDTH);
	prec = min(prec, KTRACE_MAX_WIDTH);

	seq_buf_init(&s, spec, sizeof(spec));
	seq_buf_printf(&s, "%%%s", conv->flags);

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

	/* Two numbers, five flags, eight letters */
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
		trace_seq_printf(&iter->seq, spec, ktrace_convert(conv, val));
}

/* The text of a format between two conversions, where %% is % */
static void ktrace_print_text(struct trace_seq *s, const char *begin,
			      const char *end)
{
	const char *p;

	for (p = begin; p < end; p++) {
		if (*p != '%')
			continue;
		trace_seq_putmem(s, begin, p + 1 - begin);
		p++;
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
	for (begin = event->fmt; ; begin = conv.end) {
		ktrace_next_conv(begin, &conv);
		ktrace_print_text(s, begin, ktrace_text_end(begin, &conv));
		if (conv.begin == conv.end)
			break;

		width = conv.width;
		if (conv.width_star)
			width = ktrace_value(field++, iter->ent);
		prec = conv.prec;
		if (conv.prec_star)
			prec = ktrace_value(field++, iter->ent);
		ktrace_print_field(iter, field++, &conv, width, prec);
	}
	trace_seq_putc(s, '\n');

	return trace_handle_return(s);
}

struct trace_event_functions ktrace_event_funcs = {
	.trace	= ktrace_print,
};
