/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ktrace: trace events in one line
 *
 *	ktrace(link_down, "dev=%s carrier=%d", dev->name, carrier);
 *
 * in the driver foo makes the trace event foo:link_down with the fields "dev"
 * and "carrier". It can be switched, filtered and read like any other trace
 * event. While it is off, the line costs one NOP.
 *
 * See Documentation/trace/ktrace.rst for types, strings and names.
 */
#ifndef _LINUX_KTRACE_H
#define _LINUX_KTRACE_H

#include <linux/args.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/jump_label.h>
#include <linux/stringify.h>
#include <linux/types.h>

struct ktrace_event;
struct module;

/* The most arguments that one ktrace() takes. */
#define KTRACE_MAX_ARGS		15

/* The most bytes of a format; scripts/mod/ktrace.c checks that. */
#define KTRACE_MAX_FMT		512

/* Bytes that a record keeps of one string, the final 0 included. */
#define KTRACE_MAX_STR		256

/* Bytes that a record keeps of all its strings and dumps together. */
#define KTRACE_MAX_DATA		2048

/**
 * struct ktrace_site - a place in the code that calls ktrace()
 * @text: system and name of the event, and its format, each with a final 0
 * @file: source file
 * @func: function
 * @line: line in @file
 * @nr_args: number of arguments
 * @muted: switched off by ktrace_sites, whatever happens to the event
 * @key: on while the site records
 * @event: the event that it belongs to; NULL while it has none
 * @next: the next site of @event
 *
 * Sites are in a section of their own. All but the key is changed with
 * event_mutex held, @event and @next when modules come and go.
 *
 * scripts/mod/ktrace.c reads the first five, so these come first, in this order.
 */
struct ktrace_site {
	const char		*text;
	const char		*file;
	const char		*func;
	u32			line;
	u8			nr_args;
	bool			muted;
	struct static_key_false	key;
	struct ktrace_event	*event;
	struct ktrace_site	*next;
} __aligned(8);

/* For the compiler only: it checks the arguments against the format. */
static __always_inline __printf(1, 2)
void __ktrace_check(const char *fmt, ...)
{
}

/* As COUNT_ARGS(), but 16 for 16 to 31 arguments, so that the check fails */
#define __ktrace_first(n, x...) n
#define ____ktrace_nr(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, \
		      _13, _14, _15, _16, _17, _18, _19, _20, _21, _22, _23, \
		      _24, _25, _26, _27, _28, _29, _30, _31, n, x...)	\
	__ktrace_first(n, _0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, \
		       _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _22, \
		       _23, _24, _25, _26, _27, _28, _29, _30, _31)
#define __ktrace_nr(x...)						\
	____ktrace_nr(, ##x, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, \
		      16, 16, 16, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, \
		      4, 3, 2, 1, 0)
#define __ktrace_check_nr(args...)					\
	static_assert(__ktrace_nr(args) <= KTRACE_MAX_ARGS,		\
		      "ktrace() takes no more than 15 arguments")

#ifdef CONFIG_KTRACE

/* The most arguments of a __ktrace(). */
#define KTRACE_REG_ARGS		5

void __ktrace(struct ktrace_site *site, u64 arg1, u64 arg2, u64 arg3, u64 arg4,
	      u64 arg5);
void __ktrace_more(struct ktrace_site *site, ...);
void __ktrace_check_context(void);

/* How an argument is passed: a pointer must not be extended by its sign. */
#if defined(CONFIG_64BIT) || defined(__CHECKER__)
#define __ktrace_arg(x...)	((__force u64)(x))
#else
#define __ktrace_arg(x...)						\
	((u64)__builtin_choose_expr(__builtin_classify_type(x) == 5,	\
				    (unsigned long)(x), (x)))
#endif

/* Each step moves one widened argument to the end, which keeps the order. */
#define __ktrace_wide1(site, x, y...)					\
	__ktrace_more(site, ##y, __ktrace_arg(x))
#define __ktrace_wide2(site, x, y...)					\
	__ktrace_wide1(site, ##y, __ktrace_arg(x))
#define __ktrace_wide3(site, x, y...)					\
	__ktrace_wide2(site, ##y, __ktrace_arg(x))
#define __ktrace_wide4(site, x, y...)					\
	__ktrace_wide3(site, ##y, __ktrace_arg(x))
#define __ktrace_wide5(site, x, y...)					\
	__ktrace_wide4(site, ##y, __ktrace_arg(x))
#define __ktrace_wide6(site, x, y...)					\
	__ktrace_wide5(site, ##y, __ktrace_arg(x))
#define __ktrace_wide7(site, x, y...)					\
	__ktrace_wide6(site, ##y, __ktrace_arg(x))
#define __ktrace_wide8(site, x, y...)					\
	__ktrace_wide7(site, ##y, __ktrace_arg(x))
#define __ktrace_wide9(site, x, y...)					\
	__ktrace_wide8(site, ##y, __ktrace_arg(x))
#define __ktrace_wide10(site, x, y...)				\
	__ktrace_wide9(site, ##y, __ktrace_arg(x))
#define __ktrace_wide11(site, x, y...)				\
	__ktrace_wide10(site, ##y, __ktrace_arg(x))
#define __ktrace_wide12(site, x, y...)				\
	__ktrace_wide11(site, ##y, __ktrace_arg(x))
#define __ktrace_wide13(site, x, y...)				\
	__ktrace_wide12(site, ##y, __ktrace_arg(x))
#define __ktrace_wide14(site, x, y...)				\
	__ktrace_wide13(site, ##y, __ktrace_arg(x))
#define __ktrace_wide15(site, x, y...)				\
	__ktrace_wide14(site, ##y, __ktrace_arg(x))

#define __ktrace_call0(site)	__ktrace(site, 0, 0, 0, 0, 0)
#define __ktrace_call1(site, a)						\
	__ktrace(site, __ktrace_arg(a), 0, 0, 0, 0)
#define __ktrace_call2(site, a, b)					\
	__ktrace(site, __ktrace_arg(a), __ktrace_arg(b), 0, 0, 0)
#define __ktrace_call3(site, a, b, c)					\
	__ktrace(site, __ktrace_arg(a), __ktrace_arg(b), __ktrace_arg(c), 0, 0)
#define __ktrace_call4(site, a, b, c, d)				\
	__ktrace(site, __ktrace_arg(a), __ktrace_arg(b), __ktrace_arg(c),	\
		 __ktrace_arg(d), 0)
#define __ktrace_call5(site, a, b, c, d, e)				\
	__ktrace(site, __ktrace_arg(a), __ktrace_arg(b), __ktrace_arg(c),	\
		 __ktrace_arg(d), __ktrace_arg(e))
#define __ktrace_call6(site, x...)	__ktrace_wide6(site, x)
#define __ktrace_call7(site, x...)	__ktrace_wide7(site, x)
#define __ktrace_call8(site, x...)	__ktrace_wide8(site, x)
#define __ktrace_call9(site, x...)	__ktrace_wide9(site, x)
#define __ktrace_call10(site, x...)	__ktrace_wide10(site, x)
#define __ktrace_call11(site, x...)	__ktrace_wide11(site, x)
#define __ktrace_call12(site, x...)	__ktrace_wide12(site, x)
#define __ktrace_call13(site, x...)	__ktrace_wide13(site, x)
#define __ktrace_call14(site, x...)	__ktrace_wide14(site, x)
#define __ktrace_call15(site, x...)	__ktrace_wide15(site, x)
#define __ktrace_call16(site, x...)	/* see __ktrace_check_nr() */

/* The conversion decides what is recorded, so all arguments are passed as u64. */
#define __ktrace_call(site, args...)					\
	CONCATENATE(__ktrace_call, __ktrace_nr(args))(site, ##args)

/**
 * ktrace - record a trace event
 * @_name: name of the event, an identifier
 * @_fmt: how the record reads, as for printk() but without a final newline;
 *	  a string literal. "name=%d" calls the field "name", others are
 *	  called arg1, arg2 ... by their position.
 * @args: up to %KTRACE_MAX_ARGS integers (of any type, enums, bit fields),
 *	  pointers and strings. They are evaluated only when the event is on,
 *	  and then once.
 *
 * The system of the event is %KTRACE_SYSTEM where the file defines that before
 * it includes this header, and the name of the module (of built-in code, too)
 * where it does not. The conversion decides how an argument is recorded: %d as
 * an int, %llu as a u64. Strings and what %pM and the like point to are copied
 * to the record. The build fails for a format that would need more than a copy,
 * and for two formats of one event.
 *
 * Context: Any, NMI included, where RCU is watching and instrumentation is
 *	    allowed.
 */
#define ktrace(_name, _fmt, args...)					\
do {									\
	static const char __ktrace_text[] __aligned(1) =		\
		__KTRACE_SYSTEM "\0" #_name "\0" _fmt;			\
	static struct ktrace_site __ktrace_site				\
	__aligned(8) __section("__ktrace_sites") = {			\
		.text	 = __ktrace_text,				\
		.file	 = __FILE__,					\
		.func	 = __func__,					\
		.line	 = __LINE__,					\
		.nr_args = __ktrace_nr(args),				\
		.key	 = STATIC_KEY_FALSE_INIT,			\
	};								\
	enum { __ktrace_name_##_name };					\
	__ktrace_check_nr(args);					\
									\
	if (0)								\
		__ktrace_check(__ktrace_text + sizeof(__KTRACE_SYSTEM) +	\
			       sizeof(#_name), ##args);			\
	/* Like tracepoints, find bad places while the event is off. */ \
	if (IS_ENABLED(CONFIG_LOCKDEP))					\
		__ktrace_check_context();				\
	if (static_branch_unlikely(&__ktrace_site.key)) {		\
		__ktrace_call(&__ktrace_site, ##args);			\
		/* No tail call: stack traces need this function. */	\
		barrier();						\
	}								\
} while (0)

#else /* !CONFIG_KTRACE */

#define ktrace(_name, _fmt, args...)					\
do {									\
	enum { __ktrace_name_##_name };					\
	__ktrace_check_nr(args);					\
									\
	if (0)								\
		__ktrace_check(_fmt, ##args);				\
} while (0)

#endif /* CONFIG_KTRACE */

#endif /* _LINUX_KTRACE_H */

/* Not guarded: another header may have included this one before. */
#undef __KTRACE_SYSTEM
#ifdef KTRACE_SYSTEM
#define __KTRACE_SYSTEM	__stringify(KTRACE_SYSTEM)
#else
#define __KTRACE_SYSTEM	KBUILD_MODNAME
#endif
