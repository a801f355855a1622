#!/bin/bash
# Tests of bump.sh on the made-up kernel of fake-tree.sh: a next version in which
# upstream has taken one patch and changed lines that others touch.
#
# usage: test-bump.sh [PATTERN]
#
# PATTERN: only the tests whose names match. One "ok" or "not ok" line a test;
# the last line is a summary.

# shellcheck source=tools/quilt/tests/fake-tree.sh
. "$(dirname "$0")/fake-tree.sh"

# Seven patches of five lines of trace.c and two files; next is 7.3.5.
bump_project() {
	exported_project "$1"
	change_line 3 'tracing: Three'
	change_line 10 'tracing: Ten'
	change_line 20 'tracing: Twenty'
	change_line 21 'tracing: Twenty-one'
	change_line 30 'tracing: Thirty'
	q export
	next=$work/$1-next
	cp -a "$work/linux" "$next"
	sed -i 's/^SUBLEVEL = 4/SUBLEVEL = 5/' "$next/Makefile"
}
change_line() { # LINE SUBJECT
	sed -i "s/line_$1;/line_$1, more_$1;/" "$project/build/linux/kernel/trace/trace.c"
	git_ commit -q -a -m "$2" -m 'Somebody is in trouble.' -m 'Assisted-by: LLM'
}
upstream() { sed -i "$1" "$next/kernel/trace/trace.c"; }
listed() { is "$(cut -d ' ' -f 1 "$project/build/bump.txt" | paste -sd ' ')" "$1"; }

test_same() {
	bump_project same
	q bump "$next"
	says 'Linux 7.3.5: 7 patches apply, 0 after a three-way merge, 0 are upstream, 0 need work'
	listed 'applied applied applied applied applied applied applied'
	is "$(git -C "$project/build/bump" diff --name-only HEAD "$(git_ rev-parse HEAD)")" Makefile
}

test_merged() {
	bump_project merged
	upstream 's/line_12;/line_12, upstream_12;/'
	q bump "$next"
	listed 'applied applied applied merged applied applied applied'
	grep -q 'line_10, more_10;' "$project/build/bump/kernel/trace/trace.c"
	grep -q 'line_12, upstream_12;' "$project/build/bump/kernel/trace/trace.c"
}

test_upstream() {
	bump_project upstream
	upstream 's/line_3;/line_3, more_3;/'
	q bump "$next"
	says '6 patches apply, 0 after a three-way merge, 1 are upstream, 0 need work'
	listed 'applied applied upstream applied applied applied applied'
}

test_work() {
	bump_project work
	upstream 's/line_10;/line_10, other;/'
	fails q bump "$next"
	says 'work     exports/0004-tracing-Ten.patch (kernel/trace/trace.c)'
	says '1 need work'
	listed 'applied applied applied work applied applied applied'
	is "$(git -C "$project/build/bump" status --porcelain)" ''
	is "$(git -C "$project/build/bump" rev-list --count base..HEAD)" 6
}

# A patch that needs work is left out, and the next one may miss it.
test_work_that_others_need() {
	bump_project others
	upstream 's/line_20;/line_20, other;/'
	fails q bump "$next"
	listed 'applied applied applied applied work work applied'
}

test_tarball() {
	bump_project tarball
	tar -C "$work" -cJf "$work/next.tar.xz" tarball-next
	q bump "$work/next.tar.xz"
	says '7 patches apply'
}

test_version() {
	bump_project version
	tar -C "$work" -cJf "$work/mirror/v7.x/linux-7.3.5.tar.xz" --transform 's|^version-next|linux-7.3.5|' version-next
	(cd "$work/mirror/v7.x" && sha256sum ./*.xz | sed 's|\./||' >sha256sums.asc)
	q bump 7.3.5
	says 'Linux 7.3.5: 7 patches apply'
	is "$(head -n 1 "$project/base")" 'version 7.3.4'
}

test_export_of_the_new_tree() {
	bump_project adopt
	upstream 's/line_12;/line_12, upstream_12;/'
	q bump "$next"
	TREE=$project/build/bump BASE=any q export
	is "$(head -n 1 "$project/base")" 'version 7.3.5'
	grep -q 'upstream_12' "$project"/patches/exports/0004-*.patch
	mv "$project/build/linux" "$project/build/old"
	LINUX_SRC=$next q tree
	says 'Linux 7.3.5 and 7 patches'
}

test_nothing_there() {
	bump_project nothing
	fails q bump "$work/nothing-there"
	says 'is no version, no file and no directory'
	fails q bump
	says 'usage:'
	fails q bump "$work/mirror"
	one_error
	is_gone "$project/build/bump"
}

run_tests
