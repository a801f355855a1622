#!/bin/bash
# Tests of fetch.sh, tree.sh, export.sh and check.sh: a made-up kernel of a
# few files, a mirror in a directory, a copy of the project. No network.
#
# usage: test-tree.sh [PATTERN]
#
# PATTERN: only the tests whose names match. One "ok" or "not ok" line a test;
# the last line counts.

# shellcheck source=tools/quilt/tests/fake-tree.sh
. "$(dirname "$0")/fake-tree.sh"

# --- fetch ------------------------------------------------------------------

test_fetch_from_mirror() {
	new_project mirror
	q tree
	says 'Linux 7.3.4 and 0 patches'
	exists "$XDG_CACHE_HOME/tracing-quilt/linux-7.3.4.tar.xz.sha256"
	is "$(git_ status --porcelain)" ''
	# Debian's rule that hides every new file is gone.
	touch "$project/build/linux/kernel/new.c"
	is "$(git_ status --porcelain)" '?? kernel/new.c'
}

test_fetch_same_base_from_everywhere() {
	local id src
	new_project same
	q tree
	id=$(git_ rev-parse base)
	git init -q "$work/git"
	cp -a "$work/linux/." "$work/git/"
	git -C "$work/git" add -f -A
	git -C "$work/git" -c user.name=x -c user.email=x@y commit -q -m x
	for src in LINUX_SRC="$work/linux" LINUX_SRC="$work/git" \
		   LINUX_TARBALL="$work/mirror/v7.x/linux-7.3.4.tar.xz"; do
		rm -rf "$project/build"
		env "$src" "$project/tools/quilt/tree.sh" >"$work/out" 2>&1
		says "using"
		is "$(git_ rev-parse base)" "$id"
	done
}

test_fetch_wrong_checksum() {
	new_project wrong
	cp -a "$work/mirror" "$project/mirror"
	printf x | dd of="$project/mirror/v7.x/linux-7.3.4.tar.xz" bs=1 seek=1000 conv=notrunc 2>/dev/null
	KERNEL_MIRROR=file://$project/mirror fails q tree
	says 'the checksum of linux-7.3.4.tar.xz is wrong, the file is deleted'
	says 'LINUX_TARBALL=FILE'
	one_error
	is "$(ls "$XDG_CACHE_HOME/tracing-quilt")" ''
	is_gone "$project/build/linux"
	q tree
}

test_fetch_resumes() {
	local cache
	new_project resume
	cache=$XDG_CACHE_HOME/tracing-quilt
	mkdir -p "$cache"
	head -c 1500000 "$work/mirror/v7.x/linux-7.3.4.tar.xz" >"$cache/linux-7.3.4.tar.xz.part"
	q tree
	says 'resuming at 1 MiB'
	is_gone "$cache/linux-7.3.4.tar.xz.part"
}

test_fetch_truncated_on_mirror() {
	new_project truncated
	cp -a "$work/mirror" "$project/mirror"
	truncate -s 1500000 "$project/mirror/v7.x/linux-7.3.4.tar.xz"
	KERNEL_MIRROR=file://$project/mirror fails q tree
	one_error
	q tree
}

test_fetch_part_of_something_else() {
	local part
	for part in 10 1500000 9000000; do
		new_project "stale$part"
		mkdir -p "$XDG_CACHE_HOME/tracing-quilt"
		head -c $part /dev/urandom >"$XDG_CACHE_HOME/tracing-quilt/linux-7.3.4.tar.xz.part"
		q tree
	done
}

test_fetch_uses_cache() {
	new_project cache
	q fetch
	KERNEL_MIRROR=file:///nonexistent q fetch
	says "tar:$XDG_CACHE_HOME/tracing-quilt/linux-7.3.4.tar.xz"
}

test_fetch_damaged_cache() {
	new_project damaged
	q fetch
	truncate -s 1000000 "$XDG_CACHE_HOME/tracing-quilt/linux-7.3.4.tar.xz"
	q tree
	says 'is damaged, and is deleted and fetched again'
}

test_fetch_no_way() {
	new_project noway
	KERNEL_MIRROR=file:///nonexistent fails q tree
	one_error
	says '       cache: no tarball'
	says '       kernel.org: '
	says '       Debian: '
	says 'LINUX_TARBALL=FILE'
	is_gone "$project/build/linux.new"
}

test_fetch_bad_tarball() {
	new_project badtar
	head -c 1500000 "$work/mirror/v7.x/linux-7.3.4.tar.xz" >"$work/half.tar.xz"
	LINUX_TARBALL=$work/half.tar.xz fails q tree
	says 'could not be unpacked'
	LINUX_TARBALL=$work/none.tar.xz fails q tree
	says 'no such file'
	is_gone "$project/build/linux"
	q tree
	is_gone "$project/build/linux.new"
}

test_fetch_bad_src() {
	new_project badsrc
	LINUX_SRC=$work/none fails q tree
	says 'is not a directory'
	cp -a "$work/linux" "$project/configured"
	touch "$project/configured/.config"
	LINUX_SRC=$project/configured fails q tree
	says 'make mrproper'
	git init -q "$project/git"
	LINUX_SRC=$project/git LINUX_REF=v9.9 fails q tree
	says 'has no commit v9.9'
	LINUX_SRC=$work/mirror fails q tree
	says 'is not a kernel tree'
}

# --- the pinned base --------------------------------------------------------

test_base_of_another_version() {
	exported_project other
	rm -rf "$project/build"
	fake_kernel "$project/7.3.3" 3
	LINUX_SRC=$project/7.3.3 q tree
	says 'this is Linux 7.3.3, not 7.3.4; the files that the quilt touches are the same'
	rm -rf "$project/build"
	sed -i 's/line_20/was_20/' "$project/7.3.3/kernel/trace/trace.c"
	LINUX_SRC=$project/7.3.3 fails q tree
	says 'this is Linux 7.3.3, the quilt wants 7.3.4; 1 files'
	says 'kernel/trace/trace.c'
	says 'BASE=any'
	one_error
	is_gone "$project/build/linux"
	BASE=any LINUX_SRC=$project/7.3.3 q tree
	says 'warning: BASE=any'
	says 'and 2 patches'
	fails q export
	says 'has another base than the pinned'
	BASE=any q export
	is "$(sed -n 1p "$project/base")" 'version 7.3.3'
}

test_base_any_merges() {
	local src
	exported_project merge
	src=$project/src
	rm -rf "$project/build"
	git init -q -b main "$src"
	cp -a "$work/linux/." "$src/"
	git -C "$src" add -f -A
	git -C "$src" -c user.name=x -c user.email=x@y commit -q -m x
	# The last line is part of the first patch's context.
	sed -i 's/line_40;/line_40_changed;/' "$src/kernel/trace/trace.c"
	sed -i 's/line_38;/&\n\n\n\n/' "$src/kernel/trace/trace.c"
	git -C "$src" -c user.name=x -c user.email=x@y commit -q -a -m y
	BASE=any LINUX_SRC=$src fails q tree
	says 'does not apply'
	git -C "$src" reset -q --hard HEAD~
	sed -i '1i int first;' "$src/kernel/trace/trace.c"
	git -C "$src" -c user.name=x -c user.email=x@y commit -q -a -m z
	rm -rf "$project/build"
	BASE=any LINUX_SRC=$src q tree
	says 'and 2 patches'
	git_ fsck
}

test_base_without_version() {
	new_project first
	fake_kernel "$project/7.2.9" 9
	sed -i 's/PATCHLEVEL = 3/PATCHLEVEL = 2/' "$project/7.2.9/Makefile"
	LINUX_SRC=$project/7.2.9 fails q tree
	says 'this is Linux 7.2.9, the quilt wants 7.3.4'
}

# --- tree -------------------------------------------------------------------

test_tree_again_is_quick() {
	local start head
	exported_project again
	head=$(git_ rev-parse HEAD)
	start=${EPOCHREALTIME/./}
	q tree
	[ $((${EPOCHREALTIME/./} - start)) -lt 2000000 ]
	is "$(git_ rev-parse HEAD)" "$head"
}

test_tree_from_patches() {
	local tree id
	exported_project clone
	tree=$(git_ rev-parse 'HEAD^{tree}')
	rm -rf "$project/build"
	q tree
	is "$(git_ rev-parse 'HEAD^{tree}')" "$tree"
	id=$(git_ rev-parse HEAD)
	is "$(git_ symbolic-ref HEAD)" refs/heads/quilt
	rm -rf "$project/build"
	q tree
	is "$(git_ rev-parse HEAD)" "$id"
}

test_tree_takes_changed_patches() {
	local other old
	exported_project pulled
	other=$project
	exported_project author
	commit 'tracing: Three' include/linux/trace.h 'int three;'
	q export
	cp -a "$project"/{patches,series,base} "$other/"
	project=$other
	touch -d 2020-01-01 "$project/build/linux/kernel/trace/trace.c"
	old=$(stat -c %Y "$project/build/linux/kernel/trace/trace.c")
	KERNEL_MIRROR=file:///nonexistent XDG_CACHE_HOME=$work/nocache q tree
	says 'and 3 patches'
	is "$(tail -n 1 "$project/build/linux/include/linux/trace.h")" 'int three;'
	# Files that are the same keep their time stamps.
	is "$(stat -c %Y "$project/build/linux/kernel/trace/trace.c")" "$old"
}

test_tree_refuses_dirty() {
	exported_project dirty
	echo x >>"$project/build/linux/kernel/trace/trace.c"
	fails q tree
	says 'not committed'
	one_error
	q tree -k
	says 'used as it is'
	is "$(tail -n 1 "$project/build/linux/kernel/trace/trace.c")" x
}

test_tree_refuses_commits() {
	exported_project commits
	commit 'tracing: Three' kernel/trace/trace.c 'int three;'
	fails q tree
	says 'commits that are not exported (1)'
	says 'make export'
	q tree -k
	is "$(git_ log -1 --format=%s)" 'tracing: Three'
}

test_tree_refuses_rebase() {
	exported_project rebase
	GIT_SEQUENCE_EDITOR="sed -i '1s/pick/edit/'" git_ rebase -q -i base >"$work/out" 2>&1
	fails q tree
	says 'in progress'
	fails q export
	says 'in progress'
	git_ rebase --continue >"$work/out" 2>&1
	q tree
}

test_tree_force_keeps_backup() {
	local head
	exported_project force
	head=$(git_ rev-parse HEAD)
	commit 'tracing: Three' kernel/trace/trace.c 'int three;'
	echo new >"$project/build/linux/kernel/new.c"
	FORCE=1 q tree
	says 'backup-'
	is "$(git_ rev-parse 'HEAD^{tree}')" "$(git_ rev-parse "$head^{tree}")"
	is "$(git_ show "$(git_ branch --list 'backup-*' --format='%(refname)'):kernel/new.c")" new
	is "$(git_ status --porcelain)" ''
	q tree
}

test_tree_patch_fails() {
	local head two
	exported_project failing
	head=$(git_ rev-parse HEAD)
	two=$(echo "$project"/patches/exports/0001-*.patch)
	cp "$two" "$work/good.patch"
	sed -i 's/^ int line_40;/ int other_40;/' "$two"
	fails q tree
	says 'patches/exports/0001-tracing-One.patch does not apply'
	says 'kernel/trace/trace.c'
	one_error
	is "$(git_ rev-parse HEAD)" "$head"
	is "$(git_ status --porcelain)" ''
	# The same with no tree yet: the base stays, the next run goes on.
	rm -rf "$project/build"
	fails q tree
	says 'does not apply'
	cp "$work/good.patch" "$two"
	KERNEL_MIRROR=file:///nonexistent XDG_CACHE_HOME=$work/nocache q tree
	says 'and 2 patches'
}

test_tree_missing_patch() {
	exported_project missing
	rm "$project"/patches/exports/0002-*
	fails q tree
	says 'which does not exist'
	one_error
}

# A slow tar, and a kill that nothing can catch.
test_tree_interrupted() {
	local pid
	new_project killed
	mkdir "$project/bin"
	printf '#!/bin/bash\n%s "$@"\nsleep 3\n' "$(command -v tar)" >"$project/bin/tar"
	chmod +x "$project/bin/tar"
	PATH=$project/bin:$PATH "$project/tools/quilt/tree.sh" >"$work/out" 2>&1 &
	pid=$!
	for _ in {1..50}; do
		[ ! -f "$project/build/linux.new/Makefile" ] || break
		sleep 0.1
	done
	exists "$project/build/linux.new/Makefile"
	kill -KILL $pid
	wait $pid 2>/dev/null || true
	is_gone "$project/build/linux"
	q tree
	says 'and 0 patches'
	is_gone "$project/build/linux.new"
}

test_tree_interrupted_at_the_end() {
	local head
	exported_project switching
	head=$(git_ rev-parse HEAD)
	git_ reset -q --hard base
	echo half >"$project/build/linux/kernel/trace/trace.c"
	touch "$project/build/linux/.git/index.lock"
	echo "switching $head" >>"$project/build/linux/.git/quilt-state"
	q tree
	is "$(git_ rev-parse HEAD)" "$head"
	is "$(git_ status --porcelain)" ''
}

test_tree_two_at_once() {
	local pid
	new_project twice
	"$project/tools/quilt/tree.sh" >"$work/out2" 2>&1 &
	pid=$!
	q tree
	wait $pid
}

test_tree_unwritable() {
	new_project unwritable
	touch "$project/file"
	BUILD=$project/file/build fails q tree
	says "can't write to"
	one_error
	XDG_CACHE_HOME=$project/file fails q tree
	says "can't write to"
	XDG_CACHE_HOME=/proc fails q tree
	says "can't write to"
}

test_tree_no_space() {
	new_project space
	mkdir "$project/small"
	mount -t tmpfs -o size=20m none "$project/small" 2>/dev/null || return 77
	if BUILD=$project/small q tree; then echo "did not fail" >>"$work/out"; fi
	umount "$project/small"
	says 'needs 4000 MiB'
	one_error
}

# The suite has no such version.
test_tree_no_package() {
	new_project package
	mkdir "$project/bin"
	printf '#!/bin/sh\ncase "$*" in\n*download*) echo "E: Unable to locate package" >&2; exit 100 ;;\nesac\n' \
		>"$project/bin/apt-get"
	chmod +x "$project/bin/apt-get"
	KERNEL_MIRROR=file:///nonexistent PATH=$project/bin:$PATH fails q tree
	says 'Debian: no package linux-source-7.3 in trixie-backports'
	says 'no source of Linux 7.3.4 was found'
}

# As on a distribution without apt-get.
test_tree_missing_tool() {
	local tool
	new_project tool
	mkdir "$project/bin"
	for tool in bash dirname nproc mkdir df awk sed git flock rm cat tr xargs sha256sum cut grep \
		    sleep tail head date printf tar curl stat mv id realpath sort env; do
		ln -s "$(command -v $tool)" "$project/bin/"
	done
	PATH=$project/bin fails q tree
	says 'error: missing: xz'
	says 'package manager'
	is_gone "$project/build/linux"
	rm "$project/bin/curl"
	rm -rf "$XDG_CACHE_HOME"
	PATH=$project/bin fails q tree
	says 'error: missing: curl'
}

test_tree_not_ours() {
	new_project notours
	mkdir -p "$project/build/linux"
	fails q tree
	says 'move it away'
}

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
