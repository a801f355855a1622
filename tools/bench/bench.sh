#!/bin/bash
# Measures what a trace record costs on the base and on the quilt, side by
# side: instructions on x86_64 (QEMU's TCG, counted exactly), nanoseconds on
# User-mode Linux. Writes bench.csv, bench.md, sizes.csv and a plot for each topic,
# which plots.py draws again without measuring. The cost of processes
# under the tracer "process", strace and others goes to process.txt, and with
# mitigations of the CPU's bugs to mitigations.txt, of reading a snapshot to
# snapshot.txt, of a record of LTTng to lttng.txt, and the delay with which rtla acts
# on a sample to rtla.txt, the memory of events to memory.txt, and the size of the
# functions that each record runs to hot-functions.txt.
#
# usage: bench.sh [-n] [-r ROUNDS] [-o DIR]
#
#   -n        measure the kernels that are there, do not build
#   -r ROUNDS how often the two UML kernels take turns (10)
#   -o DIR    where the results go (tools/bench/results)
#   TREE=DIR and BASE_TREE=DIR in the environment: other source trees than
#             build/linux (the quilt) and build/base (made when missing)
#   LIMIT=SECONDS in the environment: how long one guest may run (300)
#
# A row is a line of bench_rows[] in tools/bench/module/quilt_bench.c. The objects
# of tools/bench/sizes show how much memory an event takes.

# shellcheck source=tools/quilt/lib/tree-lib.sh
. "$(dirname "$0")/../quilt/lib/tree-lib.sh"
# shellcheck source=tools/bench/lib/bench-lib.sh
. "$(dirname "$0")/lib/bench-lib.sh"
# shellcheck source=tools/bench/lib/bench-run-lib.sh
. "$(dirname "$0")/lib/bench-run-lib.sh"

WORK=$BUILD/bench
# A run takes seconds: this is for a guest that hangs, on a busy machine.
LIMIT=${LIMIT:-300}

rounds=10
bench_options "$@"
[ "$rounds" -gt 0 ] || { usage >&2; exit 2; }

start=$SECONDS
need size:binutils cpio:cpio git:git /bin/busybox:busybox-static \
	rsvg-convert:librsvg2-bin /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf:fonts-dejavu-core
"$QUILT_TOOLS/lib/qemu.sh" install
busybox=/bin/busybox
if ldd "$busybox" >/dev/null 2>&1; then
	die "$busybox is not static" "apt-get install busybox-static"
fi
bench_begin
for kind in bench bench-uml; do
	build $kind base "$BASE_TREE"
	build $kind quilt "$TREE"
done
[ -z "$build_kernels" ] || "$QUILT_TOOLS/kernel.sh" guest
no_build=()
[ -n "$build_kernels" ] || no_build=(-n)
for side in '' -base; do
	cmp -s "$OUT/bench$side/bench-source" "$OUT/bench-uml$side/bench-source" ||
		die "the tree has changed between the builds for x86_64 and UML" \
		    "run it again, without -n"
done
built=$SECONDS

step "measuring: instructions on x86_64, nanoseconds on UML in $rounds rounds (logs: $WORK)"
for side in base quilt; do
	say "    x86_64 $side"
	run_x86_64 $side
done
for ((i = 1; i <= rounds; i++)); do
	say "    UML round $i of $rounds"
	for side in base quilt; do
		run_um $side "$i"
	done
done

say "    processes under tracers"
LIMIT=$((LIMIT * 5)) "$BENCH_TOOLS/processes.sh" "${no_build[@]}" -o "$results" >/dev/null

say "    taking a snapshot"
for cpus in 1 2 4 8; do
	for side in base quilt; do
		run_snapshots $side $cpus
	done
done
say "    reading a snapshot"
"$QUILT_TOOLS/guest.sh" run --icount -q -t $((LIMIT * 2)) \
	-a "$BUILD/guest/process-loops:/usr/bin/process-loops" snapshot-bench >"$WORK/snapshot" ||
	die "reading a snapshot can't be measured" "see $LOGS/guest-snapshot-bench.log"
{
	say "Instructions of reading a snapshot of 10,000 markers as text, for a record and"
	say "for all, by the size of the buffer of each CPU (x86_64, one CPU, QEMU with"
	say "-icount). Linux of the quilt, $(date -u +%Y-%m-%d), make bench."
	say
	cat "$WORK/snapshot"
	say
	say "Instructions of tracing_snapshot() with interrupts on, with the handlers of what"
	say "it queues, by the number of CPUs (the median of 1001 calls)."
	say
	for cpus in 1 2 4 8; do
		for side in base quilt; do
			snapshot_rows $side $cpus
		done
	done
} >"$results/snapshot.txt"

say "    LTTng"
LIMIT=$((LIMIT * 2)) "$BENCH_TOOLS/lttng.sh" -o "$results" >/dev/null

say "    memory of events"
LIMIT=$((LIMIT * 2)) "$BENCH_TOOLS/memory.sh" -o "$results" >/dev/null

say "    rtla"
guest_rtla "$TREE"
rtla=(-a "$program:/usr/bin/rtla")
guest_rtla "$BASE_TREE"
rtla+=(-a "$program:/usr/bin/rtla-base")
"$QUILT_TOOLS/guest.sh" run -q -t $((LIMIT * 4)) "${rtla[@]}" rtla 20 >"$WORK/rtla" ||
	die "how late rtla is can't be measured" "see $LOGS/guest-rtla.log"
"$QUILT_TOOLS/guest.sh" run --icount -q -t $((LIMIT * 4)) "${rtla[@]}" rtla cost 20 >"$WORK/rtla-cost" ||
	die "what rtla costs can't be measured" "see $LOGS/guest-rtla.log"
{
	say "From a timerlat sample above the threshold to the action of rtla, of the"
	say "quilt and of the base, on a kernel of the quilt (x86_64, two CPUs, QEMU)."
	say "$(date -u +%Y-%m-%d), make bench."
	say
	sed -n '/^rtla/p' "$WORK/rtla"
	say
	say "The CPU time of 20 seconds of samples, one a millisecond and CPU, twice each, one"
	say "CPU with -icount."
	say
	sed -n '/^rtla/p' "$WORK/rtla-cost"
} >"$results/rtla.txt"

info "$(cat "$OUT/bench-base/bench-source")" "$(cat "$OUT/bench/bench-source")" gcc \
	"$(qemu-system-x86_64 --version | head -n 1), -icount shift=0,sleep=off, -cpu qemu64" \
	"make bench" >"$WORK/info"
"$BENCH_TOOLS/lib/report" "$WORK" "$results"
"$BENCH_TOOLS/hot-functions.sh" -o "$results" >/dev/null
say "built in $((built - start)) s, measured in $((SECONDS - built)) s"
