// SPDX-License-Identifier: GPL-2.0
/*
 * ktrace-cmd: list, switch and follow ktrace events.
 *
 * Sites are lines of the file ktrace_sites. Those with an event say which:
 * system:name, the directory events/system/name.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ktrace.h"

static const char usage_text[] =
	"usage: ktrace-cmd list [-i INSTANCE] [EVENT...]\n"
	"       ktrace-cmd enable | disable [-i INSTANCE] EVENT...\n"
	"       ktrace-cmd enable | disable -s QUERY\n"
	"       ktrace-cmd follow [-b KB] [-c CLOCK] [-m MODULE] [EVENT...]\n"
	"       ktrace-cmd follow -i INSTANCE [EVENT...]\n"
	"\n"
	"  list      events and their sites, with their state\n"
	"  enable    switch events on, or unmute sites\n"
	"  disable   switch events off, or mute sites\n"
	"  follow    print events when they happen, until Ctrl-C\n"
	"\n"
	"  -i, --instance=NAME   a trace instance; else the top level, and for\n"
	"                        follow an instance that is there only meanwhile\n"
	"  -s, --sites           the sites that QUERY chooses, for all instances\n"
	"  -b, --buffer-size=KB  size of the ring buffer of each CPU\n"
	"  -c, --clock=CLOCK     the trace clock\n"
	"  -m, --module=MODULE   all trace events of a module, also if it is\n"
	"                        loaded later\n"
	"  -h, --help            this text\n"
	"\n"
	"  EVENT   NAME or SYSTEM:NAME of ktrace events, can have the wildcards\n"
	"          * and ?\n"
	"  QUERY   conditions, which all have to be true: file FILE, line N-M,\n"
	"          func FUNCTION, module MODULE, system SYSTEM,\n"
	"          name NAME\n";

/* Print an error message. */
void err_msg(const char *fmt, ...)
{
	va_list ap;

	fputs("ktrace-cmd: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
}

/* The return value after a message about the command line */
int usage_error(void)
{
	fputs("see: ktrace-cmd --help\n", stderr);

	return EXIT_USAGE;
}

/* Can ktrace be used here? Mounts nothing. */
static int check_tracefs(void)
{
	int ret;
	int fd;

	if (tracefs_tracing_dir_is_mounted(false, NULL) <= 0) {
		err_msg("tracefs is not mounted: mount -t tracefs nodev /sys/kernel/tracing\n");
		return -ENODEV;
	}

	fd = tracefs_instance_file_open(NULL, "ktrace_sites", O_RDONLY);
	if (fd >= 0) {
		close(fd);
		return 0;
	}

	ret = -errno;
	if (ret == -ENOENT)
		err_msg("there is no ktrace_sites in %s: the kernel is without CONFIG_KTRACE\n",
			tracefs_tracing_dir());
	else
		err_msg("%s/ktrace_sites: %s%s\n", tracefs_tracing_dir(),
			strerror(-ret), ret == -EACCES ? ", are you root?" : "");

	return ret;
}

/*
 * Get an instance that is there, NULL for the top level.
 *
 * Returns 0, or a negative errno value after a message.
 */
int open_instance(const char *name, struct tracefs_instance **instance)
{
	*instance = NULL;
	if (!name)
		return 0;

	if (!*name || strchr(name, '/') || !tracefs_instance_exists(name)) {
		err_msg("there is no instance '%s'\n", name);
		return -ENOENT;
	}

	*instance = tracefs_instance_alloc(NULL, name);
	if (*instance)
		return 0;
	err_msg("%s\n", strerror(ENOMEM));

	return -ENOMEM;
}

/*
 * Write to a file of an instance, by one write().
 *
 * Returns 0, or a negative errno value without a message.
 */
int write_file(struct tracefs_instance *instance, const char *file,
	       const char *text)
{
	int fd = tracefs_instance_file_open(instance, file, O_WRONLY);
	int ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		ret = -errno;
	close(fd);

	return ret;
}

/* Put the name of a file of an event, as system:name, into @file. */
static void event_file(char *file, size_t size, const char *event)
{
	int len = strcspn(event, ":");

	snprintf(file, size, "events/%.*s/%s/enable", len, event,
		 event + len + 1);
}

/* 0 or 1, or a negative errno value */
static int event_is_on(struct tracefs_instance *instance, const char *event)
{
	char file[256];
	char *text;
	int on;

	event_file(file, sizeof(file), event);
	text = tracefs_instance_file_read(instance, file, NULL);
	if (!text)
		return -ENOENT;
	on = *text == '1';
	free(text);

	return on;
}

static int switch_event(struct tracefs_instance *instance, const char *event,
			bool on)
{
	char file[256];

	event_file(file, sizeof(file), event);

	return write_file(instance, file, on ? "1" : "0");
}

/*
 * Undo switch_events().
 *
 * @nr is what it returned, @on the state from before.
 */
void restore_events(struct tracefs_instance *instance, char **events, int nr,
		    bool on)
{
	for (int i = 0; i < nr; i++) {
		int ret = switch_event(instance, events[i], on);

		/* It may have gone with its module. */
		if (ret < 0 && ret != -ENOENT)
			err_msg("%s can't be switched %s again: %s\n",
				events[i], on ? "on" : "off", strerror(-ret));
	}
}

/*
 * Switch events, all or none.
 *
 * Returns how many were not so before, which come first in @events then, or a
 * negative errno value after a message.
 */
int switch_events(struct tracefs_instance *instance, char **events, bool on)
{
	int switched = 0;

	for (int i = 0; events[i]; i++) {
		char *event = events[i];
		int ret = event_is_on(instance, event);

		if (ret == on)
			continue;
		if (ret >= 0)
			ret = switch_event(instance, event, on);
		if (ret < 0) {
			err_msg("%s can't be switched %s: %s\n", event,
				on ? "on" : "off", strerror(-ret));
			restore_events(instance, events, switched, !on);
			return ret;
		}
		events[i] = events[switched];
		events[switched++] = event;
	}

	return switched;
}

/* Does a pattern match system:name or name? */
static bool match(const char *pattern, const char *event)
{
	if (!strchr(pattern, ':'))
		event = strchr(event, ':') + 1;

	return !fnmatch(pattern, event, FNM_NOESCAPE);
}

static bool matches(char **patterns, const char *event)
{
	if (!*patterns)
		return true;

	for (; *patterns; patterns++) {
		if (match(*patterns, event))
			return true;
	}

	return false;
}

/* A line of ktrace_sites: file:line [module] function event state "format" */
struct site {
	char	*place;
	char	*event;
	char	*state;
	char	*format;
};

/* Cut @line into columns, each of which is without blanks but the last one. */
static bool parse_site(struct site *site, char *line)
{
	char *columns[5];

	if (*line == '#')
		return false;

	for (int i = 0; i < 5; i++) {
		columns[i] = strsep(&line, " ");
		if (!line)
			return false;
	}
	if (!strchr(columns[3], ':'))
		return false;

	/* Put file, module and function together again. */
	columns[1][-1] = ' ';
	columns[2][-1] = ' ';
	site->place = columns[0];
	site->event = columns[3];
	site->state = columns[4];
	site->format = line;

	return true;
}

static bool is_in_list(char **list, const char *event)
{
	for (; list && *list; list++) {
		if (!strcmp(*list, event))
			return true;
	}

	return false;
}

/*
 * The events that match one pattern at least; all, if there is no pattern.
 *
 * Returns a list for tracefs_list_free(), or NULL after a message if there are
 * none, or none for one of the patterns.
 */
char **select_events(char **patterns)
{
	char *text = tracefs_instance_file_read(NULL, "ktrace_sites", NULL);
	char **selected = NULL;
	char *line, *next;
	struct site site;

	for (next = text; (line = strsep(&next, "\n"));) {
		if (parse_site(&site, line) && strcmp(site.state, "refused") &&
		    matches(patterns, site.event) &&
		    !is_in_list(selected, site.event))
			selected = tracefs_list_add(selected, site.event);
	}
	free(text);
	if (!selected && !*patterns)
		err_msg("there are no ktrace events\n");

	for (; *patterns; patterns++) {
		char **event = selected;

		while (event && *event && !match(*patterns, *event))
			event++;
		if (event && *event)
			continue;
		err_msg("there is no ktrace event '%s'\n", *patterns);
		tracefs_list_free(selected);
		return NULL;
	}

	return selected;
}

/* A site that was refused has nothing to do with an event of that name. */
static void list_site(struct tracefs_instance *instance, const struct site *site)
{
	int on = -1;

	if (strcmp(site->state, "refused"))
		on = event_is_on(instance, site->event);

	printf("%-28s %-5s %-7s %s %s\n", site->event,
	       on < 0 ? "-" : on ? "on" : "off", site->state, site->place,
	       site->format);
}

static int list_main(const struct options *options, int argc, char **argv)
{
	struct tracefs_instance *instance;
	char *text, *line, *next;
	struct site site;
	int listed = 0;

	if (open_instance(options->instance, &instance))
		return EXIT_FAILURE;

	text = tracefs_instance_file_read(NULL, "ktrace_sites", NULL);
	if (!text) {
		err_msg("ktrace_sites can't be read\n");
		tracefs_instance_free(instance);
		return EXIT_FAILURE;
	}
	printf("%-28s %-5s %-7s %s\n", "EVENT", "STATE", "SITE", "PLACE");

	for (next = text; (line = strsep(&next, "\n"));) {
		if (!parse_site(&site, line) || !matches(argv, site.event))
			continue;
		list_site(instance, &site);
		listed++;
	}

	free(text);
	tracefs_instance_free(instance);
	if (listed || !argc)
		return EXIT_SUCCESS;
	err_msg("no ktrace event matches\n");

	return EXIT_FAILURE;
}

/* The kernel looks at the query, and explains in error_log what is wrong. */
static int switch_sites(int argc, char **argv, bool on)
{
	char query[1024] = "";
	size_t length = 0;
	char *error;
	int ret;

	for (int i = 0; i < argc && length < sizeof(query); i++)
		length += snprintf(query + length, sizeof(query) - length,
				   "%s ", argv[i]);
	if (length < sizeof(query))
		length += snprintf(query + length, sizeof(query) - length,
				   "%s", on ? "+e" : "-e");

	ret = length < sizeof(query) ? write_file(NULL, "ktrace_sites", query) :
				       -E2BIG;
	if (!ret)
		return EXIT_SUCCESS;

	error = ret == -EINVAL || ret == -ENOENT ? tracefs_error_last(NULL) : NULL;
	if (error)
		err_msg("%s\n", error);
	else
		err_msg("ktrace_sites: %s\n", strerror(-ret));
	free(error);

	return EXIT_FAILURE;
}

static int switch_main(const struct options *options, int argc, char **argv,
		       bool on)
{
	struct tracefs_instance *instance;
	int ret = EXIT_FAILURE;
	char **events;

	if (!argc) {
		err_msg("which %s?\n", options->sites ? "sites" : "events");
		return usage_error();
	}
	if (options->sites && options->instance) {
		err_msg("-s is for all instances, so there is no -i with it\n");
		return usage_error();
	}
	if (options->sites)
		return switch_sites(argc, argv, on);

	if (open_instance(options->instance, &instance))
		return EXIT_FAILURE;
	events = select_events(argv);
	if (events && switch_events(instance, events, on) >= 0)
		ret = EXIT_SUCCESS;
	tracefs_list_free(events);
	tracefs_instance_free(instance);

	return ret;
}

static int enable_main(const struct options *options, int argc, char **argv)
{
	return switch_main(options, argc, argv, true);
}

static int disable_main(const struct options *options, int argc, char **argv)
{
	return switch_main(options, argc, argv, false);
}

static const struct command {
	const char	*name;
	const char	*options;
	int		(*main)(const struct options *options, int argc,
				char **argv);
} commands[] = {
	{ "list",	"+hi:",		list_main },
	{ "enable",	"+hi:s",	enable_main },
	{ "disable",	"+hi:s",	disable_main },
	{ "follow",	"+hi:b:c:m:",	follow_main },
	{ }
};

static int run(const struct command *command, int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "help",		no_argument,		NULL, 'h' },
		{ "instance",		required_argument,	NULL, 'i' },
		{ "sites",		no_argument,		NULL, 's' },
		{ "buffer-size",	required_argument,	NULL, 'b' },
		{ "clock",		required_argument,	NULL, 'c' },
		{ "module",		required_argument,	NULL, 'm' },
		{ }
	};
	struct options options = { };
	int c;

	while ((c = getopt_long(argc, argv, command->options, long_options,
				NULL)) >= 0) {
		if (c != '?' && !strchr(command->options, c))
			err_msg("%s has no option -%c\n", command->name, c);
		if (c == '?' || !strchr(command->options, c))
			return usage_error();
		if (c == 'h') {
			fputs(usage_text, stdout);
			return EXIT_SUCCESS;
		}
		if (c == 'i')
			options.instance = optarg;
		else if (c == 's')
			options.sites = true;
		else if (c == 'b')
			options.buffer_size = optarg;
		else if (c == 'c')
			options.clock = optarg;
		else if (c == 'm')
			options.module = optarg;
	}

	if (check_tracefs())
		return EXIT_FAILURE;

	return command->main(&options, argc - optind, argv + optind);
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		fputs(usage_text, stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help")) {
		fputs(usage_text, stdout);
		return EXIT_SUCCESS;
	}

	for (const struct command *command = commands; command->name; command++) {
		if (!strcmp(argv[1], command->name))
			return run(command, argc - 1, argv + 1);
	}

	err_msg("there is no command '%s'\n", argv[1]);

	return usage_error();
}
