// SPDX-License-Identifier: GPL-2.0
/*
 * The trace event of dynamic debug: messages of sites that have the flag T
 */

#include <linux/compiler.h>
#include <linux/dynamic_debug.h>
#include <linux/minmax.h>
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/sprintf.h>
#include <linux/string.h>
#include <linux/trace_recursion.h>

#include "dynamic_debug_trace.h"

/* As much as printk() keeps of a message */
#define DDEBUG_MESSAGE_MAX	1024

/* The text may have become shorter since @size was computed. */
static void ddebug_print_message(char *text, unsigned int size,
				 struct va_format *vaf)
{
	unsigned int len = scnprintf(text, size, "%pV", vaf);

	/* A record is a line of its own. */
	if (len && text[len - 1] == '\n')
		len--;
	memset(text + len, 0, size - len);
}

#define CREATE_TRACE_POINTS
#include <trace/events/dyndbg.h>

/*
 * Each instance formats the message into its record. A text that they share
 * would be in memory that other tasks must not take meanwhile. With preemption
 * off for that, all records would have a preempt count that is not the site's.
 */
void ddebug_trace(const struct _ddebug *desc, const char *device,
		  struct va_format *vaf)
{
	unsigned int size, bit;

	if (!trace_dyndbg_message_enabled())
		return;

	/* The code that records a message can have debug messages, too. */
	bit = TRACE_DYNDBG_BIT + interrupt_context_level();
	if (trace_recursion_test(bit))
		return;

	trace_recursion_set(bit);
	barrier();
	size = min(snprintf(NULL, 0, "%pV", vaf) + 1, DDEBUG_MESSAGE_MAX);
	trace_dyndbg_message(desc, device, vaf, size);
	barrier();
	trace_recursion_clear(bit);
}
