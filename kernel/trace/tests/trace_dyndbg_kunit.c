// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for debug messages in a trace: a case sets the flags of a site
 * of its own, runs it, and looks at an instance and at the log of the kernel.
 */

#include <kunit/device.h>
#include <kunit/test.h>
#include <linux/device.h>
#include <linux/dynamic_debug.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kmsg_dump.h>
#include <linux/netdevice.h>
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/ratelimit.h>
#include <linux/ring_buffer.h>
#include <linux/string.h>
#include <linux/trace_recursion.h>

#include <trace/events/dyndbg.h>

#include "trace_kunit.h"

#define INSTANCE	"trace_dyndbg_kunit"

struct dyndbg_env {
	struct trace_kunit	kunit;
	struct kmsg_dump_iter	log;
	char			line[512];
	unsigned int		evaluated;
	unsigned int		line_of_site;
	bool			wrong_size;
};

/* The site of most cases */
static noinline void site_of_pr(struct dyndbg_env *env, const char *text)
{
	env->line_of_site = __LINE__ + 1;
	dynamic_pr_debug("pr %u %s", ++env->evaluated, text);
}

static noinline void site_of_dev(const struct device *dev)
{
	dynamic_dev_dbg(dev, "dev %d\n", 7);
}

#ifdef CONFIG_NET
static noinline void site_of_netdev(const struct net_device *dev)
{
	dynamic_netdev_dbg(dev, "net %d\n", 7);
}
#endif

static noinline void site_of_dump(void)
{
	static const u8 data[] = { 0xab, 0xcd };

	dynamic_hex_dump("dyndbg dump ", DUMP_PREFIX_NONE, 16, 1, data,
			 sizeof(data), false);
}

/* More often than a limit lets through */
#define NR_LIMITED	(2 * DEFAULT_RATELIMIT_BURST)

static noinline void site_of_limit(void)
{
	for (int i = 0; i < NR_LIMITED; i++)
		pr_debug_ratelimited("limited\n");
}

/* A limit that lets nothing through, and does not know of time */
static bool never(bool *asked)
{
	*asked = true;

	return false;
}

/* Is the limit asked? */
static noinline bool site_of_question(void)
{
	DEFINE_DYNAMIC_DEBUG_METADATA(descriptor, "question");
	bool asked = false;

	if (DYNAMIC_DEBUG_WANTED_RATELIMITED(descriptor, never(&asked)))
		__dynamic_pr_debug(&descriptor, "question\n");

	return asked;
}

/* Has a function of its own that prints. */
static noinline bool site_of_own(void)
{
	DEFINE_DYNAMIC_DEBUG_METADATA(descriptor, "own");

	return DYNAMIC_DEBUG_BRANCH(descriptor);
}

static void set_flags(struct kunit *test, const char *query)
{
	char buf[64], param[] = "dyndbg";

	strscpy(buf, query);
	KUNIT_ASSERT_EQ(test, ddebug_dyndbg_module_param_cb(param, buf,
							    KBUILD_MODNAME),
			0);
}

/* The lines that the log got since the last call, and that have @text */
static unsigned int logged(struct kunit *test, const char *text)
{
	struct dyndbg_env *env = test->priv;
	unsigned int nr = 0;
	size_t len;

	while (kmsg_dump_get_line(&env->log, false, env->line,
				  sizeof(env->line) - 1, &len)) {
		env->line[len] = '\0';
		nr += !!strstr(env->line, text);
	}

	return nr;
}

/* What the trace of the instance has of the event: the last record's text */
static const char *recorded(struct kunit *test, unsigned int *nr)
{
	struct dyndbg_env *env = test->priv;
	const char *text = NULL, *next;
	struct file *file;
	ssize_t ret;

	file = trace_kunit_open(test, INSTANCE, "trace", O_RDONLY);
	KUNIT_ASSERT_EQ(test, PTR_ERR_OR_ZERO(file), 0);
	/* The first read gives the header, the next ones the records. */
	*nr = 0;
	while ((ret = trace_kunit_read(test, file)) > 0) {
		next = env->kunit.text;
		while ((next = strstr(next, "dyndbg_message: "))) {
			next += strlen("dyndbg_message: ");
			text = next;
			++*nr;
		}
		if (text)
			break;
	}
	__fput_sync(file);
	KUNIT_ASSERT_GE(test, ret, 0);

	return text ?: "";
}

static void expect(struct kunit *test, unsigned int nr_records,
		   unsigned int nr_lines, const char *text)
{
	unsigned int nr;

	recorded(test, &nr);
	KUNIT_EXPECT_EQ(test, nr, nr_records);
	KUNIT_EXPECT_EQ(test, logged(test, text), nr_lines);
	KUNIT_ASSERT_EQ(test, trace_kunit_write(test, "trace", "\n"), 0);
}

/* Each flag has its effect, and no other. */
static void each_flag(struct kunit *test)
{
	struct dyndbg_env *env = test->priv;

	site_of_pr(env, "off\n");
	expect(test, 0, 0, "off");
	KUNIT_EXPECT_EQ(test, env->evaluated, 0);

	set_flags(test, "func site_of_pr +p");
	site_of_pr(env, "printed\n");
	expect(test, 0, 1, "printed");

	set_flags(test, "func site_of_pr +T");
	site_of_pr(env, "both\n");
	expect(test, 1, 1, "both");

	set_flags(test, "func site_of_pr -p");
	site_of_pr(env, "recorded\n");
	expect(test, 1, 0, "recorded");
	KUNIT_EXPECT_EQ(test, env->evaluated, 3);

	set_flags(test, "func site_of_pr -T");
	site_of_pr(env, "off again\n");
	expect(test, 0, 0, "off again");
	KUNIT_EXPECT_EQ(test, env->evaluated, 3);

	set_flags(test, "func site_of_pr +p");
	site_of_pr(env, "printed again\n");
	expect(test, 0, 1, "printed again");
}

/* Nothing is printed instead when nobody has the event on. */
static void event_is_off(struct kunit *test)
{
	struct dyndbg_env *env = test->priv;

	trace_array_set_clr_event(env->kunit.tr, "dyndbg", NULL, false);
	set_flags(test, "func site_of_pr +T");
	site_of_pr(env, "lost\n");
	expect(test, 0, 0, "lost");
	KUNIT_EXPECT_EQ(test, env->evaluated, 1);
}

static void text_of_record(struct kunit *test)
{
	struct dyndbg_env *env = test->priv;
	unsigned int nr;
	char want[96];

	/* The prefix is for what is printed. */
	set_flags(test, "func site_of_pr +Ttmfsl");
	site_of_pr(env, "a % b\n");
	snprintf(want, sizeof(want), "%s:site_of_pr:%u pr 1 a %% b\n",
		 KBUILD_MODNAME, env->line_of_site);
	KUNIT_EXPECT_STREQ(test, recorded(test, &nr), want);
	KUNIT_EXPECT_EQ(test, logged(test, "site_of_pr"), 0);
}

/* A message may have no newline at its end, or several: one goes. */
static void newlines(struct kunit *test)
{
	struct dyndbg_env *env = test->priv;
	unsigned int nr;

	set_flags(test, "func site_of_pr +T");
	site_of_pr(env, "plain");
	KUNIT_EXPECT_NOT_NULL(test, strstr(recorded(test, &nr), " pr 1 plain\n"));

	KUNIT_ASSERT_EQ(test, trace_kunit_write(test, "trace", "\n"), 0);
	site_of_pr(env, "\n\n");
	KUNIT_EXPECT_NOT_NULL(test, strstr(recorded(test, &nr), "\n\n"));
}

static void long_message(struct kunit *test)
{
	struct dyndbg_env *env = test->priv;
	const char *text, *end;
	unsigned int nr;
	char *x;

	x = kunit_kzalloc(test, 2000, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, x);
	memset(x, 'x', 1999);

	set_flags(test, "func site_of_pr +T");
	site_of_pr(env, x);
	text = strstr(recorded(test, &nr), " pr 1 ");
	KUNIT_ASSERT_NOT_NULL(test, text);
	end = strchr(++text, '\n');
	KUNIT_ASSERT_NOT_NULL(test, end);
	KUNIT_EXPECT_EQ(test, end - text, 1023);
}

static void devices(struct kunit *test)
{
	struct device *dev = kunit_device_register(test, "dyndbg0");
	unsigned int nr;
	char want[64];

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, dev);
	snprintf(want, sizeof(want), " %s: dev 7\n", dev_name(dev));
	set_flags(test, "func site_of_dev +T");
	site_of_dev(dev);
	KUNIT_EXPECT_NOT_NULL(test, strstr(recorded(test, &nr), want));

	KUNIT_ASSERT_EQ(test, trace_kunit_write(test, "trace", "\n"), 0);
	site_of_dev(NULL);
	KUNIT_EXPECT_NOT_NULL(test, strstr(recorded(test, &nr),
					   " (NULL device *): dev 7\n"));
	KUNIT_EXPECT_EQ(test, logged(test, "dev 7"), 0);
}

#ifdef CONFIG_NET
static void net_devices(struct kunit *test)
{
	struct net_device *dev = kunit_kzalloc(test, sizeof(*dev), GFP_KERNEL);
	unsigned int nr;

	KUNIT_ASSERT_NOT_NULL(test, dev);
	/* Nothing else of it is recorded. */
	strscpy(dev->name, "d");
	set_flags(test, "func site_of_netdev +T");
	site_of_netdev(dev);
	KUNIT_EXPECT_NOT_NULL(test, strstr(recorded(test, &nr),
					   " d: net 7\n"));

	KUNIT_ASSERT_EQ(test, trace_kunit_write(test, "trace", "\n"), 0);
	site_of_netdev(NULL);
	KUNIT_EXPECT_NOT_NULL(test, strstr(recorded(test, &nr),
					   " (NULL net_device): net 7\n"));
	expect(test, 1, 0, "net 7");

	set_flags(test, "func site_of_netdev =p");
	site_of_netdev(NULL);
	expect(test, 0, 1, "net 7");
}
#endif

/* A dump of memory can't be recorded, and is not printed instead. */
static void dump_ignores_flag(struct kunit *test)
{
	set_flags(test, "func site_of_dump +T");
	site_of_dump();
	expect(test, 0, 0, "dyndbg dump ab cd");

	set_flags(test, "func site_of_dump +p");
	site_of_dump();
	expect(test, 0, 1, "dyndbg dump ab cd");
}

static void own_function_ignores_flag(struct kunit *test)
{
	set_flags(test, "func site_of_own +T");
	KUNIT_EXPECT_FALSE(test, site_of_own());

	set_flags(test, "func site_of_own +p");
	KUNIT_EXPECT_TRUE(test, site_of_own());

	set_flags(test, "func site_of_own -T");
	KUNIT_EXPECT_TRUE(test, site_of_own());
}

/* The limit is for the log, and tells there that it has been reached. */
static void limit_of_printing(struct kunit *test)
{
	set_flags(test, "func site_of_limit +T");
	site_of_limit();
	expect(test, NR_LIMITED, 0, "limited");

	KUNIT_EXPECT_FALSE(test, site_of_question());
	set_flags(test, "func site_of_question +T");
	KUNIT_EXPECT_FALSE(test, site_of_question());
	expect(test, 1, 0, "question");
	set_flags(test, "func site_of_question +p");
	KUNIT_EXPECT_TRUE(test, site_of_question());
	expect(test, 0, 0, "question");
}

/* Runs before a message is recorded, and has two of its own. */
static void probe_with_messages(void *data, const struct _ddebug *site,
				const char *device, struct va_format *vaf,
				unsigned int size)
{
	struct kunit *test = data;
	struct dyndbg_env *env = test->priv;
	char text[32];

	if (size != snprintf(text, sizeof(text), "%pV", vaf) + 1)
		env->wrong_size = true;
	if (!strstr(text, "outer"))
		return;

	site_of_pr(env, "nested\n");
	/* As in an interrupt, whose functions the graph tracer leaves out */
	guard(irqsave)();
	preempt_count_add(HARDIRQ_OFFSET);
	trace_recursion_set(TRACE_IRQ_BIT);
	site_of_pr(env, "interrupt\n");
	trace_recursion_clear(TRACE_IRQ_BIT);
	preempt_count_sub(HARDIRQ_OFFSET);
}

/*
 * A message of the code that records one is left out, or there would be no end.
 * One of an interrupt is not.
 */
static void nested_messages(struct kunit *test)
{
	struct dyndbg_env *env = test->priv;
	unsigned int nr;
	char *next;

	set_flags(test, "func site_of_pr +T");
	KUNIT_ASSERT_EQ(test, register_trace_prio_dyndbg_message(probe_with_messages,
								 test, 100), 0);
	site_of_pr(env, "outer\n");
	site_of_pr(env, "alone\n");
	unregister_trace_dyndbg_message(probe_with_messages, test);
	tracepoint_synchronize_unregister();

	KUNIT_EXPECT_FALSE(test, env->wrong_size);
	recorded(test, &nr);
	KUNIT_EXPECT_EQ(test, nr, 3);
	next = strstr(env->kunit.text, " pr 3 interrupt\n");
	KUNIT_ASSERT_NOT_NULL(test, next);
	next = strstr(next, " pr 1 outer\n");
	KUNIT_ASSERT_NOT_NULL(test, next);
	KUNIT_EXPECT_NOT_NULL(test, strstr(next, " pr 4 alone\n"));
}

/* The preempt count of the only record, as the trace shows it */
static unsigned int preempt_count_of_record(struct kunit *test)
{
	struct dyndbg_env *env = test->priv;
	struct ring_buffer_event *event;
	struct trace_buffer *buffer;
	struct trace_entry *entry;
	unsigned int count = 0;
	int cpu, nr = 0;

	buffer = env->kunit.tr->array_buffer.buffer;
	for_each_online_cpu(cpu) {
		while ((event = ring_buffer_consume(buffer, cpu, NULL, NULL))) {
			entry = ring_buffer_event_data(event);
			/* Above that is how often migration is disabled. */
			count = entry->preempt_count & 0xf;
			nr++;
		}
	}
	KUNIT_EXPECT_EQ(test, nr, 1);

	return count;
}

/* A record tells whether the site may be preempted. */
static void preempt_count_of_site(struct kunit *test)
{
	struct dyndbg_env *env = test->priv;
	unsigned int self = 0;

	if (!IS_ENABLED(CONFIG_PREEMPT_COUNT))
		kunit_skip(test, "the kernel has no preempt count");

	/* Events do not subtract what they add without CONFIG_PREEMPTION. */
	if (!IS_ENABLED(CONFIG_PREEMPTION))
		self = 1;

	set_flags(test, "func site_of_pr +T");
	site_of_pr(env, "preemptible\n");
	KUNIT_EXPECT_EQ(test, preempt_count_of_record(test), self);

	scoped_guard(preempt)
		site_of_pr(env, "not preemptible\n");
	KUNIT_EXPECT_EQ(test, preempt_count_of_record(test), self + 1);
}

/* The line above a stack in the log */
static const char *stack_title(void)
{
	if (IS_ENABLED(CONFIG_ARM) || IS_ENABLED(CONFIG_ARM64) ||
	    IS_ENABLED(CONFIG_OPENRISC) || IS_ENABLED(CONFIG_SUPERH))
		return "Call trace:";

	return "Call Trace:";
}

/* The flag d prints, so it needs p. */
static void stack_is_not_printed(struct kunit *test)
{
	struct dyndbg_env *env = test->priv;
	int level = default_message_loglevel;

	set_flags(test, "func site_of_pr +Td");
	site_of_pr(env, "no stack\n");
	expect(test, 1, 0, stack_title());

	set_flags(test, "func site_of_pr +p");
	/* On a console, the stack looks like that of an oops. */
	default_message_loglevel = LOGLEVEL_DEBUG;
	site_of_pr(env, "a stack\n");
	default_message_loglevel = level;
	expect(test, 1, 1, stack_title());
}

static int dyndbg_kunit_init(struct kunit *test)
{
	struct dyndbg_env *env = kunit_kzalloc(test, sizeof(*env), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, env);
	trace_kunit_init(test, &env->kunit, INSTANCE);
	KUNIT_ASSERT_EQ(test, trace_array_set_clr_event(env->kunit.tr, "dyndbg",
							NULL, true), 0);
	kmsg_dump_rewind(&env->log);
	logged(test, "");

	return 0;
}

static void dyndbg_kunit_exit(struct kunit *test)
{
	set_flags(test, "=_");
}

static struct kunit_case dyndbg_kunit_cases[] = {
	KUNIT_CASE(each_flag),
	KUNIT_CASE(event_is_off),
	KUNIT_CASE(text_of_record),
	KUNIT_CASE(newlines),
	KUNIT_CASE(long_message),
	KUNIT_CASE(devices),
#ifdef CONFIG_NET
	KUNIT_CASE(net_devices),
#endif
	KUNIT_CASE(dump_ignores_flag),
	KUNIT_CASE(own_function_ignores_flag),
	KUNIT_CASE(limit_of_printing),
	KUNIT_CASE(nested_messages),
	KUNIT_CASE(preempt_count_of_site),
	KUNIT_CASE(stack_is_not_printed),
	{}
};

static struct kunit_suite dyndbg_kunit_suite = {
	.name		= "trace_dyndbg",
	.init		= dyndbg_kunit_init,
	.exit		= dyndbg_kunit_exit,
	.test_cases	= dyndbg_kunit_cases,
};

kunit_test_suite(dyndbg_kunit_suite);
