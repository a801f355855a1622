// SPDX-License-Identifier: GPL-2.0
/*
 * The trace event of dynamic debug: messages of sites that have the flag T
 */

#include <linux/dynamic_debug.h>
#include <linux/minmax.h>
#include <linux/printk.h>
#include <linux/sprintf.h>

#define CREATE_TRACE_POINTS
#include <trace/events/dyndbg.h>

/* As much as printk() keeps of a message */
#define DDEBUG_MESSAGE_MAX	1024

/* The bytes of a message with its end, before the record is reserved */
unsigned int ddebug_message_size(struct va_format *vaf)
{
	unsigned int len = snprintf(NULL, 0, "%pV", vaf);

	return min(len + 1, DDEBUG_MESSAGE_MAX);
}

/* What the arguments point to may have become longer meanwhile. */
void ddebug_message(char *message, unsigned int size, struct va_format *vaf)
{
	unsigned int len = scnprintf(message, size, "%pV", vaf);

	/* A record is a line of its own. */
	if (len && message[len - 1] == '\n')
		message[len - 1] = '\0';
}
