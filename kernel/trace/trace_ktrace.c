// SPDX-License-Identifier: GPL-2.0
/*
 * ktrace: trace events that are one line at the place where they happen.
 *
 * The compiler leaves a struct ktrace_site for each ktrace() in a section of
 * its own, see include/linux/ktrace.h. When the kernel boots, and when a module
 * is loaded, an event is made of each name: the format tells fields and output,
 * the compiler has told the types. Sites with the same name, format and types
 * share one event. An event has everything in memory of its own, so it can
 * outlive the module of its last site: while a ring buffer may hold records of
 * it, it stays, and whoever reads them finds format and printing function.
 *
 * A record begins with struct trace_entry, as that of any event, then come the
 * arguments with their natural alignment, then the bytes of strings and dumps
 * in the order of the arguments. Nothing in it points to kernel memory that
 * would be read later.
 *
 * Everything here is changed with event_mutex held. Recording takes no lock: it
 * runs in any context, in tracepoint_srcu and with preemption disabled, as the
 * callbacks of tracepoints do, so that all that waits for these waits for it
 * too.
 */

#define pr_fmt(fmt) "ktrace: " fmt

#include <linux/hashtable.h>
#include <linux/ktrace.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/socket.h>
#include <linux/stringhash.h>

#include <asm/word-at-a-time.h>

#include "trace.h"
#include "trace_ktrace.h"

/* A trace array that wants an event. In tracepoint_srcu. */
struct ktrace_link {
	struct hlist_node	node;
	struct trace_event_file	*file;
	struct rcu_head		rcu;
};

static DEFINE_HASHTABLE(ktrace_events, 10);

/* Of the sites that have no counter, as they have not been on yet */
static DEFINE_PER_CPU(unsigned long, ktrace_no_hits);

LIST_HEAD(ktrace_tables);

/* Others have events in our system, too. They hardly ever do. */
static bool ktrace_others;

static struct ktrace_event *to_ktrace_event(struct trace_event_call *call)
{
	return container_of(call, struct ktrace_event, call);
}

/* Recording */

/*
 * Is this an address that a kernel pointer can have? What is left are pointers
 * that a printk() of the same would follow, too.
 */
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

/* strnlen(), by words where a word may be read of which only a part is used */
static __always_inline unsigned int
ktrace_strnlen(const char *str, unsigned int max)
{
#if defined(CONFIG_HAVE_EFFICIENT_UNALIGNED_ACCESS) && \
	!defined(CONFIG_KASAN) && !defined(CONFIG_KMSAN)
	const struct word_at_a_time constants = WORD_AT_A_TIME_CONSTANTS;
	unsigned long word, bits;
	unsigned int len;

	for (len = 0; len < max; len += sizeof(word)) {
		/* The next page may not be there. */
		if (unlikely(offset_in_page(str + len) > PAGE_SIZE - sizeof(word)))
			return len + strnlen(str + len, max - len);

		word = read_word_at_a_time(str + len);
		if (!has_zero(word, &bits, &constants))
			continue;
		bits = prep_zero_mask(word, bits, &constants);
		len += find_zero(create_zero_mask(bits));
		break;
	}

	return min(len, max);
#else
	return strnlen(str, max);
#endif
}

/*
 * How many bytes has a record, and where do those behind the fields come from?
 * Strings can change while they are looked at: what is measured here is what
 * ktrace_pack() copies. There is a length for each argument that has such
 * bytes.
 */
static __always_inline unsigned int
ktrace_measure(const struct ktrace_event *event, const u64 *args,
	       const void **srcs, u16 *lens)
{
	unsigned int left = KTRACE_MAX_DATA - event->nr_fields;
	unsigned int max, len, size = event->size;
	const void *src;
	long star;

	for (int i = event->first_piece; i < event->nr_fields; i++) {
		const struct ktrace_field *field = &event->fields[i];

		if (field->op != KTRACE_OP_STRING && field->op != KTRACE_OP_DUMP)
			continue;

		src = (void *)(unsigned long)args[i];
		star = field->star ? (int)args[i - 1] : -1;
		if (likely(field->op == KTRACE_OP_STRING)) {
			/* With its final 0 always: filters rely on it. */
			max = min_t(unsigned int, field->size - 1, left);
			/* A negative precision is none */
			if (star >= 0)
				max = min_t(unsigned long, max, star);
			src = ktrace_string(src);
			len = ktrace_strnlen(src, max);
			left -= len++;
		} else {
			max = min_t(unsigned int, field->size, left);
			if (field->star)
				max = clamp_t(long, star, 0, max);
			len = ktrace_bad_pointer(src) ? 0 : max;
			left -= len;
		}
		*srcs++ = src;
		*lens++ = len;
		size += len;
	}

	return size;
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
	unsigned int op = field->op & KTRACE_OP_SIZE;

	if (op == KTRACE_OP_64)
		*(u64 *)dst = val;
	else if (op == KTRACE_OP_32)
		*(u32 *)dst = val;
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

/* Where all arguments are recorded by their value */
static __always_inline void ktrace_pack_values(const struct ktrace_event *event,
					       void *rec, const u64 *args)
{
	const struct ktrace_field *end = event->fields + event->nr_fields;
	const struct ktrace_field *field;

	ktrace_zero_holes(event, rec);
	for (field = event->fields; field < end; field++)
		ktrace_pack_value(field, rec + field->offset, *args++);
}

static __always_inline void
ktrace_pack(const struct ktrace_event *event, void *rec, const u64 *args,
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

/* Both for ways that are long anyway */

static noinline unsigned int
ktrace_measure_slow(const struct ktrace_event *event, const u64 *args,
		    const void **srcs, u16 *lens)
{
	return ktrace_measure(event, args, srcs, lens);
}

static noinline void ktrace_pack_slow(const struct ktrace_event *event,
				      void *rec, const u64 *args,
				      const void * const *srcs, const u16 *lens)
{
	ktrace_pack(event, rec, args, srcs, lens);
}

/* All that trace_event_buffer_reserve() and _commit() look at. */
#define KTRACE_FILE_NOT_PLAIN						\
	(EVENT_FILE_FL_TRIGGER_MODE | EVENT_FILE_FL_TRIGGER_COND |	\
	 EVENT_FILE_FL_SOFT_DISABLED | EVENT_FILE_FL_FILTERED |		\
	 EVENT_FILE_FL_PID_FILTER | EVENT_FILE_FL_EXPORTED)

static __always_inline bool ktrace_file_is_plain(struct trace_event_file *file)
{
	if (READ_ONCE(file->flags) & KTRACE_FILE_NOT_PLAIN)
		return false;

#ifdef CONFIG_STACKTRACE
	if (file->tr->trace_flags & TRACE_ITER(STACKTRACE))
		return false;
#endif
#ifdef CONFIG_USER_STACKTRACE_SUPPORT
	if (file->tr->trace_flags & TRACE_ITER(USERSTACKTRACE))
		return false;
#endif
	return !static_branch_unlikely(&tracepoint_printk_key);
}

/* ring_buffer_event_data() is for records that were read as well. */
static __always_inline void *ktrace_event_data(struct ring_buffer_event *rb)
{
	if (likely(rb->type_len - 1U < RINGBUF_TYPE_DATA_TYPE_LEN_MAX))
		return rb->array;

	return ring_buffer_event_data(rb);
}

/*
 * What trace_event_buffer_reserve() and _commit() do, without asking what
 * ktrace_file_is_plain() has asked.
 */
static __always_inline void *ktrace_begin(const struct ktrace_event *event,
					  struct ring_buffer_event *rb,
					  unsigned int ctx)
{
	void *rec = ktrace_event_data(rb);

	tracing_generic_entry_update(rec, event->call.event.type, ctx);

	return rec;
}

static __always_inline void ktrace_commit(struct trace_buffer *buffer)
{
	__this_cpu_write(trace_taskinfo_save, true);
	ring_buffer_unlock_commit(buffer);
}

static __always_inline void
ktrace_values_to_buffer(const struct ktrace_event *event,
			struct trace_buffer *buffer, const u64 *args)
{
	unsigned int ctx = tracing_gen_ctx_dec();
	struct ring_buffer_event *rb;

	rb = ring_buffer_lock_reserve(buffer, event->size);
	if (rb) {
		ktrace_pack_values(event, ktrace_begin(event, rb, ctx), args);
		ktrace_commit(buffer);
	}
}

/* A string: its place in the record is a value, for as long as that is made. */
static noinline void ktrace_string_to_buffer(const struct ktrace_event *event,
					     struct trace_buffer *buffer,
					     u64 *args)
{
	unsigned int nr = event->first_piece;
	struct ring_buffer_event *rb;
	u64 arg = args[nr];
	unsigned int ctx;
	unsigned int len;
	const char *str;
	char *dst;
	void *rec;

	str = ktrace_string((const char *)(unsigned long)arg);
	len = ktrace_strnlen(str, event->fields[nr].size - 1);
	ctx = tracing_gen_ctx_dec();
	rb = ring_buffer_lock_reserve(buffer, event->size + len + 1);
	if (!rb)
		return;

	rec = ktrace_begin(event, rb, ctx);
	args[nr] = (len + 1) << 16 | event->size;
	ktrace_pack_values(event, rec, args);
	args[nr] = arg;

	dst = rec + event->size;
	dst[len] = 0;
	memcpy(dst, str, len);
	ktrace_commit(buffer);
}

static noinline void ktrace_all_to_buffer(const struct ktrace_event *event,
					  struct trace_buffer *buffer,
					  const u64 *args)
{
	const void *srcs[KTRACE_MAX_ARGS] __uninitialized;
	u16 lens[KTRACE_MAX_ARGS] __uninitialized;
	unsigned int ctx = tracing_gen_ctx_dec();
	struct ring_buffer_event *rb;
	unsigned int size;

	size = ktrace_measure(event, args, srcs, lens);
	rb = ring_buffer_lock_reserve(buffer, size);
	if (rb) {
		ktrace_pack(event, ktrace_begin(event, rb, ctx), args, srcs,
			    lens);
		ktrace_commit(buffer);
	}
}

static __always_inline void
ktrace_to_buffer(const struct ktrace_event *event, struct trace_buffer *buffer,
		 u64 *args)
{
	switch (event->contents) {
	case KTRACE_VALUES:
		ktrace_values_to_buffer(event, buffer, args);
		break;
	case KTRACE_A_STRING:
		ktrace_string_to_buffer(event, buffer, args);
		break;
	default:
		ktrace_all_to_buffer(event, buffer, args);
	}
}

static __always_inline void
ktrace_to_file(const struct ktrace_event *event, struct trace_event_file *file,
	       u64 *args, const void **srcs, u16 *lens)
{
	struct trace_event_buffer fbuffer __uninitialized;
	struct trace_buffer *buffer;
	unsigned int size;
	void *rec;

	if (likely(ktrace_file_is_plain(file))) {
		/* A snapshot may exchange it before the commit. */
		buffer = READ_ONCE(file->tr->array_buffer.buffer);
		ktrace_to_buffer(event, buffer, args);
		return;
	}

	if (trace_trigger_soft_disabled(file))
		return;

	size = event->size;
	if (event->contents != KTRACE_VALUES)
		size = ktrace_measure_slow(event, args, srcs, lens);

	rec = trace_event_buffer_reserve(&fbuffer, file, size);
	if (!rec)
		return;

	if (event->contents == KTRACE_VALUES)
		ktrace_pack_values(event, rec, args);
	else
		ktrace_pack_slow(event, rec, args, srcs, lens);
	trace_event_buffer_commit(&fbuffer);
}

#ifdef CONFIG_PERF_EVENTS
static __always_inline void ktrace_to_perf(struct ktrace_event *event,
					   const u64 *args, const void **srcs,
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

	size = ktrace_measure_slow(event, args, srcs, lens);
	size = ALIGN(size + sizeof(u32), sizeof(u64)) - sizeof(u32);
	rec = perf_trace_buf_alloc(size, &regs, &rctx);
	if (!rec)
		return;

	perf_fetch_caller_regs(regs);
	ktrace_pack_slow(event, rec, args, srcs, lens);
	perf_trace_run_bpf_submit(rec, size, rctx, call, 1, regs, head, NULL);
}
#else
static void ktrace_to_perf(struct ktrace_event *event, const u64 *args,
			   const void **srcs, u16 *lens)
{
}
#endif

/*
 * Inlined into those whom a site calls: stack traces skip as many functions as
 * between an event's callback and trace_event_buffer_commit(), and what perf
 * shows is the caller of this one's.
 */
static __always_inline void ktrace_record(struct ktrace_site *site, u64 *args,
					  const void **srcs, u16 *lens)
{
	struct ktrace_event *event;
	struct ktrace_link *link;

	if (IS_ENABLED(CONFIG_LOCKDEP))
		WARN_ONCE(!rcu_is_watching(), "RCU not watching for ktrace\n");

	guard(srcu_fast_notrace)(&tracepoint_srcu);
	guard(preempt_notrace)();

	/* Just going off? */
	event = READ_ONCE(site->event);
	if (unlikely(!event))
		return;

	this_cpu_inc(*site->hits);

	hlist_for_each_entry_rcu_notrace(link, &event->links, node)
		ktrace_to_file(event, link->file, args, srcs, lens);
	/* Pairs with the release in ktrace_reg(). */
	if (unlikely(smp_load_acquire(&event->perf)))
		ktrace_to_perf(event, args, srcs, lens);
}

/*
 * __ktrace - record what happens at a site, for the macro ktrace()
 * @site: the site, which is on
 * @arg1: the first argument
 * @arg2: and so on; those that @site does not have are not looked at
 * @arg3: as @arg2
 * @arg4: as @arg2
 * @arg5: as @arg2
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

/*
 * __ktrace_more - record what happens at a site, for the macro ktrace()
 * @site: the site, which is on
 *
 * Then come its arguments, each a u64.
 */
void __ktrace_more(struct ktrace_site *site, ...)
{
	const void *srcs[KTRACE_MAX_ARGS] __uninitialized;
	u16 lens[KTRACE_MAX_ARGS] __uninitialized;
	u64 args[KTRACE_MAX_ARGS] __uninitialized;
	u64 types = site->types;
	va_list ap;

	va_start(ap, site);
	for (int i = 0; i < KTRACE_MAX_ARGS && types; i++, types >>= 4)
		args[i] = va_arg(ap, u64);
	va_end(ap);

	ktrace_record(site, args, srcs, lens);
}
EXPORT_SYMBOL_GPL(__ktrace_more);

/* Switching */

/* A site that is on without one, as memory is short, gets another chance. */
static void ktrace_count_site(struct ktrace_site *site)
{
	unsigned long __percpu *hits;

	if (site->hits != &ktrace_no_hits)
		return;

	hits = alloc_percpu(unsigned long);
	if (hits)
		WRITE_ONCE(site->hits, hits);
}

/*
 * ktrace_site_hits - how often has a site been passed while it was on?
 * @site: the site
 * @hits: the number
 *
 * Context: event_mutex is held
 *
 * Return: false when nobody knows: there was no memory to count.
 */
bool ktrace_site_hits(const struct ktrace_site *site, unsigned long *hits)
{
	unsigned long sum = 0;
	int cpu;

	*hits = 0;
	if (!site->event)
		return true;
	if (site->hits == &ktrace_no_hits)
		return !static_key_enabled(&site->key);

	for_each_possible_cpu(cpu)
		sum += *per_cpu_ptr(site->hits, cpu);
	*hits = sum;

	return true;
}

void ktrace_switch_site(struct ktrace_site *site)
{
	struct ktrace_event *event = site->event;
	bool on;

	on = event && !site->muted && (event->perf || !hlist_empty(&event->links));
	if (on == static_key_enabled(&site->key))
		return;

	if (on) {
		ktrace_count_site(site);
		static_branch_enable(&site->key);
	} else {
		static_branch_disable(&site->key);
	}
}

static void ktrace_switch_event(struct ktrace_event *event)
{
	struct ktrace_site *site;

	for (site = event->sites; site; site = site->next)
		ktrace_switch_site(site);
}

static int ktrace_add_link(struct ktrace_event *event,
			   struct trace_event_file *file)
{
	struct ktrace_link *link = kmalloc_obj(*link);

	if (!link)
		return -ENOMEM;

	link->file = file;
	hlist_add_head_rcu(&link->node, &event->links);

	return 0;
}

static void ktrace_free_link(struct rcu_head *rcu)
{
	kfree(container_of(rcu, struct ktrace_link, rcu));
}

static void ktrace_del_link(struct ktrace_event *event,
			    struct trace_event_file *file)
{
	struct ktrace_link *link;

	hlist_for_each_entry(link, &event->links, node) {
		if (link->file == file) {
			hlist_del_rcu(&link->node);
			call_srcu(&tracepoint_srcu, &link->rcu, ktrace_free_link);
			return;
		}
	}
}

static int ktrace_reg(struct trace_event_call *call, enum trace_reg type,
		      void *data)
{
	struct ktrace_event *event = to_ktrace_event(call);
	int ret = 0;

	switch (type) {
	case TRACE_REG_REGISTER:
		ret = ktrace_add_link(event, data);
		break;
	case TRACE_REG_UNREGISTER:
		ktrace_del_link(event, data);
		break;
#ifdef CONFIG_PERF_EVENTS
	case TRACE_REG_PERF_REGISTER:
		/* After perf_events, which ktrace_to_perf() uses */
		smp_store_release(&event->perf, true);
		break;
	case TRACE_REG_PERF_UNREGISTER:
		WRITE_ONCE(event->perf, false);
		break;
	default:
		/* perf_trace_add() and perf_trace_del() do the rest. */
		return 0;
#endif
	}

	if (!ret)
		ktrace_switch_event(event);

	return ret;
}

static struct list_head *ktrace_get_fields(struct trace_event_call *call)
{
	return &to_ktrace_event(call)->call_fields;
}

static int ktrace_raw_init(struct trace_event_call *call)
{
	return register_trace_event(&call->event) ? 0 : -ENODEV;
}

/* An event without arguments has no fields. */
static struct trace_event_fields ktrace_no_fields[] = { {} };

struct trace_event_class ktrace_event_class = {
	.system		= "ktrace",
	.reg		= ktrace_reg,
	.raw_init	= ktrace_raw_init,
	.get_fields	= ktrace_get_fields,
	.fields_array	= ktrace_no_fields,
};

/* Events come and go */

static struct hlist_head *ktrace_bucket(const char *name)
{
	return &ktrace_events[hash_min(full_name_hash(NULL, name, strlen(name)),
				       HASH_BITS(ktrace_events))];
}

static struct ktrace_event *ktrace_find_event(const char *name)
{
	struct ktrace_event *event;

	hlist_for_each_entry(event, ktrace_bucket(name), node) {
		if (!strcmp(event->call.name, name))
			return event;
	}

	return NULL;
}

static struct trace_event_file *ktrace_file(struct trace_array *tr,
					    struct ktrace_event *event)
{
	struct trace_event_file *file;

	list_for_each_entry(file, &tr->events, list) {
		if (file->event_call == &event->call)
			return file;
	}

	return NULL;
}

/* Removes an event without sites, unless somebody uses it. */
static int ktrace_remove_event(struct ktrace_event *event)
{
	int ret;

	if (trace_event_dyn_busy(&event->call))
		return -EBUSY;

	ret = trace_remove_event_call(&event->call);
	if (ret)
		return ret;

	/* Nobody records it: there has been no code with a site of it. */
	hlist_del(&event->node);
	ktrace_free_event(event);

	return 0;
}

/*
 * As tracing_reset_all_online_cpus(), and CPUs that are offline too: the id of
 * what is gone may be that of the next event that is made.
 */
static void ktrace_clear_buffers(void)
{
	struct trace_array *tr;

	guard(mutex)(&trace_types_lock);
	list_for_each_entry(tr, &ftrace_trace_arrays, list) {
		if (!tr->clear_trace)
			continue;
		tr->clear_trace = false;
		/* With no snapshot in between */
		tracing_stop_tr(tr);
		tracing_reset_all_cpus(&tr->array_buffer);
#ifdef CONFIG_TRACER_SNAPSHOT
		tracing_reset_all_cpus(&tr->snapshot_buffer);
#endif
		tracing_start_tr(tr);
	}
}

/*
 * An event without sites makes room for one with the same name and other
 * fields: a developer changed the format and loads the module again. The
 * records that were made of it can't be read any more and are cleared.
 */
static int ktrace_replace_event(struct ktrace_event *event)
{
	struct trace_event_file *file;
	struct trace_array *tr;
	int ret;

	/* Nothing is switched off for an event that has to stay. */
	if (trace_event_dyn_busy(&event->call))
		return -EBUSY;
	list_for_each_entry(tr, &ftrace_trace_arrays, list) {
		file = ktrace_file(tr, event);
		if (file && atomic_read(&file->sm_ref))
			return -EBUSY;
	}

	list_for_each_entry(tr, &ftrace_trace_arrays, list) {
		file = ktrace_file(tr, event);
		if (file)
			trace_event_enable_disable(file, 0, 0);
	}

	ret = ktrace_remove_event(event);
	if (!ret)
		ktrace_clear_buffers();

	return ret;
}

static int ktrace_register_event(struct ktrace_event *event, bool early)
{
	int ret;

	if (early) {
		ret = ktrace_raw_init(&event->call);
		if (!ret)
			list_add(&event->call.list, &ftrace_events);
	} else {
		ret = trace_add_event_call(&event->call);
	}

	if (!ret)
		hlist_add_head(&event->node, ktrace_bucket(event->call.name));

	return ret;
}

/* An event of somebody else in our system: a kprobe can be in any. */
static bool ktrace_is_other(struct trace_event_call *call)
{
	return call->class != &ktrace_event_class && call->class->system &&
	       !strcmp(call->class->system, ktrace_event_class.system);
}

static bool ktrace_has_others(void)
{
	struct trace_event_call *call;

	list_for_each_entry(call, &ftrace_events, list) {
		if (ktrace_is_other(call))
			return true;
	}

	return false;
}

/* In tracefs the name is that of a directory, in events/ktrace. */
static int ktrace_check_name(const char *name, char *error, size_t size)
{
	struct trace_event_call *call;
	const char *other;

	/* Of what is no identifier the macro lets begin with a digit through. */
	if (!is_good_name(name)) {
		snprintf(error, size, "the name is no identifier");
		return -EINVAL;
	}

	if (!strcmp(name, "enable") || !strcmp(name, "filter")) {
		snprintf(error, size, "events/ktrace has a file of that name");
		return -EINVAL;
	}

	if (!ktrace_others)
		return 0;

	/* Those who make one ask for ours as well. */
	list_for_each_entry(call, &ftrace_events, list) {
		if (!ktrace_is_other(call))
			continue;
		other = trace_event_name(call);
		if (other && !strcmp(other, name)) {
			snprintf(error, size,
				 "another event in events/ktrace has that name");
			return -EEXIST;
		}
	}

	return 0;
}

/* What is refused takes no place: @old stays then. */
static struct ktrace_event *ktrace_new_event(const struct ktrace_site *site,
					     struct ktrace_event *old,
					     bool copy, bool early)
{
	struct ktrace_event *event;
	char error[80];
	int ret;

	ret = ktrace_check_name(site->name, error, sizeof(error));
	if (!ret) {
		event = ktrace_make_event(site, copy, error, sizeof(error));
		ret = PTR_ERR_OR_ZERO(event);
	}
	if (!ret && old) {
		ret = ktrace_replace_event(old);
		if (ret) {
			snprintf(error, sizeof(error),
				 "the event of a module that is gone is in use");
			ktrace_free_event(event);
		}
	}
	if (!ret) {
		ret = ktrace_register_event(event, early);
		if (!ret)
			return event;
		snprintf(error, sizeof(error), "no event can be registered (%d)",
			 ret);
		ktrace_free_event(event);
	}

	pr_err("%s: %s:%u stays off: %s\n", site->name, site->file, site->line,
	       error);

	return ERR_PTR(ret);
}

static bool ktrace_same_event(const struct ktrace_event *event,
			      const struct ktrace_site *site)
{
	return event->types == site->types &&
	       !strcmp(event->fmt, ktrace_site_fmt(site));
}

/* Gives a site its event, which is made when there is none. */
static void ktrace_add_site(struct ktrace_site *site, struct module *mod,
			    bool early)
{
	struct ktrace_event *event = ktrace_find_event(site->name);
	bool same = event && ktrace_same_event(event, site);
	struct ktrace_site **p;

	if (event && event->sites && !same) {
		pr_err("%s: %s:%u has another format or other types than %s:%u and stays off\n",
		       site->name, site->file, site->line, event->sites->file,
		       event->sites->line);
		return;
	}

	if (!same) {
		event = ktrace_new_event(site, event, mod, early);
		if (IS_ERR(event))
			return;
	}

	/*
	 * The first stays the first: it is whom others are in conflict with.
	 * There may be thousands, as of a function in a header, so the others
	 * come right behind it, where a module that goes finds them, too.
	 */
	p = event->sites ? &event->sites->next : &event->sites;
	site->next = *p;
	*p = site;
	site->hits = &ktrace_no_hits;
	WRITE_ONCE(site->event, event);
	ktrace_switch_site(site);
}

static void ktrace_add_table(struct ktrace_table *table, bool early)
{
	list_add_tail(&table->list, &ktrace_tables);
	ktrace_others = ktrace_has_others();
	for (int i = 0; i < table->nr; i++)
		ktrace_add_site(&table->sites[i], table->mod, early);
}

/*
 * ktrace_init - make the events of the kernel
 *
 * Context: early boot, before events are enabled by the command line.
 */
void __init ktrace_init(void)
{
	static struct ktrace_table table;

	table.sites = __start___ktrace_sites;
	table.nr = __stop___ktrace_sites - __start___ktrace_sites;

	guard(mutex)(&event_mutex);
	ktrace_add_table(&table, true);
}

#ifdef CONFIG_MODULES
static bool ktrace_buffers_empty(struct trace_array *tr)
{
	bool empty;

	/* After a snapshot that would be one of them, twice. */
	local_irq_disable();
	trace_max_lock(tr);
	empty = ring_buffer_empty(tr->array_buffer.buffer);
#ifdef CONFIG_TRACER_SNAPSHOT
	if (tr->snapshot_buffer.buffer)
		empty &= ring_buffer_empty(tr->snapshot_buffer.buffer);
#endif
	trace_max_unlock(tr);
	local_irq_enable();

	return empty;
}

/* May a ring buffer still have records of an event? */
static bool ktrace_has_records(struct ktrace_event *event)
{
	struct trace_event_file *file;
	struct trace_array *tr;

	guard(mutex)(&trace_types_lock);
	list_for_each_entry(tr, &ftrace_trace_arrays, list) {
		file = ktrace_file(tr, event);
		if (!file || !(file->flags & EVENT_FILE_FL_WAS_ENABLED))
			continue;
		if (!ktrace_buffers_empty(tr))
			return true;
		/* Nothing to clear when the event goes. */
		clear_bit(EVENT_FILE_FL_WAS_ENABLED_BIT, &file->flags);
	}

	return false;
}

/* An event that has no site, no user and no record goes. */
static void ktrace_clean_event(struct ktrace_event *event)
{
	if (event->sites || event->perf || !hlist_empty(&event->links))
		return;

	if (!ktrace_has_records(event))
		ktrace_remove_event(event);
}

/* Events of modules that have been gone for a while */
static void ktrace_clean(void)
{
	struct ktrace_event *event;
	struct hlist_node *tmp;
	int i;

	hash_for_each_safe(ktrace_events, i, tmp, event, node)
		ktrace_clean_event(event);
}

static void ktrace_del_site(struct ktrace_site *site)
{
	struct ktrace_event *event = site->event;
	struct ktrace_site **p;

	if (!event)
		return;

	for (p = &event->sites; *p != site; p = &(*p)->next)
		;
	*p = site->next;
	WRITE_ONCE(site->event, NULL);
	if (site->hits != &ktrace_no_hits)
		free_percpu(site->hits);
	ktrace_clean_event(event);
}

/*
 * ktrace_module_coming - make the events of a module
 * @mod: the module, whose code does not run yet
 *
 * Context: may sleep, event_mutex is held and trace_types_lock is not
 */
void ktrace_module_coming(struct module *mod)
{
	struct ktrace_table *table;

	lockdep_assert_held(&event_mutex);

	if (!mod->num_ktrace_sites)
		return;

	if (trace_module_has_bad_taint(mod)) {
		pr_err("%s: module has bad taint, its sites stay off\n", mod->name);
		return;
	}

	ktrace_clean();

	table = kzalloc_obj(*table);
	if (!table) {
		pr_err("%s: no memory, its sites stay off\n", mod->name);
		return;
	}

	table->mod = mod;
	table->sites = mod->ktrace_sites;
	table->nr = mod->num_ktrace_sites;
	ktrace_add_table(table, false);
}

/*
 * ktrace_module_going - forget the sites of a module
 * @mod: the module, whose code does not run any more
 *
 * Context: may sleep, event_mutex is held and trace_types_lock is not
 */
void ktrace_module_going(struct module *mod)
{
	struct ktrace_table *table;

	lockdep_assert_held(&event_mutex);

	if (!mod->num_ktrace_sites)
		return;

	list_for_each_entry(table, &ktrace_tables, list) {
		if (table->mod != mod)
			continue;

		/* What came last is found first. */
		for (int i = table->nr - 1; i >= 0; i--)
			ktrace_del_site(&table->sites[i]);
		list_del(&table->list);
		kfree(table);
		break;
	}
}

/*
 * ktrace_call_in_module - has a module a site of an event
 * @call: any trace event
 * @module: name of the module
 *
 * Context: event_mutex is held
 *
 * Return: true when @call is a ktrace event and @module has a site of it.
 */
bool ktrace_call_in_module(struct trace_event_call *call, const char *module)
{
	struct ktrace_event *event;
	struct ktrace_table *table;
	struct ktrace_site *site;

	if (!(call->flags & TRACE_EVENT_FL_KTRACE))
		return false;

	event = to_ktrace_event(call);
	list_for_each_entry(table, &ktrace_tables, list) {
		if (!table->mod || strcmp(module_name(table->mod), module))
			continue;
		for (site = event->sites; site; site = site->next) {
			if (site >= table->sites &&
			    site < table->sites + table->nr)
				return true;
		}
	}

	return false;
}
#endif /* CONFIG_MODULES */
