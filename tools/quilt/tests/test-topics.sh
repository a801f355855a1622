#!/bin/bash
# Tests of the scripts that are about topics: dependencies in export.sh and
# patches.sh, the checks of check.sh, and bisect.sh; on the same made-up kernel as
# test-tree.sh.
#
# usage: test-topics.sh [PATTERN]
#
# PATTERN: only the tests whose names match. One "ok" or "not ok" line a test;
# the last line counts.

# shellcheck source=tools/quilt/tests/fake-tree.sh
. "$(dirname "$0")/fake-tree.sh"

HASH=0123456789abcdef0123456789abcdef01234567
FIXES='Fixes: 0123456789ab ("tracing: Trace")'
STABLE='Cc: stable@vger.kernel.org'

cover() { # TOPIC FIRST DEPENDS
	printf 'Subject: tracing: All of %s\nFirst: %s\nDepends: %s\n\nText.\n' "$1" "$2" "$3" \
		>"$project/tools/quilt/cover/$1.txt"
}

# change SUBJECT LINE [BODY]: of kernel/trace/trace.c
change() {
	sed -i "s/line_$2\(_\|;\)/line_$2_new\1/" "$project/build/linux/kernel/trace/trace.c"
	git_ commit -q -a -m "$1" -m 'Somebody is in trouble.' -m "${3:+$3$'\n'}Assisted-by: LLM"
}

# Topics far from each other: fixes-stm, fixes, exports on both, snapshot on
# fixes.
topics_project() {
	local ready=$work/ready-topics
	if [ ! -d "$ready" ]; then
		trap 'rm -rf "$ready"' EXIT
		new_project ready-topics
		rm "$project"/tools/quilt/cover/*
		cover fixes-stm 'stm: Fix links' ''
		cover fixes 'tracing: Fix records' ''
		cover exports 'tracing: Export' 'fixes-stm fixes'
		cover snapshot 'tracing: Snap' 'fixes'
		q tree
		change 'stm: Fix links' 3 "$FIXES"$'\n'"$STABLE"
		change 'tracing: Fix records' 12 "$FIXES"$'\n'"$STABLE"
		commit 'tracing: Add KUnit tests' kernel/trace/tests/fix_kunit.c \
			'KUNIT_CASE(records_fixed), .name = "trace_fix",'
		change 'tracing: Export' 14
		change 'tracing: Snap' 30
		q export
		trap - EXIT
	fi
	project=$work/$1
	cp -a "$ready" "$project"
	export XDG_CACHE_HOME=$project/cache
}

# amend COMMIT BODY
amend() {
	GIT_SEQUENCE_EDITOR="sed -i 's/^pick \($(git_ rev-parse --short "$1") .*\)/edit \1/'" git_ rebase -q -i base >>"$work/out" 2>&1
	git_ commit -q --amend -m "$(git_ log -1 --format=%s)" -m 'Somebody is in trouble.' -m "$2"$'\nAssisted-by: LLM'
	git_ rebase --continue >>"$work/out" 2>&1
}
of() { git_ log --format=%H --grep="^$1\$" base..HEAD; }

ids() { local p; for p; do git patch-id --stable <"$p" | sed 's/ .*//; s/^/prerequisite-patch-id: /'; done; }

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

# --- check standalone -------------------------------------------------------

test_standalone_fixes() {
	topics_project standalone
	q check standalone
	is "$(grep -c '^    ' "$work/out")" 0
}

# rewrite BODY: of the fix "tracing: Fix records"
rewrite() { amend "$(of 'tracing: Fix records')" "$1"; q export; }

test_standalone_trailers() {
	topics_project trailers
	rewrite "$FIXES"
	fails q check standalone
	says 'fixes: 0001-tracing-Fix-records.patch has Fixes: and neither Cc: stable@vger.kernel.org nor'
	rewrite $'Not for stable: it is too much for that.\n\n'"$FIXES"
	q check standalone
	rewrite $'Not for stable: it is too much for that.\n\n'"$FIXES"$'\n'"$STABLE"
	fails q check standalone
	says "and says 'Not for stable:'"
	rewrite 'Nothing more.'
	fails q check standalone
	says 'is a fix by its subject and has neither Fixes: nor Link:'
	rewrite 'Link: https://lore.kernel.org/r/1'
	q check standalone
}

test_standalone_touches_tests() {
	topics_project mixed
	echo 'config X' >"$project/build/linux/kernel/trace/Kconfig"
	git_ add -A
	git_ commit -q --fixup "$(of 'tracing: Fix records')"
	git_ -c sequence.editor=true rebase -q -i --autosquash base >>"$work/out" 2>&1
	q export
	fails q check standalone
	says '0001-tracing-Fix-records.patch changes code and kernel/trace/Kconfig'
	# A patch of tests alone may touch any of these.
	git_ log -1 --format=%s "$(of 'tracing: Add KUnit tests')" >>"$work/out"
	fails says 'Add-KUnit-tests'
}

# Two more fixes beside the line of "Fix records".
needing() { # BODY
	git_ reset -q --hard "$(of 'tracing: Add KUnit tests')"
	rm -f "$project"/tools/quilt/cover/{exports,snapshot}.txt
	change 'tracing: Fix more' 14 "$FIXES"$'\n'"$STABLE"
	change 'tracing: Fix others' 16 "$1"$'\n\n'"$FIXES"$'\n'"$STABLE"
	q export
}

test_standalone_needs() {
	topics_project needs
	needing 'No word.'
	fails q check standalone
	says 'fixes: patches/fixes/0003-tracing-Fix-more.patch does not apply: patch failed: kernel/trace/trace.c'
	says 'it applies behind: tracing: Fix records'
	says 'Needs patch "SUBJECT"'
	amend "$(of 'tracing: Fix more')" $'Needs patch "tracing: Fix records".\n\n'"$FIXES"$'\n'"$STABLE"
	q export
	fails q check standalone
	fails says '0003-tracing-Fix-more'
	says '0004-tracing-Fix-others.patch does not apply'
	# The patches that the needed one needs come along. A line may be folded.
	amend "$(of 'tracing: Fix others')" $'Needs patch "tracing:\nFix more"\n\n'"$FIXES"$'\n'"$STABLE"
	q export
	q check standalone
}

test_standalone_needs_too_much() {
	topics_project toomuch
	rewrite $'Needs patch "stm: Fix links"\n\n'"$FIXES"$'\n'"$STABLE"
	fails q check standalone
	says '0001-tracing-Fix-records.patch says that it needs "stm: Fix links", and applies without'
	# Not for git am.
	rewrite $'Needs patch "stm: Fix links" to build\n\n'"$FIXES"$'\n'"$STABLE"
	q check standalone
	rewrite $'Needs patch "stm: Fix none"\n\n'"$FIXES"$'\n'"$STABLE"
	fails q check standalone
	says 'needs "stm: Fix none", which is no patch of a topic of fixes before it'
}

# --- check size -------------------------------------------------------------

test_size() {
	local exceptions
	topics_project size
	exceptions=$project/tools/quilt/size-exceptions
	q check size
	commit 'tracing: Long' kernel/trace/long.c "$(seq 701)"
	q export
	fails q check size
	says 'patches/snapshot/0002-tracing-Long.patch changes 701 lines, 700 are the most'
	printf '# Long ones\ntracing: Long\n' >"$exceptions"
	fails q check size
	printf '\tIt is a table.\n' >>"$exceptions"
	q check size
	printf 'tracing: None\n\tWhy.\n' >>"$exceptions"
	fails q check size
	says 'names no patch of the series: tracing: None'
	printf 'tracing: Snap\n\tWhy.\n' >"$exceptions"
	fails q check size
	says 'names a patch of 2 lines: tracing: Snap'
}

# --- check proofs -----------------------------------------------------------

test_proofs() {
	local proofs
	topics_project proofs
	proofs=$project/tools/quilt/proofs
	mkdir -p "$proofs" "$project/tools/quilt/guest/scenarios"
	touch "$project/tools/quilt/guest/scenarios/boot"
	fails q check proofs
	says 'there is no tools/quilt/proofs/fixes-stm'
	printf 'fix stm: Fix links\n\treading Nobody has the hardware.\n' >"$proofs/fixes-stm"
	printf 'fix tracing: Fix records\n\tkunit trace_fix.records_fixed\n\tscenario boot -A a=b\n' >"$proofs/fixes"
	touch "$proofs/README.md"
	q check proofs
	sed -i 's/records_fixed/records/' "$proofs/fixes"
	fails q check proofs
	says 'fixes: there is no kunit trace_fix.records, which is to prove: tracing: Fix records'
	printf 'fix tracing: Fix records\n\treading trace_fix.records_fixed and a/b.tc run it.\n' >"$proofs/fixes"
	fails q check proofs
	says 'fixes: there is no selftest a/b.tc, which is to prove: tracing: Fix records'
	fails says 'fixes: there is no kunit'
	printf 'fix tracing: Fix all\n\tselftest snapshot/none.tc\n' >"$proofs/fixes"
	fails q check proofs
	says 'fixes: no fix of this topic: tracing: Fix all'
	says 'fixes: there is no selftest snapshot/none.tc'
	says 'fixes: no proof of: tracing: Fix records'
	: >"$proofs/exports"
	fails q check proofs
	says 'proofs/exports is of no topic of fixes'
	"$project/tools/quilt/prove.sh" -l links >"$work/out"
	is "$(cat "$work/out")" 'stm: Fix links: reading Nobody has the hardware.'
}

# --- prove ------------------------------------------------------------------

# A python3 that builds "kernels": one_kunit.c does not compile on the base, and
# the case fails there.
prove_project() {
	topics_project "$1"
	git_ reset -q --hard "$(of 'tracing: Fix records')"
	rm "$project"/tools/quilt/cover/{exports,snapshot}.txt
	mkdir -p "$project/build/linux/kernel/trace/tests" "$project/tools/quilt"/{proofs,splats} "$project/bin"
	echo 'obj-y += one_kunit.o fix_kunit.o' >"$project/build/linux/kernel/trace/tests/Makefile"
	git_ add -A
	commit 'tracing: Add KUnit tests' kernel/trace/tests/fix_kunit.c 'KUNIT_CASE(records_fixed)'
	q export
	cp "$QUILT_TOOLS"/splats/* "$project/tools/quilt/splats/"
	printf 'fix stm: Fix links\n\treading Nobody has the hardware.\n' >"$project/tools/quilt/proofs/fixes-stm"
	printf 'fix tracing: Fix records\n\tkunit trace_fix.records_fixed\n\tkunit trace_fix.none uml\n' >"$project/tools/quilt/proofs/fixes"
	cat >"$project/bin/python3" <<-'END'
		#!/bin/bash
		if [ -f kernel/trace/trace.c ] && ! grep -q new kernel/trace/trace.c && grep -q one_kunit kernel/trace/tests/Makefile; then
			echo "make[6]: *** [scripts/Makefile.build:1: kernel/trace/tests/one_kunit.o] Error 1"
			exit 1
		fi
		grep -q fix_kunit kernel/trace/tests/Makefile || exit 1
		cat >"$4/linux" <<-LINUX
			#!/bin/bash
			printf '%s\n' 'Linux version 7.3.4' 'KTAP version 1' '    # Subtest: trace_fix' '    1..1' \
				'    $(grep -q new kernel/trace/trace.c || echo 'not ')ok 1 records_fixed'
		LINUX
		chmod +x "$4/linux"
	END
	chmod +x "$project/bin/python3"
}

test_prove() {
	local table
	prove_project prove
	table=$project/tools/quilt/results/prove.md
	PATH=$project/bin:$PATH fails q prove
	says 'warning: one_kunit.c does not compile on the base'
	says 'ok - tracing: Fix records: kunit trace_fix.records_fixed'
	says 'not ok - tracing: Fix records: kunit trace_fix.none uml'
	says '-- stm: Fix links: by reading: Nobody has the hardware.'
	is "$(tail -n 1 "$work/out")" '1 passed, 1 failed'
	is "$(tail -n 3 "$table")" '| stm: Fix links | by reading: Nobody has the hardware. | - | - |
| tracing: Fix records | kunit trace_fix.records_fixed | fails: not ok | passes |
| tracing: Fix records | kunit trace_fix.none uml | did not run: the log ends in the case without a word | did not run: the log ends in the case without a word |'
	# Other rows stay.
	sed -i '/trace_fix.none/d' "$project/tools/quilt/proofs/fixes"
	cp "$table" "$project/before"
	PATH=$project/bin:$PATH q prove links
	is "$(tail -n 1 "$work/out")" '0 passed, 0 failed'
	is "$(grep '^|' "$table")" "$(grep '^|' "$project/before" | sed '$d')"
	fails q prove nothing
	says 'no fix has this in its subject: nothing'
}

# ----------------------------------------------------------------------------

run_tests
