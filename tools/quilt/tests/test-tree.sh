#!/bin/bash
# Tests of tree.sh: a made-up kernel of a few files, a mirror in a directory, a copy
# of the project. No network.
#
# usage: test-tree.sh [PATTERN]
#
# PATTERN: only the tests whose names match. One "ok" or "not ok" line a test;
# the last line is a summary.

# shellcheck source=tools/quilt/tests/fake-tree.sh
. "$(dirname "$0")/fake-tree.sh"

# --- tree -------------------------------------------------------------------

test_tree_again_does_nothing() {
	local before
	exported_project again
	before=$(git_ reflog)
	q tree
	is "$(git_ reflog)" "$before"
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

# ----------------------------------------------------------------------------

run_tests
