#!/bin/bash
# Tests of the checks of check.sh about fixes, sizes and proofs, and of prove.sh; on
# the same made-up kernel as test-tree.sh.
#
# usage: test-fixes.sh [PATTERN]
#
# PATTERN: only the tests whose names match. One "ok" or "not ok" line a test;
# the last line is a summary.

# shellcheck source=tools/quilt/tests/fake-topics.sh
. "$(dirname "$0")/fake-topics.sh"

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
	exceptions=$project/tools/quilt/data/size-exceptions
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
	proofs=$project/tools/quilt/data/proofs
	mkdir -p "$proofs" "$project/tools/quilt/guest/scenarios"
	touch "$project/tools/quilt/guest/scenarios/boot"
	fails q check proofs
	says 'there is no tools/quilt/data/proofs/fixes-stm'
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
	mkdir -p "$project/build/linux/kernel/trace/tests" "$project/tools/quilt/data/proofs" "$project/bin"
	echo 'obj-y += one_kunit.o fix_kunit.o' >"$project/build/linux/kernel/trace/tests/Makefile"
	git_ add -A
	commit 'tracing: Add KUnit tests' kernel/trace/tests/fix_kunit.c 'KUNIT_CASE(records_fixed)'
	q export
	cp "$QUILT_TOOLS/data/splats" "$project/tools/quilt/data/"
	printf 'fix stm: Fix links\n\treading Nobody has the hardware.\n' >"$project/tools/quilt/data/proofs/fixes-stm"
	printf 'fix tracing: Fix records\n\tkunit trace_fix.records_fixed\n\tkunit trace_fix.none uml\n' >"$project/tools/quilt/data/proofs/fixes"
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
	sed -i '/trace_fix.none/d' "$project/tools/quilt/data/proofs/fixes"
	cp "$table" "$project/before"
	PATH=$project/bin:$PATH q prove links
	is "$(tail -n 1 "$work/out")" '0 passed, 0 failed'
	is "$(grep '^|' "$table")" "$(grep '^|' "$project/before" | sed '$d')"
	fails q prove nothing
	says 'no fix has this in its subject: nothing'
}

# without WANT LAST-LINE SCRIPT: prove -w with this change of the build
without() {
	sed "$3" "$project/bin/python3.whole" >"$project/bin/python3"
	PATH=$project/bin:$PATH q prove -w records || true
	is "$(tail -n 1 "$work/out")" "$2"
	is "$(tail -n 1 "$project/tools/quilt/results/prove-without.md")" "| tracing: Fix records | kunit trace_fix.records_fixed | $1 |"
}

test_prove_without() {
	prove_project without
	sed -i '/trace_fix.none/d' "$project/tools/quilt/data/proofs/fixes"
	# The other fix has a line that is new, too.
	sed -i 's/grep -q new/grep -q line_12_new/' "$project/bin/python3"
	cp -p "$project/bin/python3" "$project/bin/python3.whole"
	without 'fails: not ok' '1 fail without their fix, 0 do not, 0 can'"'"'t be run' 's/one_kunit/other/'
	without 'passes' '0 fail without their fix, 1 do not, 0 can'"'"'t be run' 's/one_kunit/other/; s/line_12_new/line_12/'
	without 'the others do not compile without it' '0 fail without their fix, 0 do not, 1 can'"'"'t be run' \
		's/echo "make/echo "kernel\/trace\/tests\/one_kunit.c:1:2: error: no such function"; &/'
	without "did not run: the kernel does not build, see $project/build/logs" \
		'0 fail without their fix, 1 do not, 0 can'"'"'t be run' \
		's/echo "make/echo "kernel\/trace\/tests\/one_kunit.c:1:2: fatal error: error writing to x.s: No space left on device"; &/'
	without "did not run: the kernel does not build, see $project/build/logs" \
		'0 fail without their fix, 1 do not, 0 can'"'"'t be run' ''
	fails q prove -w nothing
	says 'no fix with a test has this in its subject: nothing'
}

# The second fix is left out alone: the first one is back, so its case passes.
test_prove_without_two() {
	prove_project two
	printf 'fix stm: Fix links\n\tkunit trace_fix.records_fixed\n' >"$project/tools/quilt/data/proofs/fixes-stm"
	sed -i '/trace_fix.none/d' "$project/tools/quilt/data/proofs/fixes"
	sed -i 's/one_kunit/other/; s/grep -q new/grep -q line_3_new/' "$project/bin/python3"
	PATH=$project/bin:$PATH fails q prove -w
	is "$(tail -n 1 "$work/out")" '1 fail without their fix, 1 do not, 0 can'"'"'t be run'
	is "$(tail -n 2 "$project/tools/quilt/results/prove-without.md")" '| stm: Fix links | kunit trace_fix.records_fixed | fails: not ok |
| tracing: Fix records | kunit trace_fix.records_fixed | passes |'
	# A run of one keeps the row of the other.
	PATH=$project/bin:$PATH q prove -w links
	is "$(grep -c '^| .*: Fix ' "$project/tools/quilt/results/prove-without.md")" 2
}

# ----------------------------------------------------------------------------

run_tests
