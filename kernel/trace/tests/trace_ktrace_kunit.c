// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for ktrace, see trace_ktrace.c: types, evaluation and names of
 * arguments.
 */

#include <kunit/test.h>
#include <linux/align.h>
#include <linux/ktrace.h>
#include <linux/limits.h>
#include <linux/module.h>
#include <linux/ring_buffer.h>
#include <linux/string.h>

#include "trace_ktrace_kunit.h"

/* Types */

enum colour { RED, GREEN = 7 };
enum signed_colour { MINUS = -3, PLUS = 3 };

struct bits {
	unsigned int	three : 3;
	int		four : 4;
	bool		one : 1;
	u64		forty : 40;
	u32		whole : 32;
};

static noinline void trace_integers(void)
{
	unsigned long long v64 = U64_MAX;
	unsigned long vlong = ULONG_MAX;
	unsigned int v32 = 4000000000U;
	unsigned short v16 = 65000;
	unsigned char v8 = 200;
	long long i64 = S64_MIN;
	signed char i8 = -8;
	long ilong = -100000;
	short i16 = -1600;
	char letter = 'x';
	bool truth = true;
	int i32 = -32;

	ktrace(kunit_integers,
	       "s8=%hhd u8=%hhu s16=%hd u16=%hu s32=%d u32=%u long_=%ld ulong=%lu s64=%lld u64=%llu bool=%d char=%c",
	       i8, v8, i16, v16, i32, v32, ilong, vlong, i64, v64, truth, letter);
}

static void integers(struct kunit *test)
{
	char expected[256];

	ktrace_kunit_switch(test, "kunit_integers", true);
	trace_integers();
	snprintf(expected, sizeof(expected),
		 "kunit_integers: s8=-8 u8=200 s16=-1600 u16=65000 s32=-32 u32=4000000000 long_=-100000 ulong=%lu s64=%lld u64=%llu bool=1 char=x\n",
		 ULONG_MAX, S64_MIN, U64_MAX);
	ktrace_kunit_expect(test, expected);
	ktrace_kunit_in_format(test, "kunit_integers",
			       "\tfield:s8 s8;\toffset:8;\tsize:1;\tsigned:1;\n"
			       "\tfield:u8 u8;\toffset:9;\tsize:1;\tsigned:0;\n"
			       "\tfield:s16 s16;\toffset:10;\tsize:2;\tsigned:1;\n"
			       "\tfield:u16 u16;\toffset:12;\tsize:2;\tsigned:0;\n"
			       "\tfield:int s32;\toffset:16;\tsize:4;\tsigned:1;\n"
			       "\tfield:unsigned int u32;\toffset:20;\tsize:4;\tsigned:0;\n");
	ktrace_kunit_in_format(test, "kunit_integers", "\tfield:long long_;");
	ktrace_kunit_in_format(test, "kunit_integers",
			       "\tfield:unsigned long ulong;");
	ktrace_kunit_in_format(test, "kunit_integers", "\tfield:s64 s64;");
	ktrace_kunit_in_format(test, "kunit_integers", "\tfield:u64 u64;");
	ktrace_kunit_in_format(test, "kunit_integers", "\tfield:int bool;");
	ktrace_kunit_in_format(test, "kunit_integers", "\tfield:char char;");
}

/* The first one has words only, and the second one as many bytes. */
static noinline void trace_words(u64 word)
{
	ktrace(kunit_words, "a=%llx b=%lld c=%llu", word, -1LL, word + 1);
	ktrace(kunit_no_words, "a=%x b=%llx", (u32)word, word);
}

static void words(struct kunit *test)
{
	ktrace_kunit_switch(test, "kunit_words", true);
	ktrace_kunit_switch(test, "kunit_no_words", true);
	trace_words(0x0123456789abcdef);
	ktrace_kunit_expect(test,
			    "kunit_words: a=123456789abcdef b=-1 c=81985529216486896\n"
			    "kunit_no_words: a=89abcdef b=123456789abcdef\n");
}

/* Types smaller than int are promoted, then printed, as by printk(). */
static noinline void trace_promoted(void)
{
	s8 minus = -1;
	u16 big = 0xffff;

	ktrace(kunit_promoted, "%x %d %hhx %u %#06x %-5d| %+d %5.3d",
	       minus, minus, minus, big, big, minus, big, minus);
}

static void promoted(struct kunit *test)
{
	ktrace_kunit_switch(test, "kunit_promoted", true);
	trace_promoted();
	ktrace_kunit_expect(test,
			    "kunit_promoted: ffffffff -1 ff 65535 0xffff -1   | +65535  -001\n");
	/* For libtraceevent without "+" */
	ktrace_kunit_in_format(test, "kunit_promoted",
			       "\nprint fmt: \"%x %d %hhx %u %#06x %-5d| %d %5.3d\", REC->arg1,");
	ktrace_kunit_in_format(test, "kunit_promoted",
			       "\tfield:unsigned int arg1;\toffset:8;\tsize:4;\tsigned:0;\n"
			       "\tfield:int arg2;\toffset:12;\tsize:4;\tsigned:1;\n"
			       "\tfield:u8 arg3;\toffset:16;\tsize:1;\tsigned:0;\n");
}

/* The format alone makes the event: no place stays off for its types. */
static noinline void trace_types(enum colour variable, u8 small, u64 big,
				 const char *str)
{
	char array[] = "array";
	bool yes = true;

	ktrace(kunit_types, "state=%d x=%u s=%s l=%llu", variable, small, str, big);
	ktrace(kunit_types, "state=%d x=%u s=%s l=%llu", GREEN, small + 1u, array,
	       5ULL);
	ktrace(kunit_types, "state=%d x=%u s=%s l=%llu", yes, 7U, "literal",
	       (unsigned long long)small);
	ktrace(kunit_types, "state=%d x=%u s=%s l=%llu", true, U16_MAX, str,
	       U64_MAX);
	ktrace(kunit_types, "state=%d x=%u s=%s l=%llu", -5, variable, str, big);
}

static void types_of_one_event(struct kunit *test)
{
	ktrace_kunit_switch(test, "kunit_types", true);
	trace_types(RED, 200, 1ULL << 40, "str");
	ktrace_kunit_expect(test,
			    "kunit_types: state=0 x=200 s=str l=1099511627776\n"
			    "kunit_types: state=7 x=201 s=array l=5\n"
			    "kunit_types: state=1 x=7 s=literal l=200\n"
			    "kunit_types: state=1 x=65535 s=str l=18446744073709551615\n"
			    "kunit_types: state=-5 x=0 s=str l=1099511627776\n");
}

static noinline void trace_stars(int width, int prec)
{
	ktrace(kunit_stars, "%*d|%.*d|%*s|", width, 12, prec, 34, abs(width),
	       "five");
}

/*
 * Numbers from a record, which a crash may have left, are not believed. Tools
 * in user space would believe them, so their format leaves the bad ones out.
 */
static void widths(struct kunit *test)
{
	const unsigned int size = 4 * 1024;
	char *expected = kunit_kzalloc(test, size, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, expected);
	ktrace_kunit_switch(test, "kunit_stars", true);
	trace_stars(4, 3);
	trace_stars(-4, -3);
	trace_stars(0, 0);
	ktrace_kunit_expect(test,
			    "kunit_stars:   12|034|five|\n"
			    "kunit_stars: 12  |34|five|\n"
			    "kunit_stars: 12|34|five|\n");
	ktrace_kunit_in_format(test, "kunit_stars",
			       "\nprint fmt: \"%*d|%.*d|%*s|\", REC->arg1 & 0xfffffc00 ? 0 : REC->arg1, REC->arg2, REC->arg3 & 0xfffffc00 ? 1 : REC->arg3, REC->arg4, REC->arg5 & 0xfffffc00 ? 0 : REC->arg5, __get_str(arg6)\n");

	ktrace_kunit_clear(test);
	trace_stars(5000, 5000);
	snprintf(expected, size, "kunit_stars: %1024d|%.1024d|%1024s|\n", 12, 34,
		 "five");
	ktrace_kunit_expect(test, expected);

	ktrace_kunit_clear(test);
	trace_stars(-5000, -5000);
	snprintf(expected, size, "kunit_stars: %-1024d|34|%1024s|\n", 12,
		 "five");
	ktrace_kunit_expect(test, expected);
}

static noinline void trace_odd(const struct bits *bits)
{
	const int qualified = 5;
	enum signed_colour minus = MINUS;
	enum colour green = GREEN;

	ktrace(kunit_odd,
	       "three=%u four=%d one=%d forty=%llx whole=%u enum=%d minus=%d const=%d expr=%d",
	       bits->three, bits->four, bits->one,
	       (unsigned long long)bits->forty, bits->whole, green, minus,
	       qualified, qualified ? 3 : -1);
}

static void odd_types(struct kunit *test)
{
	struct bits bits = {
		.three	= 5,
		.four	= -3,
		.one	= true,
		.forty	= 0xabcdef0123ULL,
		.whole	= U32_MAX,
	};

	ktrace_kunit_switch(test, "kunit_odd", true);
	trace_odd(&bits);
	ktrace_kunit_expect(test,
			    "kunit_odd: three=5 four=-3 one=1 forty=abcdef0123 whole=4294967295 enum=7 minus=-3 const=5 expr=3\n");
}

static noinline void trace_nothing(void)
{
	ktrace(kunit_nothing, "no argument, 100%% of \xc2\xb5\x01");
}

static void no_argument(struct kunit *test)
{
	ktrace_kunit_switch(test, "kunit_nothing", true);
	trace_nothing();
	ktrace_kunit_expect(test, "kunit_nothing: no argument, 100% of \xc2\xb5\x01\n");
	/* For libtraceevent, which ends at what is not ASCII */
	ktrace_kunit_in_format(test, "kunit_nothing",
			       "\nprint fmt: \"no argument, 100%% of ???\"\n");
}

static noinline void trace_most(int a)
{
	ktrace(kunit_most, "%d %d %d %d %d %d %d %d %d %d %d %d %d %d %s",
	       a, a + 1, a + 2, a + 3, a + 4, a + 5, a + 6, a + 7, a + 8, a + 9,
	       a + 10, a + 11, a + 12, a + 13, "end");
}

static void most_arguments(struct kunit *test)
{
	ktrace_kunit_switch(test, "kunit_most", true);
	trace_most(1);
	ktrace_kunit_expect(test,
			    "kunit_most: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 end\n");
	ktrace_kunit_in_format(test, "kunit_most",
			       "\tfield:int arg14;\toffset:60;\tsize:4;\tsigned:1;\n");
}

/* Evaluation */

static noinline int trace_effects(int *counter)
{
	ktrace(kunit_effects, "value=%d", ++*counter);

	return *counter;
}

static void evaluated_once_or_not(struct kunit *test)
{
	int counter = 0;

	KUNIT_EXPECT_EQ(test, trace_effects(&counter), 0);
	ktrace_kunit_switch(test, "kunit_effects", true);
	KUNIT_EXPECT_EQ(test, trace_effects(&counter), 1);
	KUNIT_EXPECT_EQ(test, trace_effects(&counter), 2);
	ktrace_kunit_switch(test, "kunit_effects", false);
	KUNIT_EXPECT_EQ(test, trace_effects(&counter), 2);
	ktrace_kunit_expect(test,
			    "kunit_effects: value=1\n"
			    "kunit_effects: value=2\n");
}

static inline void trace_inline(int where)
{
	ktrace(kunit_inline, "where=%d", where);
}

static noinline void trace_twice(void)
{
	trace_inline(1);
	trace_inline(2);
	for (int i = 3; i < 6; i++)
		trace_inline(i);
}

static void inline_function(struct kunit *test)
{
	ktrace_kunit_switch(test, "kunit_inline", true);
	trace_twice();
	ktrace_kunit_expect(test,
			    "kunit_inline: where=1\n"
			    "kunit_inline: where=2\n"
			    "kunit_inline: where=3\n"
			    "kunit_inline: where=4\n"
			    "kunit_inline: where=5\n");
}

static noinline void trace_shared_one(int a)
{
	ktrace(kunit_shared, "a=%d", a);
}

static noinline void trace_shared_two(int a)
{
	ktrace(kunit_shared, "a=%d", a);
}

static void same_name_twice(struct kunit *test)
{
	trace_shared_one(1);
	ktrace_kunit_switch(test, "kunit_shared", true);
	trace_shared_one(2);
	trace_shared_two(3);
	ktrace_kunit_switch(test, "kunit_shared", false);
	trace_shared_two(4);
	ktrace_kunit_expect(test, "kunit_shared: a=2\nkunit_shared: a=3\n");
}

/* Names */

static noinline void trace_names(int a)
{
	ktrace(kunit_names,
	       "a=%d %d q->len=%d a=%d 0x%x flags=0x%x \"s\"=\"%d\" arg8=%d %d common_pid=%d 9x=%d [%d] len=%d",
	       a, a + 1, a + 2, a + 3, a + 4, a + 5, a + 6, a + 7, a + 8, a + 9,
	       a + 10, a + 11, a + 12);
}

static void field_names(struct kunit *test)
{
	static const char * const fields[] = {
		"int a", "int arg2", "int len", "int arg4", "unsigned int arg5",
		"unsigned int flags", "int arg7", "int arg8", "int arg9",
		"int arg10", "int arg11", "int arg12", "int arg13",
	};
	char text[64];

	ktrace_kunit_switch(test, "kunit_names", true);
	trace_names(0);
	for (int i = 0; i < ARRAY_SIZE(fields); i++) {
		snprintf(text, sizeof(text), "\tfield:%s;\toffset:%zu;",
			 fields[i], sizeof(struct trace_entry) + 4 * i);
		ktrace_kunit_in_format(test, "kunit_names", text);
	}
	ktrace_kunit_in_format(test, "kunit_names",
			       "\\\"s\\\"=\\\"%d\\\" arg8=%d");
	ktrace_kunit_expect(test,
			    "kunit_names: a=0 1 q->len=2 a=3 0x4 flags=0x5 \"s\"=\"6\" arg8=7 8 common_pid=9 9x=10 [11] len=12\n");
}

static noinline void trace_format(u64 big, u8 small, const char *str, long last)
{
	ktrace(kunit_format, "big=%llu small=%hhu\tstr=%s last=%zx\n", big, small,
	       str, (size_t)last);
}

/* All of a format file, as libtraceevent reads it */
static void format_file(struct kunit *test)
{
	unsigned int after = 8 + 8 + 1 + 3 + 4;
	const unsigned int size = 1024;
	const char *format;
	char *expected;

	expected = kunit_kzalloc(test, size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, expected);
	format = ktrace_kunit_format(test, "kunit_format");
	format = strstr(format, "\tfield:u64");
	KUNIT_ASSERT_NOT_NULL(test, format);
	after = ALIGN(after, sizeof(long));
	snprintf(expected, size,
		 "\tfield:u64 big;\toffset:8;\tsize:8;\tsigned:0;\n"
		 "\tfield:u8 small;\toffset:16;\tsize:1;\tsigned:0;\n"
		 "\tfield:__data_loc char[] str;\toffset:20;\tsize:4;\tsigned:%d;\n"
		 "\tfield:unsigned long last;\toffset:%u;\tsize:%zu;\tsigned:0;\n"
		 "\nprint fmt: \"big=%%llu small=%%hhu\\tstr=%%s last=%%lx\", REC->big, REC->small, __get_str(str), REC->last\n",
		 is_signed_type(char), after, sizeof(long));
	KUNIT_EXPECT_STREQ(test, format, expected);
	ktrace_kunit_switch(test, "kunit_format", true);
	trace_format(1, 2, "three", 4);
	ktrace_kunit_expect(test,
			    "kunit_format: big=1 small=2\tstr=three last=4\n");
}

static noinline void trace_ones(void)
{
	ktrace(kunit_ones, "%llx %llx %llx %llx", ~0ULL, ~0ULL, ~0ULL, ~0ULL);
}

/* The bytes of a record are where the format file says. */
static void record_bytes(struct kunit *test)
{
	u8 *rec;

	/* What is on the page would be seen in a hole that is not written. */
	ktrace_kunit_switch(test, "kunit_ones", true);
	for (int i = 0; i < PAGE_SIZE / (4 * sizeof(u64)); i++)
		trace_ones();
	ktrace_kunit_switch(test, "kunit_ones", false);
	ktrace_kunit_clear(test);

	ktrace_kunit_switch(test, "kunit_format", true);
	trace_format(0x1122334455667788ULL, 0x99, "abc", 0x12345678);
	rec = ring_buffer_event_data(ktrace_kunit_consume(test));
	KUNIT_EXPECT_EQ(test, *(u64 *)(rec + 8), 0x1122334455667788ULL);
	KUNIT_EXPECT_EQ(test, rec[16], 0x99);
	/* Holes tell nothing. */
	KUNIT_EXPECT_EQ(test, rec[17] | rec[18] | rec[19], 0);
	KUNIT_EXPECT_EQ(test, *(u32 *)(rec + 20), 4 << 16 | (24 + sizeof(long)));
	KUNIT_EXPECT_EQ(test, *(long *)(rec + 24), 0x12345678);
	KUNIT_EXPECT_STREQ(test, rec + 24 + sizeof(long), "abc");
}

static struct kunit_case ktrace_cases[] = {
	KUNIT_CASE(integers),
	KUNIT_CASE(words),
	KUNIT_CASE(promoted),
	KUNIT_CASE(types_of_one_event),
	KUNIT_CASE(widths),
	KUNIT_CASE(odd_types),
	KUNIT_CASE(no_argument),
	KUNIT_CASE(most_arguments),
	KUNIT_CASE(evaluated_once_or_not),
	KUNIT_CASE(inline_function),
	KUNIT_CASE(same_name_twice),
	KUNIT_CASE(field_names),
	KUNIT_CASE(format_file),
	KUNIT_CASE(record_bytes),
	{}
};

static struct kunit_suite ktrace_suite = {
	.name		= "trace_ktrace",
	.init		= ktrace_kunit_init,
	.test_cases	= ktrace_cases,
};

kunit_test_suite(ktrace_suite);

MODULE_DESCRIPTION("KUnit tests for ktrace");
MODULE_LICENSE("GPL");
