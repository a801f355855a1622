/* SPDX-License-Identifier: GPL-2.0 */
#pragma once

#include <stdbool.h>
#include <tracefs.h>

#define EXIT_USAGE	2

struct options {
	const char	*instance;
	const char	*buffer_size;
	const char	*clock;
	const char	*module;
	bool		sites;
};

void err_msg(const char *fmt, ...);
int usage_error(void);
int open_instance(const char *name, struct tracefs_instance **instance);
int write_file(struct tracefs_instance *instance, const char *file,
	       const char *text);
char **select_events(char **patterns);
int switch_events(struct tracefs_instance *instance, char **events, bool on);
void restore_events(struct tracefs_instance *instance, char **events, int nr,
		    bool on);
int follow_main(const struct options *options, int argc, char **argv);
