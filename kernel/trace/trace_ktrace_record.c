// SPDX-License-Identifier: GPL-2.0
/*
 * Recording of ktrace events.
 *
 * A record begins with struct trace_entry, as that of any event. The arguments
 * follow with their natural alignment, then the bytes of strings and dumps in
 * the order of the arguments. Nothing in it points to kernel memory that would
 * be read later.
 *
 * Recording takes no lock: it runs in any context, in tracepoint_srcu and with
 * preemption disabled, as the callbacks of tracepoints do, so whatever waits
 * for these waits for it as well.
 */

#include <linux/ktrace.h>
#include <linux/rculist.h>
#include <linux/socket.h>
#include <linux/unaligned.h>

#include <asm/word-at-a-time.h>

#include "trace.h"
#include "trace_ktrace.h"

/* Pointers that pass this test are followed by printk(), too. */
static __always_inline bool ktrace_bad_pointer(const void *ptr)
{
	unsigned long lowest = PAGE_SIZE;

	if (IS_ENABLED(CONFIG_MMU) &&
	    IS_ENABLED(CONFIG_ARCH_HAS_NON_OVERLAPPING_ADDRESS_SPACE))
		lowest = TASK_SIZE_MAX;

	return (unsigned long)ptr < lowest || IS_ERR(ptr);
}

static __always_inline
const char *ktrace_string(const char *str)
{
	if (likely(!ktrace_bad_pointer(str)))
		return str;

	return str ? "(efault)" : EVENT_NULL_STR;
}

/* A word may be at any address, and only some bytes of it are used. */
#if defined(CONFIG_HAVE_EFFICIENT_UNALIGNED_ACCESS) && \
	!defined(CONFIG_KASAN) && !defined(CONFIG_KMSAN)
#define KTRACE_STRINGS_BY_WORDS	1
#else
#define KTRACE_STRINGS_BY_WORDS	0
#endif

/* strnlen(), by words where that may be; @max is not 0 */
static __always_inline unsigned int
ktrace_strnlen(const char *str, unsigned long max)
{
#if KTRACE_STRINGS_BY_WORDS
	const struct word_at_a_time constants = WORD_AT_A_TIME_CONSTANTS;
	unsigned long word, bits, len;
	long last;

	/* The next page may not be there. */
	last = PAGE_SIZE - sizeof(word) - offset_in_page(str);
	for (len = 0; likely((long)len <= last); len += sizeof(word)) {
		word = read_word_at_a_time(str + len);
		if (has_zero(word, &bits, &constants)) {
			bits = prep_zero_mask(word, bits, &constants);
			len += find_zero(create_zero_mask(bits));
			return min(len, max);
		}
		if (len + sizeof(word) >= max)
			return max;
	}

	return len + strnlen(str + len, max - len);
#else
	return strnlen(str, max);
#endif
}

static __always_inline void ktrace_copy_word(char *dst, const char *src)
{
	put_unaligned(read_word_at_a_time(src), (unsigned long *)dst);
}

/* memcpy() of a string; most are short, and a call is longer than the copy. */
static __always_inline void ktrace_copy_string(char *dst, const char *src,
					       unsigned int len)
{
	const unsigned int word = sizeof(unsigned long);
	unsigned int last = len - word;

	if (!KTRACE_STRINGS_BY_WORDS || unlikely(last > 3 * word)) {
		memcpy(dst, src, len);
		return;
	}

	/* Of one word to four; the last one may overlap the one before. */
	ktrace_copy_word(dst, src);
	if (last > word) {
		ktrace_copy_word(dst + word, src + word);
		if (last > 2 * word)
			ktrace_copy_word(dst + 2 * word, src + 2 * word);
	}
	ktrace_copy_word(dst + last, src + last);
}

/*
 * Finds the size of a record, and the sources of the bytes behind its fields.
 * Strings can change while they are looked at: what is measured here is what
 * ktrace_pack() copies. There is a length for each argument that has such
 * bytes.
 */
static noinline unsigned int
ktrace_measure_all(const struct ktrace_event *event, const u64 *args,
		   const void **srcs, u16 *lens)
{
	unsigned int left = KTRACE_MAX_DATA - event->nr_fields;
	unsigned int max, len, star, size = event->size;
	const void *src;

	for (int i = event->first_piece; i < event->nr_fields; i++) {
		const struct ktrace_field *field = &event->fields[i];

		if (field->op != KTRACE_OP_STRING && field->op != KTRACE_OP_DUMP)
			continue;

		src = (void *)(unsigned long)args[i];
		/* A negative precision is 0, as for vsnprintf(). */
		star = field->star ? max_t(int, args[i - 1], 0) : UINT_MAX;
		if (likely(field->op == KTRACE_OP_STRING)) {
			/* With its final 0 always: filters rely on it. */
			max = min3(field->size - 1U, left, star);
			src = ktrace_string(src);
			len = max ? ktrace_strnlen(src, max) : 0;
			left -= len++;
		} else {
			max = min3((unsigned int)field->size, left, star);
			len = ktrace_bad_pointer(src) ? 0 : max;
			left -= len;
		}
		*srcs++ = src;
		*lens++ = len;
		size += len;
	}

	return size;
}

/* The same for an event with one string, without a loop */
static __always_inline unsigned int
ktrace_measure_string(const struct ktrace_event *event, const u64 *args,
		      const void **srcs, u16 *lens)
{
	unsigned int nr = event->first_piece;
	unsigned int len;
	const char *str;

	str = ktrace_string((const char *)(unsigned long)args[nr]);
	*srcs = str;
	len = ktrace_strnlen(str, event->fields[nr].size - 1) + 1;
	*lens = len;

	return event->size + len;
}

static __always_inline unsigned int
ktrace_measure(const struct ktrace_event *event, const u64 *args,
	       const void **srcs, u16 *lens)
{
	switch (event->contents) {
	case KTRACE_WORDS:
	case KTRACE_VALUES:
		return event->size;
	case KTRACE_A_STRING:
		return ktrace_measure_string(event, args, srcs, lens);
	default:
		return ktrace_measure_all(event, args, srcs, lens);
	}
}

static noinline void ktrace_copy(const struct ktrace_field *field, void *dst,
				 const void *src)
{
	unsigned int len = field->size;

	if (ktrace_bad_pointer(src)) {
		memset(dst, 0, len);
		return;
	}

	if (field->op == KTRACE_OP_SOCKADDR) {
		switch (*(const sa_family_t *)src) {
		case AF_INET:
			len = 16;
			break;
		case AF_INET6:
			break;
		default:
			len = sizeof(sa_family_t);
		}
		memset(dst + len, 0, field->size - len);
	}
	memcpy(dst, src, len);
}

static __always_inline void ktrace_pack_value(const struct ktrace_field *field,
					      void *dst, u64 val)
{
	enum ktrace_op op = field->value;

	/* Events with words only do not come here. */
	if (likely(op == KTRACE_OP_32))
		*(u32 *)dst = val;
	else if (op == KTRACE_OP_64)
		*(u64 *)dst = val;
	else if (op == KTRACE_OP_16)
		*(u16 *)dst = val;
	else
		*(u8 *)dst = val;
}

static __always_inline void ktrace_zero_holes(const struct ktrace_event *event,
					      void *rec)
{
	if (unlikely(event->holes))
		memset(rec + sizeof(struct trace_entry), 0,
		       event->size - sizeof(struct trace_entry));
}

/* All arguments are recorded as they are passed, with no holes between them. */
static __always_inline void ktrace_pack_words(const struct ktrace_event *event,
					      void *rec, const u64 *args)
{
	u64 *dst = rec + sizeof(struct trace_entry);
	unsigned long nr = event->nr_fields;

	/* There is one at least. One index is less to count than two pointers. */
	do {
		nr--;
		dst[nr] = args[nr];
	} while (nr);
}

/* All arguments are recorded by their value; there is one at least. */
static __always_inline void ktrace_pack_values(const struct ktrace_event *event,
					       void *rec, const u64 *args)
{
	const struct ktrace_field *end = event->fields + event->nr_fields;
	const struct ktrace_field *field = event->fields;

	do {
		ktrace_pack_value(field, rec + field->offset, *args++);
	} while (++field < end);
}

static noinline void
ktrace_pack_all(const struct ktrace_event *event, void *rec, const u64 *args,
		const void * const *srcs, const u16 *lens)
{
	const struct ktrace_field *field = event->fields;
	unsigned int data = event->size;

	ktrace_zero_holes(event, rec);
	for (int i = 0; i < event->nr_fields; i++, field++) {
		void *dst = rec + field->offset;
		unsigned int len;

		if (field->op <= KTRACE_OP_64) {
			ktrace_pack_value(field, dst, args[i]);
			continue;
		}
		if (unlikely(field->op > KTRACE_OP_DUMP)) {
			ktrace_copy(field, dst, (void *)(unsigned long)args[i]);
			continue;
		}

		len = *lens++;
		*(u32 *)dst = len << 16 | data;
		dst = rec + data;
		data += len;
		if (field->op == KTRACE_OP_STRING)
			((char *)dst)[--len] = 0;
		memcpy(dst, *srcs++, len);
	}
}

/* Packs the values with the location of the string in place of its pointer. */
static __always_inline void
ktrace_pack_string(const struct ktrace_event *event, void *rec, u64 *args,
		   const void * const *srcs, const u16 *lens)
{
	unsigned int nr = event->first_piece;
	char *dst = rec + event->size;
	const char *src = *srcs;
	unsigned int len;

	args[nr] = *lens << 16 | event->size;
	ktrace_pack_values(event, rec, args);
	args[nr] = (unsigned long)src;

	len = *lens - 1;
	dst[len] = 0;
	ktrace_copy_string(dst, src, len);
}

static __always_inline void
ktrace_pack(const struct ktrace_event *event, void *rec, u64 *args,
	    const void * const *srcs, const u16 *lens)
{
	unsigned int contents = event->contents;

	if (contents == KTRACE_WORDS) {
		ktrace_pack_words(event, rec, args);
	} else if (contents == KTRACE_A_STRING) {
		ktrace_pack_string(event, rec, args, srcs, lens);
	} else if (contents != KTRACE_VALUES) {
		ktrace_pack_all(event, rec, args, srcs, lens);
	} else if (event->nr_fields) {
		ktrace_zero_holes(event, rec);
		ktrace_pack_values(event, rec, args);
	}
}

/*
 * Commits what trace_event_reserve_plain() reserved, if that is all that
 * trace_event_buffer_commit() would do.
 */
static __always_inline bool
ktrace_commit_plain(const struct trace_event_buffer *fbuffer)
{
	if (unlikely(!trace_event_ends_with_commit(fbuffer->trace_file)))
		return false;

	__this_cpu_write(trace_taskinfo_save, true);
	ring_buffer_unlock_commit(fbuffer->buffer);

	return true;
}

static __always_inline void
ktrace_to_file(const struct ktrace_event *event, struct trace_event_file *file,
	       u64 *args, const void **srcs, u16 *lens)
{
	/* Nothing points to the first one, so it stays in registers. */
	struct trace_event_buffer plain __uninitialized;
	struct trace_event_buffer fbuffer __uninitialized;
	unsigned int size;
	void *rec;

	if (likely(trace_event_file_plain(file))) {
		size = ktrace_measure(event, args, srcs, lens);
		if (!trace_event_reserve_plain(&plain, file, size))
			return;
		ktrace_pack(event, plain.entry, args, srcs, lens);
		if (likely(ktrace_commit_plain(&plain)))
			return;
		fbuffer = plain;
	} else {
		if (trace_trigger_soft_disabled(file))
			return;
		size = ktrace_measure(event, args, srcs, lens);
		rec = trace_event_buffer_reserve(&fbuffer, file, size);
		if (!rec)
			return;
		ktrace_pack(event, rec, args, srcs, lens);
	}
	trace_event_buffer_commit(&fbuffer);
}

#ifdef CONFIG_PERF_EVENTS
static __always_inline void ktrace_to_perf(struct ktrace_event *event,
					   u64 *args, const void **srcs,
					   u16 *lens)
{
	struct trace_event_call *call = &event->call;
	struct hlist_head *head;
	struct pt_regs *regs;
	unsigned int size;
	void *rec;
	int rctx;

	head = this_cpu_ptr(call->perf_events);
	if (!bpf_prog_array_valid(call) && hlist_empty(head))
		return;

	size = ktrace_measure(event, args, srcs, lens);
	size = ALIGN(size + sizeof(u32), sizeof(u64)) - sizeof(u32);
	rec = perf_trace_buf_alloc(size, &regs, &rctx);
	if (!rec)
		return;

	perf_fetch_caller_regs(regs);
	ktrace_pack(event, rec, args, srcs, lens);
	perf_trace_run_bpf_submit(rec, size, rctx, call, 1, regs, head, NULL);
}
#else
static void ktrace_to_perf(struct ktrace_event *event, u64 *args,
			   const void **srcs, u16 *lens)
{
}
#endif

/*
 * Inlined into the functions that a site calls: stack traces skip as many
 * functions as there are from the callback of an event down to
 * trace_event_buffer_commit(), and perf shows the caller of this function's
 * caller, which has the site.
 */
static __always_inline void ktrace_record(struct ktrace_site *site, u64 *args,
					  const void **srcs, u16 *lens)
{
	struct ktrace_event *event;
	struct ktrace_link *link;

	guard(srcu_fast_notrace)(&tracepoint_srcu);
	guard(preempt_notrace)();

	/* Just going off? */
	event = READ_ONCE(site->event);
	if (unlikely(!event))
		return;

	hlist_for_each_entry_rcu_notrace(link, &event->links, node)
		ktrace_to_file(event, link->file, args, srcs, lens);
	/* Pairs with the release in ktrace_reg(). */
	if (unlikely(smp_load_acquire(&event->perf)))
		ktrace_to_perf(event, args, srcs, lens);
}

/**
 * __ktrace_check_context - warn if RCU is not watching, for the macro ktrace()
 *
 * Context: Any.
 */
void __ktrace_check_context(void)
{
	WARN_ONCE(!rcu_is_watching(), "RCU not watching for ktrace\n");
}
EXPORT_SYMBOL_GPL(__ktrace_check_context);

/**
 * __ktrace - record a site with few arguments, for the macro ktrace()
 * @site: the site, which is on
 * @arg1: the first argument
 * @arg2: the second argument; those that @site does not have are not looked at
 * @arg3: as @arg2
 * @arg4: as @arg2
 * @arg5: as @arg2
 *
 * Context: Any, NMI included, where RCU is watching.
 *
 * Five in registers cost a site less code than a structure on its stack, and
 * no check of that stack in a function whose event is off.
 */
void __ktrace(struct ktrace_site *site, u64 arg1, u64 arg2, u64 arg3, u64 arg4,
	      u64 arg5)
{
	u64 args[KTRACE_REG_ARGS] = { arg1, arg2, arg3, arg4, arg5 };
	const void *srcs[KTRACE_REG_ARGS] __uninitialized;
	u16 lens[KTRACE_REG_ARGS] __uninitialized;

	ktrace_record(site, args, srcs, lens);
}
EXPORT_SYMBOL_GPL(__ktrace);

/**
 * __ktrace_more - record a site with more arguments, for the macro ktrace()
 * @site: the site, which is on
 * @...: its arguments, each a u64
 *
 * Context: Any, NMI included, where RCU is watching.
 */
void __ktrace_more(struct ktrace_site *site, ...)
{
	const void *srcs[KTRACE_MAX_ARGS] __uninitialized;
	u16 lens[KTRACE_MAX_ARGS] __uninitialized;
	u64 args[KTRACE_MAX_ARGS] __uninitialized;
	va_list ap;

	va_start(ap, site);
	for (int i = 0; i < KTRACE_MAX_ARGS && i < site->nr_args; i++)
		args[i] = va_arg(ap, u64);
	va_end(ap);

	ktrace_record(site, args, srcs, lens);
}
EXPORT_SYMBOL_GPL(__ktrace_more);
