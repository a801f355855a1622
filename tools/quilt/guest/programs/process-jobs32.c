// SPDX-License-Identifier: GPL-2.0
/*
 * A 32-bit program for the scenario process-strace. It needs no 32-bit library
 * and no header of one: gcc -m32 -static -nostdlib -ffreestanding.
 */

#define NR_EXIT		1
#define NR_FORK		2
#define NR_READ		3
#define NR_WRITE	4
#define NR_OPEN		5
#define NR_WAITPID	7
#define NR_EXECVE	11
#define NR_GETPID	20
#define NR_KILL		37
#define NR_RT_SIGACTION	174
#define NR_MMAP2	192
#define NR_OPENAT	295

#define SIGUSR1		10
#define SA_SIGINFO	0x00000004
#define SA_RESTORER	0x04000000

struct kernel_sigaction {
	void		(*handler)(int sig);
	unsigned long	flags;
	void		(*restorer)(void);
	unsigned long	mask[2];
};

long call(long nr, long a, long b, long c, long d, long e, long f);
void restorer(void);

asm(".globl call\n"
    "call:\n"
    "	push %ebp\n"
    "	push %edi\n"
    "	push %esi\n"
    "	push %ebx\n"
    "	mov 20(%esp), %eax\n"
    "	mov 24(%esp), %ebx\n"
    "	mov 28(%esp), %ecx\n"
    "	mov 32(%esp), %edx\n"
    "	mov 36(%esp), %esi\n"
    "	mov 40(%esp), %edi\n"
    "	mov 44(%esp), %ebp\n"
    "	int $0x80\n"
    "	pop %ebx\n"
    "	pop %esi\n"
    "	pop %edi\n"
    "	pop %ebp\n"
    "	ret\n"
    ".globl restorer\n"
    "restorer:\n"
    "	mov $173, %eax\n"	/* rt_sigreturn */
    "	int $0x80\n"
    ".globl _start\n"
    "_start:\n"
    "	and $-16, %esp\n"
    "	call job\n"
    "	mov %eax, %ebx\n"
    "	mov $1, %eax\n"
    "	int $0x80\n");

static volatile int handled;

static void handler(int sig)
{
	handled = sig;
}

int job(void);
int job(void)
{
	static char *argv[] = { "/usr/bin/process-jobs", "exit", "55", 0 };
	struct kernel_sigaction sa = {
		.handler = handler, .flags = SA_SIGINFO | SA_RESTORER, .restorer = restorer,
	};
	static char *envp[] = { 0 };
	int status = 0;
	long pid;

	call(NR_OPEN, (long)"/nowhere", 0, 0, 0, 0, 0);
	call(NR_OPENAT, -100, (long)"/etc/passwd", 0, 0, 0, 0);
	call(NR_OPEN, -1, 0, 0, 0, 0, 0);
	call(NR_READ, -1, -1, -1, 0, 0, 0);
	call(NR_MMAP2, 0, 0x1000, 3, 0x22, -1, 0);
	call(NR_MMAP2, -1, -1, -1, -1, -1, -1);
	call(9999, 1, 2, 3, 4, 5, 6);

	pid = call(NR_GETPID, 0, 0, 0, 0, 0, 0);
	call(NR_RT_SIGACTION, SIGUSR1, (long)&sa, 0, 8, 0, 0);
	call(NR_KILL, pid, SIGUSR1, 0, 0, 0, 0);
	if (handled != SIGUSR1)
		return 98;

	pid = call(NR_FORK, 0, 0, 0, 0, 0, 0);
	if (!pid) {
		call(NR_EXECVE, (long)argv[0], (long)argv, (long)envp, 0, 0, 0);
		return 97;
	}
	call(NR_WAITPID, pid, (long)&status, 0, 0, 0, 0);

	return status >> 8;
}
