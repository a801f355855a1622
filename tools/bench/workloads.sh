#!/bin/bash
# Measures what tracing costs dbench, tbench and a compile job, on base and quilt: in
# instructions (QEMU with -icount, one CPU), and in time (QEMU without, one CPU).
# Writes workloads.md and workloads.svg.
#
# usage: workloads.sh [-n] [-r ROUNDS] [-o DIR]
#
#   -n        measure the kernels that are there, do not build
#   -r ROUNDS how often the time is measured, base and quilt in turns (3)
#   -o DIR    where the results go (tools/bench/results)
#   TREE=DIR and BASE_TREE=DIR in the environment: other source trees than
#             build/linux (the quilt) and build/base (made when missing)
#   LIMIT=SECONDS in the environment: how long one guest may run (1200)
#
# The scenario workloads names what is traced, and how.

# shellcheck source=tools/quilt/lib/tree-lib.sh
. "$(dirname "$0")/../quilt/lib/tree-lib.sh"
# shellcheck source=tools/bench/lib/bench-lib.sh
. "$(dirname "$0")/lib/bench-lib.sh"

WORK=$BUILD/bench/workloads
LIMIT=${LIMIT:-1200}

rounds=3
bench_options "$@"
bench_begin
bench_kernel base guest
bench_kernel quilt guest
guest_program busy

# prepare SIDE: sets $options, of guest.sh, and $ways
prepare() {
	local kernel=guest
	[ "$1" = quilt ] || kernel=guest-base
	ways=(none events lttng none)
	options=(-k "$OUT/$kernel" -s 1 -t "$LIMIT" -q -p lttng-tools -p dbench -p tcc -p make
		-a "$BUILD/guest/busy:/usr/bin/busy")
	lttng_modules $kernel sched irq writeback net skb napi
	options+=(-a "$lttng_dir:/modules/lttng")
	[ "$1" = quilt ] || return 0
	guest_module $kernel ktrace_workload
	options+=(-a "$module:/modules/ktrace_workload.ko")
	ways=(none events ktrace lttng none)
}

# run SIDE NAME OPTION...
run() {
	local out=$WORK/$1-$2
	say "    $1, $2"
	"$QUILT_TOOLS/guest.sh" run "${options[@]}" "${@:3}" workloads "${ways[@]}" >"$out" ||
		die "the workloads do not run on the $1" "see $out and $LOGS/guest-workloads.log"
}

step "measuring workloads (results: $WORK)"
for side in base quilt; do
	prepare $side
	run $side instructions --icount
done
for ((i = 1; i <= rounds; i++)); do
	for side in base quilt; do
		prepare $side
		run $side "time-$i"
	done
done

bench_report workloads qemu-system-x86_64 "-icount shift=0,sleep=off" "LTTng|$lttng_version"
