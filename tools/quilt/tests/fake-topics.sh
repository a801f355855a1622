# shellcheck shell=bash
# Shared by the tests about topics and fixes: a project with four topics. Sourced with
# the arguments of the test.

# shellcheck source=tools/quilt/tests/fake-tree.sh
. "$(dirname "${BASH_SOURCE[0]}")/fake-tree.sh"

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
