#!/bin/bash
# Measures a record of TRACE_EVENT, ktrace, trace_printk, LTTng, perf record and a BPF
# ring buffer with the same fields, in instructions, in one run; and how the cost
# grows with the number of events, instances, exporters, followed tasks and CPUs.
# Writes peers.md, peers.svg and scaling.svg.
#
# usage: peers.sh [-n] [-o DIR]
#
#   -n      measure the kernels that are there, do not build
#   -o DIR  where the results go (tools/bench/results)
#   TREE=DIR and BASE_TREE=DIR in the environment: other source trees than
#           build/linux (the quilt) and build/base (made when missing)
#   LIMIT=SECONDS in the environment: how long one guest may run (900)
#
# The kernels are those of the guest.

# shellcheck source=tools/quilt/lib/tree-lib.sh
. "$(dirname "$0")/../quilt/lib/tree-lib.sh"
# shellcheck source=tools/bench/lib/bench-lib.sh
. "$(dirname "$0")/lib/bench-lib.sh"

WORK=$BUILD/bench/peers

bench_options "$@"
bench_begin
guest_program bpf-ringbuf
guest_program process-loops -pthread

# peers NAME ARGUMENT...: of guest.sh, for the kernel and side at hand
peers() {
	local out=$WORK/$side-$1
	say "    $side, $1"
	"$QUILT_TOOLS/guest.sh" run --icount -k "$OUT/$kernel" -q -t "${LIMIT:-900}" \
		-a "$module:/modules/quilt_bench.ko" "${@:2}" >"$out" ||
		die "$1 can't be measured on the $side" "see $out and $LOGS/guest-peers.log"
}

for side in base quilt; do
	bench_kernel $side guest
	bench_module "$kernel"
	lttng_modules "$kernel"
	step "measuring the $side (results: $WORK)"
	peers records -p linux-perf -p lttng-tools -a "$lttng_dir:/modules/lttng" \
		-a "$BUILD/guest/bpf-ringbuf:/usr/bin/bpf-ringbuf" peers records
	peers scale -a "$BUILD/guest/process-loops:/usr/bin/process-loops" \
		peers exporters instances events followed
	for cpus in 1 2 4 8; do
		peers "cpus-$cpus" -s $cpus peers cpus
	done
done
bench_report peers qemu-system-x86_64 "-icount shift=0,sleep=off" "LTTng|$lttng_version"
