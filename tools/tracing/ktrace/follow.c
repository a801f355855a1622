// SPDX-License-Identifier: GPL-2.0
/*
 * Print the records of an instance when they are made, from ring buffers that
 * are mapped into memory.
 *
 * Each CPU has a ring buffer. The kernel lends one sub-buffer of it at a time,
 * until the next one is asked for, see Documentation/trace/ring-buffer-map.rst.
 * The records of a CPU are in the order of time. To merge those of all CPUs,
 * the oldest one is printed. Before that, each CPU that had no record is asked
 * once more. A CPU that has none even then can't add an older one, unless that
 * one is being written at that very moment.
 *
 * Signals are read from a file, so none is missed and none interrupts anything.
 */

#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <kbuffer.h>
#include <uapi/linux/trace_mmap.h>

#include "ktrace.h"

/* A record that comes right when poll() goes to sleep may not wake it. */
#define POLL_MS		1000

#define MAX_EVENT_ID	65536

struct cpu {
	struct trace_buffer_meta *meta;
	size_t			size;		/* of the mapping */
	struct kbuffer		*kbuf;
	int			cpu;
	int			fd;
	/* The sub-buffer that was lent. It is another one with another time. */
	unsigned int		id;
	unsigned long long	id_ts;
	unsigned int		printed;	/* bytes, from its start */
	unsigned int		end;
	int			lost;		/* before it, -1: unknown */
	/* The next record, if there is one */
	void			*record;
	unsigned long long	ts;
	/* Since the mapping was made */
	unsigned long long	overrun;
	unsigned int		loads_left;	/* when it comes to an end */
};

struct follow {
	struct tracefs_instance *instance;
	bool			own;
	char			*buffer_percent;	/* to be restored */
	char			**events;

	struct cpu		*cpus;
	int			nr_cpus;
	int			signals;	/* file */
	int			stop;		/* how often that was asked for */

	struct tep_handle	*tep;
	bool			all_systems;
	bool			in_vain;	/* in this round, or second */
	time_t			second;
	bool			fresh_comms;
	bool			in_ns;
	struct trace_seq	seq;
	unsigned long long	nr_records;
	unsigned int		loads;
	/* Directories of events: an id can come back as that of another one. */
	struct {
		ino_t		ino;
		unsigned int	checked;	/* at that load */
	} dirs[MAX_EVENT_ID];
};

/* Formats, symbols, names of tasks */

static ino_t event_dir(const struct tep_event *event)
{
	struct stat st = { };
	char *dir;

	if (asprintf(&dir, "%s/events/%s/%s", tracefs_tracing_dir(),
		     event->system, event->name) < 0)
		return 0;
	if (stat(dir, &st))
		st.st_ino = 0;
	free(dir);

	return st.st_ino;
}

static bool needs_symbols(const struct tep_event *event)
{
	const char *format = event->print_fmt.format;

	return format && (strstr(format, "%ps") || strstr(format, "%pS") ||
			  strstr(format, "%pB"));
}

static void load_symbols(struct tep_handle *tep)
{
	FILE *file = fopen("/proc/kallsyms", "r");
	char *text = NULL;
	size_t size = 0;

	if (!file)
		return;
	if (getdelim(&text, &size, 0, file) > 0)
		tep_parse_kallsyms(tep, text);
	free(text);
	fclose(file);
}

static void load_comms(struct follow *f)
{
	char *text, *line, *next;
	char comm[17];
	int pid;

	f->fresh_comms = true;
	text = tracefs_instance_file_read(NULL, "saved_cmdlines", NULL);
	for (next = text; (line = strsep(&next, "\n"));) {
		if (sscanf(line, "%d %16[^\n]", &pid, comm) == 2)
			tep_override_comm(f->tep, comm, pid);
	}
	free(text);
}

/* The systems of the events that are followed, and that of the kernel itself */
static struct tep_handle *load_systems(struct follow *f)
{
	char **systems = tracefs_list_add(NULL, "ftrace");
	struct tep_handle *tep;

	for (char **event = f->events; event && *event; event++) {
		char *name = strndup(*event, strcspn(*event, ":"));
		char **system = systems;

		while (name && system && *system && strcmp(*system, name))
			system++;
		if (name && system && !*system)
			systems = tracefs_list_add(systems, name);
		free(name);
	}
	tep = tracefs_local_events_system(NULL, (const char * const *)systems);
	tracefs_list_free(systems);

	return tep;
}

static int load_formats(struct follow *f)
{
	struct tep_handle *tep;
	struct tep_event *event;
	bool symbols = false;

	if (f->all_systems)
		tep = tracefs_local_events(NULL);
	else
		tep = load_systems(f);
	if (!tep) {
		err_msg("the formats of events can't be read\n");
		return -EIO;
	}

	tep_free(f->tep);
	f->tep = tep;
	memset(f->dirs, 0, sizeof(f->dirs));
	for (int i = 0; (event = tep_get_event(tep, i)); i++) {
		if (event->id >= MAX_EVENT_ID)
			continue;
		f->dirs[event->id].ino = event_dir(event);
		f->dirs[event->id].checked = f->loads;
		symbols |= needs_symbols(event);
	}
	if (symbols)
		load_symbols(tep);
	load_comms(f);

	return 0;
}

/* Has the event been replaced since its format was read? */
static bool is_replaced(struct follow *f, const struct tep_event *event)
{
	if (f->dirs[event->id].checked == f->loads)
		return false;
	f->dirs[event->id].checked = f->loads;

	return event_dir(event) != f->dirs[event->id].ino;
}

/*
 * Modules bring events, so unknown ones are looked for at once. Those that are
 * gone again are not found, and there may be many: after one of these no other
 * is looked for in this round, or second while there is no end of records.
 */
static void find_format(struct follow *f, struct tep_record *record)
{
	int id = tep_data_type(f->tep, record);
	struct tep_event *event;

	if (id < 0 || id >= MAX_EVENT_ID)
		return;

	event = tep_find_event(f->tep, id);
	if (event && !is_replaced(f, event))
		return;
	if (!event && f->in_vain)
		return;

	if (!load_formats(f) && !tep_find_event(f->tep, id) &&
	    !f->all_systems) {
		f->all_systems = true;
		load_formats(f);
	}
	f->in_vain = !tep_find_event(f->tep, id);
}

/* The ring buffers */

static void cpu_unmap(struct cpu *c)
{
	kbuffer_free(c->kbuf);
	if (c->meta)
		munmap(c->meta, c->size);
	if (c->fd >= 0)
		close(c->fd);
}

static void *cpu_subbuf(const struct cpu *c)
{
	return (char *)c->meta + c->meta->meta_page_size +
	       (size_t)c->meta->reader.id * c->meta->subbuf_size;
}

static int cpu_map(struct follow *f, struct cpu *c)
{
	size_t page_size = sysconf(_SC_PAGESIZE);
	struct trace_buffer_meta *meta;
	char file[64];

	snprintf(file, sizeof(file), "per_cpu/cpu%d/trace_pipe_raw", c->cpu);
	c->fd = tracefs_instance_file_open(f->instance, file,
					   O_RDONLY | O_NONBLOCK);
	if (c->fd < 0)
		return -errno;

	/* The first page says how much there is to map. */
	meta = mmap(NULL, page_size, PROT_READ, MAP_SHARED, c->fd, 0);
	if (meta == MAP_FAILED)
		return -errno;
	c->size = meta->meta_page_size +
		  (size_t)meta->nr_subbufs * meta->subbuf_size;
	c->meta = mmap(NULL, c->size, PROT_READ, MAP_SHARED, c->fd, 0);
	munmap(meta, page_size);
	if (c->meta == MAP_FAILED) {
		c->meta = NULL;
		return -errno;
	}

	c->kbuf = kbuffer_alloc(KBUFFER_LSIZE_SAME_AS_HOST,
				KBUFFER_ENDIAN_SAME_AS_HOST);
	if (!c->kbuf)
		return -ENOMEM;

	/* Records that others have read before are not printed. */
	c->id = c->meta->reader.id;
	c->id_ts = kbuffer_subbuf_timestamp(c->kbuf, cpu_subbuf(c));
	c->printed = c->meta->reader.read;
	c->overrun = c->meta->overrun;

	return 0;
}

/* The record that kbuf is at, if it is one that may be read */
static void cpu_set_record(struct cpu *c, void *record)
{
	unsigned int at;

	at = kbuffer_curr_offset(c->kbuf) - kbuffer_start_of_data(c->kbuf);
	c->record = record && at < c->end ? record : NULL;
	if (!c->record)
		c->printed = c->end;
}

/*
 * Ask for more records. Those of before are gone then.
 *
 * Returns 1 if there are some, 0 if not.
 */
static int cpu_load(struct follow *f, struct cpu *c)
{
	unsigned long long ts;
	void *record;
	void *subbuf;
	int start;
	int lost;

	if (f->stop && !c->loads_left--) {
		c->loads_left = 0;
		return 0;
	}
	if (ioctl(c->fd, TRACE_MMAP_IOCTL_GET_READER) < 0)
		return -errno;

	subbuf = cpu_subbuf(c);
	kbuffer_load_subbuffer(c->kbuf, subbuf);
	start = kbuffer_start_of_data(c->kbuf);
	ts = kbuffer_subbuf_timestamp(c->kbuf, subbuf);
	if (c->id != c->meta->reader.id || c->id_ts != ts) {
		c->id = c->meta->reader.id;
		c->id_ts = ts;
		c->printed = 0;
		lost = kbuffer_missed_events(c->kbuf);
		c->lost = lost < 0 || c->lost < 0 ? -1 : c->lost + lost;
	}
	c->end = c->meta->reader.read;

	record = kbuffer_read_event(c->kbuf, &c->ts);
	while (record && kbuffer_curr_offset(c->kbuf) - start < (int)c->printed)
		record = kbuffer_next_event(c->kbuf, &c->ts);
	cpu_set_record(c, record);

	return c->record ? 1 : 0;
}

static int add_cpu(struct follow *f, int cpu, const char *name)
{
	struct cpu *c = &f->cpus[f->nr_cpus];
	int ret;

	memset(c, 0, sizeof(*c));
	c->cpu = cpu;
	ret = cpu_map(f, c);
	if (!ret) {
		f->nr_cpus++;
		return 0;
	}
	cpu_unmap(c);
	/* A CPU that was never online has no ring buffer. */
	if (ret == -EINVAL || ret == -ENOENT)
		return 0;

	err_msg("the ring buffer of %s can't be mapped: %s%s\n", name,
		strerror(-ret), ret == -EBUSY ? ", are there snapshots?" : "");

	return ret;
}

static int is_cpu_dir(const struct dirent *entry)
{
	int cpu;

	return sscanf(entry->d_name, "cpu%d", &cpu) == 1;
}

/* As many as there are, but any number may be missing in between */
static int cpus_map(struct follow *f, const char *name)
{
	char *path = tracefs_instance_get_file(f->instance, "per_cpu");
	struct dirent **dirs = NULL;
	int nr = -1;
	int ret = 0;
	int cpu;

	if (path)
		nr = scandir(path, &dirs, is_cpu_dir, versionsort);
	tracefs_put_tracing_file(path);
	if (nr > 0)
		f->cpus = calloc(nr, sizeof(*f->cpus));

	for (int i = 0; i < nr; i++) {
		if (!ret && f->cpus && sscanf(dirs[i]->d_name, "cpu%d", &cpu) == 1)
			ret = add_cpu(f, cpu, name);
		free(dirs[i]);
	}
	free(dirs);
	if (ret)
		return ret;

	if (!f->nr_cpus) {
		err_msg("%s has no ring buffer\n", name);
		return -ENODEV;
	}

	return 0;
}

static void cpus_unmap(struct follow *f)
{
	for (int i = 0; i < f->nr_cpus; i++)
		cpu_unmap(&f->cpus[i]);
	free(f->cpus);
}

/* Printing */

static void check_signals(struct follow *f)
{
	struct signalfd_siginfo info;

	while (read(f->signals, &info, sizeof(info)) == sizeof(info))
		f->stop++;
}

/*
 * All CPUs without a record are asked, and once more when one has got some in
 * the meantime.
 */
static int refill(struct follow *f)
{
	bool again;
	int ret;

	f->loads++;
	f->fresh_comms = false;
	do {
		again = false;
		for (int i = 0; i < f->nr_cpus; i++) {
			if (f->cpus[i].record)
				continue;
			ret = cpu_load(f, &f->cpus[i]);
			if (ret < 0) {
				err_msg("the ring buffer of CPU %d can't be read: %s\n",
					f->cpus[i].cpu, strerror(-ret));
				return ret;
			}
			again |= ret;
		}
	} while (again);

	return 0;
}

static struct cpu *oldest(struct follow *f)
{
	struct cpu *first = NULL;

	for (int i = 0; i < f->nr_cpus; i++) {
		struct cpu *c = &f->cpus[i];

		if (c->record && (!first || c->ts < first->ts))
			first = c;
	}

	return first;
}

static void print_record(struct follow *f, struct cpu *c)
{
	struct tep_record record = {
		.ts		= c->ts,
		.cpu		= c->cpu,
		.data		= c->record,
		.size		= kbuffer_event_size(c->kbuf),
		.record_size	= kbuffer_curr_size(c->kbuf),
	};

	if (c->lost > 0)
		printf("CPU:%d [LOST %d EVENTS]\n", c->cpu, c->lost);
	else if (c->lost)
		printf("CPU:%d [LOST EVENTS]\n", c->cpu);
	c->lost = 0;

	find_format(f, &record);
	if (!f->fresh_comms &&
	    !tep_is_pid_registered(f->tep, tep_data_pid(f->tep, &record)))
		load_comms(f);

	trace_seq_reset(&f->seq);
	tep_print_event(f->tep, &f->seq, &record,
			f->in_ns ? "%16s-%-7d [%03d] %s %6.1000d: %s: %s\n" :
				   "%16s-%-7d [%03d] %s %12d: %s: %s\n",
			TEP_PRINT_COMM, TEP_PRINT_PID, TEP_PRINT_CPU,
			TEP_PRINT_LATENCY, TEP_PRINT_TIME, TEP_PRINT_NAME,
			TEP_PRINT_INFO);
	trace_seq_do_fprintf(&f->seq, stdout);
	f->nr_records++;
}

static int output_error(int error)
{
	/* The reader has enough. */
	if (error == EPIPE)
		return -EPIPE;
	err_msg("can't print: %s\n", strerror(error));

	return -EIO;
}

/* Under load a round may never end. */
static int every_second(struct follow *f)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (now.tv_sec == f->second)
		return 0;
	f->second = now.tv_sec;
	f->in_vain = false;

	return fflush(stdout) ? output_error(errno) : 0;
}

/* Until there is no more, or @stop has been asked for so often */
static int print_records(struct follow *f, int stop)
{
	bool first = true;
	bool empty = true;
	struct cpu *c;
	int ret;

	f->in_vain = false;
	while (true) {
		if (empty) {
			check_signals(f);
			if (f->stop >= stop || ferror(stdout))
				break;
			ret = every_second(f);
			if (!ret)
				ret = refill(f);
			if (ret)
				return ret;
		}
		c = oldest(f);
		if (!c)
			break;
		/* A task that has called exec() has another name. */
		if (first)
			load_comms(f);
		first = false;
		print_record(f, c);
		cpu_set_record(c, kbuffer_next_event(c->kbuf, &c->ts));
		empty = !c->record;
	}

	if (fflush(stdout) || ferror(stdout))
		return output_error(errno);

	return 0;
}

static int wait_and_print(struct follow *f)
{
	struct pollfd *fds = calloc(f->nr_cpus + 1, sizeof(*fds));
	int ret = 0;

	if (!fds) {
		err_msg("%s\n", strerror(ENOMEM));
		return -ENOMEM;
	}

	for (int i = 0; i < f->nr_cpus; i++) {
		fds[i].fd = f->cpus[i].fd;
		fds[i].events = POLLIN;
	}
	fds[f->nr_cpus].fd = f->signals;
	fds[f->nr_cpus].events = POLLIN;

	while (!ret && !f->stop) {
		ret = print_records(f, 1);
		if (!ret && !f->stop)
			poll(fds, f->nr_cpus + 1, POLL_MS);
	}

	free(fds);
	return ret;
}

/* Setting up, and undoing it */

static int catch_signals(struct follow *f)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	/* A shell lets what it runs in the background ignore it. */
	signal(SIGINT, SIG_DFL);

	f->signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	if (f->signals >= 0)
		return 0;
	err_msg("signals can't be read: %s\n", strerror(errno));

	return -EIO;
}

static int set_up_file(struct follow *f, const char *file, const char *text,
		       const char *what)
{
	int ret = text ? write_file(f->instance, file, text) : 0;

	if (ret)
		err_msg("%s '%s': %s\n", what, text, strerror(-ret));

	return ret;
}

static int create_instance(struct follow *f, const struct options *options)
{
	char name[32];
	char mod[128];

	snprintf(name, sizeof(name), "ktrace_%d", getpid());
	f->instance = tracefs_instance_create(name);
	if (!f->instance) {
		err_msg("the instance %s can't be made: %s\n", name,
			strerror(errno));
		return -EIO;
	}
	f->own = tracefs_instance_is_new(f->instance);
	if (!f->own) {
		err_msg("there is an instance %s already, rmdir removes it\n",
			name);
		return -EEXIST;
	}

	if (set_up_file(f, "buffer_size_kb", options->buffer_size,
			"buffer size") ||
	    set_up_file(f, "trace_clock", options->clock, "clock"))
		return -EINVAL;
	if (!options->module)
		return 0;

	snprintf(mod, sizeof(mod), ":mod:%s", options->module);

	return set_up_file(f, "set_event", mod, "events");
}

/* With the default poll() would not return before the buffer is half full. */
static int wake_at_once(struct follow *f)
{
	char *percent = tracefs_instance_file_read(f->instance,
						   "buffer_percent", NULL);

	if (!f->own)
		f->buffer_percent = percent;
	else
		free(percent);

	return set_up_file(f, "buffer_percent", "0", "buffer_percent");
}

static void check_clock(struct follow *f)
{
	char *clock = tracefs_get_clock(f->instance);

	f->in_ns = !clock || (strcmp(clock, "counter") &&
			      strcmp(clock, "x86-tsc") && strcmp(clock, "ppc-tb"));
	free(clock);
}

static unsigned long long lost_records(struct follow *f)
{
	unsigned long long lost = 0;

	for (int i = 0; i < f->nr_cpus; i++) {
		unsigned long long overrun = f->cpus[i].meta->overrun;

		/* Clearing the ring buffer sets it to 0. */
		lost += overrun;
		if (overrun >= f->cpus[i].overrun)
			lost -= f->cpus[i].overrun;
	}

	return lost;
}

/* The records until now, but not those that others make from now on */
static int print_rest(struct follow *f)
{
	for (int i = 0; i < f->nr_cpus; i++)
		f->cpus[i].loads_left = f->cpus[i].meta->nr_subbufs + 1;

	return print_records(f, 2);
}

static int follow(struct follow *f, const struct options *options)
{
	const char *name;
	int switched = 0;
	int ret;

	if (options->instance)
		ret = open_instance(options->instance, &f->instance);
	else
		ret = create_instance(f, options);
	if (ret)
		return ret;

	name = tracefs_instance_get_name(f->instance);
	check_clock(f);
	if (load_formats(f) || wake_at_once(f) || cpus_map(f, name))
		return -EIO;
	if (f->events)
		switched = switch_events(f->instance, f->events, true);
	if (switched < 0)
		return switched;
	if (!tracefs_trace_is_on(f->instance))
		err_msg("tracing_on of %s is 0, so nothing is recorded\n", name);
	err_msg("following %s\n", name);

	ret = wait_and_print(f);
	if (f->own)
		tracefs_trace_off(f->instance);
	else
		restore_events(f->instance, f->events, switched, false);
	if (!ret)
		ret = print_rest(f);
	err_msg("%llu records, %llu lost\n", f->nr_records, lost_records(f));

	return ret == -EPIPE ? 0 : ret;
}

static void undo(struct follow *f)
{
	cpus_unmap(f);
	if (f->buffer_percent && write_file(f->instance, "buffer_percent",
					    f->buffer_percent))
		err_msg("buffer_percent can't be restored\n");
	free(f->buffer_percent);
	if (f->own && tracefs_instance_destroy(f->instance))
		err_msg("the instance %s can't be removed: %s\n",
			tracefs_instance_get_name(f->instance), strerror(errno));
	tracefs_instance_free(f->instance);
	tep_free(f->tep);
	trace_seq_destroy(&f->seq);
	tracefs_list_free(f->events);
}

int follow_main(const struct options *options, int argc, char **argv)
{
	static struct follow f;
	int ret;

	if (options->instance &&
	    (options->buffer_size || options->clock || options->module)) {
		err_msg("-b, -c and -m are not for the instance of -i\n");
		return usage_error();
	}

	/* An instance may have what it is to show, and so may a module. */
	if (argc || !(options->instance || options->module)) {
		f.events = select_events(argv);
		if (!f.events)
			return EXIT_FAILURE;
	}

	trace_seq_init(&f.seq);
	ret = catch_signals(&f);
	if (!ret)
		ret = follow(&f, options);
	undo(&f);

	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}
