#!/bin/bash
# Tests of fetch.sh and of the pinned base: a made-up kernel of a few files, a mirror
# in a directory, a copy of the project. No network.
#
# usage: test-fetch.sh [PATTERN]
#
# PATTERN: only the tests whose names match. One "ok" or "not ok" line a test;
# the last line is a summary.

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
	q lib/fetch
	KERNEL_MIRROR=file:///nonexistent q lib/fetch
	says "tar:$XDG_CACHE_HOME/tracing-quilt/linux-7.3.4.tar.xz"
}

test_fetch_damaged_cache() {
	new_project damaged
	q lib/fetch
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

# ----------------------------------------------------------------------------

run_tests
