#!/bin/bash
# Measures what a system call, a new process and tar cost under the tracer "process",
# events, strace, trace-cmd, perf trace and a BPF program, with readers that keep up,
# without and with mitigations of the CPU's bugs; and how long preemption is off while
# the followed tasks change. Writes process.txt and mitigations.txt.
#
# usage: processes.sh [-n] [-o DIR]
#
#   -n      measure the kernels that are there, do not build
#   -o DIR  where the results go (tools/bench/results)
#   TREE=DIR and BASE_TREE=DIR in the environment: other source trees than
#           build/linux (the quilt) and build/base (made when missing)
#   LIMIT=SECONDS in the environment: how long one guest may run (1500)

# shellcheck source=tools/quilt/lib/tree-lib.sh
. "$(dirname "$0")/../quilt/lib/tree-lib.sh"
# shellcheck source=tools/bench/lib/bench-lib.sh
. "$(dirname "$0")/lib/bench-lib.sh"

WORK=$BUILD/bench/processes
# A CPU that needs most of the mitigations: Intel's, of 2013, without new microcode. All
# other features are those of qemu64, which is one of AMD and needs fewer.
CPU=qemu64,vendor=GenuineIntel,family=6,model=60,stepping=3

bench_options "$@"
bench_begin

# processes SIDE off|auto: with or without the mitigations
processes() {
	bench_kernel_name "$1" bench-process
	say "    $1, mitigations=$2"
	"$QUILT_TOOLS/guest.sh" run --icount -q -t "${LIMIT:-1500}" -p linux-perf -p trace-cmd \
		-k "$OUT/$kernel" -C "$CPU" -A "mitigations=$2" \
		-a "$BUILD/guest/process-loops:/usr/bin/process-loops" \
		-a "$BUILD/guest/bpf-syscalls:/usr/bin/bpf-syscalls" \
		process-bench >"$WORK/process-$1-$2" ||
		die "what processes cost under tracers can't be measured on the $1" \
		    "see $WORK/process-$1-$2 and $LOGS/guest-process-bench.log"
	grep -q '^meltdown: ' "$WORK/process-$1-$2" ||
		die "the guest has no CPU with the bug meltdown" "see $WORK/process-$1-$2"
}

# walks SIDE
walks() {
	bench_kernel_name "$1" guest
	say "    $1, walks over all tasks"
	"$QUILT_TOOLS/guest.sh" run --icount -q -t "${LIMIT:-1500}" -m 3072 -k "$OUT/$kernel" \
		-a "$BUILD/guest/process-loops:/usr/bin/process-loops" \
		follow-bench >"$WORK/walks-$1" ||
		die "the walks over all tasks can't be measured on the $1" \
		    "see $WORK/walks-$1 and $LOGS/guest-follow-bench.log"
}

# The output of a run without its last line, which counts: rows FILE
rows() { sed '$d' "$WORK/$1"; }

# table off|auto
table() {
	say "Instructions of a system call, of a new process and of tar under tracers,"
	say "those of the tools and of their readers included, until all is read (x86_64,"
	say "one CPU, QEMU with -icount). Linux of the quilt, $(date -u +%Y-%m-%d),"
	say "tools/bench/processes.sh."
	say "-cpu $CPU"
	say "mitigations=$1 on the kernel's command line. Bugs of the CPU come last, with what"
	say "the kernel does about them."
	say
	rows "process-quilt-$1"
}

# Joins the two tables of walks by the first 52 characters of their rows.
walk_rows() {
	rows walks-base >"$WORK/walks"
	rows walks-quilt | awk -v base="$WORK/walks" '
		BEGIN { while ((getline line < base) > 0) {
				n = split(line, word, " ")
				value[substr(line, 1, 52)] = word[n] } }
		{ row = substr($0, 1, 52)
		  other = row in value ? value[row] : ""
		  if (/longest time/) other = "base"
		  printf "%s %8s\n", $0, other }' | sed 's/ *$//'
}

for side in base quilt; do
	for kind in guest bench-process; do
		bench_kernel $side $kind
	done
done
guest_program bpf-syscalls
guest_program process-loops -pthread
step "measuring processes (results: $WORK)"
processes quilt off
processes quilt auto
processes base off
walks base
walks quilt
{
	table off
	say
	rows process-base-off
	say
	say "Microseconds, which are thousands of instructions, on the quilt and on the base."
	say
	walk_rows
} >"$results/process.txt"
table auto >"$results/mitigations.txt"
cat "$results/process.txt" "$results/mitigations.txt"
