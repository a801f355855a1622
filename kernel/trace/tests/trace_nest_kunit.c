// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for writes to the ring buffer that interrupts and NMIs interrupt,
 * which write to the same ring buffer.
 *
 * A shot is one write that is interrupted at one place, by writes of one kind,
 * with the ring buffer in one state. Afterwards the ring buffer must have each
 * committed record once, intact, with the time of its write, and in an order
 * that fits the order of the writes.
 *
 * A shot can also be one read of a page, which is interrupted by writes.
 */

#include <kunit/test.h>
#include <linux/irq_work.h>
#include <linux/irqflags.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/preempt.h>
#include <linux/ring_buffer.h>
#include <linux/ring_buffer_types.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/trace_clock.h>

#define NEST_RECORDS	256
#define NEST_LEVELS	4
/* Bytes of the largest record that ring_buffer_write() gets */
#define NEST_DATA	(PAGE_SIZE / 4)
/* A page has room for four of these. */
#define NEST_LARGE	(NEST_DATA - 24)
/* Bytes of a time stamp of its own before a record */
#define NEST_STAMP	8
/* Instead of the number of one call or instruction: each of the first ones */
#define NEST_EACH	0
#define NEST_MANY	3

/* The state of the ring buffer before the write that is interrupted */
enum nest_state {
	NEST_FIRST	= BIT(0),	/* at the start of a page */
	NEST_DISCARDED	= BIT(1),	/* the last record was discarded */
	NEST_ABS	= BIT(2),	/* absolute time stamps */
	NEST_EXTEND	= BIT(3),	/* all deltas are above 27 bits */
	NEST_LOCAL	= BIT(4),	/* the default clock */
	NEST_FULL	= BIT(5),	/* the next page has records */
	NEST_OVERWRITE	= BIT(6),	/* these will be overwritten */
	NEST_STORM	= BIT(7),	/* the interrupts write all pages full */
	/* Without an interrupt the record goes to the next page. */
	NEST_CROSS	= BIT(8),
	NEST_STILL	= BIT(9),	/* the clock does not go on */
};

/**
 * struct nest_variant - a state of the ring buffer, and sizes of records
 * @name:	for messages
 * @outer:	length of the interrupted record
 * @inner:	length of the records of interrupts
 * @room:	bytes that are left on the page, negative for many
 * @state:	flags of enum nest_state
 *
 * With the default alignment, and without a time stamp, a record of 32 bytes
 * takes 36, one of 16 takes 20, and one of 200 takes 208.
 */
struct nest_variant {
	const char	*name;
	unsigned int	outer;
	unsigned int	inner;
	int		room;
	unsigned int	state;
};

static const struct nest_variant variants[] = {
	{ "room",		32, 16, -1 },
	{ "room for both",	32, 16, 36 + 20 },
	{ "room for one",	32, 16, 36 },
	{ "no room",		32, 16, 20, NEST_CROSS },
	{ "full page",		32, 16, 0, NEST_CROSS },
	{ "padding",		32, 16, 4, NEST_CROSS },
	{ "first",		32, 16, -1, NEST_FIRST },
	{ "large",		200, 300, -1 },
	{ "large, no room",	200, 16, 208 - RB_ARCH_ALIGNMENT, NEST_CROSS },
	{ "large first",	200, 300, -1, NEST_FIRST },
	{ "discarded",		32, 16, -1, NEST_DISCARDED },
	{ "absolute",		32, 16, -1, NEST_ABS },
	{ "absolute, no room",	32, 16, 28, NEST_ABS | NEST_CROSS },
	{ "absolute first",	32, 16, -1, NEST_ABS | NEST_FIRST },
	{ "extend",		32, 16, -1, NEST_EXTEND },
	{ "extend, one",	32, 16, 36 + 8, NEST_EXTEND },
	{ "extend, no room",	32, 16, 28, NEST_EXTEND | NEST_CROSS },
	{ "extend first",	32, 16, -1, NEST_EXTEND | NEST_FIRST },
	{ "local",		32, 16, -1, NEST_LOCAL },
	{ "local, no room",	32, 16, 20, NEST_LOCAL | NEST_CROSS },
	{ "overwrite",		32, 16, 20,
	  NEST_FULL | NEST_OVERWRITE | NEST_CROSS },
	{ "overwrite, one",	32, 16, 36, NEST_FULL | NEST_OVERWRITE },
	{ "full",		32, 16, 20, NEST_FULL | NEST_CROSS },
	{ "full, one",		32, 16, 36, NEST_FULL },
	/* Two interrupts, and the next one is the first on a new page. */
	{ "still",		32, 16, 20 + 20, NEST_STILL },
	{ "storm",		32, NEST_LARGE, -1, NEST_OVERWRITE | NEST_STORM },
	{ "storm, full",	32, NEST_LARGE, 20,
	  NEST_FULL | NEST_STORM | NEST_CROSS },
};

/* Where a write is interrupted */
enum nest_place {
	NEST_NOWHERE,
	NEST_BEFORE_CLOCK,	/* the clock is going to be read */
	NEST_AFTER_CLOCK,	/* the clock was read */
	NEST_RESERVED,		/* between reserve and commit */
	NEST_PROBE,		/* at the instruction of a kprobe */
};

static const char *const places[] = {
	"no interrupt", "before the clock", "after the clock", "reserved",
	"kprobe",
};

/* Contexts of interrupts beside those that preempt_count() shows */
#define NEST_HERE	0	/* that of the caller */
#define NEST_IRQ_WORK	-1	/* an interrupt that comes soon */

/* The context that interrupts a write, and those that interrupt it in turn */
struct nest_chain {
	const char	*name;
	int		context[NEST_LEVELS];
	unsigned int	depth;
};

static const struct nest_chain chains[] = {
	{ "softirq", { SOFTIRQ_OFFSET }, 1 },
	{ "irq", { HARDIRQ_OFFSET }, 1 },
	{ "NMI", { NMI_OFFSET }, 1 },
	{ "softirq, irq", { SOFTIRQ_OFFSET, HARDIRQ_OFFSET }, 2 },
	{ "irq, NMI", { HARDIRQ_OFFSET, NMI_OFFSET }, 2 },
	{ "softirq, irq, NMI",
	  { SOFTIRQ_OFFSET, HARDIRQ_OFFSET, NMI_OFFSET }, 3 },
};

/**
 * struct nest_shot - one interrupted write
 * @variant:	the state of the ring buffer
 * @op:		how the record is written: 'w' by ring_buffer_write(), 'c'
 *		reserved and committed, 'd' reserved and discarded; 'p': a page
 *		is read instead
 * @ops:	what interrupts write, in this order
 * @place:	where the write is interrupted
 * @hit:	which time that place is passed, or NEST_EACH
 * @chain:	the contexts of the interrupts
 */
struct nest_shot {
	const struct nest_variant	*variant;
	char				op;
	const char			*ops;
	enum nest_place			place;
	unsigned int			hit;
	const struct nest_chain		*chain;
};

/* A record of the ring buffer */
struct nest_entry {
	u32	id;
	u32	len;
	u8	bytes[];
};

/* The times before and after the record was reserved */
struct nest_record {
	u64		begin;
	u64		end;
	unsigned int	len;
	bool		committed;
	unsigned int	seen;
};

struct nest_counters {
	unsigned long	bytes;
	unsigned long	overrun;
	unsigned long	refused;
};

struct nest {
	/* That of the shot is one of the other two. */
	struct trace_buffer	*buffer;
	struct trace_buffer	*counting;
	struct trace_buffer	*local;
	struct task_struct	*task;
	int			cpu;
	atomic64_t		now;
	u64			step;

	const struct nest_shot	*shot;
	bool			active;
	unsigned int		level;
	unsigned int		hits[NEST_LEVELS];
	/* The end of the last record that was reserved */
	unsigned long		pos;
	struct irq_work		work;
	/* Interrupts that came during the write, and handlers without NMI */
	unsigned long		irqs;
	unsigned long		no_nmis;

	unsigned int		serial;
	atomic_t		nr;
	unsigned int		refused;
	unsigned int		pass;
	struct nest_counters	before;
	struct nest_record	records[NEST_RECORDS];
	u8			data[NEST_LEVELS][NEST_DATA];
	char			error[128];
	unsigned int		failures;
};

/* A clock has no argument. */
static struct nest *nest;

/* The first error counts. */
static __printf(2, 3) bool nest_error(struct nest *n, const char *fmt, ...)
{
	va_list args;

	if (!n->error[0]) {
		va_start(args, fmt);
		vsnprintf(n->error, sizeof(n->error), fmt, args);
		va_end(args);
	}

	return false;
}

static void nest_hit(struct nest *n);

static u64 nest_clock(void)
{
	bool active = nest->active;
	u64 ts;

	if (active && nest->shot->place == NEST_BEFORE_CLOCK)
		nest_hit(nest);
	ts = atomic64_add_return(nest->step, &nest->now);
	if (active && nest->shot->place == NEST_AFTER_CLOCK)
		nest_hit(nest);

	return ts;
}

static u64 nest_now(struct nest *n)
{
	if (n->buffer == n->local)
		return trace_clock_local();

	return atomic64_add_return(n->step, &n->now);
}

static u8 nest_byte(u32 id)
{
	return id + (id >> 8) * 13;
}

static void nest_fill(struct nest *n, struct nest_entry *entry, u32 nr,
		      unsigned int len)
{
	entry->id = n->serial << 8 | nr;
	entry->len = len;
	memset(entry->bytes, nest_byte(entry->id), len - sizeof(*entry));
}

static void nest_write(struct nest *n, char op, unsigned int len)
{
	u32 nr = atomic_inc_return(&n->nr) - 1;
	struct ring_buffer_event *event;
	struct nest_record *rec;
	u64 ts;

	if (nr >= NEST_RECORDS) {
		nest_error(n, "too many records");
		return;
	}

	rec = &n->records[nr];
	*rec = (struct nest_record){ .begin = nest_now(n), .len = len };

	if (op == 'w') {
		nest_fill(n, (void *)n->data[n->level], nr, len);
		rec->committed = !ring_buffer_write(n->buffer, len,
						    n->data[n->level]);
		rec->end = nest_now(n);
		n->refused += !rec->committed;
		return;
	}

	event = ring_buffer_lock_reserve(n->buffer, len);
	rec->end = nest_now(n);
	if (!event) {
		n->refused++;
		return;
	}

	ts = ring_buffer_event_time_stamp(n->buffer, event);
	if (ts < rec->begin || ts > rec->end)
		nest_error(n, "record %u: reserved at %llu, but written from %llu to %llu",
			   nr, ts, rec->begin, rec->end);
	nest_fill(n, ring_buffer_event_data(event), nr, len);
	n->pos = (unsigned long)ring_buffer_event_data(event) +
		 ring_buffer_event_length(event);
	if (n->active && n->shot->place == NEST_RESERVED)
		nest_hit(n);

	if (op == 'd') {
		ring_buffer_discard_commit(n->buffer, event);
	} else {
		rec->committed = true;
		ring_buffer_unlock_commit(n->buffer);
	}
}

static void nest_write_inner(struct nest *n)
{
	const char *ops = n->shot->ops;

	/* More than two pages */
	if (n->shot->variant->state & NEST_STORM)
		ops = "wcwcwcwcwcwc";

	n->level++;
	for (; *ops; ops++)
		nest_write(n, *ops, n->shot->variant->inner);
	n->level--;
}

static void nest_irq_work(struct irq_work *work)
{
	struct nest *n = container_of(work, struct nest, work);

	n->irqs += n->active;
	nest_write_inner(n);
}

/* Called at the place of the interrupt. Interrupts at the right pass. */
static void nest_hit(struct nest *n)
{
	unsigned int level = n->level, hit;
	unsigned long flags;
	int context;

	if (level >= n->shot->chain->depth)
		return;

	hit = ++n->hits[level];
	if (n->shot->hit == NEST_EACH ? hit > NEST_MANY : hit != n->shot->hit)
		return;

	context = n->shot->chain->context[level];
	switch (context) {
	case NEST_HERE:
		nest_write_inner(n);
		break;
	case NEST_IRQ_WORK:
		irq_work_queue(&n->work);
		break;
	default:
		/* All that the ring buffer sees of an interrupt */
		local_irq_save(flags);
		__preempt_count_add(context);
		nest_write_inner(n);
		__preempt_count_sub(context);
		local_irq_restore(flags);
	}
}

/* How many bytes are left on the page of the last record */
static int nest_left(struct nest *n)
{
	return -n->pos & ~PAGE_MASK;
}

/* Leaves this many bytes on a page, and no record that is not committed. */
static bool nest_leave(struct nest *n, int room)
{
	unsigned int state = n->shot->variant->state;
	int stamp = state & (NEST_ABS | NEST_EXTEND) ? NEST_STAMP : 0;
	int need, size, i;

	room = ALIGN(room, RB_ARCH_ALIGNMENT);
	for (i = 0; i < 32; i++) {
		need = nest_left(n) - room;
		if (!need)
			return true;

		size = need - stamp;
		/* One page further; steps; no record takes 120 bytes. */
		if (size < 24 || size > NEST_LARGE + 100)
			size = NEST_LARGE;
		else if (!RB_FORCE_8BYTE_ALIGNMENT && size == 120)
			size = 60;
		size -= RB_EVNT_HDR_SIZE;
		if (size > RB_MAX_SMALL_DATA || RB_FORCE_8BYTE_ALIGNMENT)
			size -= sizeof(u32);
		nest_write(n, 'c', size);
	}

	return nest_error(n, "no page with %d bytes left", room);
}

static void nest_count(struct nest *n, struct nest_counters *counters)
{
	counters->bytes = ring_buffer_bytes_cpu(n->buffer, n->cpu);
	counters->overrun = ring_buffer_overrun_cpu(n->buffer, n->cpu);
	counters->refused =
		ring_buffer_dropped_events_cpu(n->buffer, n->cpu) +
		ring_buffer_commit_overrun_cpu(n->buffer, n->cpu);
}

static void nest_drain(struct nest *n)
{
	while (ring_buffer_consume(n->buffer, n->cpu, NULL, NULL))
		;
}

/* Brings the ring buffer into the state of the variant. */
static bool nest_prepare(struct nest *n)
{
	const struct nest_variant *v = n->shot->variant;
	unsigned long page;
	int crossed, i;

	n->buffer = v->state & NEST_LOCAL ? n->local : n->counting;
	n->step = v->state & NEST_EXTEND ? 1ULL << TS_SHIFT :
					   !(v->state & NEST_STILL);
	/* No time is that of a page of an earlier shot. */
	atomic64_inc(&n->now);
	ring_buffer_change_overwrite(n->buffer, v->state & NEST_OVERWRITE);
	ring_buffer_set_time_stamp_abs(n->buffer, v->state & NEST_ABS);
	n->serial++;
	n->error[0] = '\0';
	memset(n->hits, 0, sizeof(n->hits));

	/* The last read puts the reader on the page of the writer. */
	nest_drain(n);
	atomic_set(&n->nr, 0);
	nest_write(n, 'c', 16);
	nest_drain(n);
	atomic_set(&n->nr, 0);
	n->refused = 0;
	nest_count(n, &n->before);
	nest_write(n, 'c', 16);

	/* The page of the reader, and two more */
	page = n->pos - 1;
	for (crossed = 0, i = 0; v->state & NEST_FULL && crossed < 2; i++) {
		nest_write(n, 'c', NEST_LARGE - 100);
		crossed += !!((page ^ (n->pos - 1)) & PAGE_MASK);
		page = n->pos - 1;
		if (i > 32)
			return nest_error(n, "the ring buffer is not full");
	}

	if (v->state & NEST_FIRST) {
		if (!nest_leave(n, 0))
			return false;
		nest_write(n, 'd', v->outer);
	} else if (v->room >= 0) {
		if (!nest_leave(n, v->room))
			return false;
	} else if (nest_left(n) < 2 * NEST_LARGE) {
		nest_write(n, 'c', NEST_LARGE);
		nest_write(n, 'c', NEST_LARGE);
	}
	if (v->state & NEST_DISCARDED)
		nest_write(n, 'd', 40);

	return !n->error[0] && !n->refused;
}

/* Checks a record that the ring buffer has against what was written. */
static bool nest_check(struct nest *n, struct ring_buffer_event *event, u64 ts)
{
	struct nest_entry *entry = ring_buffer_event_data(event);
	unsigned int nr = entry->id & 0xff, len;
	struct nest_record *rec;

	if (entry->id >> 8 != (n->serial & 0xffffff) ||
	    nr >= atomic_read(&n->nr))
		return nest_error(n, "no record of the test: %#x", entry->id);

	rec = &n->records[nr];
	if (!rec->committed)
		return nest_error(n, "record %u: not committed", nr);
	if (rec->seen == n->pass)
		return nest_error(n, "record %u: there twice", nr);
	rec->seen = n->pass;

	len = ring_buffer_event_length(event);
	if (entry->len != rec->len || len < rec->len || len >= rec->len + 8)
		return nest_error(n, "record %u: %u bytes of %u", nr, len,
				  rec->len);
	if (memchr_inv(entry->bytes, nest_byte(entry->id),
		       rec->len - sizeof(*entry)))
		return nest_error(n, "record %u: overwritten", nr);
	if (ts < rec->begin || ts > rec->end)
		return nest_error(n, "record %u: time %llu, but written from %llu to %llu",
				  nr, ts, rec->begin, rec->end);

	return true;
}

/*
 * Reads all that there is, with the iterator or, if that is NULL, consuming
 * them. A write that began after the end of another one has the later record.
 */
static bool nest_read(struct nest *n, struct ring_buffer_iter *iter)
{
	unsigned int read = 0, missing = 0, nr = atomic_read(&n->nr), i;
	unsigned long lost = 0, now_lost = 0;
	u64 last = 0, begin = 0, first_end = U64_MAX, last_begin = 0;
	struct ring_buffer_event *event;
	struct nest_counters after;
	struct nest_record *rec;
	u64 ts;

	n->pass++;
	for (;;) {
		if (iter)
			event = ring_buffer_iter_peek(iter, &ts);
		else
			event = ring_buffer_consume(n->buffer, n->cpu, &ts,
						    &now_lost);
		if (!event)
			break;
		if (!nest_check(n, event, ts))
			return false;

		rec = &n->records[*(u32 *)ring_buffer_event_data(event) & 0xff];
		if (ts < last)
			return nest_error(n, "record %zu: time goes back from %llu to %llu",
					  rec - n->records, last, ts);
		if (rec->end < begin)
			return nest_error(n, "record %zu: too late",
					  rec - n->records);
		last = ts;
		begin = max(begin, rec->begin);
		lost += now_lost;
		read++;
		if (iter)
			ring_buffer_iter_advance(iter);
	}

	for (i = 0; i < nr; i++) {
		rec = &n->records[i];
		if (!rec->committed || rec->seen == n->pass)
			continue;
		if (!(n->shot->variant->state & NEST_OVERWRITE))
			return nest_error(n, "record %u: missing", i);
		missing++;
		first_end = min(first_end, rec->end);
		last_begin = max(last_begin, rec->begin);
	}

	/* Overwritten records follow each other. */
	for (i = 0; i < nr; i++) {
		rec = &n->records[i];
		if (rec->seen == n->pass && rec->begin > first_end &&
		    rec->end < last_begin)
			return nest_error(n, "record %u: between missing ones",
					  i);
	}

	nest_count(n, &after);
	after.overrun -= n->before.overrun;
	after.refused -= n->before.refused;
	if (missing != after.overrun || (!iter && missing != lost))
		return nest_error(n, "%u of %u records missing, %lu overrun, %lu lost",
				  missing, nr, after.overrun, lost);
	if (n->refused != after.refused)
		return nest_error(n, "%u of %u records refused, counted %lu",
				  n->refused, nr, after.refused);

	nr = ring_buffer_entries_cpu(n->buffer, n->cpu);
	if (nr != (iter ? read : 0))
		return nest_error(n, "%u entries, read %u", nr, read);
	if (!iter && after.bytes != n->before.bytes)
		return nest_error(n, "empty, but %ld bytes more",
				  after.bytes - n->before.bytes);

	return true;
}

/* The next record is there as soon as it is committed. */
static bool nest_read_next(struct nest *n)
{
	unsigned int nr;

	nest_count(n, &n->before);
	n->refused = 0;
	for (nr = atomic_read(&n->nr); nr--;)
		n->records[nr].committed = false;
	nest_write(n, 'c', 16);

	return nest_read(n, NULL);
}

static bool nest_read_all(struct nest *n)
{
	struct ring_buffer_iter *iter;
	bool good;

	iter = ring_buffer_read_start(n->buffer, n->cpu, GFP_KERNEL);
	if (!iter)
		return nest_error(n, "no memory");
	good = nest_read(n, iter);
	ring_buffer_read_finish(iter);
	if (!good || !nest_read(n, NULL))
		return false;

	return nest_read_next(n);
}

/*
 * The reader is on the page of the writer, and has read all of it. This read of
 * a page and those that follow find what the interrupt writes.
 */
static bool nest_shoot_read(struct nest *n)
{
	struct buffer_data_read_page *page = NULL;
	unsigned int first, nr, written = 0;
	unsigned long read;

	nest_drain(n);
	first = atomic_read(&n->nr);
	read = ring_buffer_read_events_cpu(n->buffer, n->cpu);
	if (ring_buffer_alloc_read_page(n->buffer, n->cpu, &page))
		return nest_error(n, "no memory");

	WRITE_ONCE(n->active, true);
	barrier();
	ring_buffer_read_page(n->buffer, page, ring_buffer_read_page_size(page),
			      n->cpu, 0);
	barrier();
	WRITE_ONCE(n->active, false);
	irq_work_sync(&n->work);
	ring_buffer_free_read_page(n->buffer, n->cpu, page);

	nest_drain(n);
	read = ring_buffer_read_events_cpu(n->buffer, n->cpu) - read;
	for (nr = first; nr < atomic_read(&n->nr); nr++)
		written += n->records[nr].committed;
	if (read != written)
		return nest_error(n, "%u records written, %lu read", written,
				  read);

	return !n->error[0] && nest_read_next(n);
}

static bool nest_shoot(struct nest *n, const struct nest_shot *shot)
{
	n->shot = shot;
	if (!nest_prepare(n))
		return nest_error(n, "the ring buffer cannot be prepared");
	if (shot->op == 'p')
		return nest_shoot_read(n);

	WRITE_ONCE(n->active, true);
	barrier();
	nest_write(n, shot->op, shot->variant->outer);
	barrier();
	WRITE_ONCE(n->active, false);
	irq_work_sync(&n->work);

	return !n->error[0] && nest_read_all(n);
}

/* Returns whether there were enough failures to give up. */
static bool nest_fail(struct kunit *test, const char *where)
{
	struct nest *n = test->priv;
	const struct nest_shot *shot = n->shot;

	KUNIT_FAIL(test,
		   "%s, variant \"%s\", hit %u of %u, '%c' interrupted by %s \"%s\": %s",
		   where, shot->variant->name, shot->hit, n->hits[0], shot->op,
		   shot->chain ? shot->chain->name : "nothing", shot->ops,
		   n->error);

	return ++n->failures >= 5;
}

/* The ring buffer is in the states that the variants promise. */
static void nest_states(struct kunit *test)
{
	struct nest *n = test->priv;
	const struct nest_variant *v;
	struct nest_counters after;
	unsigned long page;
	bool cross, full;
	int i;

	for (i = 0; i < ARRAY_SIZE(variants); i++) {
		struct nest_shot shot = { .variant = &variants[i], .op = 'c' };

		v = shot.variant;
		n->shot = &shot;
		KUNIT_ASSERT_TRUE_MSG(test, nest_prepare(n), "%s: %s", v->name,
				      n->error);
		page = n->pos - 1;
		nest_write(n, 'c', v->outer);
		nest_count(n, &after);
		cross = v->state & NEST_CROSS;
		full = v->state & NEST_FULL && !(v->state & NEST_OVERWRITE);

		KUNIT_EXPECT_EQ_MSG(test, ((page ^ (n->pos - 1)) & PAGE_MASK) != 0,
				    cross && !full, "%s", v->name);
		KUNIT_EXPECT_EQ_MSG(test, n->refused, cross && full, "%s",
				    v->name);
		KUNIT_EXPECT_EQ_MSG(test, after.overrun != n->before.overrun,
				    cross && v->state & NEST_FULL && !full,
				    "%s", v->name);
		KUNIT_EXPECT_TRUE_MSG(test, nest_read_all(n), "%s: %s", v->name,
				      n->error);
	}
}

static bool nest_chain_works(const struct nest_chain *chain)
{
	if (IS_ENABLED(CONFIG_ARCH_HAVE_NMI_SAFE_CMPXCHG) &&
	    !IS_ENABLED(CONFIG_GENERIC_ATOMIC64))
		return true;

	return chain->context[chain->depth - 1] != NMI_OFFSET;
}

/*
 * At all places that need no kprobe. Returns how often the innermost context
 * was reached, negative after an error.
 */
static int nest_calls_of(struct nest *n, struct nest_shot *shot)
{
	static const char *const ops[] = { "w", "d", "cdc", "dwd" };
	static const unsigned int hits[] = { 1, 2, NEST_EACH };
	unsigned int op, inner, hit;
	int nr = 0;

	for (op = 0; op < 3; op++) {
		shot->op = "wcd"[op];
		for (inner = 0; inner < ARRAY_SIZE(ops); inner++) {
			shot->ops = ops[inner];
			for (hit = 0; hit < ARRAY_SIZE(hits); hit++) {
				shot->hit = hits[hit];
				if (!nest_shoot(n, shot))
					return -EIO;
				nr += !!n->hits[shot->chain->depth - 1];
			}
		}
	}

	return nr;
}

static void nest_calls(struct kunit *test)
{
	const struct nest_chain *chain = test->param_value;
	struct nest_shot shot = { .chain = chain };
	struct nest *n = test->priv;
	int i, nr, ret;

	if (!nest_chain_works(chain))
		kunit_skip(test, "the ring buffer takes nothing from NMIs");

	for (i = 0; i < ARRAY_SIZE(variants); i++) {
		shot.variant = &variants[i];
		shot.place = NEST_BEFORE_CLOCK;
		/* The default clock has no hook. */
		if (variants[i].state & NEST_LOCAL)
			shot.place = NEST_RESERVED;

		for (nr = 0; shot.place <= NEST_RESERVED; shot.place++) {
			ret = nest_calls_of(n, &shot);
			if (ret < 0) {
				if (nest_fail(test, places[shot.place]))
					return;
				break;
			}
			nr += ret;
		}
		KUNIT_EXPECT_GT_MSG(test, nr, 0, "%s", variants[i].name);
	}
}

static void nest_chain_desc(const struct nest_chain *chain, char *desc)
{
	strscpy(desc, chain->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(nest_chains, chains, nest_chain_desc);

#ifdef CONFIG_KPROBES
/* The functions of writes and reads. The compiler may have inlined some. */
static const struct nest_symbol {
	const char	*name;
	/* How to get there */
	char		op;
	bool		must;
} symbols[] = {
	{ "ring_buffer_lock_reserve",	'c', true },
	{ "ring_buffer_unlock_commit",	'c', true },
	{ "ring_buffer_write",		'w', true },
	{ "ring_buffer_discard_commit",	'd', true },
	{ "ring_buffer_read_page",	'p' },
	{ "__rb_get_reader_page",	'p' },
	{ "__rb_reserve_next",		'c' },
	{ "__rb_reserve_next_event",	'c' },
	{ "__rb_set_commit_to_write",	'c' },
	{ "__rb_wakeups",		'c' },
	{ "rb_add_time_stamp",		'c' },
	{ "rb_add_timestamp",		'c' },
	{ "rb_commit",			'c' },
	{ "rb_decrement_entry",		'd' },
	{ "rb_end_commit",		'c' },
	{ "rb_event_discard",		'd' },
	{ "rb_get_reader_page",		'p' },
	{ "rb_handle_head_page",	'c' },
	{ "rb_head_page_set",		'c' },
	{ "rb_move_tail",		'c' },
	{ "rb_reserve_common",		'c' },
	{ "rb_reserve_next_event",	'c' },
	{ "rb_reset_tail",		'c' },
	{ "rb_set_commit_to_write",	'c' },
	{ "rb_start_commit",		'c' },
	{ "rb_tail_page_update",	'c' },
	{ "rb_time_set",		'c' },
	{ "rb_try_to_discard",		'd' },
	{ "rb_update_event",		'c' },
	{ "rb_wakeups",			'c' },
	{ "trace_recursive_lock",	'c' },
	{ "trace_recursive_unlock",	'c' },
};

static unsigned long addresses[ARRAY_SIZE(symbols)];

static int nest_symbol(void *data, const char *name, unsigned long addr)
{
	int i, len;

	if (!strstarts(name, "ring_buffer_") && !strstarts(name, "trace_rec") &&
	    !strstarts(name, "rb_") && !strstarts(name, "__rb_"))
		return 0;

	/* The compiler may add a suffix. Cold code is not run. */
	for (i = 0; i < ARRAY_SIZE(symbols); i++) {
		len = strlen(symbols[i].name);
		if (strstarts(name, symbols[i].name) &&
		    (!name[len] || name[len] == '.') && !strstr(name, ".cold"))
			addresses[i] = addr;
	}

	return 0;
}

static int nest_suite_init(struct kunit_suite *suite)
{
	return kallsyms_on_each_symbol(nest_symbol, NULL);
}

/* The interrupts at an instruction, and what they write */
static const struct nest_chain probe_chains[] = {
	{ "NMI", { NEST_HERE }, 1 },
	{ "irq", { NEST_IRQ_WORK }, 1 },
	{ "irq, NMI", { NEST_IRQ_WORK, NEST_HERE }, 2 },
};

static const struct {
	const struct nest_chain	*chain;
	const char		*ops;
} probe_modes[] = {
	{ &probe_chains[0], "w" },
	{ &probe_chains[0], "d" },
	{ &probe_chains[0], "cdc" },
	{ &probe_chains[1], "c" },
	{ &probe_chains[2], "wd" },
};

static int nest_pre_handler(struct kprobe *kp, struct pt_regs *regs)
{
	if (READ_ONCE(nest->active) && current == nest->task) {
		nest->no_nmis += !in_nmi();
		nest_hit(nest);
	}

	return 0;
}

/* With this one, no kprobe becomes a jump. */
static void nest_post_handler(struct kprobe *kp, struct pt_regs *regs,
			      unsigned long flags)
{
}

/*
 * All kprobes that a function can have, disabled: one for each instruction. Some
 * architectures have instructions that a kprobe cannot replace.
 */
static unsigned int nest_register(struct kunit *test, unsigned long addr,
				  unsigned long size, struct kprobe *kps,
				  struct kprobe **list)
{
	unsigned int nr = 0;
	unsigned long i;
	int err;

	for (i = 0; i < size; i++) {
		kps[i].addr = (kprobe_opcode_t *)(addr + i);
		kps[i].pre_handler = nest_pre_handler;
		kps[i].post_handler = nest_post_handler;
		kps[i].flags = KPROBE_FLAG_DISABLED;
		err = register_kprobe(&kps[i]);
		if (!err)
			list[nr++] = &kps[i];
		else if (err != -EILSEQ && err != -EINVAL && err != -EOPNOTSUPP)
			KUNIT_FAIL(test, "%pS: no kprobe: %d", (void *)addr + i,
				   err);
	}

	return nr;
}

/* Returns how often a write was interrupted, negative after an error. */
static int nest_shoot_probe(struct nest *n, struct nest_shot *shot)
{
	unsigned int mode, hits;
	int nr = 0;

	for (mode = 0; mode < ARRAY_SIZE(probe_modes); mode++) {
		shot->chain = probe_modes[mode].chain;
		shot->ops = probe_modes[mode].ops;
		shot->hit = 1;
		if (!nest_shoot(n, shot))
			return -EIO;

		/* The other modes do not get there either. */
		hits = n->hits[0];
		if (!hits)
			break;
		nr++;
		if (hits == 1)
			continue;

		shot->hit = 2;
		if (!nest_shoot(n, shot))
			return -EIO;
		shot->hit = NEST_EACH;
		if (!nest_shoot(n, shot))
			return -EIO;
		nr += 2;
	}

	return nr;
}

/* The same for all variants. Negative: there is no need to go on. */
static int nest_probe(struct kunit *test, struct kprobe *kp, char op)
{
	struct nest_shot shot = { .place = NEST_PROBE, .op = op };
	char where[KSYM_SYMBOL_LEN];
	int i, nr = 0, ret;

	ret = enable_kprobe(kp);
	if (ret) {
		KUNIT_FAIL(test, "%pS: kprobe not enabled: %d", kp->addr, ret);
		return ret;
	}

	snprintf(where, sizeof(where), "%pS", kp->addr);
	for (i = 0; i < ARRAY_SIZE(variants); i++) {
		shot.variant = &variants[i];
		/* A storm overwrites records, so there are less to read. */
		if (op == 'p' && shot.variant->state & NEST_STORM)
			continue;
		ret = nest_shoot_probe(test->priv, &shot);
		if (ret < 0) {
			ret = nest_fail(test, where) ? ret : 0;
			break;
		}
		nr += ret;
	}
	disable_kprobe(kp);

	return ret < 0 ? ret : nr;
}

/* At each instruction of a function */
static void nest_instructions(struct kunit *test)
{
	const struct nest_symbol *symbol = test->param_value;
	unsigned long addr = addresses[symbol - symbols];
	unsigned int nr, hit = 0, i;
	struct nest *n = test->priv;
	struct kprobe *kps, **list;
	unsigned long size, offset;
	int shots = 0, ret = 0;

	if (!addr && !symbol->must)
		kunit_skip(test, "no such function here");
	KUNIT_ASSERT_NE(test, addr, 0);
	KUNIT_ASSERT_TRUE(test, kallsyms_lookup_size_offset(addr, &size,
							    &offset));

	kps = kunit_kcalloc(test, size, sizeof(*kps), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, kps);
	list = kunit_kcalloc(test, size, sizeof(*list), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, list);
	nr = nest_register(test, addr, size, kps, list);
	for (i = 0; i < nr && ret >= 0; i++) {
		ret = nest_probe(test, list[i], symbol->op);
		hit += ret > 0;
		shots += max(ret, 0);
	}
	unregister_kprobes(list, nr);

	kunit_info(test, "%u of %u instructions of %lu bytes: %d writes, %lu during an interrupt that came at once\n",
		   hit, nr, size, shots, n->irqs);
	KUNIT_EXPECT_GT(test, nr, size / 16);
	if (ret < 0 || !symbol->must)
		return;

	KUNIT_EXPECT_GT(test, hit, nr / 4);
	if (IS_ENABLED(CONFIG_X86)) {
		KUNIT_EXPECT_EQ(test, n->no_nmis, 0);
		if (arch_irq_work_has_interrupt())
			KUNIT_EXPECT_GT(test, n->irqs, hit);
	}
}
#else
static const struct nest_symbol {
	const char	*name;
} symbols[] = { { "none" } };

static int nest_suite_init(struct kunit_suite *suite)
{
	return 0;
}

static void nest_instructions(struct kunit *test)
{
	kunit_skip(test, "needs CONFIG_KPROBES");
}
#endif /* CONFIG_KPROBES */

static void nest_symbol_desc(const struct nest_symbol *symbol, char *desc)
{
	strscpy(desc, symbol->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(nest_symbols, symbols, nest_symbol_desc);

KUNIT_DEFINE_ACTION_WRAPPER(nest_free, ring_buffer_free, struct trace_buffer *);

static struct trace_buffer *nest_alloc(struct kunit *test)
{
	struct trace_buffer *buffer = ring_buffer_alloc(1, RB_FL_OVERWRITE);

	KUNIT_ASSERT_NOT_NULL(test, buffer);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, nest_free,
							buffer), 0);

	return buffer;
}

static int nest_init(struct kunit *test)
{
	struct nest *n = kunit_kzalloc(test, sizeof(*n), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, n);
	test->priv = n;
	nest = n;
	n->work = IRQ_WORK_INIT_HARD(nest_irq_work);
	n->counting = nest_alloc(test);
	n->local = nest_alloc(test);
	ring_buffer_set_clock(n->counting, nest_clock);
	ring_buffer_set_clock(n->local, trace_clock_local);

	/* This task runs one test, and ends with it. */
	n->task = current;
	n->cpu = raw_smp_processor_id();

	return set_cpus_allowed_ptr(current, cpumask_of(n->cpu));
}

/* ring_buffer_nest_end() has to find the count of ring_buffer_nest_start(). */
static void nest_not_swapped(struct kunit *test)
{
	struct nest *n = test->priv;
	int ret[2];

	if (!IS_ENABLED(CONFIG_RING_BUFFER_ALLOW_SWAP))
		kunit_skip(test, "needs CONFIG_RING_BUFFER_ALLOW_SWAP");

	/* This disables preemption. */
	ring_buffer_nest_start(n->local);
	ret[0] = ring_buffer_swap_cpu(n->local, n->counting, n->cpu);
	ret[1] = ring_buffer_swap_cpu(n->counting, n->local, n->cpu);
	ring_buffer_nest_end(n->local);
	KUNIT_EXPECT_EQ(test, ret[0], -EBUSY);
	KUNIT_EXPECT_EQ(test, ret[1], -EBUSY);

	KUNIT_EXPECT_EQ(test, ring_buffer_swap_cpu(n->local, n->counting,
						   n->cpu), 0);
}

static void nest_remote_record(struct buffer_data_page *page)
{
	struct ring_buffer_event *event = (void *)page->data;

	event->type_len = 1;
	local_set(&page->commit, RB_EVNT_MIN_SIZE);
}

/* The memory of a ring buffer that another party writes */
struct nest_remote {
	struct ring_buffer_remote	cb;
	struct trace_buffer_meta	meta;
};

static int nest_swap_remote(unsigned int cpu, void *priv)
{
	struct trace_buffer_meta *meta = priv;

	meta->reader.id = 1;
	meta->reader.lost_events = meta->overrun;

	return 0;
}

static struct trace_buffer *nest_alloc_remote(struct kunit *test)
{
	unsigned int nr = __calc_nr_pages_ring_buffer_desc(1);
	size_t size = trace_buffer_desc_size(1, nr_cpu_ids);
	struct trace_buffer_desc *desc;
	struct ring_buffer_desc *rb;
	struct nest_remote *remote;
	struct trace_buffer *buffer;
	unsigned int i;
	void *pages;
	int cpu;

	remote = kunit_kzalloc(test, sizeof(*remote), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, remote);
	desc = kunit_kzalloc(test, size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, desc);
	pages = kunit_kzalloc(test, nr * PAGE_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, pages);

	/* The same memory for all CPUs, as one of them is read. */
	desc->nr_cpus = nr_cpu_ids;
	desc->struct_len = size;
	for_each_ring_buffer_desc(rb, cpu, desc) {
		rb->cpu = cpu;
		rb->nr_page_va = nr;
		rb->meta_va = (unsigned long)&remote->meta;
		for (i = 0; i < nr; i++)
			rb->page_va[i] = (unsigned long)pages + i * PAGE_SIZE;
	}

	remote->cb.desc = desc;
	remote->cb.swap_reader_page = nest_swap_remote;
	remote->cb.priv = &remote->meta;
	buffer = ring_buffer_alloc_remote(&remote->cb);
	KUNIT_ASSERT_NOT_NULL(test, buffer);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, nest_free,
							buffer), 0);

	/* A record on the page that the reader gets, and many lost ones */
	nest_remote_record(pages + PAGE_SIZE);
	remote->meta.overrun = (u64)INT_MAX + 1;
	remote->meta.entries = remote->meta.overrun + 1;

	return buffer;
}

/* Where a long is as large as an int, the number fits into both. */
static void nest_many_are_lost(struct kunit *test)
{
	struct trace_buffer *buffer = nest_alloc_remote(test);
	struct nest *n = test->priv;
	unsigned long lost = 0;

	KUNIT_ASSERT_NOT_NULL(test, ring_buffer_consume(buffer, n->cpu, NULL,
							&lost));
	KUNIT_EXPECT_EQ(test, lost, (unsigned long)INT_MAX + 1);
}

static struct kunit_case nest_cases[] = {
	KUNIT_CASE(nest_states),
	KUNIT_CASE(nest_many_are_lost),
	KUNIT_CASE(nest_not_swapped),
	KUNIT_CASE_PARAM_ATTR(nest_calls, nest_chains_gen_params,
			      { .speed = KUNIT_SPEED_SLOW }),
	KUNIT_CASE_PARAM_ATTR(nest_instructions, nest_symbols_gen_params,
			      { .speed = KUNIT_SPEED_SLOW }),
	{}
};

static struct kunit_suite nest_suite = {
	.name		= "trace_nest",
	.suite_init	= nest_suite_init,
	.init		= nest_init,
	.test_cases	= nest_cases,
};

kunit_test_suite(nest_suite);

MODULE_DESCRIPTION("KUnit tests for interrupted writes to the ring buffer");
MODULE_LICENSE("GPL");
