// SPDX-License-Identifier: GPL-2.0
/*
 * Checks what a ktrace() says about its event, so that each line that can be
 * built records: the names, whether all of the format can be recorded, and
 * whether an event has one format only. See include/linux/ktrace.h.
 *
 * The compiler has checked the format against the arguments. Only conversions
 * that the kernel would refuse, see kernel/trace/trace_ktrace_format.c, are
 * looked for here.
 */

#include <ctype.h>
#include <stdio.h>

#include <hash.h>
#include <hashtable.h>
#include <xalloc.h>

#include "modpost.h"
#include "../../include/linux/printf_ext.h"

#define KTRACE_SECTION	"__ktrace_sites"

/* As in include/linux/ktrace.h */
#define KTRACE_MAX_FMT	512

/* A string that a struct ktrace_site points to */
struct site_ref {
	Elf_Addr	offset;		/* of the pointer, in the section */
	const char	*str;
};

struct site {
	struct hlist_node node;
	const char	*system;
	const char	*name;
	const char	*fmt;
	const char	*file;
	unsigned int	line;
	unsigned int	nr_args;
};

static struct site_ref *refs;
static size_t nr_refs, max_refs;
static unsigned int ktrace_secndx;

static HASHTABLE_DEFINE(sites, 1 << 10);

/*
 * handle_ktrace_reloc - remember a string that a site points to
 * @elf: the object
 * @fromsec: name of the section with the pointer
 * @fsecndx: its index
 * @r_offset: offset of the pointer there
 * @tsym: the symbol that it is relative to
 * @taddr: what it points to, in the section of @tsym
 */
void handle_ktrace_reloc(struct elf_info *elf, const char *fromsec,
			 unsigned int fsecndx, Elf_Addr r_offset,
			 const Elf_Sym *tsym, Elf_Addr taddr)
{
	unsigned int tsecndx = get_secindex(elf, tsym);

	if (strcmp(fromsec, KTRACE_SECTION) || tsecndx == SHN_UNDEF ||
	    tsecndx >= elf->num_sections)
		return;

	if (nr_refs == max_refs) {
		max_refs = max_refs ? 2 * max_refs : 64;
		refs = xrealloc(refs, max_refs * sizeof(*refs));
	}

	refs[nr_refs].offset = r_offset;
	refs[nr_refs++].str = sym_get_data_by_offset(elf, tsecndx, taddr);
	ktrace_secndx = fsecndx;
}

static int compare_refs(const void *a, const void *b)
{
	const struct site_ref *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static const char *find_ref(Elf_Addr offset)
{
	struct site_ref key = { .offset = offset };
	struct site_ref *ref;

	ref = bsearch(&key, refs, nr_refs, sizeof(*refs), compare_refs);

	return ref ? ref->str : NULL;
}

/* Valid until the next call */
static const char *describe(const struct site *site)
{
	static char text[512];

	snprintf(text, sizeof(text), "%s:%u: ktrace event %s:%s", site->file,
		 site->line, site->system, site->name);

	return text;
}

#define site_error(mod, site, fmt, args...)				\
	modpost_log(true, mod, "%s: " fmt "\n", describe(site), ##args)

static void check_names(struct module *mod, const struct site *site)
{
	const char *p;

	for (p = site->system; isalnum(*p) || *p == '_'; p++)
		;
	if (*p || p == site->system)
		site_error(mod, site, "no name for a system, #define KTRACE_SYSTEM");
	else if (!strcmp(site->system, "ktrace"))
		site_error(mod, site, "\"ktrace\" stands for all such systems");

	for (p = site->name; isalnum(*p) || *p == '_'; p++)
		;
	if (*p || p == site->name || isdigit(*site->name))
		site_error(mod, site, "the name is no identifier");
	else if (!strcmp(site->name, "enable") || !strcmp(site->name, "filter"))
		site_error(mod, site, "each system has a file of that name");
}

static const struct printf_ext *find_ext(const char *letters)
{
	for (size_t i = 0; i < ARRAY_SIZE(printf_exts); i++) {
		if (strstarts(letters, printf_exts[i].letters))
			return &printf_exts[i];
	}

	return NULL;
}

/* As isalnum() of the kernel, which vsnprintf() asks: letters of Latin-1, too */
static bool is_alnum(unsigned char c)
{
	return isalnum(c) || (c >= 0xc0 && c != 0xd7 && c != 0xf7);
}

/* A %p, with @p behind it */
static void check_pointer(struct module *mod, const struct site *site,
			  const char *p, bool width, bool precision)
{
	const struct printf_ext *ext;
	int len = 0;

	while (is_alnum(p[len]))
		len++;
	if (!len)
		return;

	ext = find_ext(p);
	if (len > 8)
		site_error(mod, site, "%%p%.*s swallows the text behind it",
			   len, p);
	else if (!ext || ext->kind == PRINTF_EXT_OBJECT)
		site_error(mod, site,
			   "%%p%.*s would follow the pointer when the record is read",
			   len, p);
	else if (ext->kind == PRINTF_EXT_DUMP && !width)
		site_error(mod, site, "%%ph without a size");
	else if (ext->kind == PRINTF_EXT_DUMP && precision)
		site_error(mod, site, "%%ph with a precision");
}

/* A width or a precision, which may be an argument */
static const char *skip_size(const char *p, unsigned int *nr_args)
{
	if (*p != '*')
		return p + strspn(p, "0123456789");
	(*nr_args)++;

	return p + 1;
}

static const char *skip_length(const char *p)
{
	if ((*p == 'h' || *p == 'l') && p[1] == *p)
		return p + 2;

	return *p && strchr("hHlLzt", *p) ? p + 1 : p;
}

static void check_format(struct module *mod, const struct site *site)
{
	unsigned int nr = 0, before;
	bool width, precision;
	const char *begin;
	const char *p;

	if (strlen(site->fmt) > KTRACE_MAX_FMT)
		site_error(mod, site, "the format is longer than %d bytes",
			   KTRACE_MAX_FMT);

	for (p = strchr(site->fmt, '%'); p; p = strchr(p, '%')) {
		before = nr;
		begin = p + 1 + strspn(p + 1, "-+ #0");
		p = skip_size(begin, &nr);
		width = p != begin;
		precision = *p == '.';
		if (precision)
			p = skip_size(p + 1, &nr);
		p = skip_length(p);
		/* vsnprintf() prints it, and takes no argument. */
		if (*p == '%' && nr == before) {
			p++;
			continue;
		}
		nr++;
		if (*p == 'p')
			check_pointer(mod, site, p + 1, width, precision);
		else if (!*p || !strchr("diuxXocs", *p))
			site_error(mod, site, "%%%c can not be recorded",
				   *p ? *p : ' ');
		if (*p)
			p++;
	}

	if (nr != site->nr_args)
		site_error(mod, site, "%u arguments where the format has %u",
			   site->nr_args, nr);
}

static void check_agreement(struct module *mod, struct site *site)
{
	unsigned int hash = hash_str(site->name);
	struct site *other;

	hash_for_each_possible(sites, other, node, hash) {
		if (strcmp(other->name, site->name) ||
		    strcmp(other->system, site->system))
			continue;
		if (strcmp(other->fmt, site->fmt))
			site_error(mod, site,
				   "another format than at %s:%u, \"%s\" and \"%s\"",
				   other->file, other->line, site->fmt,
				   other->fmt);
		free(site);
		return;
	}

	hash_add(sites, &site->node, hash);
}

static void check_site(struct module *mod, struct elf_info *elf,
		       const Elf_Sym *sym)
{
	struct site *site = xmalloc(sizeof(*site));
	const unsigned int *line;
	const char *text;

	text = find_ref(sym->st_value);
	site->file = find_ref(sym->st_value + sizeof(Elf_Addr));
	if (!text || !site->file) {
		modpost_log(true, mod, "%s: not as in struct ktrace_site\n",
			    KTRACE_SECTION);
		free(site);
		return;
	}

	line = sym_get_data(elf, sym) + 3 * sizeof(Elf_Addr);
	site->line = get_unaligned_native(line);
	site->nr_args = *(const unsigned char *)(line + 1);
	site->system = text;
	site->name = site->system + strlen(site->system) + 1;
	site->fmt = site->name + strlen(site->name) + 1;

	check_names(mod, site);
	check_format(mod, site);
	check_agreement(mod, site);
}

/*
 * check_ktrace_sites - check all sites of a module or of vmlinux
 * @mod: the module
 * @elf: its object, whose relocations have been handled
 */
void check_ktrace_sites(struct module *mod, struct elf_info *elf)
{
	struct hlist_node *tmp;
	struct site *site;
	Elf_Sym *sym;

	if (!nr_refs)
		return;

	qsort(refs, nr_refs, sizeof(*refs), compare_refs);
	for (sym = elf->symtab_start; sym < elf->symtab_stop; sym++) {
		if (get_secindex(elf, sym) == ktrace_secndx &&
		    ELF_ST_TYPE(sym->st_info) == STT_OBJECT)
			check_site(mod, elf, sym);
	}

	hash_for_each_safe(sites, site, tmp, node) {
		hash_del(&site->node);
		free(site);
	}
	nr_refs = 0;
}
