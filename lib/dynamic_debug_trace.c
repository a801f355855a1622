// SPDX-License-Identifier: GPL-2.0
/*
 * The trace event of dynamic debug: messages of sites that have the flag T
 */

#include <linux/cleanup.h>
#include <linux/dynamic_debug.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/sprintf.h>

#define CREATE_TRACE_POINTS
#include <trace/events/dyndbg.h>

#include "dynamic_debug_trace.h"

/* As much as printk() keeps of a message */
#define DDEBUG_MESSAGE_MAX	1024

/* Messages of a task, a softirq, an interrupt and an NMI */
#define DDEBUG_NR_MESSAGES	4

struct ddebug_messages {
	unsigned int	nr;
	char		texts[DDEBUG_NR_MESSAGES][DDEBUG_MESSAGE_MAX];
};

static struct ddebug_messages __percpu *ddebug_messages;

/* The memory is there from the first site with the flag on. */
int ddebug_trace_init(void)
{
	static DEFINE_MUTEX(mutex);
	struct ddebug_messages __percpu *messages;

	guard(mutex)(&mutex);
	if (ddebug_messages)
		return 0;

	messages = alloc_percpu(struct ddebug_messages);
	if (!messages)
		return -ENOMEM;
	/* Pairs with the address dependency in ddebug_trace(). */
	smp_store_release(&ddebug_messages, messages);

	return 0;
}

/*
 * A message is formatted once for all instances, and before any of them has
 * reserved its record, as that may take long.
 */
void ddebug_trace(const struct _ddebug *desc, const char *device,
		  struct va_format *vaf)
{
	struct ddebug_messages __percpu *all = READ_ONCE(ddebug_messages);
	struct ddebug_messages *messages;
	unsigned int len, nr;
	char *text;

	/* If a site was on already, its flag may be seen before the memory. */
	if (!trace_dyndbg_message_enabled() || !all)
		return;

	guard(preempt_notrace)();
	messages = this_cpu_ptr(all);
	nr = messages->nr;
	/* The code that records a message can have debug messages, too. */
	if (nr == DDEBUG_NR_MESSAGES)
		return;

	/* An interrupt takes the next text, and gives it back. */
	messages->nr = nr + 1;
	barrier();
	text = messages->texts[nr];
	len = scnprintf(text, DDEBUG_MESSAGE_MAX, "%pV", vaf);
	/* A record is a line of its own. */
	if (len && text[len - 1] == '\n')
		text[len - 1] = '\0';
	trace_dyndbg_message(desc, device, text);
	barrier();
	messages->nr = nr;
}
