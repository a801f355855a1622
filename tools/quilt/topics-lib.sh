# shellcheck shell=bash
# Shared by the scripts that are about topics: their names, what each depends on,
# what a patch says and touches, and a small repository to apply patches in.
# Source it behind tree-lib.sh.

# The topics of fixes. A patch of these applies to the base alone, unless it says
# which patches it needs.
FIXES_TOPICS="fixes-stm fixes"

# ROOT below is a directory with series and patches/, the project's own unless
# told.

# topics [ROOT]
topics() { list_series "${1:-$TOP}" | cut -d / -f 1 | uniq; }

# topic_patches TOPIC [ROOT]: the files, in order.
topic_patches() { list_series "${2:-$TOP}" | sed -n "s|^$1/|${2:-$TOP}/patches/&|p"; }

# needed_topics TOPIC [ROOT]: what it stands on, directly or not, in the order
# of the series.
needed_topics() {
	local root=${2:-$TOP} todo=("$1") topic name needed=' '
	while [ ${#todo[@]} -gt 0 ]; do
		topic=${todo[0]}
		todo=("${todo[@]:1}")
		while read -r name; do
			[[ $needed != *" $name "* ]] || continue
			needed+="$name "
			todo+=("$name")
		done <"$root/patches/$topic/depends"
	done
	topics "$root" | while read -r topic; do
		[[ $needed != *" $topic "* ]] || echo "$topic"
	done
}

require_topic() {
	topics | grep -xF -e "$1" >/dev/null ||
		die "series has no topic $1" "it has: $(topics | xargs)"
}

# --- what a patch says and touches -------------------------------------------

patch_subject() { sed -n '/^$/q; s/^Subject: \[[^]]*\] //p' "$1"; }

topic_subjects() { # TOPIC
	local patch
	for patch in $(topic_patches "$1"); do
		patch_subject "$patch"
	done
}

patch_message() { awk 'body && /^---$/ { exit } body; /^$/ { body = 1 }' "$1"; }

# needs_of PATCH: the subjects of 'Needs patch "SUBJECT"', which may be folded,
# and behind a tab what follows the quotation marks.
needs_of() {
	patch_message "$1" | awk '
		function flush() { if (text != "") print substr(text, 14) "\t"; text = "" }
		!NF { flush() }
		text != "" || /^Needs patch "/ { text = text (text == "" ? "" : " ") $0 }
		text ~ /^Needs patch ".*"/ {
			match(text, /".*"/)
			why = substr(text, RSTART + RLENGTH)
			gsub(/^[ .,;:]+|[ .]+$/, "", why)
			print substr(text, RSTART + 1, RLENGTH - 2) "\t" why
			text = ""
		}
		END { flush() }'
}

# is_for_tests PATH: tests, their configuration, documentation.
is_for_tests() {
	case $1 in
	*/tests/* | tools/testing/* | Documentation/* | *Kconfig* | *.kunitconfig) return 0 ;;
	esac
	return 1
}

# files_of PATCH code|tests: what it touches of one kind. A Makefile and
# MAINTAINERS go with either.
files_of() {
	local file
	touched "$1" | while read -r file; do
		if is_for_tests "$file"; then
			[ "$2" != tests ] || echo "$file"
		else
			case $file in
			*/Makefile | MAINTAINERS) ;;
			*) [ "$2" != code ] || echo "$file" ;;
			esac
		fi
	done
}

# is_test_patch PATCH: it touches tests and the like only.
is_test_patch() { [ -z "$(files_of "$1" code)" ] && [ -n "$(files_of "$1" tests)" ]; }

has_trailer() { patch_message "$1" | grep -E "^$2" >/dev/null; }
STABLE_TRAILER='Cc:.*stable@(vger\.)?kernel\.org'

# code_fixes TOPIC: the patches that fix something. A patch that changes code and
# has no Fixes: is one, too, unless another patch needs it.
code_fixes() {
	local patch needed
	needed=$(for patch in $(topic_patches "$1"); do needs_of "$patch"; done | cut -f 1)
	for patch in $(topic_patches "$1"); do
		is_test_patch "$patch" && continue
		has_trailer "$patch" "(Fixes:|Link:|$STABLE_TRAILER)" ||
			! grep -qxF -e "$(patch_subject "$patch")" <<<"$needed" || continue
		echo "$patch"
	done
}

# --- a small repository -------------------------------------------------------

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
	local needed
	mapfile -t needed < <(needed_topics "$1")
	stack_topics "${needed[@]}" "$1"
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
