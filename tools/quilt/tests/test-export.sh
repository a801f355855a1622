#!/bin/bash
# Tests of export.sh, and of the checks of check.sh that compare what it writes; on
# the same made-up kernel as test-tree.sh.
#
# usage: test-export.sh [PATTERN]
#
# PATTERN: only the tests whose names match. One "ok" or "not ok" line a test;
# the last line is a summary.

# shellcheck source=tools/quilt/tests/fake-tree.sh
. "$(dirname "$0")/fake-tree.sh"

# --- export -----------------------------------------------------------------

test_export_is_stable() {
	local before
	exported_project stable
	before=$(written)
	q export
	says 'changed by this run: 0 files'
	is "$(written)" "$before"
	# The user's settings change nothing.
	git_ config diff.noprefix true
	git_ config diff.algorithm histogram
	git_ config format.signOff true
	git_ config format.subjectPrefix 'RFC PATCH'
	git_ config core.abbrev 8
	mkdir "$project/home"
	printf '[format]\n\tattach = true\n[diff]\n\tcontext = 7\n' >"$project/home/.gitconfig"
	HOME=$project/home LC_ALL=C.UTF-8 TZ=Asia/Tokyo GIT_DIR=/nonexistent q export
	is "$(written)" "$before"
	# And after a new tree was made from it.
	rm -rf "$project/build"
	q tree
	q export
	is "$(written)" "$before"
}

test_export_mails() {
	local mail
	exported_project mails
	mail=$(echo "$project"/patches/exports/0001-*.patch)
	is "$(sed -n 1p "$mail")" 'From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001'
	grep -q '^Subject: \[PATCH 1/2\] tracing: One$' "$mail"
	is "$(sed -n 's/^In-Reply-To: //p' "$mail")" \
		"$(sed -n 's/^Message-ID: //p' "$project/patches/exports/0000-cover-letter.patch")"
	grep -q '^Subject: \[PATCH 0/2\] tracing: Two lines$' "$project/patches/exports/0000-cover-letter.patch"
	is "$(cat "$project/series")" '# exports: tracing: Two lines
exports/0001-tracing-One.patch
exports/0002-tracing-Two.patch'
	is "$(cut -d ' ' -f 1,3 "$project/base" | tail -n 2)" 'blob kernel/trace/trace.c
none'
	is "$(cat "$project/kernel/trace/two.c")" 'int two;'
}

test_export_numbers() {
	local cover
	exported_project numbers
	cover=$project/tools/quilt/cover/exports.txt
	mkdir -p "$project/tools/bench/results"
	cat >"$project/tools/bench/results/bench.csv" <<-'EOF'
	row,base_instructions_median,quilt_instructions_median,quilt_ns_min
	"an event, with words: 1 + 1",1234.00,200.51,1.25
	EOF
	cat >"$project/tools/bench/results/process.txt" <<-'EOF'
	Instructions.

	                   getppid()     open()
	followed: all           1292       6252
	EOF
	cat >>"$cover" <<-'EOF'
	  one {bench:an event, with words: 1 + 1:base|8}{bench:an event, with words: 1 + 1:quilt|8}
	  two {process:followed: all:open()} {process:followed: all:open() - process:followed: all:getppid() / 10}
	EOF
	q export
	grep -qx '  one    1,234     201' "$project/patches/exports/0000-cover-letter.patch"
	grep -qx '  two 6,252 496' "$project/patches/exports/0000-cover-letter.patch"

	: "A number that is not there"
	echo '{bench:nothing:base}' >>"$cover"
	fails q export
	says 'no result for {bench:nothing:base}'
	one_error
	NUMBERS=any q export
	grep -qx '?' "$project/patches/exports/0000-cover-letter.patch"
}

test_export_long_subject() {
	local long='tracing: A subject that is so long that git folds its header when it writes the mail'
	exported_project long
	commit "$long" kernel/trace/trace.c 'int long_;'
	q export
	grep -qxF "Subject: [PATCH 3/3] $long" "$project"/patches/exports/0003-*
	q check apply b4
}

test_export_topics() {
	exported_project topics
	commit 'tracing: Other' kernel/trace/trace.c 'int other;'
	printf 'Subject: tracing: Others\nFirst: tracing: Other\nDepends: exports\n\nText.\n' >"$project/tools/quilt/cover/others.txt"
	q export
	is "$(grep -c ^others/0001-tracing-Other.patch "$project/series")" 1
	grep -q 'PATCH 2/2' "$project"/patches/exports/0002-*
	q check series apply b4
}

test_export_removes() {
	exported_project removes
	git_ reset -q --hard HEAD~
	q export
	is "$(list=("$project"/patches/exports/*); echo ${#list[@]})" 3
	is_gone "$project/kernel"
	fails grep -q two.c "$project/base"
	exists "$project/tools/quilt/export.sh"
}

test_export_refuses() {
	local what
	exported_project refuses
	what=$(written)
	refuse() { # WHAT MESSAGE GIT-COMMIT-ARGUMENT...
		echo x >>"$project/build/linux/kernel/trace/trace.c"
		git_ commit -q -a "${@:2}"
		fails q export
		says "$1"
		one_error
		is "$(written)" "$what"
		git_ reset -q --hard HEAD~
	}
	refuse 'Signed-off-by' -m 'tracing: X' -m $'Assisted-by: LLM\nSigned-off-by: A <a@b.c>'
	refuse 'no Assisted-by' -m 'tracing: X'
	refuse 'the author' --author 'A <a@b.c>' -m 'tracing: X' -m 'Assisted-by: LLM'
	refuse 'autosquash' -m 'fixup! tracing: One' -m 'Assisted-by: LLM'
	echo x >>"$project/build/linux/kernel/trace/trace.c"
	fails q export
	says 'not committed'
	git_ checkout -q -- .
	touch "$project/build/linux/kernel/forgotten.c"
	fails q export
	says 'not committed'
	rm "$project/build/linux/kernel/forgotten.c"
	git_ checkout -q -b mine
	fails q export
	says 'switch quilt'
	git_ checkout -q quilt
	sed -i 's/First: .*/First: tracing: None/' "$project/tools/quilt/cover/exports.txt"
	fails q export
	says 'no topic starts with the commit'
	sed -i 's/First: .*/First: tracing: Two/' "$project/tools/quilt/cover/exports.txt"
	fails q export
	says 'no topic starts with the commit'
	is "$(written)" "$what"
}

test_export_keeps_newer_patches() {
	exported_project newer
	sed -i 's/Somebody is/Everybody is/' "$project"/patches/exports/0001-*
	commit 'tracing: Three' kernel/trace/trace.c 'int three;'
	fails q export
	says 'have changed since the tree was made'
	grep -q 'Everybody is' "$project"/patches/exports/0001-*
	# An export that was killed half-way can be run again.
	echo "exporting yes" >>"$project/build/linux/.git/quilt-state"
	q export
	q tree
}

# --- check ------------------------------------------------------------------

test_check_good() {
	exported_project good
	q check series shown apply b4
	says '4 passed, 0 failed'
}

test_check_series() {
	exported_project series
	sed -i '$d' "$project/series"
	fails q check series
	says 'exports/0002-tracing-Two.patch is not in series'
	echo 'exports/0002-tracing-Two.patch' >>"$project/series"
	q check series
	echo 'exports/0003-none.patch' >>"$project/series"
	fails q check series
	says 'series names exports/0003-none.patch, which is not in patches/'
	says 'make export'
	sed -i '$d' "$project/series"
	echo 'exports/0002-tracing-Two.patch' >>"$project/series"
	fails q check series
	says 'twice'
}

test_check_shown() {
	exported_project shown
	echo x >>"$project/kernel/trace/two.c"
	fails q check shown
	q export
	q check shown
	echo x >"$project/kernel/trace/surplus.c"
	fails q check shown
	says 'kernel/trace/surplus.c is not a file that the quilt adds'
	rm "$project/kernel/trace/surplus.c"
	sed -i 's/Somebody is/Everybody is/' "$project"/patches/exports/0001-*
	fails q check shown
}

test_check_apply() {
	exported_project apply
	sed -i 's/^+int one;/+int changed;/' "$project"/patches/exports/0001-*
	fails q check apply
	says 'make export'
	q export || FORCE=1 q export
	q check apply
	# A patch that would need fuzz is refused.
	sed -i 's/^ int line_38;/ int line_8;/' "$project"/patches/exports/0001-*
	fails q check apply
	says 'quilt does not apply'
}

test_check_b4() {
	exported_project b4
	sed -i 's/^Subject: .PATCH 2.2. /Subject: /' "$project"/patches/exports/0002-*
	fails q check b4
	says 'b4 am'
}

# ----------------------------------------------------------------------------

run_tests
