#!/bin/bash
# Tests of the checks of check.sh that read texts; on the same made-up kernel as
# test-tree.sh.
#
# usage: test-prose.sh [PATTERN]
#
# PATTERN: only the tests whose names match. One "ok" or "not ok" line a test;
# the last line counts.

# shellcheck source=tools/quilt/tests/fake-tree.sh
. "$(dirname "$0")/fake-tree.sh"

# A project that has nothing to complain about.
prose_project() {
	exported_project "$1"
	cp "$QUILT_TOOLS/prose.py" "$project/tools/quilt/"
	find "$project/tools/quilt" -name '*.sh' -delete
	cp "$QUILT_TOOLS"/{check,check-topics,check-fixes,check-prose,tree-lib,topics-lib,base-lib,compile-lib,prove-lib,lib,export}.sh \
		"$project/tools/quilt/"
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

run_tests
