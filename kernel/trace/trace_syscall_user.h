/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TRACE_SYSCALL_USER_H
#define _TRACE_SYSCALL_USER_H

/* Read what the arguments of a system call point to, see trace_syscalls.c. */

#include "trace.h"

struct syscall_metadata;

/*
 * Create a per CPU temporary buffer to copy user space pointers into.
 *
 * SYSCALL_FAULT_USER_MAX is the amount to copy from user space.
 *  (defined in kernel/trace/trace.h)
 *
 * SYSCALL_FAULT_ARG_SZ is the amount to copy from user space plus the
 *   nul terminating byte and possibly appended EXTRA (4 bytes).
 *
 * SYSCALL_FAULT_BUF_SZ holds the size of the per CPU buffer to use
 * to copy memory from user space addresses into that will hold
 * 3 args as only 3 args are allowed to be copied from system calls.
 */
#define SYSCALL_FAULT_ARG_SZ (SYSCALL_FAULT_USER_MAX + 1 + 4)
#define SYSCALL_FAULT_MAX_CNT 3
#define SYSCALL_FAULT_BUF_SZ (SYSCALL_FAULT_ARG_SZ * SYSCALL_FAULT_MAX_CNT)

struct syscall_args {
	char		*ptr_array[SYSCALL_FAULT_MAX_CNT];
	int		read[SYSCALL_FAULT_MAX_CNT];
	int		uargs;
};

const struct syscall_metadata *trace_syscall_metadata(int nr);
int trace_syscall_user_get(void);
void trace_syscall_user_put(void);
char *trace_syscall_user_read(const struct syscall_metadata *meta,
			      const unsigned long *args,
			      struct syscall_args *user);

#endif /* _TRACE_SYSCALL_USER_H */
