// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for the bytes that ktrace events copy: strings, and what formats
 * like %pM point to.
 */

#include <kunit/test.h>
#include <linux/err.h>
#include <linux/ktrace.h>
#include <linux/module.h>
#include <linux/ring_buffer.h>
#include <linux/seq_buf.h>
#include <linux/socket.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "trace_ktrace_kunit.h"

/* Strings */

static noinline void trace_string(const char *str)
{
	ktrace(kunit_string, "str=%s end=%d", str, 1);
}

static void strings(struct kunit *test)
{
	char array[8] = "array";
	char *expected;
	char *big;

	ktrace_kunit_switch(test, "kunit_string", true);
	trace_string("");
	trace_string("some");
	trace_string(array);
	trace_string(NULL);
	trace_string((char *)8);
	trace_string(ERR_PTR(-EIO));
	/* The record has a copy. */
	array[0] = 'X';
	ktrace_kunit_expect(test,
			    "kunit_string: str= end=1\n"
			    "kunit_string: str=some end=1\n"
			    "kunit_string: str=array end=1\n"
			    "kunit_string: str=(null) end=1\n"
			    "kunit_string: str=(efault) end=1\n"
			    "kunit_string: str=(efault) end=1\n");
	ktrace_kunit_in_format(test, "kunit_string",
			       "\tfield:__data_loc char[] str;\toffset:8;\tsize:4;");
	ktrace_kunit_in_format(test, "kunit_string",
			       "print fmt: \"str=%s end=%d\", __get_str(str), REC->end\n");

	/* As much as fits, and one byte less for the end. */
	big = kunit_kzalloc(test, 2 * KTRACE_MAX_STR, GFP_KERNEL);
	expected = kunit_kzalloc(test, 2 * KTRACE_MAX_STR, GFP_KERNEL);
	KUNIT_ASSERT_TRUE(test, big && expected);
	memset(big, 'b', 2 * KTRACE_MAX_STR - 1);
	ktrace_kunit_clear(test);
	trace_string(big);
	snprintf(expected, 2 * KTRACE_MAX_STR, "kunit_string: str=%.*s end=1\n",
		 KTRACE_MAX_STR - 1, big);
	ktrace_kunit_expect(test, expected);
}

static noinline void trace_bounded(const char *str, int len)
{
	ktrace(kunit_bounded, "str=%.*s end=%d", len, str, 1);
}

KUNIT_DEFINE_ACTION_WRAPPER(free_page_of_test, vfree, void *);

/* Without a final 0, and no word is like another one. */
static void fill_letters(char *str, unsigned int len)
{
	for (unsigned int i = 0; i < len; i++)
		str[i] = 'a' + i % 26;
}

/*
 * Lengths are found a word at a time, and up to four words are copied so:
 * wherever it begins and ends, and with nothing readable around it, a string
 * has its own length and text.
 */
static void strings_of_all_lengths(struct kunit *test)
{
	const unsigned int size = 1024;
	struct seq_buf want;
	char *text, *page;
	char *str;

	text = kunit_kzalloc(test, size, GFP_KERNEL);
	page = vmalloc(PAGE_SIZE);
	KUNIT_ASSERT_NOT_NULL(test, page);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_page_of_test,
							page), 0);
	KUNIT_ASSERT_NOT_NULL(test, text);
	ktrace_kunit_switch(test, "kunit_string", true);
	ktrace_kunit_switch(test, "kunit_bounded", true);
	for (int len = 0; len <= 4 * sizeof(long) + 1; len++) {
		seq_buf_init(&want, text, size);
		for (int from = 0; from < sizeof(long); from++) {
			memset(page, 0xff, PAGE_SIZE);
			str = page + from;
			fill_letters(str, len);
			str[len] = '\0';
			trace_string(str);
			seq_buf_printf(&want, "kunit_string: str=%s end=1\n",
				       str);
		}

		/* The guard page is behind it. */
		str = page + PAGE_SIZE - len - 1;
		fill_letters(str, len);
		str[len] = '\0';
		trace_string(str);
		seq_buf_printf(&want, "kunit_string: str=%s end=1\n", str);

		/* And it has no end. */
		str = page + PAGE_SIZE - len;
		fill_letters(str, len);
		trace_bounded(str, len);
		seq_buf_printf(&want, "kunit_bounded: str=%.*s end=1\n", len,
			       str);

		KUNIT_ASSERT_FALSE(test, seq_buf_has_overflowed(&want));
		ktrace_kunit_expect(test, seq_buf_str(&want));
		ktrace_kunit_clear(test);
	}
}

static noinline void trace_precise(const char *str, int len)
{
	ktrace(kunit_precise, "%.3s|%.*s|%6.2s|%-6s|%p", str, len, str, str, str,
	       (void *)NULL);
}

static void expect_begins(struct kunit *test, const char *begin)
{
	const char *text = ktrace_kunit_records(test);

	KUNIT_EXPECT_TRUE_MSG(test, strstarts(text, begin), "%s", text);
}

static void precise_strings(struct kunit *test)
{
	/* No 0 at the end of the first four */
	char array[8] = { 'a', 'b', 'c', 'd', 'e', 0 };
	struct ring_buffer_event *rb;
	const u32 *words;

	ktrace_kunit_switch(test, "kunit_precise", true);
	trace_precise(array, 4);
	expect_begins(test, "kunit_precise: abc|abcd|    ab|abcde |");
	ktrace_kunit_clear(test);
	trace_precise(array, 0);
	expect_begins(test, "kunit_precise: abc||    ab|abcde |");
	ktrace_kunit_clear(test);
	trace_precise(array, -1);
	expect_begins(test, "kunit_precise: abc||    ab|abcde |");

	/* The record has no more than the final 0. */
	ktrace_kunit_clear(test);
	ktrace_kunit_switch(test, "kunit_bounded", true);
	trace_bounded(array, -1);
	rb = ktrace_kunit_consume(test);
	words = ring_buffer_event_data(rb) + sizeof(struct trace_entry);
	KUNIT_EXPECT_EQ(test, words[1] >> 16, 1);
}

static noinline void trace_ten_strings(const char *str)
{
	ktrace(kunit_ten_strings, "%s %s %s %s %s %s %s %s %s %s", str, str, str,
	       str, str, str, str, str, str, str);
}

/* Together they take no more than KTRACE_MAX_DATA. */
static void many_strings(struct kunit *test)
{
	unsigned int fixed = sizeof(struct trace_entry) + 10 * sizeof(u32);
	struct ring_buffer_event *rb;
	const u32 *locs;
	char *big;

	big = kunit_kzalloc(test, KTRACE_MAX_STR, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, big);
	memset(big, 'b', KTRACE_MAX_STR - 1);
	ktrace_kunit_switch(test, "kunit_ten_strings", true);
	trace_ten_strings(big);
	rb = ktrace_kunit_consume(test);
	KUNIT_EXPECT_EQ(test, ring_buffer_event_length(rb),
			fixed + KTRACE_MAX_DATA);

	/* Nothing is left for the last one but its final 0. */
	locs = ring_buffer_event_data(rb) + sizeof(struct trace_entry);
	KUNIT_EXPECT_EQ(test, locs[9],
			1 << 16 | (fixed + KTRACE_MAX_DATA - 1));
}

/* Pointers */

static noinline void trace_pointed(const u8 *mac, const u8 *ip4, const u8 *ip6,
				   const u8 *uuid, const struct sockaddr *addr,
				   const u8 *dump, int len)
{
	ktrace(kunit_pointed,
	       "mac=%pM ip=%pI4 ip6=%pI6c uuid=%pUb addr=%pISpc dump=%*ph fixed=%3phN",
	       mac, ip4, ip6, uuid, addr, len, dump, dump);
}

static void pointed_bytes(struct kunit *test)
{
	u8 bytes[16] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
	u8 ip6[16] = { 0x20, 0x01, 0x0d, 0xb8, [15] = 1 };
	u8 ip4[4] = { 127, 0, 0, 1 };
	u8 addr[16] = { [2] = 0, [3] = 80, [4] = 10, [7] = 1 };

	*(sa_family_t *)addr = AF_INET;
	ktrace_kunit_switch(test, "kunit_pointed", true);
	trace_pointed(bytes, ip4, ip6, bytes, (struct sockaddr *)addr, bytes, 4);
	trace_pointed(NULL, ip4, ip6, bytes, (struct sockaddr *)addr, NULL, -4);
	/* Nobody looks at them later. */
	memset(bytes, 0xff, sizeof(bytes));
	memset(addr, 0xff, sizeof(addr));
	ktrace_kunit_expect(test,
			    "kunit_pointed: mac=00:01:02:03:04:05 ip=127.0.0.1 ip6=2001:db8::1 uuid=00010203-0405-0607-0809-0a0b0c0d0e0f addr=10.0.0.1:80 dump=00 01 02 03 fixed=000102\n"
			    "kunit_pointed: mac=00:00:00:00:00:00 ip=127.0.0.1 ip6=2001:db8::1 uuid=00010203-0405-0607-0809-0a0b0c0d0e0f addr=10.0.0.1:80 dump= fixed=\n");
	ktrace_kunit_in_format(test, "kunit_pointed",
			       "\tfield:u8 mac[6];\toffset:8;\tsize:6;\tsigned:0;\n"
			       "\tfield:u8 ip[4];\toffset:14;\tsize:4;\tsigned:0;\n"
			       "\tfield:u8 ip6[16];\toffset:18;\tsize:16;\tsigned:0;\n");
	ktrace_kunit_in_format(test, "kunit_pointed",
			       "__print_hex(__get_dynamic_array(dump), __get_dynamic_array_len(dump))");
	ktrace_kunit_in_format(test, "kunit_pointed",
			       "__print_hex_str(__get_dynamic_array(fixed), __get_dynamic_array_len(fixed))");
}

static noinline void trace_pointer(const void *ptr)
{
	ktrace(kunit_pointer, "ptr=%p sym=%ps err=%pe", ptr, trace_pointer,
	       ERR_PTR(-EIO));
}

static void pointers(struct kunit *test)
{
	struct ktrace_kunit *ctx = test->priv;
	char hashed[96], plain[96];

	ktrace_kunit_switch(test, "kunit_pointer", true);
	trace_pointer(ctx);

	snprintf(hashed, sizeof(hashed),
		 "kunit_pointer: ptr=%p sym=%ps err=%pe\n",
		 ctx, trace_pointer, ERR_PTR(-EIO));
	snprintf(plain, sizeof(plain),
		 "kunit_pointer: ptr=%0*lx sym=%ps err=%pe\n",
		 (int)(2 * sizeof(long)), (unsigned long)ctx, trace_pointer,
		 ERR_PTR(-EIO));
	ktrace_kunit_expect(test, hashed);
	KUNIT_ASSERT_EQ(test, trace_kunit_write(test, "options/hash-ptr", "0"),
			0);
	ktrace_kunit_expect(test, plain);

	/* Tools know no more than that. */
	ktrace_kunit_in_format(test, "kunit_pointer",
			       "\nprint fmt: \"ptr=%p sym=%ps err=%p\", ");
}

static struct kunit_case data_cases[] = {
	KUNIT_CASE(strings),
	KUNIT_CASE(strings_of_all_lengths),
	KUNIT_CASE(precise_strings),
	KUNIT_CASE(many_strings),
	KUNIT_CASE(pointed_bytes),
	KUNIT_CASE(pointers),
	{}
};

static struct kunit_suite data_suite = {
	.name		= "trace_ktrace_data",
	.init		= ktrace_kunit_init,
	.test_cases	= data_cases,
};

kunit_test_suite(data_suite);

MODULE_DESCRIPTION("KUnit tests for strings and pointers of ktrace events");
MODULE_LICENSE("GPL");
