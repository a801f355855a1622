// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for the events of an instance with the option event-follow: those
 * of followed tasks are recorded, on the short path and beside pid lists,
 * filters and triggers.
 */

#include <kunit/test.h>
#include <linux/cleanup.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/ring_buffer.h>
#include <linux/trace_events.h>
#include <linux/trace_follow.h>

#include "../trace.h"
#include "trace_kunit.h"

#define EVENTS		"kunit_follow_events"
#define EVENT_FILES	"events/sched/sched_process_wait/"

/* The fields of the event, which are all zero here */
#define EVENT_SIZE	(sizeof(struct trace_entry) + 16)

struct events_env {
	struct trace_kunit	kunit;
	struct trace_event_file	*file;
};

/* Does an event of current get into the buffer? */
static bool recorded(struct events_env *env)
{
	struct trace_buffer *buffer = env->kunit.tr->array_buffer.buffer;
	unsigned long before = ring_buffer_entries(buffer);
	struct trace_event_file *file = env->file;
	struct trace_event_buffer fbuffer;
	struct trace_entry *entry;

	guard(preempt_notrace)();

	if (trace_trigger_soft_disabled(file))
		return false;
	entry = trace_event_buffer_reserve(&fbuffer, file, EVENT_SIZE);
	if (!entry)
		return false;
	memset(entry + 1, 0, EVENT_SIZE - sizeof(*entry));
	trace_event_buffer_commit(&fbuffer);

	return ring_buffer_entries(buffer) > before;
}

static void event_follow(struct kunit *test, bool on)
{
	struct events_env *env = test->priv;

	guard(mutex)(&event_mutex);

	KUNIT_EXPECT_EQ(test, set_tracer_flag(env->kunit.tr,
					      TRACE_ITER(EVENT_FOLLOW), on), 0);
}

static int follow_current(struct trace_follow *follow)
{
	struct pid *pid = task_pid(current);

	return trace_follow_pids(follow, &pid, 1, true);
}

/* Somebody else is chosen. */
static void follow_others(struct kunit *test)
{
	char comms[1][TASK_COMM_LEN] = { "nobody-has-this" };
	struct events_env *env = test->priv;
	struct trace_follow *follow = &env->kunit.tr->follow;

	KUNIT_ASSERT_EQ(test, trace_follow_comms(follow, comms, 1, true), 0);
	KUNIT_ASSERT_EQ(test, trace_follow_pids(follow, NULL, 0, true), 0);
}

static void set_event_pid(struct kunit *test, pid_t pid)
{
	char text[16];

	snprintf(text, sizeof(text), "%d\n", pid);
	KUNIT_ASSERT_EQ(test, trace_kunit_write(test, "set_event_pid", text),
			0);
}

static void events_plain(struct kunit *test)
{
	struct events_env *env = test->priv;

	KUNIT_EXPECT_TRUE(test, recorded(env));
	follow_others(test);
	KUNIT_EXPECT_TRUE(test, recorded(env));
	event_follow(test, true);
	KUNIT_EXPECT_FALSE(test, recorded(env));
	KUNIT_ASSERT_EQ(test, follow_current(&env->kunit.tr->follow), 0);
	KUNIT_EXPECT_TRUE(test, recorded(env));
	trace_follow_clear(&env->kunit.tr->follow);
	KUNIT_EXPECT_TRUE(test, recorded(env));
	follow_others(test);
	KUNIT_EXPECT_FALSE(test, recorded(env));
	event_follow(test, false);
	KUNIT_EXPECT_TRUE(test, recorded(env));
}

static void events_with_pids(struct kunit *test)
{
	struct events_env *env = test->priv;

	set_event_pid(test, current->pid);
	KUNIT_EXPECT_TRUE(test, recorded(env));
	follow_others(test);
	event_follow(test, true);
	KUNIT_EXPECT_FALSE(test, recorded(env));
	KUNIT_ASSERT_EQ(test, follow_current(&env->kunit.tr->follow), 0);
	KUNIT_EXPECT_TRUE(test, recorded(env));

	set_event_pid(test, 1);
	KUNIT_EXPECT_FALSE(test, recorded(env));
	event_follow(test, false);
	KUNIT_EXPECT_FALSE(test, recorded(env));
	KUNIT_ASSERT_EQ(test, trace_kunit_write(test, "set_event_pid", ""), 0);
	KUNIT_EXPECT_TRUE(test, recorded(env));
}

static void events_with_filter(struct kunit *test)
{
	struct events_env *env = test->priv;

	event_follow(test, true);
	follow_others(test);
	KUNIT_ASSERT_EQ(test, trace_kunit_write(test, EVENT_FILES "filter",
						"prio == 0"), 0);
	KUNIT_EXPECT_FALSE(test, recorded(env));
	KUNIT_ASSERT_EQ(test, follow_current(&env->kunit.tr->follow), 0);
	KUNIT_EXPECT_TRUE(test, recorded(env));
	KUNIT_ASSERT_EQ(test, trace_kunit_write(test, EVENT_FILES "filter",
						"prio == 1"), 0);
	KUNIT_EXPECT_FALSE(test, recorded(env));
}

/* The event is not enabled, so all that it does is to fire its trigger. */
static void events_with_trigger(struct kunit *test)
{
	static const char * const triggers[] = {
		"traceoff", "traceoff if prio == 0",
	};
	struct events_env *env = test->priv;
	struct trace_array *tr = env->kunit.tr;
	char off[32];
	int i;

	event_follow(test, true);
	for (i = 0; i < ARRAY_SIZE(triggers); i++) {
		follow_others(test);
		KUNIT_ASSERT_EQ(test, trace_kunit_write(test,
							EVENT_FILES "trigger",
							triggers[i]), 0);
		KUNIT_EXPECT_FALSE(test, recorded(env));
		KUNIT_EXPECT_TRUE(test, tracer_tracing_is_on(tr));
		KUNIT_ASSERT_EQ(test, follow_current(&tr->follow), 0);
		KUNIT_EXPECT_FALSE(test, recorded(env));
		KUNIT_EXPECT_FALSE(test, tracer_tracing_is_on(tr));
		tracer_tracing_on(tr);
		snprintf(off, sizeof(off), "!%s", triggers[i]);
		KUNIT_ASSERT_EQ(test, trace_kunit_write(test,
							EVENT_FILES "trigger",
							off), 0);
	}
}

/* A choice keeps no reference to what it was given. */
static void choice_by_pid(struct kunit *test)
{
	struct events_env *env = test->priv;
	struct trace_follow *follow = &env->kunit.tr->follow;
	struct pid *pid = task_pid(current);
	unsigned int refs = refcount_read(&pid->count);
	char text[32];

	/* There can be no task with the second number. */
	snprintf(text, sizeof(text), "%d 1073741823\n", current->pid);
	KUNIT_EXPECT_EQ(test, trace_kunit_write(test, "set_follow_pid", text),
			-ESRCH);
	KUNIT_EXPECT_EQ(test, follow->mask, 0);
	KUNIT_EXPECT_EQ(test, refcount_read(&pid->count), refs);

	snprintf(text, sizeof(text), "%d\n", current->pid);
	KUNIT_EXPECT_EQ(test, trace_kunit_write(test, "set_follow_pid", text),
			0);
	KUNIT_EXPECT_NE(test, follow->mask, 0);
	KUNIT_EXPECT_TRUE(test, trace_follow_has(follow, current));
	KUNIT_EXPECT_EQ(test, refcount_read(&pid->count), refs);
}

static int choose_command(struct kunit *test)
{
	return trace_kunit_write(test, "set_follow_comm", "nobody-has-this\n");
}

/* Without memory nobody is chosen, and the next one to choose can do so. */
static void check_command(struct kunit *test, int ret)
{
	struct events_env *env = test->priv;
	struct trace_follow *follow = &env->kunit.tr->follow;

	KUNIT_EXPECT_EQ(test, ret, follow->mask ? 0 : -ENOMEM);
	trace_follow_clear(follow);
	KUNIT_EXPECT_EQ(test, follow->mask, 0);
}

static void choice_without_memory(struct kunit *test)
{
	trace_kunit_without_memory(test, choose_command, check_command);
}

static void put_event_file(void *file)
{
	trace_put_event_file(file);
}

static int events_init(struct kunit *test)
{
	struct events_env *env = kunit_kzalloc(test, sizeof(*env), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, env);
	trace_kunit_init(test, &env->kunit, EVENTS);
	env->file = trace_get_event_file(EVENTS, "sched", "sched_process_wait");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, env->file);

	return kunit_add_action_or_reset(test, put_event_file, env->file);
}

static struct kunit_case events_cases[] = {
	KUNIT_CASE(events_plain),
	KUNIT_CASE(events_with_pids),
	KUNIT_CASE(events_with_filter),
	KUNIT_CASE(events_with_trigger),
	KUNIT_CASE(choice_by_pid),
	KUNIT_CASE(choice_without_memory),
	{}
};

static struct kunit_suite events_suite = {
	.name		= "trace_follow_events",
	.init		= events_init,
	.test_cases	= events_cases,
};

kunit_test_suite(events_suite);

MODULE_DESCRIPTION("KUnit tests for the events of followed tasks");
MODULE_LICENSE("GPL");
