#!/bin/bash
# Tests of the scripts that are about topics: dependencies in export.sh and
# patches.sh, the checks of check.sh that apply and compile topics, and bisect.sh;
# on the same made-up kernel as test-tree.sh.
#
# usage: test-topics.sh [PATTERN]
#
# PATTERN: only the tests whose names match. One "ok" or "not ok" line a test;
# the last line is a summary.

# shellcheck source=tools/quilt/tests/fake-topics.sh
. "$(dirname "$0")/fake-topics.sh"

# --- depends ----------------------------------------------------------------

test_depends_are_exported() {
	local p
	topics_project depends
	p=$project/patches
	is "$(cat "$p/exports/depends")" $'fixes-stm\nfixes'
	is "$(cat "$p/fixes/depends")" ''
	exists "$p/fixes/depends"
	is "$(tail -n 5 "$p/exports/0000-cover-letter.patch")" "
For Linux 7.3.4 (tag v7.3.4)
$(ids "$p"/fixes-stm/0001-* "$p"/fixes/000[12]-*)"
	is "$(tail -n 1 "$p/fixes/0000-cover-letter.patch")" 'For Linux 7.3.4 (tag v7.3.4)'
	q check series shown apply b4
	# The file goes with the topic.
	git_ reset -q --hard HEAD~
	rm "$project/tools/quilt/cover/snapshot.txt"
	q export
	is_gone "$p/snapshot"
}

test_depends_transitively() {
	topics_project transitive
	cover snapshot 'tracing: Snap' 'exports'
	q export
	is "$(cat "$project/patches/snapshot/depends")" exports
	is "$(grep -c ^prerequisite-patch-id "$project/patches/snapshot/0000-cover-letter.patch")" 4
	is "$("$project/tools/quilt/patches.sh" -t snapshot | xargs)" 'fixes-stm fixes exports snapshot'
	is "$("$project/tools/quilt/patches.sh" fixes | sed 's|.*/patches/||')" 'fixes/0001-tracing-Fix-records.patch
fixes/0002-tracing-Add-KUnit-tests.patch'
	is "$("$project/tools/quilt/patches.sh" | wc -l)" 5
	fails q patches none
	says 'series has no topic none'
}

test_depends_refused() {
	topics_project refused
	cover fixes 'tracing: Fix records' exports
	fails q export
	says 'tools/quilt/cover/fixes.txt: Depends: names exports, which is no topic before fixes'
	one_error
	cover fixes 'tracing: Fix records' none
	fails q export
	says 'names none, which is no topic'
	sed -i '/^Depends:/d' "$project/tools/quilt/cover/fixes.txt"
	fails q export
	says 'has no Depends: line'
	one_error
}

test_depends_base_commit() {
	topics_project basecommit
	sed -i "1a commit $HASH" "$project/base"
	FORCE=1 q export
	grep -qx "commit $HASH" "$project/base"
	is "$(sed -n 's/^base-commit: //p' "$project/patches/fixes/0000-cover-letter.patch")" "$HASH"
	q check b4 shown
	# A tree that has the tag gives the id.
	git init -q "$project/upstream"
	git -C "$project/upstream" -c user.name=x -c user.email=x@y commit -q --allow-empty -m x
	git -C "$project/upstream" tag v7.3.4
	LINUX_SRC=$project/upstream q export
	is "$(sed -n 's/^commit //p' "$project/base")" "$(git -C "$project/upstream" rev-parse HEAD)"
	q tree
}

test_depends_check_series() {
	topics_project series
	rm "$project/patches/exports/depends"
	fails q check series
	says 'exports has no file depends'
	echo snapshot >"$project/patches/exports/depends"
	fails q check series
	says 'exports depends on snapshot, which is no topic before it'
}

# --- check topics -----------------------------------------------------------

test_topics_apply() {
	topics_project apply
	q check topics
	# Its context has lines that fixes changes.
	: >"$project/patches/exports/depends"
	fails q check topics
	says 'exports: patches/exports/0001-tracing-Export.patch does not apply: patch failed: kernel/trace/trace.c'
	says 'that is on the base alone'
	says 'Depends:'
	echo fixes-stm >"$project/patches/exports/depends"
	fails q check topics
	says 'that is on the base with fixes-stm alone'
}

# A Makefile that compiles nothing and warns of names that say so. In a directory all
# objects depend on trace.c.
build_project() {
	topics_project "$1"
	mkdir -p "$project/tools/quilt/configs"
	cp "$QUILT_TOOLS"/configs/*.config "$project/tools/quilt/configs/"
	git_ checkout -q base
	mkdir -p "$project/build/linux/tools/testing/selftests/ftrace"
	touch "$project/build/linux/tools/testing/selftests/ftrace/config"
	cat >>"$project/build/linux/Makefile" <<-'END'
		MAKEFLAGS += -r
		.RECIPEPREFIX := >
		.PHONY: FORCE
		allnoconfig: ; @true
		%.o: FORCE
		> @echo $(ARCH) $*.c >>$O/../builds
		> @! grep -Hn bad_code $*.c
		> @grep -Hn _warned $*.c | sed 's/:int .*/: warning: old/'
		%/: FORCE
		> @! grep -rn bad_code $@
		> @grep -rn _warned $@ | sed 's/:int .*/: warning: old/'
		> @find $@ -name '*.c' | sed 's/c$$/o/' | while read o; do \
			[ $O/$$o -nt kernel/trace/trace.c ] && continue; \
			echo $(ARCH) $${o%o}c >>$O/../builds; mkdir -p $$(dirname $O/$$o); touch $O/$$o; done
	END
	git_ add -A
	git_ commit -q --amend --no-edit
	git_ tag -f base >/dev/null
	git_ rebase -q --onto base "$(git_ rev-list --max-parents=0 quilt)" quilt >>"$work/out" 2>&1
	BASE=any FORCE=1 q export
}

test_topics_build() {
	build_project build
	q check topics-build
	# The base and four topics; the suite came with the second and is the
	# same in those behind.
	is "$(sort "$project/build/out/builds" | uniq -c | sed 's/^ *//')" \
'1 um kernel/trace/tests/fix_kunit.c
5 um kernel/trace/trace.c
3 x86_64 kernel/trace/tests/fix_kunit.c
5 x86_64 kernel/trace/trace.c'
	# Nothing to do.
	q check topics-build
	is "$(wc -l <"$project/build/out/builds")" 14
	sed -i '/line_33;/i int code_warned;' "$project/build/linux/kernel/trace/trace.c"
	git_ commit -q -a --amend --no-edit
	q export
	fails q check topics-build
	says 'snapshot for x86_64, on the base with fixes alone'
	says 'kernel/trace/trace.c: warning: old'
	# It complains until the patch is corrected.
	fails q check topics-build
	says 'snapshot for um'
	sed -i 's/code_warned/bad_code/' "$project/build/linux/kernel/trace/trace.c"
	git_ commit -q -a --amend --no-edit
	q export
	fails q check topics-build
	says 'Error'
}

# A warning of the base is not blamed on a topic.
test_topics_build_base() {
	build_project base
	git_ checkout -q base
	sed -i '/line_33;/i int code_warned;' "$project/build/linux/kernel/trace/trace.c"
	git_ commit -q -a --amend --no-edit
	git_ tag -f base >/dev/null
	git_ rebase -q --onto base "$(git_ rev-parse quilt~5)" quilt >>"$work/out" 2>&1
	BASE=any FORCE=1 q export
	q check topics-build
	git_ checkout -q base
	sed -i 's/code_warned/bad_code/' "$project/build/linux/kernel/trace/trace.c"
	git_ commit -q -a --amend --no-edit
	git_ tag -f base >/dev/null
	git_ rebase -q --onto base "$(git_ rev-parse quilt~5)" quilt >>"$work/out" 2>&1
	BASE=any FORCE=1 q export
	fails q check topics-build
	says 'the base does not build for x86_64, see'
	says 'the base does not build for um, see'
	says 'look at tools/quilt/configs'
}

# Two lanes: the numbers are of both.
test_lanes() {
	topics_project lanes
	: >"$project/patches/exports/depends"
	fails q check series topics size
	says 'ok series'
	says 'not ok topics'
	is "$(tail -n 1 "$work/out")" '2 passed, 1 failed'
	build_project lanes2
	q check topics-build series
	is "$(tail -n 1 "$work/out")" '2 passed, 0 failed'
}

test_topics_bisect() {
	build_project bisect
	q bisect snapshot
	says 'tracing: Snap'
	says '1 passed, 0 failed'
	is "$(grep -c _new "$project/build/check/linux/kernel/trace/trace.c")" 2
	q bisect
	says '5 passed, 0 failed'
	# It goes on where it was.
	sed -i 2d "$project/tools/quilt/results/bisect.tsv"
	q bisect
	says '4 have passed before'
	says '1 passed, 0 failed'
	is "$(wc -l <"$project/tools/quilt/results/bisect.tsv")" 5
	q bisect -a
	says '5 passed, 0 failed'
	is "$(wc -l <"$project/tools/quilt/results/bisect.tsv")" 5
	fails q bisect none
	says 'series has no topic none'
}

# Each fix on the base, without those before it.
test_topics_bisect_fixes() {
	build_project bisect-fixes
	q bisect-fixes
	says 'ok stm: Fix links'
	says 'ok tracing: Fix records'
	says '2 passed, 0 failed'
	is "$(grep -c _new "$project/build/check/linux/kernel/trace/trace.c")" 1
	git_ checkout -q quilt~3
	sed -i '/line_12_new/i int bad_code;' "$project/build/linux/kernel/trace/trace.c"
	git_ commit -q -a --amend --no-edit
	git_ rebase -q --onto HEAD quilt~3 quilt
	q export
	fails q bisect-fixes
	says 'ok stm: Fix links'
	says 'not ok tracing: Fix records'
	says '1 passed, 1 failed'
	says 'a fix needs more than it says'
	q bisect-fixes links
	says '1 passed, 0 failed'
}

# ----------------------------------------------------------------------------

run_tests
