// SPDX-License-Identifier: GPL-2.0
/* The records of the tracer, from trace_pipe_raw and trace */
#define _GNU_SOURCE
#include <fcntl.h>
#include "../ring-page.h"
#include "compare.h"

#define FORMATS		"/sys/kernel/tracing/events/ftrace"

struct events all;

struct format_field {
	const char	*name;
	int		offset, size;
};

enum { FORK_FORMAT, EXEC_FORMAT, EXIT_FORMAT, SIGNAL_FORMAT, ENTER_FORMAT, RETURN_FORMAT,
       NR_FORMATS };

static struct format {
	const char		*name;
	int			id;
	struct format_field	field[8];
} formats[NR_FORMATS] = {
	[FORK_FORMAT] = { "process_fork", 0, { { "child" }, { "child_tgid" }, { "clone_flags" } } },
	[EXEC_FORMAT] = { "process_exec", 0, { { "old_pid" }, { "filename" } } },
	[EXIT_FORMAT] = { "process_exit", 0, { { "code" }, { "group_dead" } } },
	[SIGNAL_FORMAT] = { "process_signal", 0, { { "sig" }, { "code" }, { "sender" }, { "errno" } } },
	[ENTER_FORMAT] = { "process_sys_enter", 0, { { "nr" }, { "compat" }, { "args" },
		{ "strings_mask" }, { "strings_cut" }, { "nr_args" } } },
	[RETURN_FORMAT] = { "process_sys_exit", 0, { { "nr" }, { "compat" }, { "ret" } } },
};

static void read_format(struct format *format)
{
	char path[128], *text, *at, pattern[64];

	snprintf(path, sizeof(path), FORMATS "/%s/format", format->name);
	text = read_whole(path);
	at = strstr(text, "ID: ");
	format->id = at ? atoi(at + 4) : 0;
	for (struct format_field *f = format->field; f->name; f++) {
		at = NULL;
		for (const char *end = ";[("; *end && !at; end++) {
			snprintf(pattern, sizeof(pattern), " %s%c", f->name, *end);
			at = strstr(text, pattern);
		}
		if (!at || sscanf(strstr(at, "offset:"), "offset:%d;\tsize:%d;", &f->offset,
				  &f->size) != 2)
			fail("%s has no field %s", path, f->name);
	}
	free(text);
}

static int64_t get(const struct format *format, int index, const char *data)
{
	const struct format_field *f = &format->field[index];
	int64_t val64;
	int32_t val;
	uint16_t val16;

	switch (f->size) {
	case 1:
		return (uint8_t)data[f->offset];
	case 2:
		memcpy(&val16, data + f->offset, 2);
		return val16;
	case 4:
		memcpy(&val, data + f->offset, 4);
		return val;
	default:
		memcpy(&val64, data + f->offset, 8);
		return val64;
	}
}

static void take_strings(struct event *e, const struct format *format, const char *data,
			 unsigned int mask, size_t len)
{
	/* Behind the arguments */
	const char *p = data + format->field[2].offset + get(format, 5, data) * sizeof(long);
	const char *end = data + len;

	for (unsigned int i = 0; i < MAX_ARGS; i++) {
		if (!(mask & (1 << i)))
			continue;
		if (p >= end)
			fail("tracer: a record is too short for its strings");
		e->strings[i] = strndup(p, end - p);
		p += strlen(e->strings[i]) + 1;
	}
}

static void take_record(void *arg, uint64_t ts, const uint8_t *record, uint32_t len)
{
	const char *data = (const char *)record;
	struct event *e = add(&all);
	const struct format *format;
	unsigned int i;
	uint16_t type;

	(void)arg;
	memcpy(&type, data, sizeof(type));
	memcpy(&e->pid, data + 4, sizeof(e->pid));
	e->ts = ts;
	for (i = 0; i < NR_FORMATS && formats[i].id != type; i++)
		;
	format = &formats[i];
	switch (i) {
	case FORK_FORMAT:
		e->kind = FORK;
		e->other = get(format, 0, data);
		e->tgid = get(format, 1, data);
		e->flags = get(format, 2, data);
		break;
	case EXEC_FORMAT:
		e->kind = EXEC;
		e->other = get(format, 0, data);
		e->strings[0] = strdup(data + format->field[1].offset);
		break;
	case EXIT_FORMAT:
		e->kind = END;
		e->status = get(format, 0, data);
		e->dead = get(format, 1, data);
		break;
	case SIGNAL_FORMAT:
		e->kind = SIGNAL;
		e->sig = get(format, 0, data);
		e->code = get(format, 1, data);
		e->sender = get(format, 2, data);
		e->errnum = get(format, 3, data);
		break;
	case ENTER_FORMAT:
		e->kind = ENTER;
		e->nr = get(format, 0, data);
		e->compat = get(format, 1, data);
		e->nargs = get(format, 5, data);
		if (e->nargs > MAX_ARGS)
			fail("tracer: a call with %u arguments", e->nargs);
		memcpy(e->args, data + format->field[2].offset, e->nargs * sizeof(long));
		e->cut = get(format, 4, data);
		take_strings(e, format, data, get(format, 3, data), len);
		break;
	case RETURN_FORMAT:
		e->kind = RETURN;
		e->nr = get(format, 0, data);
		e->compat = get(format, 1, data);
		e->ret = get(format, 2, data);
		break;
	default:
		fail("tracer: a record of type %u", type);
	}
}

static int by_time(const void *one, const void *two)
{
	const struct event *a = one, *b = two;

	return a->ts < b->ts ? -1 : a->ts > b->ts;
}

/* The part of each line behind the time: "openat(dfd=AT_FDCWD, ..." */
static void take_texts(char *text)
{
	char *line, *end, *body;
	size_t i = 0;

	for (line = text; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		if (*line == '#' || !*line)
			continue;
		body = strstr(line, ": ");
		if (!body || i == all.nr)
			fail("tracer: trace has %s", body ? "more lines than records" : line);
		all.event[i++].text = strdup(body + 2);
	}
	if (i != all.nr)
		fail("tracer: trace has %zu lines, and there are %zu records", i, all.nr);
	free(text);
}

void read_tracer(void)
{
	static _Alignas(8) char page[1 << 16];
	const char *wrong;
	char path[128], *text = read_whole(INSTANCE "/trace");
	ssize_t n;

	for (int i = 0; i < NR_FORMATS; i++)
		read_format(&formats[i]);
	for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_CONF); cpu++) {
		int fd;

		snprintf(path, sizeof(path), INSTANCE "/per_cpu/cpu%d/trace_pipe_raw", cpu);
		fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		if (fd < 0)
			fail("%s: %s", path, strerror(errno));
		while ((n = read(fd, page, sizeof(page))) > 0) {
			wrong = take_page((struct ring_page *)page, n, take_record, NULL);
			if (wrong)
				fail("tracer: %s", wrong);
		}
		if (n < 0 && errno != EAGAIN)
			fail("%s: %s", path, strerror(errno));
		close(fd);
	}
	qsort(all.event, all.nr, sizeof(*all.event), by_time);
	take_texts(text);
}
