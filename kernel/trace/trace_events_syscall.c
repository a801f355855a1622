// SPDX-License-Identifier: GPL-2.0
/*
 * The tasks whose system calls an instance wants. Its events of system calls
 * are connected with a filter, so that a task pays for the tracepoints in its
 * system calls only if it is in set_event_pid, or if there is no such list. With
 * the option event-follow it also has to be one of the followed tasks.
 */

#include <linux/rcupdate.h>
#include <linux/syscalls.h>
#include <trace/events/sched.h>

#include "trace.h"

static bool event_syscall_match(struct syscall_task_filter *filter,
				struct task_struct *task)
{
	struct trace_array *tr = container_of(filter, struct trace_array,
					      syscall_filter);
	struct trace_pid_list *pid_list;

	if (trace_event_ignores(tr, task))
		return false;

	if (READ_ONCE(tr->syscall_triggers))
		return true;

	/* The list is freed after a syscall_filter_update(). */
	pid_list = rcu_dereference_raw(tr->filtered_pids);

	return !pid_list || trace_pid_list_is_set(pid_list, task->pid);
}

/* A thread that execs takes over the pid of its thread group. */
static void event_syscall_exec(void *data, struct task_struct *task,
			       pid_t old_pid, struct linux_binprm *bprm)
{
	if (task->pid != old_pid)
		syscall_filter_update_task(task);
}

/**
 * trace_event_prepare_pids - an instance is about to get a list of pids
 * @tr: the instance
 *
 * Context: event_mutex is held, and tr->filtered_pids is still the old list,
 * so that no exec is missed that changes a pid after it was looked up. Without
 * a new list, trace_event_update_syscalls() takes this back.
 *
 * Return: 0, or a negative error number. Then nothing has changed.
 */
int trace_event_prepare_pids(struct trace_array *tr)
{
	int ret;

	lockdep_assert_held(&event_mutex);

	if (tr->syscall_exec_probe)
		return 0;

	ret = register_trace_sched_process_exec(event_syscall_exec, tr);
	if (!ret)
		tr->syscall_exec_probe = true;

	return ret;
}

/**
 * trace_event_update_syscalls - an instance wants other tasks than before
 * @tr: the instance
 *
 * A trigger may fire for tasks that are not in set_event_pid, so while a system
 * call event has one, the list is not used. Tasks that event-follow leaves out
 * fire no triggers.
 *
 * Context: event_mutex is held. A list comes into tr->filtered_pids after
 * trace_event_prepare_pids(). When this returns, the filter of this file does
 * not use a former list any more. The caller has to wait for the other users
 * before it frees that list.
 */
void trace_event_update_syscalls(struct trace_array *tr)
{
	bool has_list, restricted;

	lockdep_assert_held(&event_mutex);

	has_list = rcu_access_pointer(tr->filtered_pids);
	restricted = (has_list && !tr->syscall_triggers) ||
		     (tr->trace_flags & TRACE_ITER(EVENT_FOLLOW));
	tr->syscall_filter.match = event_syscall_match;
	syscall_filter_update(&tr->syscall_filter, restricted);

	if (!has_list && tr->syscall_exec_probe) {
		unregister_trace_sched_process_exec(event_syscall_exec, tr);
		tr->syscall_exec_probe = false;
	}
}

/**
 * trace_event_syscall_trigger - an event has its first trigger, or none left
 * @file: the event
 * @enable: true for the first trigger, false when none is left
 *
 * Context: event_mutex is held.
 */
void trace_event_syscall_trigger(struct trace_event_file *file, bool enable)
{
	struct trace_event_call *call = file->event_call;
	struct trace_array *tr = file->tr;

	if (!is_syscall_trace_event(call) &&
	    !((call->flags & TRACE_EVENT_FL_TRACEPOINT) &&
	      tracepoint_is_syscall(call->tp)))
		return;

	WRITE_ONCE(tr->syscall_triggers,
		   tr->syscall_triggers + (enable ? 1 : -1));
	trace_event_update_syscalls(tr);
}
