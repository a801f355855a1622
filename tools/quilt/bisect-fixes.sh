#!/bin/bash
# Builds each fix as a stable tree gets it: on the base, with the patches that
# its changelog says it needs, and with nothing else. A fix fails when it does
# not build, or when it brings a warning that the base does not have. For x86_64,
# with W=1, and only the objects of files that these patches touch, or if those
# are headers alone, that all fixes touch.
#
# usage: bisect-fixes.sh [FIX...]
#
#   FIX     part of a fix's subject; all fixes unless told

# shellcheck source=tools/quilt/lib/tree-lib.sh
. "$(dirname "$0")/lib/tree-lib.sh"
# shellcheck source=tools/quilt/lib/check-fixes.sh
. "$QUILT_TOOLS/lib/check-fixes.sh"
# shellcheck source=tools/quilt/lib/compile-lib.sh
. "$QUILT_TOOLS/lib/compile-lib.sh"

case ${1:-} in
-h | --help) usage; exit 0 ;;
esac

# objects <FILES: trace.c includes trace_selftest.c.
objects() { grep -v '/trace_selftest\.c$' | sed -n 's/\.c$/.o/p' | sort -u; }

# stack_fix PATCH: the base, the patches that it needs, and the patch
stack_fix() {
	local subject needs=()
	while IFS=$'\t' read -r subject _; do
		needs+=("${fix_of[$subject]:?}")
	done < <(needs_of "$1")
	applies "$1" "${needs[@]}"
}

# build_fix PATCH: prints what is wrong.
build_fix() {
	local log files
	log=$LOGS/bisect-fixes-$(basename "$1" .patch).log
	stack_fix "$1" || { echo "$stack_error"; return 1; }
	stack_whole fix
	compile_checkout fix "$stack"
	mapfile -t files < <(git -C "$stack" diff --name-only --diff-filter=AM base HEAD | objects)
	# Headers alone: without a target, make would build the whole kernel.
	[ ${#files[@]} -gt 0 ] || files=("${all[@]}")
	build_targets x86_64 "$log" "${files[@]}" || return
	comm -13 "$LOGS/bisect-fixes-base.log.warnings" "$log.warnings" | grep . && return 1
	return 0
}

require_tree
require_patches
make_dir "$LOGS"
code=()
for topic in $FIXES_TOPICS; do
	for patch in $(topic_patches "$topic"); do
		is_test_patch "$patch" || code+=("$patch")
	done
done

step "building the base"
# make does not repeat the warnings of objects that are up to date.
rm -rf "$OUT/check-x86_64"
compile_checkout "$(base_of "$TREE")"
mapfile -t all < <(touched "${code[@]}" | objects)
build_targets x86_64 "$LOGS/bisect-fixes-base.log" "${all[@]}" ||
	die "the base does not build" "see $LOGS/bisect-fixes-base.log"

passed=0 failed=0
declare -A fix_of=()
open_stack "$BUILD/check/fixes"
for patch in "${code[@]}"; do
	subject=$(patch_subject "$patch")
	fix_of[$subject]=$patch
	chosen "$subject" "$@" || continue
	start=$SECONDS
	if report=$(build_fix "$patch"); then
		say "ok $subject ($((SECONDS - start)) s)"
		passed=$((passed + 1))
	else
		say "not ok $subject"
		say "    ${report//$'\n'/$'\n'    }"
		failed=$((failed + 1))
	fi
done
rm -rf "$stack"
say "$passed passed, $failed failed"
[ $failed -eq 0 ] ||
	die "a fix needs more than it says" "logs: $LOGS/bisect-fixes-*; say it in its changelog: Needs patch \"SUBJECT\" to build."
