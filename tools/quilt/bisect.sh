#!/bin/bash
# Builds the tree after every patch: kernel/trace, its users in the tree, and
# what the quilt touches, for x86_64 and UML, with W=1. A patch fails when it
# does not build or when it brings a warning that the base does not have.
#
# usage: bisect.sh [-a] [TOPIC | COMMIT..COMMIT]
#
#   -a  build patches again that have passed with the same tree
#
# All patches unless told (base..HEAD of build/linux). With TOPIC the patches of
# that topic, on the base and the topics that it depends on and no others.
#
# Each patch that passes is a line TREE SECONDS SUBJECT in
# tools/quilt/results/bisect.tsv, so that an interrupted run goes on where it was.

# shellcheck source=tools/quilt/lib/tree-lib.sh
. "$(dirname "$0")/lib/tree-lib.sh"
# shellcheck source=tools/quilt/lib/topics-lib.sh
. "$QUILT_TOOLS/lib/topics-lib.sh"
# shellcheck source=tools/quilt/lib/compile-lib.sh
. "$QUILT_TOOLS/lib/compile-lib.sh"

again=''
case ${1:-} in
-h | --help) usage; exit 0 ;;
-a) again=y; shift ;;
-*) usage >&2; exit 2 ;;
esac

RESULTS=$QUILT_TOOLS/results/bisect.tsv
WORK=$BUILD/check
require_tree
base=$(base_of "$TREE")
make_dir "$WORK"

# commits_of TOPIC: a whole commit for each patch, as a branch of the stack.
commits_of() {
	local needed patch n=0
	require_topic "$1"
	require_patches
	mapfile -t needed < <(needed_topics "$1")
	open_stack "$WORK/stack"
	stack_topics "${needed[@]}" || die "$stack_error" "see: make check, topics"
	for patch in $(topic_patches "$1"); do
		stack_am "$patch" || die "$stack_error" "see: make check, topics"
		n=$((n + 1))
		stack_whole "patch-$n"
		commits+=("patch-$n")
	done
}

# passed_before COMMIT: with this very tree
passed_before() {
	[ -z "$again" ] && grep -qs "^$(git -C "$TREE" rev-parse "$1^{tree}")"$'\t' "$RESULTS"
}

# keep COMMIT SECONDS: in the file, and not what is there of patches that changed
keep() {
	git -C "$TREE" log --format=%T "$base..HEAD" >"$WORK/trees"
	{
		grep -sF -f "$WORK/trees" "$RESULTS" | grep -v "^$(git -C "$TREE" rev-parse "$1^{tree}")" || true
		git -C "$TREE" show -s --format="%T%x09$2%x09%s" "$1"
	} >"$RESULTS.new"
	mv "$RESULTS.new" "$RESULTS"
}

mapfile -t dirs < <(compile_dirs)
commits=() from=()
case ${1:-} in
'' | *..*)
	mapfile -t commits < <(git -C "$TREE" rev-list --reverse "${1:-$base..HEAD}")
	[ ${#commits[@]} -gt 0 ] ||
		die "no such commits in $TREE: ${1:-base..HEAD}" "say TOPIC, FROM..TO, or nothing for all"
	;;
*)
	commits_of "$1"
	from=("$WORK/stack")
	again=y
	;;
esac

step "building the base"
# All of it: make does not repeat the warnings of objects that are up to date.
rm -rf "$OUT/check-x86_64" "$OUT/check-um"
compile_checkout "$base"
for arch in x86_64 um; do
	build_targets $arch "$LOGS/bisect-$arch-base.log" "${dirs[@]}" ||
		 die "the base does not build for $arch" "see $LOGS"
done

passed=0 failed=0 before=0
make_dir "$(dirname "$RESULTS")"
for commit in "${commits[@]}"; do
	if passed_before "$commit"; then
		before=$((before + 1))
		continue
	fi
	compile_checkout "$commit" "${from[@]}"
	id=$(git -C "$COMPILE_TREE" rev-parse --short=12 HEAD)
	title="$id $(git -C "$COMPILE_TREE" show -s --format=%s)"
	bad='' start=$SECONDS
	for arch in x86_64 um; do
		log=$LOGS/bisect-$arch-$id.log
		report=$(build_targets $arch "$log" "${dirs[@]}") &&
			report=$(comm -13 "$LOGS/bisect-$arch-base.log.warnings" "$log.warnings") &&
			[ -z "$report" ] && continue
		bad+="$arch: $report"$'\n'
	done
	if [ -z "$bad" ]; then
		say "ok $title ($((SECONDS - start)) s)"
		[ -n "${from[*]}" ] || keep "$commit" $((SECONDS - start))
		passed=$((passed + 1))
	else
		say "not ok $title"
		printf '%s' "$bad" | sed 's/^/    /'
		failed=$((failed + 1))
	fi
done
[ $before -eq 0 ] || say "$before have passed before"
say "$passed passed, $failed failed"
[ $failed -eq 0 ] || die "some patches do not build" "logs: $LOGS/bisect-*; correct the commit with git rebase -i base"
