#!/bin/bash
# Builds the tree after every patch: kernel/trace, its users in the tree, and
# what the quilt touches, for x86_64 and UML, with W=1. A patch fails when it
# does not build or when it brings a warning that the base does not have.
#
# usage: bisect.sh [COMMIT..COMMIT]
#
# All patches unless told (base..HEAD of build/linux).

# shellcheck source=tools/quilt/tree-lib.sh
. "$(dirname "$0")/tree-lib.sh"

case ${1:-} in
-h | --help) usage; exit 0 ;;
esac

require_tree
base=$(base_of "$TREE")
range=${1:-$base..HEAD}
commits=$(git -C "$TREE" rev-list --reverse "$range") ||
	die "no such commits in $TREE: $range" "say FROM..TO, or nothing for all"
mapfile -t dirs < <({
	printf '%s\n' kernel/trace drivers/hwtracing/stm samples
	changed_files AM | grep '\.[chS]$' | grep -v '^\(tools\|scripts\|Documentation\|include\)/' | xargs -r dirname
} | sort -u | awk 'NR == 1 || index($0, last "/") != 1 { print; last = $0 }')

WORK=$BUILD/check
make_dir "$WORK"

# build COMMIT ARCH
build() {
	local here=() dir log=$LOGS/bisect-$2-${1:0:12}.log
	for dir in "${dirs[@]}"; do
		[ ! -d "$COMPILE_TREE/$dir" ] || here+=("$dir/")
	done
	if ! logged "$log" compile "$2" "${here[@]}" >&2 2>/dev/null; then
		grep -E '(error|Error) ?:|\*\*\*' "$log" | head -n 5
		return 1
	fi
	warnings <"$log" | sort -u >"$WORK/bisect-warnings"
}

step "building the base"
# All of it: what is up to date would not be complained about again.
rm -rf "$OUT/check-x86_64" "$OUT/check-um"
compile_checkout "$base"
for arch in x86_64 um; do
	build "$base" $arch || die "the base does not build for $arch" "see $LOGS"
	mv "$WORK/bisect-warnings" "$WORK/bisect-warnings.$arch"
done

passed=0 failed=0
for commit in $commits; do
	title="${commit:0:12} $(git -C "$TREE" show -s --format=%s "$commit")"
	compile_checkout "$commit"
	bad='' start=$SECONDS
	for arch in x86_64 um; do
		report=$(build "$commit" $arch) &&
			report=$(comm -13 "$WORK/bisect-warnings.$arch" "$WORK/bisect-warnings") &&
			[ -z "$report" ] && continue
		bad+="$arch: $report"$'\n'
	done
	if [ -z "$bad" ]; then
		say "ok $title ($((SECONDS - start)) s)"
		passed=$((passed + 1))
	else
		say "not ok $title"
		printf '%s' "$bad" | sed 's/^/    /'
		failed=$((failed + 1))
	fi
done
say "$passed passed, $failed failed"
[ $failed -eq 0 ] || die "some patches do not build" "logs: $LOGS/bisect-*; correct the commit with git rebase -i base"
