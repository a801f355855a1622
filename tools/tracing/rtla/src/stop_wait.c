// SPDX-License-Identifier: GPL-2.0
/*
 * Wait until the tracer may have stopped tracing.
 *
 * The tracer stops when a sample is above a threshold, which is also a sample
 * of a trace event. In an instance of its own that event takes a snapshot when
 * it is above the threshold. Nothing is recorded there, but who polls the file
 * snapshot_stat is woken. Where the kernel has no such file, sleep.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <tracefs.h>

#include "timerlat.h"
#include "stop_wait.h"

/* It switches tracing off right after it has made the event. */
#define STOP_TRIES	100
#define STOP_TRY_US	1000

static struct tracefs_instance *stop_inst;
static int stop_fd = -1;

static int stop_trigger(const char *event, const char *condition)
{
	char trigger[256];

	snprintf(trigger, sizeof(trigger), "snapshot if %s", condition);

	return tracefs_event_file_write(stop_inst, "osnoise", event, "trigger",
					trigger);
}

/* A BPF program looks at the samples, and rtla waits for that one. */
static bool stop_by_bpf(struct osnoise_tool *tool)
{
	if (strcmp(tool->ops->tracer, "timerlat"))
		return false;

	return to_timerlat_params(tool->params)->mode != TRACING_MODE_TRACEFS;
}

static int stop_triggers(struct osnoise_tool *tool)
{
	struct common_params *params = tool->params;
	long long total_us = params->stop_total_us;
	long long us = params->stop_us;
	char irq[64] = "context < 0";
	char thread[64] = "context < 0";
	char condition[160];
	int retval = 0;

	if (!strcmp(tool->ops->tracer, "timerlat")) {
		if (us > 0)
			snprintf(irq, sizeof(irq),
				 "context == 0 && timer_latency >= %lld",
				 us * 1000);
		if (total_us > 0)
			snprintf(thread, sizeof(thread),
				 "context > 0 && timer_latency >= %lld",
				 total_us * 1000);
		snprintf(condition, sizeof(condition), "(%s) || (%s)", irq,
			 thread);
		return stop_trigger("timerlat_sample", condition);
	}

	if (us > 0) {
		snprintf(condition, sizeof(condition), "duration > %lld",
			 us * 1000);
		retval = stop_trigger("sample_threshold", condition);
	}
	if (retval >= 0 && total_us > 0) {
		snprintf(condition, sizeof(condition), "noise > %lld", total_us);
		retval = stop_trigger("osnoise_sample", condition);
	}

	return retval;
}

/*
 * stop_wait_init - prepare to wait for what stops tracing
 * @tool: the tool, with its thresholds
 *
 * If that is not possible stop_wait() sleeps. So there is no error.
 */
void stop_wait_init(struct osnoise_tool *tool)
{
	struct common_params *params = tool->params;
	char name[64];

	if (params->stop_us <= 0 && params->stop_total_us <= 0)
		return;

	if (stop_by_bpf(tool) || !tracefs_file_exists(NULL, "snapshot_stat"))
		return;

	snprintf(name, sizeof(name), "rtla_stop_%d", getpid());
	stop_inst = tracefs_instance_create(name);
	if (!stop_inst)
		return;

	if (tracefs_instance_file_write(stop_inst, "buffer_size_kb", "1") < 0 ||
	    tracefs_instance_file_write(stop_inst, "snapshot_enabled", "1") < 0 ||
	    stop_triggers(tool) < 0)
		goto out_destroy;

	stop_fd = tracefs_instance_file_open(stop_inst, "snapshot_stat",
					     O_RDONLY);
	if (stop_fd < 0)
		goto out_destroy;

	debug_msg("waiting for snapshots of %s\n", name);
	return;

out_destroy:
	stop_wait_destroy();
}

/*
 * stop_wait - wait until tracing may have stopped
 * @tool: the tool
 * @seconds: for how long at most
 */
void stop_wait(struct osnoise_tool *tool, int seconds)
{
	struct pollfd pollfd = { .fd = stop_fd, .events = POLLIN };
	char stat[256];
	int tries = STOP_TRIES;

	if (stop_fd < 0) {
		sleep(seconds);
		return;
	}

	if (poll(&pollfd, 1, seconds * 1000) <= 0)
		return;

	/* From now on it waits for the next one. */
	if (pread(stop_fd, stat, sizeof(stat), 0) < 0)
		debug_msg("snapshot_stat can't be read\n");

	while (tries-- && !osnoise_trace_is_off(tool, tool->record))
		usleep(STOP_TRY_US);
}

/*
 * stop_wait_destroy - undo stop_wait_init()
 */
void stop_wait_destroy(void)
{
	if (stop_fd >= 0)
		close(stop_fd);
	stop_fd = -1;

	if (!stop_inst)
		return;

	tracefs_instance_destroy(stop_inst);
	tracefs_instance_free(stop_inst);
	stop_inst = NULL;
}
