# shellcheck shell=bash
# Shared by the scripts that are about topics: their names, what each depends on,
# and what a patch says and touches. Source it behind tree-lib.sh.

# shellcheck source=tools/quilt/lib/stack-lib.sh
. "$QUILT_TOOLS/lib/stack-lib.sh"

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

# chosen SUBJECT PART...: whether one of the parts is in it, or there are none
chosen() {
	local subject=$1 part
	shift
	[ $# -gt 0 ] || return 0
	for part; do
		[[ $subject != *"$part"* ]] || return 0
	done
	return 1
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
