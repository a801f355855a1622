// SPDX-License-Identifier: GPL-2.0
/*
 * Trace instances in the hands of kernel code.
 *
 * Kernel code first puts its reference on an instance and then destroys it,
 * and in between user space may remove the instance. So it can come with a
 * pointer to what is no more, and the memory can't be given away before:
 * another instance would be made of it, and be the one that is destroyed.
 * @handles counts the pointers that were handed out and not taken back by
 * trace_array_destroy(). Memory with handles on it is parked when its instance
 * is removed, and used again for an instance of the same name: that bounds
 * what those cost who never destroy anything.
 */

#include <linux/cleanup.h>
#include <linux/err.h>
#include <linux/limits.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/seq_buf.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/trace.h>

#include "trace.h"

/* Under trace_types_lock. */
static LIST_HEAD(trace_arrays_parked);

/**
 * trace_array_alloc - memory for a trace array
 * @name: the name that it will have
 *
 * Context: May sleep, trace_types_lock is held.
 *
 * Return: a trace array without anything in it, but for its name and its
 * handles; NULL when there is no memory.
 */
struct trace_array *trace_array_alloc(const char *name)
{
	struct trace_array *tr;
	unsigned int handles;
	char *own_name;

	lockdep_assert_held(&trace_types_lock);

	list_for_each_entry(tr, &trace_arrays_parked, list) {
		if (strcmp(tr->name, name))
			continue;

		list_del(&tr->list);
		handles = tr->handles;
		own_name = tr->name;
		memset(tr, 0, sizeof(*tr));
		tr->handles = handles;
		tr->name = own_name;

		return tr;
	}

	tr = kzalloc_obj(*tr);
	if (!tr)
		return NULL;

	tr->name = kstrdup(name, GFP_KERNEL);
	if (!tr->name) {
		kfree(tr);
		return NULL;
	}

	return tr;
}

/**
 * trace_array_free - give the memory of a trace array back
 * @tr: what trace_array_alloc() returned; it owns @tr->name and nothing else
 *
 * Context: May sleep, trace_types_lock is held.
 */
void trace_array_free(struct trace_array *tr)
{
	lockdep_assert_held(&trace_types_lock);

	if (tr->handles) {
		list_add(&tr->list, &trace_arrays_parked);
		return;
	}

	kfree(tr->name);
	kfree(tr);
}

/**
 * trace_array_drop_handle - take a handle back
 * @tr: a trace array with handles, which may be removed
 *
 * Context: May sleep, trace_types_lock is held.
 */
void trace_array_drop_handle(struct trace_array *tr)
{
	struct trace_array *parked;

	lockdep_assert_held(&trace_types_lock);

	if (WARN_ON_ONCE(!tr->handles) || --tr->handles)
		return;

	list_for_each_entry(parked, &trace_arrays_parked, list) {
		if (parked != tr)
			continue;

		list_del(&tr->list);
		trace_array_free(tr);
		return;
	}
}

/**
 * trace_array_forget - take the handle to a removed trace array back
 * @this_tr: what kernel code wanted to destroy; may be no trace array at all
 *
 * Context: May sleep, trace_types_lock is held.
 */
void trace_array_forget(struct trace_array *this_tr)
{
	struct trace_array *tr;

	lockdep_assert_held(&trace_types_lock);

	list_for_each_entry(tr, &trace_arrays_parked, list) {
		if (tr == this_tr) {
			trace_array_drop_handle(tr);
			return;
		}
	}
}

/* Getting hold of instances */

static int trace_array_check_name(const char *name)
{
	if (!name || !*name || strchr(name, '/') ||
	    !strcmp(name, ".") || !strcmp(name, ".."))
		return -EINVAL;

	if (strlen(name) > NAME_MAX)
		return -ENAMETOOLONG;

	return 0;
}

static struct trace_array *trace_array_handle(struct trace_array *tr)
{
	if (IS_ERR(tr))
		return tr;

	guard(mutex)(&trace_types_lock);
	tr->handles++;

	return tr;
}

/**
 * trace_array_create - make an instance
 * @name: its name, as in mkdir
 *
 * As mkdir in the directory "instances" of tracefs, which need not be mounted.
 * The caller gets a reference: the instance stays until trace_array_put(). To
 * remove it, call trace_array_destroy() after that. To leave it to others, call
 * trace_array_leave() instead of both.
 *
 * Context: May sleep, takes event_mutex and trace_types_lock.
 *
 * Return: the instance, or
 * * %ERR_PTR(-EINVAL)		- @name is not fit for a directory, or tracefs
 *   made none: no memory, or the kernel is locked down
 * * %ERR_PTR(-ENAMETOOLONG)	- it is too long for one
 * * %ERR_PTR(-EEXIST)		- an instance of that name exists
 * * %ERR_PTR(-ENOMEM)		- no memory
 * * %ERR_PTR(-EOPNOTSUPP)	- without CONFIG_TRACING
 */
struct trace_array *trace_array_create(const char *name)
{
	struct trace_array *tr;
	int ret;

	ret = trace_array_check_name(name);
	if (ret)
		return ERR_PTR(ret);

	guard(mutex)(&event_mutex);
	guard(mutex)(&trace_types_lock);

	if (trace_array_find(name))
		return ERR_PTR(-EEXIST);

	tr = trace_array_create_systems(name, NULL, 0, 0);
	if (IS_ERR(tr))
		return tr;

	tr->ref++;
	tr->handles++;

	return tr;
}
EXPORT_SYMBOL_GPL(trace_array_create);

/**
 * trace_array_lookup - get hold of an instance that exists
 * @name: its name
 *
 * The caller gets a reference: the instance stays until trace_array_leave(), or
 * trace_array_put() if trace_array_destroy() follows.
 *
 * Context: May sleep, takes trace_types_lock.
 *
 * Return: the instance, or
 * * %ERR_PTR(-EINVAL)		- @name is NULL
 * * %ERR_PTR(-ENOENT)		- there is none of that name, or it is about to
 *   be removed
 * * %ERR_PTR(-EOPNOTSUPP)	- without CONFIG_TRACING
 */
struct trace_array *trace_array_lookup(const char *name)
{
	if (!name)
		return ERR_PTR(-EINVAL);

	return trace_array_handle(trace_array_find_get(name) ?:
				  ERR_PTR(-ENOENT));
}
EXPORT_SYMBOL_GPL(trace_array_lookup);

/**
 * trace_array_get_or_create - get hold of an instance, made if need be
 * @name: its name
 * @systems: systems of events that a new one is to have, separated by commas;
 *	     NULL for all
 *
 * As trace_array_get_by_name(), and says why when it fails.
 *
 * Context: May sleep, takes event_mutex and trace_types_lock.
 *
 * Return: the instance, with a reference; or
 * * %ERR_PTR(-EINVAL)		- @name is not fit for a directory, or tracefs
 *   made none: no memory, or the kernel is locked down
 * * %ERR_PTR(-ENAMETOOLONG)	- it is too long for one
 * * %ERR_PTR(-ENODEV)		- the instance is about to be removed
 * * %ERR_PTR(-ENOMEM)		- no memory
 * * %ERR_PTR(-EOPNOTSUPP)	- without CONFIG_TRACING
 */
struct trace_array *trace_array_get_or_create(const char *name,
					      const char *systems)
{
	int ret;

	ret = trace_array_check_name(name);
	if (ret)
		return ERR_PTR(ret);

	return trace_array_handle(__trace_array_get_by_name(name, systems));
}
EXPORT_SYMBOL_GPL(trace_array_get_or_create);

/**
 * trace_array_leave - leave an instance to others
 * @tr: the instance, on which the caller holds a reference; NULL and error
 *	pointers are fine
 *
 * For who will not destroy it: takes the reference back, as trace_array_put()
 * does, and what trace_array_destroy() keeps to know @tr by. The caller must
 * not use @tr any more. Called once for each time that @tr was got.
 *
 * Context: May sleep, takes trace_types_lock.
 */
void trace_array_leave(struct trace_array *tr)
{
	if (IS_ERR_OR_NULL(tr))
		return;

	guard(mutex)(&trace_types_lock);
	trace_array_drop_handle(tr);
	__trace_array_put(tr);
}
EXPORT_SYMBOL_GPL(trace_array_leave);

/* Switching and setting up */

/* What the files of tracefs refuse when they are opened for writing. */
static int trace_array_check_writable(struct trace_array *tr)
{
	if (!tr)
		return -ENOENT;

	if (tracing_disabled)
		return -ENODEV;

	if (trace_array_is_readonly(tr))
		return -EACCES;

	return 0;
}

/**
 * trace_array_tracing_on - let an instance record
 * @tr: the instance, on which the caller holds a reference
 *
 * As tracing_on() for the top level: the ring buffer takes records again. The
 * start function of a tracer, which the file "tracing_on" calls too, is not
 * called, since that may sleep.
 *
 * Context: Any, NMI included.
 *
 * Return:
 * * %0		- done
 * * %-ENOENT	- @tr is NULL
 * * %-ENODEV	- tracing is disabled for good
 * * %-EACCES	- @tr is read only
 * * %-EOPNOTSUPP - without CONFIG_TRACING
 */
int trace_array_tracing_on(struct trace_array *tr)
{
	int ret = trace_array_check_writable(tr);

	if (!ret)
		tracer_tracing_on(tr);

	return ret;
}
EXPORT_SYMBOL_GPL(trace_array_tracing_on);

/**
 * trace_array_tracing_off - keep an instance from recording
 * @tr: the instance, on which the caller holds a reference
 *
 * The counterpart of trace_array_tracing_on(). Records that other CPUs are in
 * the middle of are still completed. Who waits for records in "trace_pipe" is
 * woken, as when the file "tracing_on" is written to.
 *
 * Context: Any, NMI included.
 *
 * Return: as trace_array_tracing_on()
 */
int trace_array_tracing_off(struct trace_array *tr)
{
	int ret = trace_array_check_writable(tr);

	if (ret)
		return ret;

	tracer_tracing_off(tr);
	ring_buffer_wake_waiters(tr->array_buffer.buffer, RING_BUFFER_ALL_CPUS);

	return 0;
}
EXPORT_SYMBOL_GPL(trace_array_tracing_off);

/**
 * trace_array_tracing_is_on - does an instance record
 * @tr: the instance, on which the caller holds a reference
 *
 * Context: Any, NMI included.
 *
 * Return: what the file "tracing_on" shows; false for NULL, and without
 * CONFIG_TRACING.
 */
bool trace_array_tracing_is_on(struct trace_array *tr)
{
	return tr && tracer_tracing_is_on(tr);
}
EXPORT_SYMBOL_GPL(trace_array_tracing_is_on);

/**
 * trace_array_clear - drop what an instance has recorded
 * @tr: the instance, on which the caller holds a reference
 *
 * As "echo > trace": for a tracer that keeps a maximum, this drops that. The
 * snapshot stays.
 *
 * Context: May sleep, for an RCU grace period.
 *
 * Return:
 * * %0		- done
 * * %-ENOENT	- @tr is NULL
 * * %-ENODEV	- tracing is disabled for good
 * * %-EOPNOTSUPP - without CONFIG_TRACING
 */
int trace_array_clear(struct trace_array *tr)
{
	if (!tr)
		return -ENOENT;

	if (tracing_disabled)
		return -ENODEV;

	tracing_clear_trace(tr, RING_BUFFER_ALL_CPUS);

	return 0;
}
EXPORT_SYMBOL_GPL(trace_array_clear);

/**
 * trace_array_set_buffer_size - choose how much an instance can hold
 * @tr: the instance, on which the caller holds a reference
 * @bytes: size of the ring buffer of each CPU; rounded up to whole sub-buffers
 *
 * As writing to "buffer_size_kb", but in bytes. What was recorded may be lost.
 * The snapshot buffer, if there is one, gets the same size.
 *
 * Context: May sleep, takes trace_types_lock.
 *
 * Return:
 * * %0		- done
 * * %-ENOENT	- @tr is NULL
 * * %-ENODEV	- tracing is disabled for good
 * * %-EACCES	- @tr is read only
 * * %-EINVAL	- @bytes is 0
 * * %-EBUSY	- the ring buffer is mapped to user space, or being read
 * * %-ENOMEM	- no memory; the size is what it was
 * * %-EOPNOTSUPP - without CONFIG_TRACING
 */
int trace_array_set_buffer_size(struct trace_array *tr, unsigned long bytes)
{
	ssize_t ret;

	ret = trace_array_check_writable(tr);
	if (ret)
		return ret;

	if (!bytes)
		return -EINVAL;

	/* Rounding up must not make it a small number. */
	if (bytes > LONG_MAX)
		return -ENOMEM;

	ret = tracing_resize_ring_buffer(tr, bytes, RING_BUFFER_ALL_CPUS);

	return min(ret, 0);
}
EXPORT_SYMBOL_GPL(trace_array_set_buffer_size);

/**
 * trace_array_set_clock - choose the clock of an instance
 * @tr: the instance, on which the caller holds a reference
 * @clock: one of the names in "trace_clock"
 *
 * What was recorded is dropped, as its time stamps are those of another clock.
 *
 * Context: May sleep, takes trace_types_lock.
 *
 * Return:
 * * %0		- done
 * * %-ENOENT	- @tr is NULL
 * * %-ENODEV	- tracing is disabled for good
 * * %-EACCES	- @tr is read only
 * * %-EINVAL	- no such clock
 * * %-EOPNOTSUPP - without CONFIG_TRACING
 */
int trace_array_set_clock(struct trace_array *tr, const char *clock)
{
	int ret;

	ret = trace_array_check_writable(tr);
	if (ret)
		return ret;

	return clock ? tracing_set_clock(tr, clock) : -EINVAL;
}
EXPORT_SYMBOL_GPL(trace_array_set_clock);

/**
 * trace_array_set_tracer - choose the tracer of an instance
 * @tr: the instance, on which the caller holds a reference
 * @tracer: one of the names in its "available_tracers"; "nop" for none
 *
 * Context: May sleep, takes trace_types_lock.
 *
 * Return:
 * * %0		- done
 * * %-ENOENT	- @tr is NULL
 * * %-ENODEV	- tracing is disabled for good
 * * %-EACCES	- @tr is read only
 * * %-EINVAL	- no such tracer, or not one for instances
 * * %-EBUSY	- "trace_pipe" is being read, a tracer needs the snapshot
 *   buffer that somebody else uses, or another instance has the tracer, of
 *   which there is one
 * * %-ENOMEM	- no memory
 * * %-EOPNOTSUPP - without CONFIG_TRACING
 */
int trace_array_set_tracer(struct trace_array *tr, const char *tracer)
{
	int ret;

	ret = trace_array_check_writable(tr);
	if (ret)
		return ret;

	return tracer ? tracing_set_tracer(tr, tracer) : -EINVAL;
}
EXPORT_SYMBOL_GPL(trace_array_set_tracer);

/* Events */

/**
 * trace_array_set_events - switch events of an instance by text
 * @tr: the instance, on which the caller holds a reference
 * @events: words as "set_event" takes them: "system:event", "system:",
 *	    "*:event", ":mod:module" and so on, separated by white space; one
 *	    that starts with '!' has the opposite effect
 * @enable: true to enable, false to disable
 *
 * The words are dealt with one after the other, up to the first that fails.
 *
 * Context: May sleep, takes event_mutex.
 *
 * Return:
 * * %0		- done
 * * %-ENOENT	- @tr is NULL
 * * %-ENODEV	- tracing is disabled for good
 * * %-EACCES	- @tr is read only
 * * %-EINVAL	- @events is NULL, or a word matches no event or is a mere '!'
 * * %-ENOMEM	- no memory
 * * %-EOPNOTSUPP - without CONFIG_TRACING
 */
int trace_array_set_events(struct trace_array *tr, const char *events,
			   bool enable)
{
	char *copy __free(kfree) = NULL;
	char *next, *word;
	int ret;

	ret = trace_array_check_writable(tr);
	if (ret)
		return ret;

	if (!events)
		return -EINVAL;

	ret = tracing_update_buffers(tr);
	if (ret < 0)
		return ret;

	copy = kstrdup(events, GFP_KERNEL);
	if (!copy)
		return -ENOMEM;

	next = copy;
	while ((word = strsep(&next, " \t\n"))) {
		bool set = enable;

		if (!*word)
			continue;
		if (*word == '!') {
			set = !set;
			word++;
		}
		ret = ftrace_set_clr_event(tr, word, set);
		if (ret)
			return ret;
	}

	return 0;
}
EXPORT_SYMBOL_GPL(trace_array_set_events);

/* Is there a file of that kind in the event's directory? */
static bool event_has_filter(struct trace_event_call *call)
{
	return !(call->flags & TRACE_EVENT_FL_IGNORE_ENABLE);
}

static bool event_has_trigger(struct trace_event_call *call)
{
	return event_has_filter(call) ||
	       !strcmp(trace_event_name(call), "print");
}

static int trace_array_event_write(struct trace_array *tr, const char *system,
				   const char *event, const char *text,
				   bool (*has)(struct trace_event_call *call),
				   int (*write)(struct trace_event_file *file,
						char *text))
{
	char *copy __free(kfree) = NULL;
	struct trace_event_file *file;
	int ret;

	ret = trace_array_check_writable(tr);
	if (ret)
		return ret;

	if (!system || !event || !text || strlen(text) >= PAGE_SIZE)
		return -EINVAL;

	copy = kstrdup(text, GFP_KERNEL);
	if (!copy)
		return -ENOMEM;

	guard(mutex)(&event_mutex);

	file = __find_event_file(tr, system, event);
	if (!file || !has(file->event_call))
		return -ESRCH;

	ret = write(file, copy);

	return min(ret, 0);
}

/**
 * trace_array_set_event_filter - set the filter of an event of an instance
 * @tr: the instance, on which the caller holds a reference
 * @system: the event's system
 * @event: the event
 * @filter: as the event's file "filter" takes it; "0" for none
 *
 * What is wrong with a filter that is refused is in the "error_log" of @tr. As
 * with the file, a filter that can't be read takes the one before it away all
 * the same, and the event is recorded unfiltered from then on; so does, in most
 * cases, one for which there is no memory. Not so a @filter that is NULL or too
 * long.
 *
 * Context: May sleep, takes event_mutex.
 *
 * Return:
 * * %0		- done
 * * %-ENOENT	- @tr is NULL
 * * %-ENODEV	- tracing is disabled for good
 * * %-EACCES	- @tr is read only
 * * %-ESRCH	- @tr has no such event, or the event takes no filter
 * * %-EINVAL	- NULL, a filter of a page or more, or one that is wrong
 * * %-ENOMEM	- no memory
 * * %-EOPNOTSUPP - without CONFIG_TRACING
 */
int trace_array_set_event_filter(struct trace_array *tr, const char *system,
				 const char *event, const char *filter)
{
	return trace_array_event_write(tr, system, event, filter,
				       event_has_filter, apply_event_filter);
}
EXPORT_SYMBOL_GPL(trace_array_set_event_filter);

/**
 * trace_array_set_event_trigger - add a trigger to an event of an instance
 * @tr: the instance, on which the caller holds a reference
 * @system: the event's system
 * @event: the event
 * @trigger: as the event's file "trigger" takes it; '!' in front removes it
 *
 * What is wrong with a trigger that is refused is in the "error_log" of @tr,
 * as far as the trigger's command says so.
 *
 * Context: May sleep, takes event_mutex.
 *
 * Return:
 * * %0		- done
 * * %-ENOENT	- @tr is NULL
 * * %-ENODEV	- tracing is disabled for good
 * * %-EACCES	- @tr is read only
 * * %-ESRCH	- @tr has no such event, or the event takes no trigger
 * * %-EINVAL	- NULL, a trigger of a page or more, or one that is wrong
 * * %-EEXIST	- the event has such a trigger
 * * %-ENOMEM	- no memory
 * * %-EOPNOTSUPP - without CONFIG_TRACING
 * * others	- as the trigger's command has them
 */
int trace_array_set_event_trigger(struct trace_array *tr, const char *system,
				  const char *event, const char *trigger)
{
	return trace_array_event_write(tr, system, event, trigger,
				       event_has_trigger,
				       trigger_process_regex);
}
EXPORT_SYMBOL_GPL(trace_array_set_event_trigger);

/**
 * trace_array_set_event_pids - choose whose events an instance records
 * @tr: the instance, on which the caller holds a reference
 * @pids: process ids in the initial pid namespace
 * @nr: how many; 0 to record everybody's events
 *
 * As "set_event_pid", whose list is replaced as a whole or, in case of an
 * error, not at all. With the option event-fork the list grows by itself.
 *
 * Context: May sleep, for an RCU grace period; takes event_mutex.
 *
 * Return:
 * * %0		- done
 * * %-ENOENT	- @tr is NULL
 * * %-ENODEV	- tracing is disabled for good
 * * %-EACCES	- @tr is read only
 * * %-EINVAL	- @pids is NULL, or one of them can't be a process id
 * * %-ENOMEM	- no memory
 * * %-EOPNOTSUPP - without CONFIG_TRACING
 */
int trace_array_set_event_pids(struct trace_array *tr, const pid_t *pids,
			       unsigned int nr)
{
	struct trace_pid_list *list;
	int ret;

	ret = trace_array_check_writable(tr);
	if (ret)
		return ret;

	if (!nr) {
		ftrace_clear_event_pids(tr, TRACE_PIDS);
		return 0;
	}

	if (!pids)
		return -EINVAL;

	ret = tracing_update_buffers(tr);
	if (ret < 0)
		return ret;

	list = trace_pid_list_alloc();
	if (!list)
		return -ENOMEM;

	for (unsigned int i = 0; i < nr; i++) {
		ret = pids[i] < 0 ? -EINVAL : trace_pid_list_set(list, pids[i]);
		if (ret < 0) {
			trace_pid_list_free(list);
			return ret;
		}
	}

	guard(mutex)(&event_mutex);
	event_pids_update(tr, list, TRACE_PIDS);

	return 0;
}
EXPORT_SYMBOL_GPL(trace_array_set_event_pids);

/* Snapshots */

#ifdef CONFIG_TRACER_SNAPSHOT
/**
 * trace_array_snapshot_alloc - prepare an instance for snapshots
 * @tr: the instance, on which the caller holds a reference
 *
 * Allocates the snapshot buffer, as large as the ring buffer, unless it is
 * there. While the caller holds it the ring buffer can't be mapped to user
 * space. Each call that succeeds needs a trace_array_snapshot_free().
 *
 * Context: May sleep, takes trace_types_lock.
 *
 * Return:
 * * %0		- done
 * * %-ENOENT	- @tr is NULL
 * * %-ENODEV	- tracing is disabled for good
 * * %-EACCES	- @tr is read only
 * * %-EBUSY	- a latency tracer or a conditional snapshot has the snapshot
 *   buffer, or it is not there and yet being read, or the ring buffer is mapped
 *   to user space
 * * %-ENOMEM	- no memory
 * * %-EOPNOTSUPP - the buffer of @tr outlives a boot, such have no snapshots;
 *   or without CONFIG_TRACER_SNAPSHOT
 */
int trace_array_snapshot_alloc(struct trace_array *tr)
{
	bool allocated;
	int ret;

	ret = trace_array_check_writable(tr);
	if (ret)
		return ret;

	if (tr->range_addr_start)
		return -EOPNOTSUPP;

	ret = tracing_update_buffers(tr);
	if (ret < 0)
		return ret;

	guard(mutex)(&trace_types_lock);

	/* With trace_types_lock held it can only become NULL. */
	if (tracer_uses_snapshot(tr->current_trace) ||
	    READ_ONCE(tr->cond_snapshot))
		return -EBUSY;

	allocated = tr->allocated_snapshot;
	ret = tracing_arm_snapshot_locked(tr);
	if (ret)
		return ret;

	if (!allocated)
		tr->snapshot_of_kernel = true;

	return 0;
}
EXPORT_SYMBOL_GPL(trace_array_snapshot_alloc);

/**
 * trace_array_snapshot - take a snapshot of an instance
 * @tr: the instance, for which trace_array_snapshot_alloc() was called
 *
 * What the instance has recorded becomes the snapshot, and recording goes on
 * in the buffer of the snapshot before: these two are swapped, nothing is
 * copied, and nothing is cleared.
 *
 * Context: Any but NMI. Not from a function that the caller itself traces with
 *	    a trigger or probe that takes snapshots.
 *
 * Return:
 * * %0		- done
 * * %-ENOENT	- @tr is NULL
 * * %-EACCES	- @tr is read only
 * * %-EAGAIN	- from an NMI, or while the ring buffer is being resized or
 *   cleared, its clock set or, with the option pause-on-trace, while it is
 *   read: a later try can succeed
 * * %-ENODEV	- there is no snapshot buffer, or tracing is disabled for good
 * * %-EBUSY	- a latency tracer or a conditional snapshot has the snapshot
 *   buffer, or the ring buffer is mapped to user space, or this is called by a
 *   probe within another snapshot
 * * %-EOPNOTSUPP - without CONFIG_TRACER_SNAPSHOT
 */
int trace_array_snapshot(struct trace_array *tr)
{
	int ret;

	ret = trace_array_check_writable(tr);
	if (ret)
		return ret;

	if (in_nmi())
		return -EAGAIN;

	guard(irqsave)();

	if (!tr->allocated_snapshot)
		return -ENODEV;

	if (tr->mapped || READ_ONCE(tr->cond_snapshot) ||
	    tracer_uses_snapshot(tr->current_trace))
		return -EBUSY;

	ret = update_max_tr(tr, current, smp_processor_id(), NULL, "kernel");

	/* A condition that came since we looked */
	return ret == -ECANCELED ? -EBUSY : ret;
}
EXPORT_SYMBOL_GPL(trace_array_snapshot);

/**
 * trace_array_snapshot_free - an instance needs no snapshots any more
 * @tr: the instance, for which trace_array_snapshot_alloc() was called
 *
 * The last one frees the snapshot buffer with what is in it, unless user space
 * had allocated it or a trigger needs it. While somebody has the file "snapshot"
 * open for reading, the buffer counts as freed and is empty, but keeps its
 * memory until it is freed again or the instance is removed.
 *
 * Context: May sleep, takes trace_types_lock.
 */
void trace_array_snapshot_free(struct trace_array *tr)
{
	if (!tr || tr->range_addr_start)
		return;

	guard(mutex)(&trace_types_lock);

	tracing_disarm_snapshot(tr);
	if (tr->snapshot || !tr->snapshot_of_kernel)
		return;

	tr->snapshot_of_kernel = false;
	if (tr->allocated_snapshot)
		free_snapshot(tr);
}
EXPORT_SYMBOL_GPL(trace_array_snapshot_free);
#else
int trace_array_snapshot_alloc(struct trace_array *tr)
{
	return -EOPNOTSUPP;
}
EXPORT_SYMBOL_GPL(trace_array_snapshot_alloc);

int trace_array_snapshot(struct trace_array *tr)
{
	return -EOPNOTSUPP;
}
EXPORT_SYMBOL_GPL(trace_array_snapshot);

void trace_array_snapshot_free(struct trace_array *tr)
{
}
EXPORT_SYMBOL_GPL(trace_array_snapshot_free);
#endif

/* Reading */

/* A line of a trace fits, it comes from a trace_seq. */
#define READER_SIZE	(2 * TRACE_SEQ_SIZE)

/*
 * What "trace" and "snapshot" do, without a file: their seq_operations write
 * to a seq_file that has a buffer and nothing else.
 */
struct trace_array_reader {
	struct trace_iterator	iter;
	struct seq_file		m;
};

static int trace_array_reader_fill(struct trace_array_reader *reader)
{
	const struct seq_operations *op = &tracer_seq_ops;
	struct seq_file *m = &reader->m;
	size_t whole = 0;
	void *line;
	int ret = 0;

	m->count = 0;
	m->from = 0;
	line = op->start(m, &m->index);
	while (!IS_ERR_OR_NULL(line)) {
		ret = op->show(m, line);
		if (ret < 0 || seq_has_overflowed(m))
			break;
		whole = m->count;
		line = op->next(m, line, &m->index);
	}
	if (IS_ERR(line))
		ret = PTR_ERR(line);
	op->stop(m, line);

	/* A line that was cut comes again, whole. */
	m->count = whole;

	return ret < 0 ? ret : 0;
}

/**
 * trace_array_reader_open - begin to read the text of an instance
 * @tr: the instance, on which the caller holds a reference
 * @flags: TRACE_ARRAY_READ_SNAPSHOT for the snapshot, 0 for the ring buffer
 *
 * Nothing is consumed: "trace", "trace_pipe" and other readers find what they
 * would have found without this. The instance goes on recording, unless its
 * option pause-on-trace is set; what is overwritten meanwhile is left out.
 *
 * The reader holds a reference on @tr until trace_array_reader_close().
 *
 * Context: May sleep, takes trace_types_lock.
 *
 * Return: the reader, or
 * * %ERR_PTR(-ENOENT)	- @tr is NULL
 * * %ERR_PTR(-ENODEV)	- tracing is disabled for good, or @tr is about to be
 *   removed
 * * %ERR_PTR(-EPERM)	- the kernel is locked down, nobody reads traces
 * * %ERR_PTR(-EINVAL)	- unknown @flags
 * * %ERR_PTR(-ENOMEM)	- no memory
 * * %ERR_PTR(-EOPNOTSUPP) - the snapshot of an instance that has none for it
 *   outlives a boot, or without CONFIG_TRACER_SNAPSHOT; without CONFIG_TRACING
 */
struct trace_array_reader *
trace_array_reader_open(struct trace_array *tr, unsigned int flags)
{
	struct trace_array_reader *reader;
	int ret;

	if (!tr)
		return ERR_PTR(-ENOENT);

	if (flags & ~TRACE_ARRAY_READ_SNAPSHOT)
		return ERR_PTR(-EINVAL);

	if (flags && (tr->range_addr_start ||
		      !IS_ENABLED(CONFIG_TRACER_SNAPSHOT)))
		return ERR_PTR(-EOPNOTSUPP);

	ret = tracing_check_open_get_tr(tr);
	if (ret)
		return ERR_PTR(ret);

	ret = -ENOMEM;
	reader = kzalloc_obj(*reader);
	if (!reader)
		goto put;

	reader->m.private = &reader->iter;
	reader->m.size = READER_SIZE;
	reader->m.buf = kvmalloc(READER_SIZE, GFP_KERNEL);
	if (!reader->m.buf)
		goto free;

	ret = trace_iter_start(&reader->iter, tr, RING_BUFFER_ALL_CPUS, flags);
	if (ret)
		goto free;

	if (!flags && tr->trace_flags & TRACE_ITER(LATENCY_FMT))
		reader->iter.iter_flags |= TRACE_FILE_LAT_FMT;

	return reader;
free:
	kvfree(reader->m.buf);
	kfree(reader);
put:
	trace_array_put(tr);

	return ERR_PTR(ret);
}
EXPORT_SYMBOL_GPL(trace_array_reader_open);

/**
 * trace_array_reader_read - read the next piece of the text of an instance
 * @reader: the reader, used by one caller at a time
 * @buf: the text goes here, without a NUL at its end
 * @size: bytes that fit in @buf
 *
 * The text is what "trace" shows, or "snapshot", header included.
 *
 * Context: May sleep, takes trace_types_lock.
 *
 * Return: the number of bytes, less than @size at the end, or before an error,
 * which the next call returns; 0 at the end; or -EBUSY when a latency tracer has
 * taken the snapshot buffer.
 */
ssize_t trace_array_reader_read(struct trace_array_reader *reader, char *buf,
				size_t size)
{
	struct seq_file *m = &reader->m;
	size_t done = 0;
	size_t n;
	int ret;

	while (done < size) {
		if (m->from == m->count) {
			ret = trace_array_reader_fill(reader);
			if (ret)
				return done ?: ret;
			if (!m->count)
				break;
		}
		n = min(size - done, m->count - m->from);
		memcpy(buf + done, m->buf + m->from, n);
		m->from += n;
		done += n;
	}

	return done;
}
EXPORT_SYMBOL_GPL(trace_array_reader_read);

/**
 * trace_array_reader_close - end what trace_array_reader_open() began
 * @reader: the reader; NULL and error pointers are fine
 *
 * Context: May sleep, takes trace_types_lock.
 */
void trace_array_reader_close(struct trace_array_reader *reader)
{
	if (IS_ERR_OR_NULL(reader))
		return;

	trace_iter_stop(&reader->iter);
	kvfree(reader->m.buf);
	kfree(reader);
}
EXPORT_SYMBOL_GPL(trace_array_reader_close);

/**
 * trace_array_read - read the text of an instance in one go
 * @tr: the instance, on which the caller holds a reference
 * @flags: TRACE_ARRAY_READ_SNAPSHOT for the snapshot, 0 for the ring buffer
 * @s: the text is appended here
 *
 * Context: May sleep, takes trace_types_lock.
 *
 * Return:
 * * %0		- done
 * * %-E2BIG	- the text was longer, @s is full of its first part
 * * others	- as trace_array_reader_open() and trace_array_reader_read(), with
 *   what was read until then in @s
 */
int trace_array_read(struct trace_array *tr, unsigned int flags,
		     struct seq_buf *s)
{
	struct trace_array_reader *reader __free(trace_array_reader_close) = NULL;
	size_t size;
	char more;
	char *buf;
	ssize_t n;

	reader = trace_array_reader_open(tr, flags);
	if (IS_ERR(reader))
		return PTR_ERR(reader);

	while ((size = seq_buf_get_buf(s, &buf))) {
		n = trace_array_reader_read(reader, buf, size);
		if (n <= 0)
			return n;
		seq_buf_commit(s, n);
	}

	n = trace_array_reader_read(reader, &more, 1);

	return n > 0 ? -E2BIG : n;
}
EXPORT_SYMBOL_GPL(trace_array_read);
