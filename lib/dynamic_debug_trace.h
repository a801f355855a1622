/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LIB_DYNAMIC_DEBUG_TRACE_H
#define _LIB_DYNAMIC_DEBUG_TRACE_H

struct _ddebug;
struct va_format;

#ifdef CONFIG_EVENT_TRACING
void ddebug_trace(const struct _ddebug *desc, const char *device,
		  struct va_format *vaf);
#else
static inline void ddebug_trace(const struct _ddebug *desc, const char *device,
				struct va_format *vaf)
{
}
#endif

#endif /* _LIB_DYNAMIC_DEBUG_TRACE_H */
