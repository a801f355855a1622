#!/bin/bash
# Tests of the checks of check.sh that read texts; on the same made-up kernel as
# test-tree.sh.
#
# usage: test-prose.sh [PATTERN]
#
# PATTERN: only the tests whose names match. One "ok" or "not ok" line a test;
# the last line is a summary.

# shellcheck source=tools/quilt/tests/fake-tree.sh
. "$(dirname "$0")/fake-tree.sh"

# A project that has nothing to complain about.
prose_project() {
	exported_project "$1"
	find "$project/tools/quilt" -name '*.sh' -delete
	cp "$QUILT_TOOLS"/{check,export}.sh "$project/tools/quilt/"
	cp "$QUILT_TOOLS"/lib/{check-*,*-lib,lib}.sh "$project/tools/quilt/lib/"
}

# --- architecture -----------------------------------------------------------

picture() { printf '%s\n' "The text names none_at_all()." '```' "$@" '```' >"$project/ARCHITECTURE.md"; }

test_architecture() {
	prose_project architecture
	commit 'tracing: Three' kernel/trace/three.c 'static int three(int i)
{
	return called(i);
}

int
folded(int i,
       int j)
{
}

#define macro(i) (i)

int declared(int i);'
	picture '  three.c   three(), folded()' '  |         macro()' '  kernel/trace/two.c' \
		'  tools/quilt/check.sh'
	q check architecture
	says '1 passed, 0 failed'

	picture '  three.c   three(), called()'
	fails q check architecture
	says 'line 3: three.c does not define called()'
	picture '  three.c   declared()'
	fails q check architecture
	says 'line 3: three.c does not define declared()'
	picture '  two.c' '  |         three()'
	fails q check architecture
	says 'line 4: two.c does not define three()'
	picture '  three.c   three()' '  four.c'
	fails q check architecture
	says 'line 4: there is no file four.c'
	picture '  three()'
	fails q check architecture
	says 'line 3: no file is named for three()'
	# Text outside of pictures is not read.
	picture '  three.c'
	fails q check architecture
	says 'names no function'
}

# --- cover letters ----------------------------------------------------------

test_covers() {
	local cover
	prose_project covers
	for cover in "$project"/tools/quilt/cover/*.txt; do
		printf '\n%s\n================\n\nAfter the fixes.\n' 'Order of posting' >>"$cover"
		printf '\nNot done\n========\n\nNothing.\n' >>"$cover"
	done
	q check covers
	sed -i '/^Not done/d' "$cover"
	fails q check covers
	says "cover/${cover##*/} has no section \"Not done\""
	rm "$cover"
	fails q check covers
	says "there is no cover/${cover##*/}"
}

# --- sentences --------------------------------------------------------------

test_sentences_of_patches() {
	prose_project patches
	q check sentences
	commit 'tracing: Three' kernel/trace/three.c '/*
 * Sentences have subjects. What
 * is left is freed.
 */
int three; /* Who knows? */'
	q export
	fails q check sentences
	says 'exports/0003-tracing-Three.patch: kernel/trace/three.c: What is left is freed.'
	says 'comments and documents of patches: 1 of 3 sentences open without a subject'
	fails says 'Who knows'
	# A patch is not blamed for the lines around those that it adds.
	git_ reset -q --hard HEAD~
	commit 'tracing: Three' Documentation/three.rst 'What it does
============

It counts::

    What is left'
	q export
	q check sentences
	echo 'Whoever reads this knows it.' >>"$project/build/linux/Documentation/three.rst"
	git_ commit -q -a --amend --no-edit
	q export
	fails q check sentences
	says 'Documentation/three.rst: Whoever reads this knows it.'
	fails says 'What it does'
}

test_sentences_of_changelogs() {
	prose_project changelogs
	git_ commit -q --amend -m 'tracing: Two' -m $'It is right: one. What is\nwrong is this.' -m 'Assisted-by: LLM'
	q export
	fails q check sentences
	says 'exports/0002-tracing-Two.patch: What is wrong is this.'
}

test_sentences_of_the_project() {
	prose_project own
	printf '#!/bin/bash\n# What it does.\necho "What it says"\n' >"$project/tools/quilt/one"
	fails q check sentences
	says 'tools/quilt/one: What it does.'
	fails says 'What it says'
	printf '#!/bin/bash\n# This does it.\n' >"$project/tools/quilt/one"
	q check sentences
	printf '| one | two |\n|---|---|\n| This | What is this |\n' >"$project/NOTES.md"
	fails q check sentences
	says 'NOTES.md: What is this'
	# A few among many are style.
	for _ in {1..600}; do echo "This is a sentence."; echo; done >>"$project/NOTES.md"
	q check sentences
	says '1 passed, 0 failed'
}

# --- numbers and files ------------------------------------------------------

test_numbers() {
	local cover rst
	prose_project numbers
	cover=$project/tools/quilt/cover/exports.txt
	rst=Documentation/cost.rst
	mkdir -p "$project/tools/bench/results"
	printf 'row,base_instructions_median,quilt_instructions_median\nan event,1234.00,200.00\n' \
		>"$project/tools/bench/results/bench.csv"
	echo 'typed elsewhere' >"$project/tools/quilt/data/figures-typed"
	echo "$rst; takes ([0-9,]+) and ([0-9,]+); bench:an event:base; bench:an event:quilt" \
		>"$project/tools/quilt/data/figures-docs"
	echo '  an event   {bench:an event:quilt|8}' >>"$cover"
	commit 'Documentation: Tell the cost' $rst 'An event takes 1,234 and 200 instructions.'
	q export
	q check numbers

	: "The results are newer than the letter and the document"
	sed -i 's/200.00/201.00/' "$project/tools/bench/results/bench.csv"
	fails q check numbers
	says 'the cover letter of exports is not what the results give'
	says "$rst: 200 is 201 in the results"
	python3 "$project/tools/quilt/figures.py" docs -w "$project/build/linux"
	grep -qx 'An event takes 1,234 and 201 instructions.' "$project/build/linux/$rst"
	git_ commit -q -a -m 'Documentation: Tell the cost again' -m 'Somebody is in trouble.' -m 'Assisted-by: LLM'
	q export
	q check numbers

	: "A row that was typed, a placeholder that is none"
	echo '  another event        17' >>"$cover"
	q export
	fails q check numbers
	says 'exports: another event: typed'
	echo 'exports: another event' >>"$project/tools/quilt/data/figures-typed"
	q check numbers
	echo '{bench:no event:base}' >>"$cover"
	fails q check numbers
	says 'no result for {bench:no event:base}'
}

test_files() {
	prose_project files
	commit 'tracing: Files' kernel/trace/trace_files.c 'static struct names files[] = {
	{ "by_table", 1 },
	{ .name = "by_name" },
};
int create(void)
{
	trace_create_file("by_string", 0, parent, tr, fops);
	tracefs_create_file(files[i].name, 0, parent, tr, fops);
	trace_create_cpu_file("of_cpu", 0, parent, tr, cpu, fops);
}'
	commit 'Documentation: Files' Documentation/trace/ftrace.rst '  by_table, by_string:

	Two of them.

  per_cpu/cpu0/of_cpu:'
	fails q check files
	says 'by_name is not in Documentation/trace/ftrace.rst'
	is "$(grep -c 'is not in' "$work/out")" 1
	commit 'Documentation: Another' Documentation/trace/ftrace.rst '  by_name:'
	q check files
}

run_tests
