/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TRACE_PROCESS_H
#define _TRACE_PROCESS_H

/* The tracer "process", see trace_process.c. */

struct dentry;
struct syscall_metadata;
struct trace_array;

/* Of what trace and trace_pipe print. */
#define PROCESS_TRACE_VERSION	1

#ifdef CONFIG_FTRACE_SYSCALLS
const struct syscall_metadata *trace_syscall_metadata(int nr);
#else
static inline const struct syscall_metadata *trace_syscall_metadata(int nr)
{
	return NULL;
}
#endif

#ifdef CONFIG_PROCESS_TRACER
void process_trace_init_tracefs(struct trace_array *tr, struct dentry *parent);
void process_trace_free(struct trace_array *tr);
#else
static inline void process_trace_init_tracefs(struct trace_array *tr,
					      struct dentry *parent) { }
static inline void process_trace_free(struct trace_array *tr) { }
#endif

#endif /* _TRACE_PROCESS_H */
