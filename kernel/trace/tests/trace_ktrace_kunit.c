// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for ktrace, see trace_ktrace.c.
 *
 * Each case switches events on in an instance of the suite, runs the lines
 * that make them, and compares what the instance then reads like. What modules
 * do is done with a struct module of the suite, whose sites are made by hand:
 * ktrace looks at its name and its sites only.
 */

#include <kunit/test.h>
#include <linux/fs.h>
#include <linux/hardirq.h>
#include <linux/in6.h>
#include <linux/irq_work.h>
#include <linux/kmsg_dump.h>
#include <linux/ktrace.h>
#include <linux/mman.h>
#include <linux/module.h>
#include <linux/mount.h>
#include <linux/perf_event.h>
#include <linux/seq_buf.h>
#include <linux/slab.h>
#include <linux/socket.h>
#include <linux/trace.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "../trace.h"
#include "../trace_ktrace.h"

#define INSTANCE	"trace_ktrace_kunit"
#define FILE_NAME	"trace_ktrace_kunit.c"
#define OPTIONS		"instances/" INSTANCE "/options/"
#define EVENTS		"instances/" INSTANCE "/events/ktrace/"
#define TEXT_SIZE	SZ_64K

struct context {
	struct vfsmount		*mnt;
	struct trace_array	*tr;
	char __user		*user;
	char			*text;
};

/* Files and records */

static struct file *open_file(struct kunit *test, const char *name, int flags)
{
	struct context *ctx = test->priv;

	return file_open_root_mnt(ctx->mnt, name, flags, 0);
}

/* The text of a file in tracefs, until the next is read */
static const char *read_file(struct kunit *test, const char *name)
{
	struct file *file = open_file(test, name, O_RDONLY);
	struct context *ctx = test->priv;
	size_t done = 0;
	ssize_t ret = 0;
	loff_t pos = 0;

	KUNIT_ASSERT_EQ_MSG(test, PTR_ERR_OR_ZERO(file), 0, "%s", name);
	while (done < TEXT_SIZE - 1) {
		ret = vfs_read(file, ctx->user,
			       min(TEXT_SIZE - 1 - done, PAGE_SIZE), &pos);
		if (ret <= 0)
			break;
		if (copy_from_user(ctx->text + done, ctx->user, ret)) {
			ret = -EFAULT;
			break;
		}
		done += ret;
	}
	__fput_sync(file);
	KUNIT_ASSERT_GE_MSG(test, ret, 0, "%s", name);
	ctx->text[done] = 0;

	return ctx->text;
}

static int write_file(struct kunit *test, const char *name, const char *text)
{
	struct file *file = open_file(test, name, O_WRONLY);
	struct context *ctx = test->priv;
	size_t len = strlen(text);
	loff_t pos = 0;
	ssize_t ret;

	if (IS_ERR(file))
		return PTR_ERR(file);

	ret = copy_to_user(ctx->user, text, len) ? -EFAULT :
	      vfs_write(file, ctx->user, len, &pos);
	__fput_sync(file);
	if (ret >= 0)
		KUNIT_EXPECT_EQ(test, ret, len);

	return ret < 0 ? ret : 0;
}

static bool event_exists(struct kunit *test, const char *name)
{
	struct file *file;
	char path[96];

	snprintf(path, sizeof(path), "events/ktrace/%s/enable", name);
	file = open_file(test, path, O_RDONLY);
	if (IS_ERR(file))
		return false;
	__fput_sync(file);

	return true;
}

static const char *read_format(struct kunit *test, const char *event)
{
	char path[96];

	snprintf(path, sizeof(path), "events/ktrace/%s/format", event);

	return read_file(test, path);
}

static void expect_in_format(struct kunit *test, const char *event,
			     const char *text)
{
	const char *format = read_format(test, event);

	KUNIT_EXPECT_NOT_NULL_MSG(test, strstr(format, text), "no \"%s\" in\n%s",
				  text, format);
}

static void switch_event(struct kunit *test, const char *name, bool on)
{
	struct context *ctx = test->priv;

	KUNIT_ASSERT_EQ_MSG(test,
			    trace_array_set_clr_event(ctx->tr, "ktrace", name, on),
			    0, "%s", name);
}

static void clear_records(struct kunit *test)
{
	struct context *ctx = test->priv;

	KUNIT_ASSERT_EQ(test, trace_array_clear(ctx->tr), 0);
}

/*
 * What the instance reads like: "name: output" of each record, nothing before
 * it, and a new line behind it.
 */
static const char *read_records(struct kunit *test)
{
	struct context *ctx = test->priv;
	char *from, *to = ctx->text;
	struct seq_buf s;
	char *line;

	seq_buf_init(&s, ctx->text, TEXT_SIZE);
	KUNIT_ASSERT_EQ(test, trace_array_read(ctx->tr, 0, &s), 0);
	from = (char *)seq_buf_str(&s);

	while ((line = strsep(&from, "\n"))) {
		/* task-pid [cpu] flags time: name: output */
		if (*line == '#' || !*line)
			continue;
		line = strstr(line, ": ");
		if (!line)
			continue;
		line += 2;
		memmove(to, line, strlen(line) + 1);
		to += strlen(to);
		*to++ = '\n';
	}
	*to = 0;

	return ctx->text;
}

static void expect_records(struct kunit *test, const char *text)
{
	KUNIT_EXPECT_STREQ(test, read_records(test), text);
}

static int query(struct kunit *test, const char *text)
{
	return write_file(test, "ktrace_sites", text);
}

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
	       "s8=%hhd u8=%hhu s16=%hd u16=%hu s32=%d u32=%u long=%ld ulong=%lu s64=%lld u64=%llu bool=%d char=%c",
	       i8, v8, i16, v16, i32, v32, ilong, vlong, i64, v64, truth, letter);
}

static void integers(struct kunit *test)
{
	char expected[256];

	switch_event(test, "kunit_integers", true);
	trace_integers();
	snprintf(expected, sizeof(expected),
		 "kunit_integers: s8=-8 u8=200 s16=-1600 u16=65000 s32=-32 u32=4000000000 long=-100000 ulong=%lu s64=%lld u64=%llu bool=1 char=x\n",
		 ULONG_MAX, S64_MIN, U64_MAX);
	expect_records(test, expected);
	expect_in_format(test, "kunit_integers",
			 "\tfield:signed char s8;\toffset:8;\tsize:1;\tsigned:1;\n"
			 "\tfield:unsigned char u8;\toffset:9;\tsize:1;\tsigned:0;\n"
			 "\tfield:short s16;\toffset:10;\tsize:2;\tsigned:1;\n"
			 "\tfield:unsigned short u16;\toffset:12;\tsize:2;\tsigned:0;\n"
			 "\tfield:int s32;\toffset:16;\tsize:4;\tsigned:1;\n"
			 "\tfield:unsigned int u32;\toffset:20;\tsize:4;\tsigned:0;\n");
	expect_in_format(test, "kunit_integers", "\tfield:bool bool;");
	expect_in_format(test, "kunit_integers", "\tfield:char char;");
}

/* What is smaller than int is promoted, then printed: as printk() would. */
static noinline void trace_promoted(void)
{
	s8 minus = -1;
	u16 big = 0xffff;

	ktrace(kunit_promoted, "%x %d %hhx %u %#06x %-5d| %+d %5.3d",
	       minus, minus, minus, big, big, minus, big, minus);
}

static void promoted(struct kunit *test)
{
	switch_event(test, "kunit_promoted", true);
	trace_promoted();
	expect_records(test,
		       "kunit_promoted: ffffffff -1 ff 65535 0xffff -1   | +65535  -001\n");
	/* For libtraceevent: how short is what has a sign, and no "+" */
	expect_in_format(test, "kunit_promoted",
			 "\nprint fmt: \"%x %hhd %hhx %u %#06x %-5hhd| %d %5.3hhd\", REC->arg1,");
}

static noinline void trace_stars(int width, int prec)
{
	ktrace(kunit_stars, "%*d|%.*d|%*s|", width, 12, prec, 34, abs(width),
	       "five");
}

/*
 * Numbers from a record, which a crash may have left, are not believed. Tools
 * in user space believe them, and have a lot to print with INT_MAX, or when the
 * width of a string is negative.
 */
static void widths(struct kunit *test)
{
	const unsigned int size = 4 * 1024;
	char *expected = kunit_kzalloc(test, size, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, expected);
	switch_event(test, "kunit_stars", true);
	trace_stars(4, 3);
	trace_stars(-4, -3);
	trace_stars(0, 0);
	expect_records(test,
		       "kunit_stars:   12|034|five|\n"
		       "kunit_stars: 12  |34|five|\n"
		       "kunit_stars: 12|34|five|\n");

	clear_records(test);
	trace_stars(5000, 5000);
	snprintf(expected, size, "kunit_stars: %1024d|%.1024d|%1024s|\n", 12, 34,
		 "five");
	expect_records(test, expected);

	clear_records(test);
	trace_stars(-5000, -5000);
	snprintf(expected, size, "kunit_stars: %-1024d|34|%1024s|\n", 12,
		 "five");
	expect_records(test, expected);
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
		.three = 5, .four = -3, .one = true, .forty = 0xabcdef0123ULL,
		.whole = U32_MAX,
	};

	switch_event(test, "kunit_odd", true);
	trace_odd(&bits);
	expect_records(test,
		       "kunit_odd: three=5 four=-3 one=1 forty=abcdef0123 whole=4294967295 enum=7 minus=-3 const=5 expr=3\n");
}

static noinline void trace_nothing(void)
{
	ktrace(kunit_nothing, "no argument, 100%% of it");
}

static void no_argument(struct kunit *test)
{
	switch_event(test, "kunit_nothing", true);
	trace_nothing();
	expect_records(test, "kunit_nothing: no argument, 100% of it\n");
	expect_in_format(test, "kunit_nothing",
			 "\nprint fmt: \"no argument, 100%% of it\"\n");
}

static void injected(struct kunit *test)
{
	struct context *ctx = test->priv;
	struct ring_buffer_event *rb;

	if (!IS_ENABLED(CONFIG_TRACE_EVENT_INJECT))
		kunit_skip(test, "no inject");

	KUNIT_ASSERT_EQ(test, write_file(test, EVENTS "kunit_nothing/inject", "\n"), 0);
	KUNIT_ASSERT_EQ(test, write_file(test, EVENTS "kunit_string/inject",
					 "str=\"text\" end=-2\n"), 0);
	KUNIT_ASSERT_EQ(test, write_file(test, EVENTS "kunit_string/inject", "end=3\n"), 0);
	expect_records(test,
		       "kunit_nothing: no argument, 100% of it\n"
		       "kunit_string: str=text end=-2\n"
		       "kunit_string: str= end=3\n");

	/* The final 0 that it adds is behind what each record begins with. */
	rb = ring_buffer_consume(ctx->tr->array_buffer.buffer,
				 raw_smp_processor_id(), NULL, NULL);
	KUNIT_ASSERT_NOT_NULL(test, rb);
	KUNIT_EXPECT_GT(test, ring_buffer_event_length(rb), sizeof(struct trace_entry));
}

static noinline void trace_most(int a)
{
	ktrace(kunit_most, "%d %d %d %d %d %d %d %d %d %d %d %d %d %d %s",
	       a, a + 1, a + 2, a + 3, a + 4, a + 5, a + 6, a + 7, a + 8, a + 9,
	       a + 10, a + 11, a + 12, a + 13, "end");
}

static void most_arguments(struct kunit *test)
{
	switch_event(test, "kunit_most", true);
	trace_most(1);
	expect_records(test,
		       "kunit_most: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 end\n");
	expect_in_format(test, "kunit_most",
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
	switch_event(test, "kunit_effects", true);
	KUNIT_EXPECT_EQ(test, trace_effects(&counter), 1);
	KUNIT_EXPECT_EQ(test, trace_effects(&counter), 2);
	switch_event(test, "kunit_effects", false);
	KUNIT_EXPECT_EQ(test, trace_effects(&counter), 2);
	expect_records(test,
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
	switch_event(test, "kunit_inline", true);
	trace_twice();
	expect_records(test,
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
	switch_event(test, "kunit_shared", true);
	trace_shared_one(2);
	trace_shared_two(3);
	switch_event(test, "kunit_shared", false);
	trace_shared_two(4);
	expect_records(test, "kunit_shared: a=2\nkunit_shared: a=3\n");
}

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

	switch_event(test, "kunit_string", true);
	trace_string("");
	trace_string("some");
	trace_string(array);
	trace_string(NULL);
	trace_string((char *)8);
	trace_string(ERR_PTR(-EIO));
	/* The record has a copy. */
	array[0] = 'X';
	expect_records(test,
		       "kunit_string: str= end=1\n"
		       "kunit_string: str=some end=1\n"
		       "kunit_string: str=array end=1\n"
		       "kunit_string: str=(null) end=1\n"
		       "kunit_string: str=(efault) end=1\n"
		       "kunit_string: str=(efault) end=1\n");
	expect_in_format(test, "kunit_string",
			 "\tfield:__data_loc char[] str;\toffset:8;\tsize:4;");
	expect_in_format(test, "kunit_string",
			 "print fmt: \"str=%s end=%d\", __get_str(str), REC->end\n");

	/* As much as fits, and one byte less for the end. */
	big = kunit_kzalloc(test, 2 * KTRACE_MAX_STR, GFP_KERNEL);
	expected = kunit_kzalloc(test, 2 * KTRACE_MAX_STR, GFP_KERNEL);
	KUNIT_ASSERT_TRUE(test, big && expected);
	memset(big, 'b', 2 * KTRACE_MAX_STR - 1);
	clear_records(test);
	trace_string(big);
	snprintf(expected, 2 * KTRACE_MAX_STR, "kunit_string: str=%.*s end=1\n",
		 KTRACE_MAX_STR - 1, big);
	expect_records(test, expected);
}

static noinline void trace_bounded(const char *str, int len)
{
	ktrace(kunit_bounded, "str=%.*s end=%d", len, str, 1);
}

/*
 * Lengths are found a word at a time: wherever it begins and ends, and with
 * nothing readable behind it, a string has its own length.
 */
static void strings_of_all_lengths(struct kunit *test)
{
	char *page = vmalloc(PAGE_SIZE);
	char want[64];
	char *str;

	KUNIT_ASSERT_NOT_NULL(test, page);
	switch_event(test, "kunit_string", true);
	switch_event(test, "kunit_bounded", true);
	for (int len = 0; len <= 2 * sizeof(long); len++) {
		for (int from = 0; from < sizeof(long); from++) {
			memset(page, 0xff, PAGE_SIZE);
			str = page + from;
			memset(str, 'x', len);
			str[len] = 0;
			snprintf(want, sizeof(want),
				 "kunit_string: str=%s end=1\n", str);
			trace_string(str);
			expect_records(test, want);
			clear_records(test);
		}

		/* The guard page is behind it. */
		str = page + PAGE_SIZE - len - 1;
		memset(str, 'y', len);
		str[len] = 0;
		snprintf(want, sizeof(want), "kunit_string: str=%s end=1\n", str);
		trace_string(str);
		expect_records(test, want);
		clear_records(test);

		/* And it has no end. */
		str = page + PAGE_SIZE - len;
		memset(str, 'z', len);
		snprintf(want, sizeof(want), "kunit_bounded: str=%.*s end=1\n",
			 len, str);
		trace_bounded(str, len);
		expect_records(test, want);
		clear_records(test);
	}
	vfree(page);
}

static noinline void trace_precise(const char *str, int len)
{
	ktrace(kunit_precise, "%.3s|%.*s|%6.2s|%-6s|%p", str, len, str, str, str,
	       (void *)NULL);
}

static void precise_strings(struct kunit *test)
{
	/* No 0 at the end of the first four */
	char array[8] = { 'a', 'b', 'c', 'd', 'e', 0 };
	const char *text;

	switch_event(test, "kunit_precise", true);
	trace_precise(array, 4);
	text = read_records(test);
	KUNIT_EXPECT_TRUE_MSG(test, strstarts(text, "kunit_precise: abc|abcd|    ab|abcde |"),
			      "%s", text);
	clear_records(test);
	trace_precise(array, 0);
	text = read_records(test);
	KUNIT_EXPECT_TRUE_MSG(test, strstarts(text, "kunit_precise: abc||    ab|abcde |"),
			      "%s", text);
	clear_records(test);
	trace_precise(array, -1);
	text = read_records(test);
	KUNIT_EXPECT_TRUE_MSG(test, strstarts(text, "kunit_precise: abc|abcde|    ab|abcde |"),
			      "%s", text);
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
	struct context *ctx = test->priv;
	struct ring_buffer_event *rb;
	const u32 *locs;
	char *big;

	big = kunit_kzalloc(test, KTRACE_MAX_STR, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, big);
	memset(big, 'b', KTRACE_MAX_STR - 1);
	switch_event(test, "kunit_ten_strings", true);
	trace_ten_strings(big);
	rb = ring_buffer_consume(ctx->tr->array_buffer.buffer,
				 raw_smp_processor_id(), NULL, NULL);
	KUNIT_ASSERT_NOT_NULL(test, rb);
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
	switch_event(test, "kunit_pointed", true);
	trace_pointed(bytes, ip4, ip6, bytes, (struct sockaddr *)addr, bytes, 4);
	trace_pointed(NULL, ip4, ip6, bytes, (struct sockaddr *)addr, NULL, -4);
	/* Nobody looks at them later. */
	memset(bytes, 0xff, sizeof(bytes));
	memset(addr, 0xff, sizeof(addr));
	expect_records(test,
		       "kunit_pointed: mac=00:01:02:03:04:05 ip=127.0.0.1 ip6=2001:db8::1 uuid=00010203-0405-0607-0809-0a0b0c0d0e0f addr=10.0.0.1:80 dump=00 01 02 03 fixed=000102\n"
		       "kunit_pointed: mac=00:00:00:00:00:00 ip=127.0.0.1 ip6=2001:db8::1 uuid=00010203-0405-0607-0809-0a0b0c0d0e0f addr=10.0.0.1:80 dump= fixed=\n");
	expect_in_format(test, "kunit_pointed",
			 "\tfield:u8 mac[6];\toffset:8;\tsize:6;\tsigned:0;\n"
			 "\tfield:u8 ip[4];\toffset:14;\tsize:4;\tsigned:0;\n"
			 "\tfield:u8 ip6[16];\toffset:18;\tsize:16;\tsigned:0;\n");
	expect_in_format(test, "kunit_pointed",
			 "__print_hex(__get_dynamic_array(dump), __get_dynamic_array_len(dump))");
}

static noinline void trace_pointer(const void *ptr)
{
	ktrace(kunit_pointer, "ptr=%p sym=%ps err=%pe", ptr, trace_pointer, ERR_PTR(-EIO));
}

static void pointers(struct kunit *test)
{
	struct context *ctx = test->priv;
	char hashed[96], plain[96];

	switch_event(test, "kunit_pointer", true);
	trace_pointer(ctx);

	snprintf(hashed, sizeof(hashed), "kunit_pointer: ptr=%p sym=%ps err=%pe\n",
		 ctx, trace_pointer, ERR_PTR(-EIO));
	snprintf(plain, sizeof(plain), "kunit_pointer: ptr=%0*lx sym=%ps err=%pe\n",
		 (int)(2 * sizeof(long)), (unsigned long)ctx, trace_pointer,
		 ERR_PTR(-EIO));
	expect_records(test, hashed);
	KUNIT_ASSERT_EQ(test, write_file(test, OPTIONS "hash-ptr", "0"), 0);
	expect_records(test, plain);

	/* Tools know no more than that. */
	expect_in_format(test, "kunit_pointer",
			 "\nprint fmt: \"ptr=%p sym=%ps err=%p\", ");
}

/* Names */

static noinline void trace_names(int a)
{
	ktrace(kunit_names,
	       "a=%d %d q->len=%d a=%d 0x%x flags=0x%x \"s\"=\"%d\" arg8=%d %d common_pid=%d 9x=%d [%d]",
	       a, a + 1, a + 2, a + 3, a + 4, a + 5, a + 6, a + 7, a + 8, a + 9,
	       a + 10, a + 11);
}

static void field_names(struct kunit *test)
{
	static const char * const names[] = {
		"a", "arg2", "len", "arg4", "arg5", "flags", "arg7", "arg8",
		"arg9", "arg10", "arg11", "arg12",
	};
	char text[64];

	switch_event(test, "kunit_names", true);
	trace_names(0);
	for (int i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(text, sizeof(text), "\tfield:int %s;\toffset:%zu;",
			 names[i], sizeof(struct trace_entry) + 4 * i);
		expect_in_format(test, "kunit_names", text);
	}
	expect_in_format(test, "kunit_names", "\\\"s\\\"=\\\"%d\\\" arg8=%d");
	expect_records(test,
		       "kunit_names: a=0 1 q->len=2 a=3 0x4 flags=0x5 \"s\"=\"6\" arg8=7 8 common_pid=9 9x=10 [11]\n");
}

static noinline void trace_format(u64 big, u8 small, const char *str, long last)
{
	ktrace(kunit_format, "big=%llu small=%u\tstr=%s last=%zx\n", big, small,
	       str, (size_t)last);
}

/* All of a format file, as libtraceevent reads it */
static void format_file(struct kunit *test)
{
	unsigned int after = 8 + 8 + 1 + 3 + 4;
	const char *format = read_format(test, "kunit_format");
	char expected[1024];

	format = strstr(format, "\tfield:unsigned long long");
	KUNIT_ASSERT_NOT_NULL(test, format);
	after = ALIGN(after, sizeof(long));
	snprintf(expected, sizeof(expected),
		 "\tfield:unsigned long long big;\toffset:8;\tsize:8;\tsigned:0;\n"
		 "\tfield:unsigned char small;\toffset:16;\tsize:1;\tsigned:0;\n"
		 "\tfield:__data_loc char[] str;\toffset:20;\tsize:4;\tsigned:%d;\n"
		 "\tfield:%s last;\toffset:%u;\tsize:%zu;\tsigned:0;\n"
		 "\nprint fmt: \"big=%%llu small=%%u\\tstr=%%s last=%%lx\", REC->big, REC->small, __get_str(str), REC->last\n",
		 is_signed_type(char),
		 __same_type(size_t, unsigned int) ? "unsigned int" : "unsigned long",
		 after, sizeof(long));
	KUNIT_EXPECT_STREQ(test, format, expected);
	switch_event(test, "kunit_format", true);
	trace_format(1, 2, "three", 4);
	expect_records(test, "kunit_format: big=1 small=2\tstr=three last=4\n");
}

/* The bytes of a record are where the format file says. */
static void record_bytes(struct kunit *test)
{
	struct context *ctx = test->priv;
	struct ring_buffer_event *rb;
	u8 *rec;

	switch_event(test, "kunit_format", true);
	trace_format(0x1122334455667788ULL, 0x99, "abc", 0x12345678);
	rb = ring_buffer_consume(ctx->tr->array_buffer.buffer,
				 raw_smp_processor_id(), NULL, NULL);
	KUNIT_ASSERT_NOT_NULL(test, rb);
	rec = ring_buffer_event_data(rb);
	KUNIT_EXPECT_EQ(test, *(u64 *)(rec + 8), 0x1122334455667788ULL);
	KUNIT_EXPECT_EQ(test, rec[16], 0x99);
	/* Holes tell nothing. */
	KUNIT_EXPECT_EQ(test, rec[17] | rec[18] | rec[19], 0);
	KUNIT_EXPECT_EQ(test, *(u32 *)(rec + 20), 4 << 16 | (24 + sizeof(long)));
	KUNIT_EXPECT_EQ(test, *(long *)(rec + 24), 0x12345678);
	KUNIT_EXPECT_STREQ(test, rec + 24 + sizeof(long), "abc");
}

/* What an event goes through */

static noinline void trace_number(int number)
{
	ktrace(kunit_number, "number=%d str=%s", number, "text");
}

static void filters(struct kunit *test)
{
	struct context *ctx = test->priv;

	switch_event(test, "kunit_number", true);
	KUNIT_ASSERT_EQ(test, trace_array_set_event_filter(ctx->tr, "ktrace",
							   "kunit_number",
							   "number > 2 && str ~ \"te*\""), 0);
	for (int i = 1; i < 5; i++)
		trace_number(i);
	expect_records(test,
		       "kunit_number: number=3 str=text\n"
		       "kunit_number: number=4 str=text\n");

	KUNIT_ASSERT_EQ(test, trace_array_set_event_filter(ctx->tr, "ktrace",
							   "kunit_number", "str == \"no\""), 0);
	clear_records(test);
	trace_number(5);
	expect_records(test, "");
	KUNIT_ASSERT_EQ(test, trace_array_set_event_filter(ctx->tr, "ktrace",
							   "kunit_number", "0"), 0);
}

static void triggers(struct kunit *test)
{
	struct context *ctx = test->priv;

	switch_event(test, "kunit_number", true);
	KUNIT_ASSERT_EQ(test, trace_array_set_event_trigger(ctx->tr, "ktrace",
							    "kunit_number",
							    "traceoff if number == 2"), 0);
	for (int i = 1; i < 5; i++)
		trace_number(i);
	expect_records(test,
		       "kunit_number: number=1 str=text\n"
		       "kunit_number: number=2 str=text\n");
	KUNIT_EXPECT_FALSE(test, trace_array_tracing_is_on(ctx->tr));
	KUNIT_ASSERT_EQ(test, trace_array_set_event_trigger(ctx->tr, "ktrace",
							    "kunit_number",
							    "!traceoff if number == 2"), 0);
	trace_array_tracing_on(ctx->tr);

	/* A trigger switches a site on while its event is off. */
	switch_event(test, "kunit_number", false);
	KUNIT_ASSERT_EQ(test, trace_array_set_event_trigger(ctx->tr, "ktrace",
							    "kunit_number",
							    "traceoff if number == 7"), 0);
	clear_records(test);
	trace_number(6);
	KUNIT_EXPECT_TRUE(test, trace_array_tracing_is_on(ctx->tr));
	trace_number(7);
	KUNIT_EXPECT_FALSE(test, trace_array_tracing_is_on(ctx->tr));
	expect_records(test, "");
	KUNIT_ASSERT_EQ(test, trace_array_set_event_trigger(ctx->tr, "ktrace",
							    "kunit_number",
							    "!traceoff if number == 7"), 0);
	trace_array_tracing_on(ctx->tr);
}

static void pids(struct kunit *test)
{
	struct context *ctx = test->priv;
	pid_t me = task_pid_nr(current);
	pid_t other = me + 1;

	switch_event(test, "kunit_number", true);
	KUNIT_ASSERT_EQ(test, trace_array_set_event_pids(ctx->tr, &other, 1), 0);
	trace_number(1);
	KUNIT_ASSERT_EQ(test, trace_array_set_event_pids(ctx->tr, &me, 1), 0);
	/* The choice counts from the next time that the task is scheduled. */
	cond_resched();
	schedule_timeout_uninterruptible(1);
	trace_number(2);
	KUNIT_ASSERT_EQ(test, trace_array_set_event_pids(ctx->tr, NULL, 0), 0);
	expect_records(test, "kunit_number: number=2 str=text\n");
}

static void two_instances(struct kunit *test)
{
	struct context *ctx = test->priv;
	struct trace_array *first = ctx->tr;
	struct trace_array *second;

	second = trace_array_create(INSTANCE "_second");
	KUNIT_ASSERT_FALSE(test, IS_ERR(second));

	switch_event(test, "kunit_number", true);
	trace_number(1);
	KUNIT_EXPECT_EQ(test, trace_array_set_clr_event(second, "ktrace", "kunit_number", true), 0);
	trace_number(2);
	switch_event(test, "kunit_number", false);
	trace_number(3);
	expect_records(test,
		       "kunit_number: number=1 str=text\n"
		       "kunit_number: number=2 str=text\n");
	ctx->tr = second;
	expect_records(test,
		       "kunit_number: number=2 str=text\n"
		       "kunit_number: number=3 str=text\n");
	ctx->tr = first;

	/* Removed while the event is on there */
	trace_array_put(second);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(second), 0);
	trace_number(4);
	expect_records(test,
		       "kunit_number: number=1 str=text\n"
		       "kunit_number: number=2 str=text\n");
}

/* Off with tracing_on, nothing is recorded, and nothing goes wrong. */
static void tracing_is_off(struct kunit *test)
{
	struct context *ctx = test->priv;

	switch_event(test, "kunit_number", true);
	trace_array_tracing_off(ctx->tr);
	trace_number(1);
	trace_array_tracing_on(ctx->tr);
	trace_number(2);
	expect_records(test, "kunit_number: number=2 str=text\n");
}

/* The way around trace_event_buffer_reserve() makes the same records. */
#ifdef CONFIG_PERF_EVENTS
static void count_for_perf(struct perf_event *event,
			   struct perf_sample_data *data, struct pt_regs *regs)
{
	(*(int *)event->overflow_handler_context)++;
}

/* Alone, with nobody else who wants the event */
static void by_perf(struct kunit *test)
{
	struct perf_event_attr attr = {
		.type		= PERF_TYPE_TRACEPOINT,
		.size		= sizeof(attr),
		.sample_period	= 1,
	};
	struct context *ctx = test->priv;
	struct trace_event_file *file;
	struct perf_event *event;
	int count = 0;

	scoped_guard(mutex, &event_mutex) {
		file = find_event_file(ctx->tr, "ktrace", "kunit_number");
		KUNIT_ASSERT_NOT_NULL(test, file);
		attr.config = file->event_call->event.type;
	}
	event = perf_event_create_kernel_counter(&attr, -1, current,
						 count_for_perf, &count);
	KUNIT_ASSERT_FALSE(test, IS_ERR(event));
	trace_number(1);
	perf_event_release_kernel(event);
	trace_number(2);
	KUNIT_EXPECT_EQ(test, count, 1);
	expect_records(test, "");
}
#endif

static void with_stacktrace(struct kunit *test)
{
	const char *text;

	if (!IS_ENABLED(CONFIG_STACKTRACE))
		kunit_skip(test, "no stack traces");

	switch_event(test, "kunit_number", true);
	KUNIT_ASSERT_EQ(test, write_file(test, OPTIONS "stacktrace", "1"), 0);
	trace_number(1);
	KUNIT_ASSERT_EQ(test, write_file(test, OPTIONS "stacktrace", "0"), 0);
	text = read_records(test);
	KUNIT_EXPECT_TRUE_MSG(test,
			      strstarts(text, "kunit_number: number=1 str=text\n"
					"<stack trace>\n"),
			      "%s", text);
}

struct exported {
	struct trace_export	export;
	unsigned int		records;
	int			number;
};

static void count_exported(struct trace_export *export, const void *rec,
			   unsigned int len)
{
	struct exported *exported = container_of(export, struct exported, export);

	exported->records++;
	exported->number = *(int *)(rec + sizeof(struct trace_entry));
}

static void exported(struct kunit *test)
{
	struct exported exported = {
		.export = { .write = count_exported, .flags = TRACE_EXPORT_EVENT },
	};
	struct context *ctx = test->priv;

	switch_event(test, "kunit_number", true);
	KUNIT_ASSERT_EQ(test, trace_array_register_export(ctx->tr, &exported.export), 0);
	trace_number(41);
	trace_number(42);
	KUNIT_EXPECT_EQ(test, trace_array_unregister_export(ctx->tr, &exported.export), 0);
	trace_number(43);
	KUNIT_EXPECT_EQ(test, exported.records, 2);
	KUNIT_EXPECT_EQ(test, exported.number, 42);
	expect_records(test,
		       "kunit_number: number=41 str=text\n"
		       "kunit_number: number=42 str=text\n"
		       "kunit_number: number=43 str=text\n");
}

/* Has the kernel's log a line with this? */
static bool in_log(struct kunit *test, const char *text)
{
	struct context *ctx = test->priv;
	struct kmsg_dump_iter iter;
	size_t len;

	kmsg_dump_rewind(&iter);
	while (kmsg_dump_get_line(&iter, false, ctx->text, TEXT_SIZE - 1, &len)) {
		ctx->text[len] = 0;
		if (strstr(ctx->text, text))
			return true;
	}

	return false;
}

static void expect_printed(struct kunit *test, int len)
{
	char text[256], str[224];

	/* Not what an earlier run has printed */
	snprintf(str, sizeof(str), "%0*llu", len, ktime_get_ns());
	snprintf(text, sizeof(text), "kunit_string: str=%s end=1", str);
	trace_string(str);
	KUNIT_EXPECT_TRUE_MSG(test, in_log(test, text), "no \"%s\"", text);
}

/* With tp_printk on the command line; lengths are stored in two ways. */
static void printed(struct kunit *test)
{
	struct context *ctx = test->priv;

	if (!IS_ENABLED(CONFIG_PRINTK) || !static_key_enabled(&tracepoint_printk_key))
		kunit_skip(test, "no tp_printk");

	switch_event(test, "kunit_string", true);
	expect_printed(test, 20);
	expect_printed(test, 200);

	/* And before a filter has let it into the ring buffer */
	KUNIT_ASSERT_EQ(test, trace_array_set_event_filter(ctx->tr, "ktrace",
							   "kunit_string",
							   "end == 1"), 0);
	expect_printed(test, 20);
	expect_printed(test, 200);
	KUNIT_ASSERT_EQ(test, trace_array_set_event_filter(ctx->tr, "ktrace",
							   "kunit_string", "0"), 0);
}

/* Contexts */

static void trace_from_irq(struct irq_work *work)
{
	trace_number(in_hardirq() ? 1 : 0);
}

static void from_interrupts(struct kunit *test)
{
	struct irq_work work = IRQ_WORK_INIT_HARD(trace_from_irq);
	unsigned long flags;

	switch_event(test, "kunit_number", true);
	irq_work_queue(&work);
	irq_work_sync(&work);
	expect_records(test, "kunit_number: number=1 str=text\n");

	/* The ring buffer does without, where it has to. */
	if (!IS_ENABLED(CONFIG_ARCH_HAVE_NMI_SAFE_CMPXCHG))
		return;

	local_irq_save(flags);
	nmi_enter();
	trace_number(2);
	nmi_exit();
	local_irq_restore(flags);
	expect_records(test,
		       "kunit_number: number=1 str=text\n"
		       "kunit_number: number=2 str=text\n");
}

/* Modules */

#define SITE(_name, _fmt, _types, _line)				\
	{								\
		.key	= STATIC_KEY_FALSE_INIT,			\
		.name	= _name "\0" _fmt,				\
		.file	= "drivers/fake/" FILE_NAME,			\
		.func	= "fake_function",				\
		.types	= _types,					\
		.line	= _line,					\
	}

static struct module fake_module = {
	.name	= "ktrace_kunit_fake",
};

static void load(struct ktrace_site *sites, unsigned int nr)
{
	fake_module.ktrace_sites = sites;
	fake_module.num_ktrace_sites = nr;
	guard(mutex)(&event_mutex);
	ktrace_module_coming(&fake_module);
}

static void unload(void)
{
	guard(mutex)(&event_mutex);
	ktrace_module_going(&fake_module);
}

static void need_modules(struct kunit *test)
{
	if (!IS_ENABLED(CONFIG_MODULES))
		kunit_skip(test, "no modules");
}

static void expect_state(struct kunit *test, const struct ktrace_site *site,
			 const char *state)
{
	char line[160];
	const char *all;

	snprintf(line, sizeof(line), "%s:%u [%s] %s %s %s ", site->file,
		 site->line, fake_module.name, site->func, site->name, state);
	all = read_file(test, "ktrace_sites");
	KUNIT_EXPECT_NOT_NULL_MSG(test, strstr(all, line), "no \"%s\" in\n%s",
				  line, all);
}

static void module_comes_and_goes(struct kunit *test)
{
	static struct ktrace_site sites[] = {
		SITE("kunit_mod", "m=%d", KTRACE_S32, 1),
		SITE("kunit_mod_other", "o=%s", KTRACE_PTR, 2),
	};

	need_modules(test);
	KUNIT_EXPECT_FALSE(test, event_exists(test, "kunit_mod"));
	load(sites, 2);
	KUNIT_EXPECT_TRUE(test, event_exists(test, "kunit_mod"));
	expect_state(test, &sites[0], "off");
	switch_event(test, "kunit_mod", true);
	expect_state(test, &sites[0], "on");
	expect_state(test, &sites[1], "off");
	__ktrace_call(&sites[0], 5);
	unload();

	/* What has never been on is gone; what has records can be read. */
	KUNIT_EXPECT_FALSE(test, event_exists(test, "kunit_mod_other"));
	KUNIT_EXPECT_TRUE(test, event_exists(test, "kunit_mod"));
	KUNIT_EXPECT_NULL(test, strstr(read_file(test, "ktrace_sites"), "kunit_mod"));
	expect_records(test, "kunit_mod: m=5\n");

	/* It is still on when the module comes again. */
	load(sites, 2);
	expect_state(test, &sites[0], "on");
	__ktrace_call(&sites[0], 6);
	switch_event(test, "kunit_mod", false);
	expect_state(test, &sites[0], "off");
	expect_records(test, "kunit_mod: m=5\nkunit_mod: m=6\n");

	/* Without records nothing keeps it. */
	clear_records(test);
	unload();
	KUNIT_EXPECT_FALSE(test, event_exists(test, "kunit_mod"));
}

/* The edit, compile, load cycle of a developer */
static void format_changes(struct kunit *test)
{
	static struct ktrace_site old[] = {
		SITE("kunit_edit", "m=%d", KTRACE_S32, 1),
	};
	static struct ktrace_site new[] = {
		SITE("kunit_edit", "m=%d n=%d", KTRACE_S32 | KTRACE_S32 << 4, 1),
	};

	need_modules(test);
	load(old, 1);
	switch_event(test, "kunit_edit", true);
	__ktrace_call(&old[0], 5);
	unload();
	expect_records(test, "kunit_edit: m=5\n");

	load(new, 1);
	expect_state(test, &new[0], "off");
	expect_records(test, "");
	switch_event(test, "kunit_edit", true);
	__ktrace_call(&new[0], 6, 7);
	expect_records(test, "kunit_edit: m=6 n=7\n");
	switch_event(test, "kunit_edit", false);
	clear_records(test);
	unload();
	KUNIT_EXPECT_FALSE(test, event_exists(test, "kunit_edit"));
}

/* A format that is refused takes nobody's place, and no records away. */
static void format_changes_to_bad(struct kunit *test)
{
	static struct ktrace_site old[] = {
		SITE("kunit_kept", "m=%d", KTRACE_S32, 1),
	};
	static struct ktrace_site new[] = {
		SITE("kunit_kept", "m=%d n=%pd", KTRACE_S32 | KTRACE_PTR << 4, 1),
	};

	need_modules(test);
	load(old, 1);
	switch_event(test, "kunit_kept", true);
	__ktrace_call(&old[0], 5);
	unload();

	load(new, 1);
	expect_state(test, &new[0], "refused");
	unload();
	expect_records(test, "kunit_kept: m=5\n");

	load(old, 1);
	expect_state(test, &old[0], "on");
	switch_event(test, "kunit_kept", false);
	clear_records(test);
	unload();
	KUNIT_EXPECT_FALSE(test, event_exists(test, "kunit_kept"));
}

/* An event that somebody needs stays as it is, and stays on. */
static void format_changes_in_use(struct kunit *test)
{
	static struct ktrace_site old[] = {
		SITE("kunit_needed", "m=%d", KTRACE_S32, 1),
	};
	static struct ktrace_site new[] = {
		SITE("kunit_needed", "m=%d n=%d", KTRACE_S32 | KTRACE_S32 << 4, 1),
	};
	struct context *ctx = test->priv;

	need_modules(test);
	load(old, 1);
	switch_event(test, "kunit_needed", true);
	KUNIT_ASSERT_EQ(test, trace_array_set_event_trigger(ctx->tr, "ktrace",
							    "kunit_needed",
							    "traceon"), 0);
	unload();

	load(new, 1);
	expect_state(test, &new[0], "refused");
	unload();

	load(old, 1);
	expect_state(test, &old[0], "on");
	__ktrace_call(&old[0], 8);
	expect_records(test, "kunit_needed: m=8\n");
	KUNIT_ASSERT_EQ(test, trace_array_set_event_trigger(ctx->tr, "ktrace",
							    "kunit_needed",
							    "!traceon"), 0);
	switch_event(test, "kunit_needed", false);
	clear_records(test);
	unload();
	KUNIT_EXPECT_FALSE(test, event_exists(test, "kunit_needed"));
}

static void conflicts(struct kunit *test)
{
	static struct ktrace_site sites[] = {
		/* Other types, another format, the same as trace_shared_one() */
		SITE("kunit_shared", "a=%d", KTRACE_U32, 1),
		SITE("kunit_shared", "b=%d", KTRACE_S32, 2),
		SITE("kunit_shared", "a=%d", KTRACE_S32, 3),
	};

	need_modules(test);
	load(sites, 3);
	expect_state(test, &sites[0], "refused");
	expect_state(test, &sites[1], "refused");
	expect_state(test, &sites[2], "off");
	switch_event(test, "kunit_shared", true);
	expect_state(test, &sites[0], "refused");
	expect_state(test, &sites[2], "on");
	__ktrace_call(&sites[0], 1);
	__ktrace_call(&sites[2], 2);
	trace_shared_one(3);
	unload();
	trace_shared_two(4);
	expect_records(test,
		       "kunit_shared: a=2\n"
		       "kunit_shared: a=3\n"
		       "kunit_shared: a=4\n");
}

static int other_reg(struct trace_event_call *call, enum trace_reg type,
		     void *data)
{
	return 0;
}

static int other_raw_init(struct trace_event_call *call)
{
	return register_trace_event(&call->event) ? 0 : -ENODEV;
}

static enum print_line_t other_print(struct trace_iterator *iter, int flags,
				     struct trace_event *event)
{
	return TRACE_TYPE_HANDLED;
}

/* As a kprobe event, which can be in any system */
static void other_event(struct kunit *test)
{
	static struct ktrace_site sites[] = {
		SITE("kunit_other", "m=%d", KTRACE_S32, 1),
		SITE("kunit_mod", "m=%d", KTRACE_S32, 2),
	};
	static struct trace_event_fields no_fields[] = { {} };
	static struct trace_event_functions funcs = {
		.trace		= other_print,
	};
	static struct trace_event_class class = {
		.system		= "ktrace",
		.reg		= other_reg,
		.raw_init	= other_raw_init,
		.fields_array	= no_fields,
		.fields		= LIST_HEAD_INIT(class.fields),
	};
	static struct trace_event_call call = {
		.name		= "kunit_other",
		.class		= &class,
		.event.funcs	= &funcs,
		.print_fmt	= "\"\"",
		.flags		= TRACE_EVENT_FL_DYNAMIC,
	};
	int ret;

	need_modules(test);
	/* The suite may run again. */
	call.event.type = 0;
	scoped_guard(mutex, &event_mutex)
		ret = trace_add_event_call(&call);
	KUNIT_ASSERT_EQ(test, ret, 0);

	load(sites, 2);
	expect_state(test, &sites[0], "refused");
	expect_state(test, &sites[1], "off");
	unload();

	scoped_guard(mutex, &event_mutex)
		ret = trace_remove_event_call(&call);
	KUNIT_EXPECT_EQ(test, ret, 0);

	/* Nothing else was in the way. */
	load(sites, 2);
	expect_state(test, &sites[0], "off");
	unload();
}

static void refused_formats(struct kunit *test)
{
	static struct ktrace_site sites[] = {
		SITE("kunit_bad0", "%pd", KTRACE_PTR, 1),
		SITE("kunit_bad1", "%pV", KTRACE_PTR, 2),
		SITE("kunit_bad2", "%d %d", KTRACE_S32, 3),
		SITE("kunit_bad3", "%d", KTRACE_S32 | KTRACE_S32 << 4, 4),
		SITE("kunit_bad4", "%s", KTRACE_S32, 5),
		SITE("kunit_bad5", "%d", KTRACE_PTR, 6),
		SITE("kunit_bad6", "%n", KTRACE_PTR, 7),
		SITE("kunit_bad7", "%ph", KTRACE_PTR, 8),
		SITE("kunit_bad8", "%*d", KTRACE_U64 | KTRACE_S32 << 4, 9),
		SITE("kunit_bad9", "%pt", KTRACE_PTR, 10),
		SITE("kunit_bad10", "%psymbolofit", KTRACE_PTR, 11),
		SITE("kunit_bad11", "%d", 15, 12),
		/* Files of each system of events */
		SITE("enable", "%d", KTRACE_S32, 13),
		SITE("filter", "%d", KTRACE_S32, 14),
		/* What can't be the name of a file, or of an event in set_event */
		SITE("1kunit", "%d", KTRACE_S32, 15),
		SITE("kunit-bad", "%d", KTRACE_S32, 16),
		SITE("kunit/bad", "%d", KTRACE_S32, 17),
		SITE("kunit_good", "%d", KTRACE_S32, 18),
		SITE("kunit_bad12", "", 0, 19),
	};
	struct ktrace_site *too_long = &sites[ARRAY_SIZE(sites) - 1];
	struct ktrace_site *good = &sites[ARRAY_SIZE(sites) - 2];
	char *text = kunit_kzalloc(test, 2048, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, text);
	strscpy(text, "kunit_bad12", 2048);
	memset(text + strlen(text) + 1, '.', 1024);
	too_long->name = text;

	need_modules(test);
	load(sites, ARRAY_SIZE(sites));
	for (int i = 0; i < ARRAY_SIZE(sites); i++) {
		if (&sites[i] == good)
			continue;
		expect_state(test, &sites[i], "refused");
		KUNIT_EXPECT_FALSE(test, event_exists(test, sites[i].name));
	}
	expect_state(test, good, "off");
	unload();
}

static void events_of_module(struct kunit *test)
{
	static struct ktrace_site sites[] = {
		SITE("kunit_mod", "m=%d", KTRACE_S32, 1),
		SITE("kunit_mod_other", "o=%d", KTRACE_S32, 2),
	};
	struct context *ctx = test->priv;
	char events[] = ":mod:ktrace_kunit_fake";

	need_modules(test);
	load(sites, 2);
	KUNIT_EXPECT_EQ(test, ftrace_set_clr_event(ctx->tr, events, 1), 0);
	expect_state(test, &sites[0], "on");
	expect_state(test, &sites[1], "on");
	trace_number(1);
	__ktrace_call(&sites[1], 2);
	expect_records(test, "kunit_mod_other: o=2\n");
	switch_event(test, "kunit_mod", false);
	switch_event(test, "kunit_mod_other", false);
	clear_records(test);
	unload();
}

/* The file ktrace_sites */

static void sites_by_query(struct kunit *test)
{
	static struct ktrace_site sites[] = {
		SITE("kunit_query", "q=%d", KTRACE_S32, 10),
		SITE("kunit_query", "q=%d", KTRACE_S32, 20),
		SITE("kunit_query", "q=%d", KTRACE_S32, 30),
	};

	need_modules(test);
	load(sites, 3);
	switch_event(test, "kunit_query", true);

	KUNIT_EXPECT_EQ(test,
			query(test, "file " FILE_NAME " module ktrace_kunit_fake line 20 -e\n"),
			0);
	expect_state(test, &sites[0], "on");
	expect_state(test, &sites[1], "muted");
	expect_state(test, &sites[2], "on");
	__ktrace_call(&sites[0], 1);

	/* As long as it is muted, whatever its event does */
	switch_event(test, "kunit_query", false);
	switch_event(test, "kunit_query", true);
	expect_state(test, &sites[1], "muted");

	KUNIT_EXPECT_EQ(test, query(test, "func fake_* line 15-30 -e"), 0);
	expect_state(test, &sites[0], "on");
	expect_state(test, &sites[2], "muted");
	KUNIT_EXPECT_EQ(test, query(test, "name kunit_quer? -e"), 0);
	expect_state(test, &sites[0], "muted");
	KUNIT_EXPECT_EQ(test, query(test, "line 30- file drivers/fake/* +e"), 0);
	expect_state(test, &sites[1], "muted");
	expect_state(test, &sites[2], "on");
	KUNIT_EXPECT_EQ(test, query(test, "module *_fake +e"), 0);
	expect_state(test, &sites[0], "on");
	expect_state(test, &sites[1], "on");

	switch_event(test, "kunit_query", false);
	clear_records(test);
	unload();
}

static void expect_hits(struct kunit *test, const struct ktrace_site *site,
			unsigned long expected)
{
	unsigned long hits;

	guard(mutex)(&event_mutex);
	KUNIT_EXPECT_TRUE(test, ktrace_site_hits(site, &hits));
	KUNIT_EXPECT_EQ(test, hits, expected);
}

static void sites_have_hits(struct kunit *test)
{
	static struct ktrace_site sites[] = {
		SITE("kunit_hits", "h=%d", KTRACE_S32, 10),
		SITE("kunit_hits", "h=%d", KTRACE_S32, 20),
	};
	struct context *ctx = test->priv;
	const char *all;

	need_modules(test);
	load(sites, 2);
	expect_hits(test, &sites[0], 0);
	switch_event(test, "kunit_hits", true);
	expect_hits(test, &sites[0], 0);
	__ktrace_call(&sites[0], 1);
	__ktrace_call(&sites[0], 2);
	__ktrace_call(&sites[1], 3);

	/* Passed, but not recorded */
	trace_array_tracing_off(ctx->tr);
	__ktrace_call(&sites[0], 4);
	trace_array_tracing_on(ctx->tr);
	expect_hits(test, &sites[0], 3);
	expect_hits(test, &sites[1], 1);

	/* They stay when the event goes off, and go on when it comes back. */
	switch_event(test, "kunit_hits", false);
	expect_hits(test, &sites[0], 3);
	switch_event(test, "kunit_hits", true);
	__ktrace_call(&sites[0], 5);
	expect_hits(test, &sites[0], 4);
	all = read_file(test, "ktrace_sites");
	KUNIT_EXPECT_NOT_NULL_MSG(test, strstr(all, " kunit_hits on 4 \"h=%d\"\n"),
				  "%s", all);

	/* A module that comes again begins again. */
	switch_event(test, "kunit_hits", false);
	unload();
	load(sites, 2);
	expect_hits(test, &sites[0], 0);

	clear_records(test);
	unload();
}

static void muted_site(struct kunit *test)
{
	switch_event(test, "kunit_shared", true);
	KUNIT_ASSERT_EQ(test, query(test, "func trace_shared_two -e"), 0);
	trace_shared_one(1);
	trace_shared_two(2);
	KUNIT_ASSERT_EQ(test, query(test, "func trace_shared_two +e"), 0);
	trace_shared_two(3);
	expect_records(test, "kunit_shared: a=1\nkunit_shared: a=3\n");
}

static void bad_queries(struct kunit *test)
{
	static const struct {
		const char	*query;
		int		ret;
		const char	*error;
	} cases[] = {
		{ "func trace_number", -EINVAL, "The query ends with neither +e nor -e" },
		{ "func trace_number +x", -EINVAL, "Not one of file, line, func, module and name" },
		{ "colour red +e", -EINVAL, "Not one of file, line, func, module and name" },
		{ "func", -EINVAL, "A keyword without a value" },
		{ "func a func b -e", -EINVAL, "A keyword is there twice" },
		{ "line x -e", -EINVAL, "Neither a line nor a range of lines" },
		{ "line 9-3 -e", -EINVAL, "Neither a line nor a range of lines" },
		{ "line - -e", -EINVAL, "Neither a line nor a range of lines" },
		{ "func trace_number -e more", -EINVAL, "The query ends with neither +e nor -e" },
		{ "func no_such_function -e", -ENOENT, "No site matches" },
	};
	const char *log;

	switch_event(test, "kunit_number", true);
	for (int i = 0; i < ARRAY_SIZE(cases); i++) {
		KUNIT_ASSERT_EQ(test, write_file(test, "error_log", ""), 0);
		KUNIT_EXPECT_EQ_MSG(test, query(test, cases[i].query),
				    cases[i].ret, "%s", cases[i].query);
		log = read_file(test, "error_log");
		KUNIT_EXPECT_NOT_NULL_MSG(test, strstr(log, cases[i].error),
					  "%s: %s", cases[i].query, log);
	}
	trace_number(1);
	expect_records(test, "kunit_number: number=1 str=text\n");
}

static void ktrace_cleanup(void *data)
{
	struct kunit *test = data;
	struct context *ctx = test->priv;

	unload();
	trace_array_put(ctx->tr);
	KUNIT_EXPECT_EQ(test, trace_array_destroy(ctx->tr), 0);
	kern_unmount(ctx->mnt);
}

static int ktrace_init_test(struct kunit *test)
{
	struct context *ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);
	unsigned long addr;

	KUNIT_ASSERT_NOT_NULL(test, ctx);
	test->priv = ctx;
	ctx->text = kunit_kzalloc(test, TEXT_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ctx->text);
	addr = kunit_vm_mmap(test, NULL, 0, PAGE_SIZE, PROT_READ | PROT_WRITE,
			     MAP_ANONYMOUS | MAP_PRIVATE, 0);
	KUNIT_ASSERT_FALSE(test, !addr || IS_ERR_VALUE(addr));
	ctx->user = (char __user *)addr;

	/* The records of a case are in one buffer. */
	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current,
						   cpumask_of(raw_smp_processor_id())), 0);

	ctx->mnt = kern_mount(get_fs_type("tracefs"));
	KUNIT_ASSERT_FALSE(test, IS_ERR(ctx->mnt));
	ctx->tr = trace_array_create(INSTANCE);
	if (IS_ERR(ctx->tr))
		kern_unmount(ctx->mnt);
	KUNIT_ASSERT_FALSE(test, IS_ERR(ctx->tr));

	return kunit_add_action_or_reset(test, ktrace_cleanup, test);
}

static struct kunit_case ktrace_cases[] = {
	KUNIT_CASE(integers),
	KUNIT_CASE(promoted),
	KUNIT_CASE(widths),
	KUNIT_CASE(odd_types),
	KUNIT_CASE(no_argument),
	KUNIT_CASE(injected),
	KUNIT_CASE(most_arguments),
	KUNIT_CASE(evaluated_once_or_not),
	KUNIT_CASE(inline_function),
	KUNIT_CASE(same_name_twice),
	KUNIT_CASE(strings),
	KUNIT_CASE(strings_of_all_lengths),
	KUNIT_CASE(precise_strings),
	KUNIT_CASE(many_strings),
	KUNIT_CASE(pointed_bytes),
	KUNIT_CASE(pointers),
	KUNIT_CASE(field_names),
	KUNIT_CASE(format_file),
	KUNIT_CASE(record_bytes),
	KUNIT_CASE(filters),
	KUNIT_CASE(triggers),
	KUNIT_CASE(pids),
	KUNIT_CASE(two_instances),
	KUNIT_CASE(tracing_is_off),
	KUNIT_CASE(with_stacktrace),
#ifdef CONFIG_PERF_EVENTS
	KUNIT_CASE(by_perf),
#endif
	KUNIT_CASE(exported),
	KUNIT_CASE(printed),
	KUNIT_CASE(from_interrupts),
	KUNIT_CASE(module_comes_and_goes),
	KUNIT_CASE(format_changes),
	KUNIT_CASE(format_changes_to_bad),
	KUNIT_CASE(format_changes_in_use),
	KUNIT_CASE(conflicts),
	KUNIT_CASE(other_event),
	KUNIT_CASE(refused_formats),
	KUNIT_CASE(events_of_module),
	KUNIT_CASE(sites_by_query),
	KUNIT_CASE(sites_have_hits),
	KUNIT_CASE(muted_site),
	KUNIT_CASE(bad_queries),
	{}
};

static struct kunit_suite ktrace_suite = {
	.name		= "trace_ktrace",
	.init		= ktrace_init_test,
	.test_cases	= ktrace_cases,
};

kunit_test_suite(ktrace_suite);

MODULE_DESCRIPTION("KUnit tests for ktrace");
MODULE_LICENSE("GPL");
