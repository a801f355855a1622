#!/bin/bash
# Runs the litmus tests of tools/quilt/litmus with herd7 and the memory model of
# the tree (tools/memory-model).
#
# usage: litmus.sh [FILE...]
#
#   FILE       a test (all unless told)
#   TREE=DIR   in the environment: another source tree than build/linux
#   HERD=CMD   in the environment: another herd7, or one with options
#
# A test has to give the result that its comment says. If that is "Never", it has
# to become "Sometimes" without any one of its barriers, so that the test shows
# that each of them is needed. One "ok" or "not ok" line a test; the last line
# counts.

# shellcheck source=tools/quilt/lib/lib.sh
. "$(dirname "$0")/lib/lib.sh"

case ${1:-} in
-*) usage; [[ $1 = -h || $1 = --help ]]; exit ;;
esac

read -ra herd <<<"${HERD:-herd7}"
model=$TREE/tools/memory-model
command -v "${herd[0]}" >/dev/null ||
	die "${herd[0]} is not there" "tools/quilt/litmus/README.md says where it comes from"
[ -f "$model/linux-kernel.cfg" ] || die "$TREE has no memory model" "make tree"

# herd_says FILE: Never, Sometimes or Always, or the errors of herd7
herd_says() {
	local out
	out=$(cd "$model" && "${herd[@]}" -conf linux-kernel.cfg "$1" 2>&1) || true
	sed -n 's/^Observation [^ ]* \([A-Z][a-z]*\) .*/\1/p' <<<"$out" | grep . || printf '%s\n' "$out"
}

# without LINE FILE: the test with this barrier taken away
without() {
	sed -e "$1s/smp_[rw]\?mb();//" \
	    -e "$1s/smp_store_release(\([a-z_]*\), /WRITE_ONCE(*\1, /" \
	    -e "$1s/smp_load_acquire(\([a-z_]*\))/READ_ONCE(*\1)/" "$2"
}

# faults FILE: prints what is wrong with it
faults() {
	local want said line barriers
	want=$(sed -n 's/^ \* Result: //p' "$1")
	said=$(herd_says "$1")
	if [ "$said" != "$want" ]; then
		echo "the comment says ${want:-nothing}, herd7 says $said"
	elif [ "$want" = Never ]; then
		mapfile -t barriers < <(grep -n $'^\t.*smp_' "$1" | cut -d: -f1)
		for line in ${barriers[0]:+"${barriers[@]}"}; do
			without "$line" "$1" >"$work/less.litmus"
			said=$(herd_says "$work/less.litmus")
			[ "$said" = Sometimes ] || echo "without line $line herd7 says $said"
		done
	fi
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
[ $# -gt 0 ] || set -- "$QUILT_TOOLS"/litmus/*.litmus
for file in "$@"; do
	file=$(realpath -e "$file") || die "there is no test $file"
	name=$(basename "$file" .litmus)
	faults "$file" >"$work/faults"
	if [ -s "$work/faults" ]; then
		say "not ok $name"
		sed 's/^/    /' "$work/faults"
		failed=$((failed + 1))
	else
		say "ok $name: $(sed -n 's/^ \* Result: //p' "$file")"
		passed=$((passed + 1))
	fi
done
say "$passed passed, $failed failed"
[ $failed -eq 0 ]
