# shellcheck shell=bash
# A small repository to apply patches in, the stack. Sourced by topics-lib.sh.

# The directory, and the error of stack_am
stack='' stack_error=''

# open_stack DIR: a repository with the base's version of the files that the
# quilt touches, and nothing else: git am takes milliseconds there.
open_stack() {
	local files=() file
	stack=$1
	declare -gA stacked=()
	rm -rf "$stack"
	make_dir "$stack"
	git -C "$stack" init -q --template= -b stack
	git -C "$TREE" rev-parse --path-format=absolute --git-path objects >"$stack/.git/objects/info/alternates"
	while read -r file; do
		files+=("$file")
	done < <(patch_paths | tr '\n' '\0' | xargs -0r sed -n 's|^diff --git a/\(.*\) b/.*|\1|p' | sort -u)
	# Files are given by their ids, so nothing is unpacked and packed again.
	git -C "$TREE" ls-tree -r "$(base_of "$TREE")" -- "${files[@]}" |
		sed 's/^\([0-7]*\) blob /\1 /' | git -C "$stack" update-index --index-info
	GIT_AUTHOR_DATE='2026-01-01T00:00:00Z' GIT_COMMITTER_DATE='2026-01-01T00:00:00Z' \
		git -C "$stack" commit -q --allow-empty -m base
	git -C "$stack" reset -q --hard
	git -C "$stack" tag base
}

# stack_am PATCH...: git am on top of the stack. A failure leaves the stack as it
# was, and the reason in $stack_error.
stack_am() {
	local log=$stack/.git/am.log bad
	[ $# -gt 0 ] || return 0
	git -C "$stack" am -q --no-3way --committer-date-is-author-date "$@" >"$log" 2>&1 </dev/null && return
	bad=${*:$(cat "$stack/.git/rebase-apply/next" 2>/dev/null || echo 1):1}
	stack_error="${bad#"$TOP/"} does not apply: $(grep -m 1 '^error: ' "$log" | sed 's/^error: //')"
	git -C "$stack" am -q --abort 2>/dev/null || true
	return 1
}

# stack_topics TOPIC...: the base with these topics. A stack that was made before
# is used again.
stack_topics() {
	local key='' at=base patches
	while [ $# -gt 0 ] && [ -n "${stacked[$key $1]:-}" ]; do
		key+=" $1"
		at=${stacked[$key]}
		shift
	done
	git -C "$stack" reset -q --hard "$at"
	while [ $# -gt 0 ]; do
		mapfile -t patches < <(topic_patches "$1")
		stack_am "${patches[@]}" || return
		key+=" $1"
		stacked[$key]=$(git -C "$stack" rev-parse HEAD)
		shift
	done
}

# stack_topic TOPIC: the base with a topic and what it stands on.
stack_topic() {
	local below
	mapfile -t below < <(needed_topics "$1")
	stack_topics "${below[@]}" "$1"
}

# stack_whole NAME: what the stack holds, with all other files of the base, as
# the branch NAME of the stack's repository. The same content has the same id.
stack_whole() {
	local id git=(env "GIT_INDEX_FILE=$stack/.git/whole" GIT_AUTHOR_DATE=2026-01-01T00:00:00Z
		GIT_COMMITTER_DATE=2026-01-01T00:00:00Z git -C "$stack")
	"${git[@]}" read-tree "$(base_of "$TREE")"
	"${git[@]}" diff-tree -r --no-renames base HEAD |
		sed 's/^:[0-7]* \([0-7]*\) [0-9a-f]* \([0-9a-f]*\) [A-Z]\t/\1 \2\t/' |
		"${git[@]}" update-index --index-info
	id=$("${git[@]}" log -1 --format=%s |
		"${git[@]}" commit-tree -p "$(base_of "$TREE")" "$("${git[@]}" write-tree)")
	git -C "$stack" update-ref "refs/heads/$1" "$id"
}
