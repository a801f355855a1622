// SPDX-License-Identifier: GPL-2.0
/*
 * Reads a trace.dat with the library of KernelShark, and prints for each record
 * what its window would show: time stamp in ns, CPU, task, pid, event and text,
 * separated by tabs.
 *
 * usage: kshark-read FILE
 *
 * Build: gcc -I/usr/include/kernelshark kshark-read.c -lkshark
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <libkshark.h>

int main(int argc, char **argv)
{
	struct kshark_context *context = NULL;
	struct kshark_entry **entries = NULL;
	ssize_t count;
	int stream;

	if (argc != 2) {
		fprintf(stderr, "usage: kshark-read FILE\n");
		return 2;
	}

	if (!kshark_instance(&context)) {
		fprintf(stderr, "kshark-read: no session\n");
		return 1;
	}

	stream = kshark_open(context, argv[1]);
	if (stream < 0) {
		fprintf(stderr, "kshark-read: %s can't be opened\n", argv[1]);
		return 1;
	}

	count = kshark_load_entries(context, stream, &entries);
	if (count <= 0) {
		fprintf(stderr, "kshark-read: %s has no records\n", argv[1]);
		return 1;
	}

	for (ssize_t i = 0; i < count; i++) {
		char *event = kshark_get_event_name(entries[i]);
		char *task = kshark_get_task(entries[i]);
		char *info = kshark_get_info(entries[i]);

		printf("%" PRId64 "\t%d\t%s\t%d\t%s\t%s\n", entries[i]->ts,
		       entries[i]->cpu, task ? task : "?",
		       kshark_get_pid(entries[i]), event ? event : "?",
		       info ? info : "?");
		free(event);
		free(task);
		free(info);
		free(entries[i]);
	}
	free(entries);
	kshark_close_all(context);
	kshark_free(context);

	return 0;
}
