// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for the events of system calls: which memory of user space they
 * record, how trace_user_fault_read() gets it, and how records are printed
 * that do not fit their event.
 */

#include <kunit/test.h>
#include <linux/sched.h>
#include <linux/syscalls.h>
#include <linux/trace_seq.h>
#include <linux/uaccess.h>
#include <trace/syscall.h>

#include "../trace.h"
#include "../trace_output.h"

/*
 * Each argument of the type "const char *" is a string that the system call
 * reads, and each string that it reads has this type. These are the exceptions.
 */
static const struct {
	const char	*name;
	unsigned long	mask;
	/* The argument with the length, 0 for strings */
	int		size;
} exceptions[] = {
	/* Strings, but the prototype lacks the const */
	{ "sys_mount",			BIT(0) | BIT(1) | BIT(2) },
	{ "sys_oldumount",		BIT(0) },
	{ "sys_umount",			BIT(0) },
	{ "sys_utime",			BIT(0) },
	{ "sys_utimes",			BIT(0) },
	/* The same, with a length instead of a nul at the end */
	{ "sys_setdomainname",		BIT(0), 1 },
	{ "sys_sethostname",		BIT(0), 1 },
	/* A string with its length, which includes the nul */
	{ "sys_kexec_file_load",	BIT(3), 2 },
#if !defined(CONFIG_64BIT) && !defined(CONFIG_ARCH_SPLIT_ARG64)
	/* The mask takes two arguments, so that the event lacks the string. */
	{ "sys_fanotify_mark",		0 },
#endif
	/* Data */
	{ "sys_ia32_pwrite64",		BIT(1), 2 },
	{ "sys_mq_timedsend",		BIT(1), 2 },
	{ "sys_mq_timedsend_time32",	BIT(1), 2 },
	{ "sys_ppc_pwrite64",		BIT(1), 2 },
	{ "sys_pwrite64",		BIT(1), 2 },
	{ "sys_write",			BIT(1), 2 },
};

static struct syscall_metadata *meta_of(struct trace_event_call *call)
{
	if (call->class != &event_class_syscall_enter)
		return NULL;

	return call->data;
}

/* Neither "const char *const *", nor "const unsigned char *" */
static bool is_const_char_ptr(const char *type)
{
	int stars = 0;

	if (strncmp(type, "const char ", 11))
		return false;

	/* With BTF, there is an attribute before the star. */
	for (; *type; type++)
		stars += *type == '*';

	return stars == 1;
}

static void strings_are_recorded(struct kunit *test)
{
	struct trace_event_call *call;
	int checked = 0;

	guard(mutex)(&event_mutex);
	list_for_each_entry(call, &ftrace_events, list) {
		struct syscall_metadata *meta = meta_of(call);
		unsigned long mask = 0;
		int size = -1;

		if (!meta)
			continue;
		for (int i = 0; i < meta->nb_args; i++)
			mask |= is_const_char_ptr(meta->types[i]) ? BIT(i) : 0;
		for (int i = 0; i < ARRAY_SIZE(exceptions); i++) {
			if (strcmp(meta->name, exceptions[i].name))
				continue;
			mask = exceptions[i].mask;
			size = exceptions[i].size ?: -1;
		}
		KUNIT_EXPECT_EQ_MSG(test, meta->user_mask, mask, "%s",
				    meta->name);
		if (mask)
			KUNIT_EXPECT_EQ_MSG(test, meta->user_arg_size, size,
					    "%s", meta->name);
		checked += hweight_long(mask);
	}
	/* Some are in each kernel, whatever its configuration is. */
	KUNIT_EXPECT_GT(test, checked, 50);
}

#define SIZE	64

struct fault {
	/* How the copy ends, for ever or as long as it must not fault */
	int		ret;
	bool		present;
	/* Counted by the copy */
	int		copies;
	int		faults;
	int		pinned;
};

/* Memory that nobody has touched is not there until a page fault is taken. */
static int copy_late(char *dst, const char __user *src, size_t size,
		     void *data)
{
	struct fault *fault = data;

	fault->copies++;
	if (!fault->present) {
		if (pagefault_disabled())
			return -EFAULT;
		fault->faults++;
		fault->pinned += !!current->migration_disabled;
		/* Others run, each time. */
		schedule_timeout_uninterruptible(1);
	}
	memset(dst, 'x', size);

	return fault->ret;
}

static void buffer_free(void *tinfo)
{
	trace_user_fault_destroy(tinfo);
}

/* Returns SIZE if all bytes have been read. */
static int read_fault(struct kunit *test, struct fault *fault)
{
	struct trace_user_buf_info *tinfo = test->priv;
	char *buf;

	guard(preempt_notrace)();
	buf = trace_user_fault_read(tinfo, NULL, SIZE, copy_late, fault);

	if (!buf)
		return -EFAULT;

	return memchr_inv(buf, 'x', SIZE) ? 0 : SIZE;
}

static void present_memory_is_read(struct kunit *test)
{
	struct fault fault = { .present = true };

	KUNIT_EXPECT_EQ(test, read_fault(test, &fault), SIZE);
	KUNIT_EXPECT_EQ(test, fault.copies, 1);
}

static void late_memory_is_read(struct kunit *test)
{
	struct fault fault = {};

	KUNIT_EXPECT_EQ(test, read_fault(test, &fault), SIZE);
	KUNIT_EXPECT_EQ(test, fault.faults, 1);
}

static void fault_can_migrate(struct kunit *test)
{
	struct fault fault = {};

	read_fault(test, &fault);
	KUNIT_EXPECT_GT(test, fault.faults, 0);
	KUNIT_EXPECT_EQ(test, fault.pinned, 0);
}

static void missing_memory_is_not_read(struct kunit *test)
{
	struct fault fault = { .ret = -EFAULT };

	KUNIT_EXPECT_EQ(test, read_fault(test, &fault), -EFAULT);
	KUNIT_EXPECT_EQ(test, fault.faults, 1);
}

static enum print_line_t print(struct kunit *test, struct trace_event_call *call,
			       void *record, struct trace_seq **s)
{
	struct trace_iterator *iter;

	iter = kunit_kzalloc(test, sizeof(*iter), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, iter);
	trace_seq_init(&iter->seq);
	iter->ent = record;
	*s = &iter->seq;

	return call->event.funcs->trace(iter, 0, &call->event);
}

static struct syscall_metadata *find_meta(struct kunit *test, const char *name)
{
	struct trace_event_call *call;

	scoped_guard(mutex, &event_mutex) {
		list_for_each_entry(call, &ftrace_events, list) {
			struct syscall_metadata *meta = meta_of(call);

			if (meta && !strcmp(meta->name, name))
				return meta;
		}
	}
	/* This leaves the task, and would not unlock. */
	KUNIT_FAIL_AND_ABORT(test, "no event for %s", name);

	return NULL;
}

/* The numbers of another system call, and of none */
static void unfit_records_are_printed(struct kunit *test)
{
	struct syscall_metadata *meta = find_meta(test, "sys_getpid");
	int nrs[] = { find_meta(test, "sys_getppid")->syscall_nr, NR_syscalls };
	struct syscall_trace_enter enter = {};
	struct syscall_trace_exit exit = {};
	struct trace_seq *s;
	char want[32];

	enter.ent.type = meta->enter_event->event.type;
	exit.ent.type = meta->exit_event->event.type;
	for (int i = 0; i < ARRAY_SIZE(nrs); i++) {
		snprintf(want, sizeof(want), "Unknown syscall %d\n", nrs[i]);

		enter.nr = nrs[i];
		KUNIT_EXPECT_EQ(test, TRACE_TYPE_HANDLED,
				print(test, meta->enter_event, &enter, &s));
		KUNIT_EXPECT_STREQ(test, seq_buf_str(&s->seq), want);

		exit.nr = nrs[i];
		KUNIT_EXPECT_EQ(test, TRACE_TYPE_HANDLED,
				print(test, meta->exit_event, &exit, &s));
		KUNIT_EXPECT_STREQ(test, seq_buf_str(&s->seq), want);
	}
}

static void fit_records_are_printed(struct kunit *test)
{
	struct syscall_metadata *meta = find_meta(test, "sys_getpid");
	struct syscall_trace_enter enter = {};
	struct syscall_trace_exit exit = {};
	struct trace_seq *s;

	enter.ent.type = meta->enter_event->event.type;
	enter.nr = meta->syscall_nr;
	KUNIT_EXPECT_EQ(test, TRACE_TYPE_HANDLED,
			print(test, meta->enter_event, &enter, &s));
	KUNIT_EXPECT_STREQ(test, seq_buf_str(&s->seq), "sys_getpid()\n");

	exit.ent.type = meta->exit_event->event.type;
	exit.nr = meta->syscall_nr;
	exit.ret = 0x10;
	KUNIT_EXPECT_EQ(test, TRACE_TYPE_HANDLED,
			print(test, meta->exit_event, &exit, &s));
	KUNIT_EXPECT_STREQ(test, seq_buf_str(&s->seq), "sys_getpid -> 0x10\n");
}

static int trace_syscalls_test_init(struct kunit *test)
{
	struct trace_user_buf_info *tinfo;

	tinfo = kunit_kzalloc(test, sizeof(*tinfo), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, tinfo);
	KUNIT_ASSERT_GE(test, trace_user_fault_init(tinfo, SIZE + 1), 0);
	test->priv = tinfo;

	return kunit_add_action_or_reset(test, buffer_free, tinfo);
}

static struct kunit_case trace_syscalls_test_cases[] = {
	KUNIT_CASE(strings_are_recorded),
	KUNIT_CASE(present_memory_is_read),
	KUNIT_CASE(late_memory_is_read),
	KUNIT_CASE(fault_can_migrate),
	KUNIT_CASE(missing_memory_is_not_read),
	KUNIT_CASE(fit_records_are_printed),
	KUNIT_CASE(unfit_records_are_printed),
	{}
};

static struct kunit_suite trace_syscalls_test_suite = {
	.name = "trace_syscalls",
	.init = trace_syscalls_test_init,
	.test_cases = trace_syscalls_test_cases,
};

kunit_test_suites(&trace_syscalls_test_suite);
