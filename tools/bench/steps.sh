#!/bin/bash
# Measures what a record costs before and after each patch of a topic, on x86_64 and
# arm64, in instructions of an emulated CPU. Writes steps.md, anew behind each patch.
#
# usage: steps.sh [-o DIR] [ARCH...]
#
#   ARCH    x86_64 or arm64; both unless told, or what ARCHES in the environment says
#   -o DIR  where the result goes (tools/bench/results)
#   TOPIC=NAME in the environment: another topic than fastpath
#   TREE=DIR in the environment: another source tree than build/linux
#   LIMIT=SECONDS in the environment: how long one guest may run (1800)
#
# The patches are built one after the other in a tree of their own, so a build takes
# what the patch changes. A tree that was measured is not measured again, so an
# interrupted run goes on where it was; remove build/bench/steps/*.log to begin anew.
# The first state is the base, the second all that is in front of the topic.

# shellcheck source=tools/quilt/lib/tree-lib.sh
. "$(dirname "$0")/../quilt/lib/tree-lib.sh"
# shellcheck source=tools/bench/lib/bench-lib.sh
. "$(dirname "$0")/lib/bench-lib.sh"

WORK=$BUILD/bench/steps
ROWS=("two instructions" "ring_buffer_write() 24 bytes" "TRACE_EVENT two u64" "TRACE_EVENT int + string"
	"trace_printk() two u64" "function tracer" "function graph tracer, entry + return")

results=$BENCH_TOOLS/results topic=${TOPIC:-fastpath}
read -ra arches <<<"${ARCHES:-x86_64 arm64}"
named=()
while [ $# -gt 0 ]; do
	case $1 in
	-o) results=${2:?}; shift ;;
	-h | --help) usage; exit 0 ;;
	-*) usage >&2; exit 2 ;;
	*) named+=("$1") ;;
	esac
	shift
done
[ ${#named[@]} -eq 0 ] || arches=("${named[@]}")
for arch in "${arches[@]}"; do
	case $arch in
	x86_64) ;;
	arm64) need aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu ;;
	*) die "steps.sh: no architecture $arch" "there are: x86_64 arm64" ;;
	esac
done

need gcc:gcc make:make python3:python3
require_tree
make_dir "$WORK"
make_dir "$results"
source=$WORK/linux

# states: the base, what is in front of the topic, and each of its patches
states() {
	local numbers
	mapfile -t numbers < <(list_series "$TOP" | grep -n "^$topic/" | cut -d : -f 1)
	[ ${#numbers[@]} -gt 0 ] || die "there is no topic $topic" "see series"
	{
		base_of "$TREE"
		git -C "$TREE" rev-list --reverse "$(base_of "$TREE")..HEAD"
	} >"$WORK/commits"
	sed -n "1p; ${numbers[0]},$((numbers[-1] + 1))p" "$WORK/commits"
}

# measure ARCH COMMIT: the rows of the kernel of this commit, in $WORK/ARCH-TREE.log
measure() {
	local kind=bench kernel=bench-steps env=() log
	log=$WORK/$1-$(git -C "$TREE" rev-parse "$2^{tree}").log
	! grep -qs 'bench: end after' "$log" || return 0
	if [ "$1" = arm64 ]; then
		kind=bench-arm64 kernel=bench-steps-arm64
		env=(ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu-)
	fi
	step "$1: $(git -C "$TREE" log -1 --format=%s "$2")"
	if ! git -C "$source" checkout -q --detach --force "$2" 2>/dev/null; then
		need_space "$BUILD" 5000 "a kernel tree and two builds"
		scratch_clone "$source" "$2"
	fi
	TREE=$source "$QUILT_TOOLS/kernel.sh" -o "$kernel" "$kind"
	for variable in "${env[@]}"; do
		export "${variable?}"
	done
	bench_module "$kernel"
	unset ARCH CROSS_COMPILE
	TREE=$source "$QUILT_TOOLS/guest.sh" run --icount -k "$OUT/$kernel" -q -t "${LIMIT:-1800}" \
		-A trace_clock=local -L "$LOGS/guest-steps-$1.log" \
		-a "$module:/modules/quilt_bench.ko" bench-rows "${ROWS[@]}" >"$log.new" ||
		die "the rows do not run on $1" "see $LOGS/guest-steps-$1.log"
	mv "$log.new" "$log"
}

states >"$WORK/ids"
mapfile -t commits <"$WORK/ids"
[ ${#commits[@]} -gt 2 ] || die "$TREE has no patches of $topic" "run: make tree"
for i in "${!commits[@]}"; do
	case $i in
	0) subject="the base" ;;
	1) subject="with all in front of $topic" ;;
	*) subject=$(git -C "$TREE" log -1 --format=%s "${commits[i]}") ;;
	esac
	printf '%s|%s\n' "$(git -C "$TREE" rev-parse "${commits[i]}^{tree}")" "$subject"
done >"$WORK/states"
for arch in "${arches[@]}"; do
	for commit in "${commits[@]}"; do
		measure "$arch" "$commit"
		{
			say "tree|$(describe "$TREE")"
			say "topic|$topic"
			say "compiler|$(gcc --version | head -n 1)"
			say "emulator|$(qemu-system-x86_64 --version | head -n 1), -icount shift=0,sleep=off"
			say "date|$(date -u +%Y-%m-%d)"
			say "command|make bench-steps"
		} >"$WORK/info"
		"$BENCH_TOOLS/lib/steps-report" "$WORK" "$results"
	done
done
cat "$results/steps.md"
