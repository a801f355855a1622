/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of process-compare share */
#ifndef COMPARE_H
#define COMPARE_H

#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "../common.h"

#define INSTANCE	"/sys/kernel/tracing/instances/strace"
#define LOGS		"/tmp/strace"
#define MAX_ARGS	6

enum difference {
	CHILD_RETURNS, SIGRETURN, OTHER_SIZE, NO_RESULT, KILLED, STOPPED_BY, LIFE, NAMES, COMPAT_NAMES,
	NOT_ENTERED, STARTER, UNSEEN, RESTARTED, DEADLY, TIMING, ONLY_STRACE, REAPED,
	NR_DIFFERENCES
};

enum kind { ENTER, RETURN, SIGNAL, END, FORK, EXEC, STOPPED, SUPERSEDED };

struct event {
	enum kind	kind;
	int		pid;
	uint64_t	ts;
	long		nr;
	int		compat;
	unsigned int	nargs;
	uint64_t	args[MAX_ARGS];
	int64_t		ret;
	int		sig, code, sender, errnum;
	/* END: as of wait(), and the last one of its process? */
	int		status;
	bool		dead;
	/* FORK: the child; EXEC and SUPERSEDED: the thread */
	int		other;
	/* FORK: the process of the child, and the flags */
	int		tgid;
	uint64_t	flags;
	/* For each argument, as the tracer has read or strace printed it */
	char		*strings[MAX_ARGS + 1];
	unsigned int	cut;
	char		*text;
};

struct events {
	struct event	*event;
	size_t		nr, size;
};

struct task {
	int		pid, parent, tgid;
	char		place[128];
	unsigned int	children;
	/* The pid namespace, that of its children, and its pid there; 0: the initial one */
	int		ns, child_ns, number;
	struct events	events;
};

struct run {
	const char	*name;
	struct task	task[1024];
	unsigned int	nr;
	int		starter;
	int		status;
};

extern struct run strace, tracer;
/* All records of the tracer */
extern struct events all;
extern bool apart, paths;
extern const char *mutation, *excluded[16];
extern int nr_excluded;
extern uint64_t differences[NR_DIFFERENCES], calls, signals, strings;

/* events.c: events and tasks */
void *more(void *p, size_t size);
struct event *add(struct events *events);
void remove_event(struct events *events, size_t i);
struct task *task_of(struct run *run, int pid);
struct task *task_at(struct run *run, const char *place);
struct task *add_task(struct run *run, int pid);
void place_child(struct run *run, struct task *parent, int pid);
bool is_fork(long nr, int compat);
bool is_exec(long nr, int compat);
bool is_sigreturn(const struct event *e);
bool is_restart(int64_t ret);
char *read_whole(const char *path);
bool is(const struct event *e, enum kind kind);
const struct task *task_with_number(int ns, int number);
int pid_seen(const struct task *viewer, int pid);
bool same_value(uint64_t one, uint64_t two);

/* strace.c: the output of strace */
void read_strace(void);
void place_strace(struct task *task);

/* tracer.c: the records of the tracer */
void read_tracer(void);

/* namespaces.c: the tree of tasks that the tracer has seen, and pid namespaces */
void check_numbers(void);
void place_tracer(int root);
int root_of_strace(void);
void cut_beginning(struct task *task);

/* spoil.c: one record is spoilt */
void spoil(void);

/* leave-out.c: apart, what depends on the time */
const char *name_of(const struct event *e);
bool has_no_effect(const struct events *events, size_t i);
void leave_out(struct task *task, bool of_strace);

/* compare.c: one task in both */
void compare_task(struct task *task, struct task *other);
void compare_ends(void);

#endif
