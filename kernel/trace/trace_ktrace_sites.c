// SPDX-License-Identifier: GPL-2.0
/*
 * The file ktrace_sites: all sites of ktrace events, and a query that mutes or
 * unmutes some of them. Sites change with event_mutex held.
 */

#include <linux/fs.h>
#include <linux/parser.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "trace.h"
#include "trace_ktrace.h"

static void *ktrace_sites_next(struct seq_file *m, void *v, loff_t *pos)
{
	struct ktrace_table *table;
	loff_t left = ++*pos;

	list_for_each_entry(table, &ktrace_tables, list) {
		if (left <= table->nr) {
			m->private = table;
			return &table->sites[left - 1];
		}
		left -= table->nr;
	}

	return NULL;
}

static void *ktrace_sites_start(struct seq_file *m, loff_t *pos)
{
	loff_t before = *pos - 1;

	mutex_lock(&event_mutex);
	if (!*pos)
		return SEQ_START_TOKEN;

	return ktrace_sites_next(m, NULL, &before);
}

static void ktrace_sites_stop(struct seq_file *m, void *v)
{
	mutex_unlock(&event_mutex);
}

static const char *ktrace_site_state(const struct ktrace_site *site)
{
	if (!site->event)
		return "refused";
	if (site->muted)
		return "muted";

	return static_key_enabled(&site->key) ? "on" : "off";
}

/* The name of the event, which is not the site's if that was taken */
static const char *ktrace_site_event(const struct ktrace_site *site)
{
	return site->event ? trace_event_name(&site->event->call) :
			     ktrace_site_name(site);
}

static int ktrace_sites_show(struct seq_file *m, void *v)
{
	const struct ktrace_table *table = m->private;
	const struct ktrace_site *site = v;

	if (v == SEQ_START_TOKEN) {
		seq_puts(m, "# file:line [module] function system:event state format\n");
		return 0;
	}

	/* New columns go to the end, see Documentation/ABI. */
	seq_escape(m, site->file, "\n\t \\");
	seq_printf(m, ":%u [%s] %s %s:%s %s \"", site->line,
		   ktrace_table_name(table), site->func,
		   ktrace_site_system(site), ktrace_site_event(site),
		   ktrace_site_state(site));
	seq_escape(m, ktrace_site_fmt(site), "\n\t\"\\");
	seq_puts(m, "\"\n");

	return 0;
}

static const struct seq_operations ktrace_sites_ops = {
	.start	= ktrace_sites_start,
	.next	= ktrace_sites_next,
	.stop	= ktrace_sites_stop,
	.show	= ktrace_sites_show,
};

/* The longest query that is taken. */
#define KTRACE_MAX_QUERY	512

enum {
	KTRACE_QUERY_NO_ACTION,
	KTRACE_QUERY_BAD_KEYWORD,
	KTRACE_QUERY_NO_VALUE,
	KTRACE_QUERY_TWICE,
	KTRACE_QUERY_BAD_LINE,
	KTRACE_QUERY_NO_SITE,
};

static const char * const ktrace_query_errors[] = {
	[KTRACE_QUERY_NO_ACTION]   = "The query ends with neither +e nor -e",
	[KTRACE_QUERY_BAD_KEYWORD] = "Not one of file, line, func, module, system and name",
	[KTRACE_QUERY_NO_VALUE]	   = "A keyword without a value",
	[KTRACE_QUERY_TWICE]	   = "A keyword is there twice",
	[KTRACE_QUERY_BAD_LINE]	   = "Neither a line nor a range of lines",
	[KTRACE_QUERY_NO_SITE]	   = "No site matches",
};

enum ktrace_key {
	KTRACE_KEY_FILE,
	KTRACE_KEY_LINE,
	KTRACE_KEY_FUNC,
	KTRACE_KEY_MODULE,
	KTRACE_KEY_SYSTEM,
	KTRACE_KEY_NAME,
	KTRACE_NR_KEYS,
};

static const char * const ktrace_keys[KTRACE_NR_KEYS] = {
	"file", "line", "func", "module", "system", "name",
};

/* A query; what is NULL matches everything. */
struct ktrace_query {
	char		*values[KTRACE_NR_KEYS];
	unsigned int	first_line;
	unsigned int	last_line;
	bool		mute;
};

static int ktrace_query_error(const char *cmd, int type, unsigned int pos,
			      int ret)
{
	tracing_log_err(NULL, "ktrace_sites", cmd,
			(const char **)ktrace_query_errors, type, pos);
	return ret;
}

/* N, N-M, N- or -M */
static int ktrace_parse_lines(struct ktrace_query *query, char *value)
{
	char *last = strchr(value, '-');

	if (last)
		*last++ = 0;

	query->first_line = 0;
	query->last_line = UINT_MAX;
	if (*value && kstrtouint(value, 10, &query->first_line))
		return -EINVAL;
	if (!last)
		query->last_line = query->first_line;
	else if (*last && kstrtouint(last, 10, &query->last_line))
		return -EINVAL;

	if (!*value && (!last || !*last))
		return -EINVAL;

	return query->first_line <= query->last_line ? 0 : -EINVAL;
}

/* @buf is cut into words, @cmd is the same and stays whole for error_log. */
static int ktrace_parse_query(struct ktrace_query *query, char *buf,
			      const char *cmd)
{
	unsigned int pos, value_pos;
	char *p = buf;
	char *word;
	int key;

	while (true) {
		p = skip_spaces(p);
		pos = p - buf;
		word = strsep(&p, " \t\n");
		if (!word || !*word)
			return ktrace_query_error(cmd, KTRACE_QUERY_NO_ACTION,
						  pos, -EINVAL);

		if (!strcmp(word, "+e") || !strcmp(word, "-e")) {
			query->mute = *word == '-';
			p = p ? skip_spaces(p) : NULL;
			if (p && *p)
				return ktrace_query_error(cmd, KTRACE_QUERY_NO_ACTION,
							  p - buf, -EINVAL);
			return 0;
		}

		key = match_string(ktrace_keys, KTRACE_NR_KEYS, word);
		if (key < 0)
			return ktrace_query_error(cmd, KTRACE_QUERY_BAD_KEYWORD,
						  pos, -EINVAL);
		if (query->values[key])
			return ktrace_query_error(cmd, KTRACE_QUERY_TWICE, pos,
						  -EINVAL);

		p = p ? skip_spaces(p) : NULL;
		if (!p || !*p)
			return ktrace_query_error(cmd, KTRACE_QUERY_NO_VALUE,
						  pos, -EINVAL);
		value_pos = p - buf;
		query->values[key] = strsep(&p, " \t\n");
		if (key == KTRACE_KEY_LINE &&
		    ktrace_parse_lines(query, query->values[key]))
			return ktrace_query_error(cmd, KTRACE_QUERY_BAD_LINE,
						  value_pos, -EINVAL);
		if (!p)
			return ktrace_query_error(cmd, KTRACE_QUERY_NO_ACTION,
						  strlen(cmd), -EINVAL);
	}
}

static bool ktrace_query_matches(const struct ktrace_query *query,
				 const struct ktrace_table *table,
				 const struct ktrace_site *site)
{
	char * const *values = query->values;

	if (values[KTRACE_KEY_FILE] &&
	    !match_wildcard(values[KTRACE_KEY_FILE], site->file) &&
	    !match_wildcard(values[KTRACE_KEY_FILE], kbasename(site->file)))
		return false;
	if (values[KTRACE_KEY_LINE] &&
	    (site->line < query->first_line || site->line > query->last_line))
		return false;
	if (values[KTRACE_KEY_FUNC] &&
	    !match_wildcard(values[KTRACE_KEY_FUNC], site->func))
		return false;
	if (values[KTRACE_KEY_MODULE] &&
	    !match_wildcard(values[KTRACE_KEY_MODULE], ktrace_table_name(table)))
		return false;
	if (values[KTRACE_KEY_SYSTEM] &&
	    !match_wildcard(values[KTRACE_KEY_SYSTEM], ktrace_site_system(site)))
		return false;

	return !values[KTRACE_KEY_NAME] ||
	       match_wildcard(values[KTRACE_KEY_NAME], ktrace_site_name(site)) ||
	       match_wildcard(values[KTRACE_KEY_NAME], ktrace_site_event(site));
}

static int ktrace_run_query(const struct ktrace_query *query)
{
	struct ktrace_table *table;
	int ret = -ENOENT;

	guard(mutex)(&event_mutex);

	list_for_each_entry(table, &ktrace_tables, list) {
		for (int i = 0; i < table->nr; i++) {
			struct ktrace_site *site = &table->sites[i];

			if (!ktrace_query_matches(query, table, site))
				continue;
			site->muted = query->mute;
			ktrace_switch_site(site);
			ret = 0;
		}
		cond_resched();
	}

	return ret;
}

static ssize_t ktrace_sites_write(struct file *file, const char __user *ubuf,
				  size_t count, loff_t *ppos)
{
	char *cmd __free(kfree) = NULL;
	char *buf __free(kfree) = NULL;
	struct ktrace_query query = {};
	int ret;

	if (!count)
		return 0;
	if (count > KTRACE_MAX_QUERY)
		return -E2BIG;

	buf = memdup_user_nul(ubuf, count);
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	strim(buf);
	cmd = kstrdup(buf, GFP_KERNEL);
	if (!cmd)
		return -ENOMEM;

	ret = ktrace_parse_query(&query, buf, cmd);
	if (ret)
		return ret;

	ret = ktrace_run_query(&query);
	if (ret == -ENOENT)
		ktrace_query_error(cmd, KTRACE_QUERY_NO_SITE, 0, ret);

	return ret ?: count;
}

static int ktrace_sites_open(struct inode *inode, struct file *file)
{
	int ret;

	ret = tracing_check_open_get_tr(NULL);
	if (ret)
		return ret;

	return seq_open(file, &ktrace_sites_ops);
}

static const struct file_operations ktrace_sites_fops = {
	.open		= ktrace_sites_open,
	.read		= seq_read,
	.write		= ktrace_sites_write,
	.llseek		= seq_lseek,
	.release	= seq_release,
};

static int __init ktrace_init_tracefs(void)
{
	if (tracing_init_dentry())
		return 0;

	trace_create_file("ktrace_sites", TRACE_MODE_WRITE, NULL, NULL,
			  &ktrace_sites_fops);

	return 0;
}
fs_initcall(ktrace_init_tracefs);
