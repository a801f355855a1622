/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ktrace: trace events in one line
 *
 *	ktrace(link_down, "dev=%s carrier=%d", dev->name, carrier);
 *
 * makes the trace event ktrace:link_down with the fields "dev" and "carrier".
 * It can be switched, filtered and read like any other trace event. While it
 * is off, the line costs one NOP.
 *
 * See Documentation/trace/ktrace.rst for types, strings and names.
 */
#ifndef _LINUX_KTRACE_H
#define _LINUX_KTRACE_H

#include <linux/args.h>
#include <linux/compiler.h>
#include <linux/jump_label.h>
#include <linux/types.h>

struct ktrace_event;
struct module;

/* The most arguments that one ktrace() takes. */
#define KTRACE_MAX_ARGS		15

/* Bytes that a record keeps of one string, the final 0 included. */
#define KTRACE_MAX_STR		256

/* Bytes that a record keeps of all its strings and dumps together. */
#define KTRACE_MAX_DATA		2048

/* What an argument is, as the compiler sees it: four bits for each. */
enum ktrace_type {
	KTRACE_NONE,
	KTRACE_BOOL,
	KTRACE_CHAR,
	KTRACE_S8,
	KTRACE_U8,
	KTRACE_S16,
	KTRACE_U16,
	KTRACE_S32,
	KTRACE_U32,
	KTRACE_LONG,
	KTRACE_ULONG,
	KTRACE_S64,
	KTRACE_U64,
	KTRACE_PTR,
	KTRACE_NR_TYPES,
};

/**
 * struct ktrace_site - a place in the code that calls ktrace()
 * @key: on while the site records
 * @event: the event that it belongs to; NULL while it has none
 * @next: the next site of @event
 * @name: name of the event, a zero byte, and the format
 * @file: source file
 * @func: function
 * @hits: how often it has been passed while it was on
 * @types: enum ktrace_type of the arguments, the first in the lowest bits
 * @line: line in @file
 * @muted: switched off by ktrace_sites, whatever happens to the event
 *
 * Sites are in a section of their own. All but the key is changed with
 * event_mutex held, @event and @next when modules come and go.
 */
struct ktrace_site {
	struct static_key_false	key;
	struct ktrace_event	*event;
	struct ktrace_site	*next;
	const char		*name;
	const char		*file;
	const char		*func;
	unsigned long __percpu	*hits;
	u64			types;
	u32			line;
	bool			muted;
} __aligned(8);

/* For the compiler only: it checks the arguments against the format. */
static __always_inline __printf(1, 2)
void __ktrace_check(const char *fmt, ...)
{
}

#ifdef CONFIG_KTRACE

/* The most arguments of a __ktrace(). */
#define KTRACE_REG_ARGS		5

void __ktrace(struct ktrace_site *site, u64 arg1, u64 arg2, u64 arg3, u64 arg4,
	      u64 arg5);
void __ktrace_more(struct ktrace_site *site, ...);

/*
 * gcc gives bit fields types of their own, which match none of the standard
 * ones. What is passed of them is promoted: to an int where that is enough. 5
 * is the class of pointers, and of what decays to one. What is larger than a
 * u64 gets a number that is no type.
 */
#ifdef __CHECKER__
/* It has no __builtin_classify_type(). */
#define __ktrace_other(x...)	KTRACE_NONE
#else
#define __ktrace_other(x...)						\
	(__builtin_classify_type(x) == 5 ? KTRACE_PTR : KTRACE_S32 +	\
	 (KTRACE_S64 - KTRACE_S32) * (sizeof(0 ? (x) : 0) / 8))
#endif

#define __ktrace_type(x...)						\
	(0ULL + _Generic((x),						\
		bool :			KTRACE_BOOL,			\
		char :			KTRACE_CHAR,			\
		signed char :		KTRACE_S8,			\
		unsigned char :		KTRACE_U8,			\
		short :			KTRACE_S16,			\
		unsigned short :	KTRACE_U16,			\
		int :			KTRACE_S32,			\
		unsigned int :		KTRACE_U32,			\
		long :			KTRACE_LONG,			\
		unsigned long :		KTRACE_ULONG,			\
		long long :		KTRACE_S64,			\
		unsigned long long :	KTRACE_U64,			\
		default :						\
			__ktrace_other(x)))

#define __ktrace_types0()	0ULL
#define __ktrace_types1(x)	__ktrace_type(x)
#define __ktrace_types2(x, y...)  (__ktrace_type(x) | __ktrace_types1(y) << 4)
#define __ktrace_types3(x, y...)  (__ktrace_type(x) | __ktrace_types2(y) << 4)
#define __ktrace_types4(x, y...)  (__ktrace_type(x) | __ktrace_types3(y) << 4)
#define __ktrace_types5(x, y...)  (__ktrace_type(x) | __ktrace_types4(y) << 4)
#define __ktrace_types6(x, y...)  (__ktrace_type(x) | __ktrace_types5(y) << 4)
#define __ktrace_types7(x, y...)  (__ktrace_type(x) | __ktrace_types6(y) << 4)
#define __ktrace_types8(x, y...)  (__ktrace_type(x) | __ktrace_types7(y) << 4)
#define __ktrace_types9(x, y...)  (__ktrace_type(x) | __ktrace_types8(y) << 4)
#define __ktrace_types10(x, y...) (__ktrace_type(x) | __ktrace_types9(y) << 4)
#define __ktrace_types11(x, y...) (__ktrace_type(x) | __ktrace_types10(y) << 4)
#define __ktrace_types12(x, y...) (__ktrace_type(x) | __ktrace_types11(y) << 4)
#define __ktrace_types13(x, y...) (__ktrace_type(x) | __ktrace_types12(y) << 4)
#define __ktrace_types14(x, y...) (__ktrace_type(x) | __ktrace_types13(y) << 4)
#define __ktrace_types15(x, y...) (__ktrace_type(x) | __ktrace_types14(y) << 4)

#define __ktrace_types(args...)						\
	CONCATENATE(__ktrace_types, COUNT_ARGS(args))(args)

/* How an argument is passed: a pointer must not be extended by its sign. */
#if defined(CONFIG_64BIT) || defined(__CHECKER__)
#define __ktrace_arg(x...)	((__force u64)(x))
#else
#define __ktrace_arg(x...)						\
	((u64)__builtin_choose_expr(__builtin_classify_type(x) == 5,	\
				    (unsigned long)(x), (x)))
#endif

/* Each goes to the end when it has been widened: in the end they are in order. */
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

/* Arguments are widened where they are passed: who records needs no types. */
#define __ktrace_call(site, args...)					\
	CONCATENATE(__ktrace_call, COUNT_ARGS(args))(site, ##args)

/**
 * ktrace - record a trace event
 * @_name: name of the event, an identifier: ktrace:@_name
 * @_fmt: how the record reads, as for printk() but without a final newline;
 *	  a string literal. "name=%d" calls the field "name", others are
 *	  called arg1, arg2 ... by their position.
 * @args: up to %KTRACE_MAX_ARGS integers (of any type, enums, bit fields),
 *	  pointers and strings. They are evaluated only when the event is on,
 *	  and then once.
 *
 * Strings and what %pM and the like point to are copied to the record;
 * formats that would need more than a copy are refused when the kernel boots
 * or the module is loaded. The same event may be in several places, in modules
 * too, if name, format and types are the same there.
 *
 * Context: Any, NMI included, where RCU is watching and instrumentation is
 *	    allowed.
 */
#define ktrace(_name, _fmt, args...)					\
do {									\
	static const char __ktrace_name[] __aligned(1) = #_name "\0" _fmt; \
	static struct ktrace_site __ktrace_site				\
	__aligned(8) __section("__ktrace_sites") = {			\
		.key	= STATIC_KEY_FALSE_INIT,			\
		.name	= __ktrace_name,				\
		.file	= __FILE__,					\
		.func	= __func__,					\
		.types	= __ktrace_types(args),				\
		.line	= __LINE__,					\
	};								\
	enum { __ktrace_name_##_name };					\
									\
	if (0)								\
		__ktrace_check(__ktrace_name + sizeof(#_name), ##args);	\
	if (static_branch_unlikely(&__ktrace_site.key))			\
		__ktrace_call(&__ktrace_site, ##args);			\
} while (0)

#else /* !CONFIG_KTRACE */

#define ktrace(_name, _fmt, args...)					\
do {									\
	enum { __ktrace_name_##_name };					\
									\
	if (0)								\
		__ktrace_check(&(#_name "\0" _fmt)[sizeof(#_name)], ##args); \
} while (0)

#endif /* CONFIG_KTRACE */

#endif /* _LINUX_KTRACE_H */
