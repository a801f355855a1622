#!/bin/bash
# Counts the instructions that a record executes in each function, on base and quilt, by
# stepping through one with gdb. Writes stepping.txt.
#
# usage: stepping.sh [-o DIR]
#
#   -o DIR  where the result goes (tools/bench/results)
#   LIMIT=SECONDS in the environment: for one record (300)
#
# It needs the kernels and guests that make bench has left in build/out and build/bench,
# and takes some minutes. lib/record_kinds.py has the functions that it has to find.

# shellcheck source=tools/quilt/lib/lib.sh
. "$(dirname "$0")/../quilt/lib/lib.sh"

results_option "$@"

# A part of the name of a row, the first that has it counts, and what to step through
KINDS=("ring_buffer_write() ring_buffer_write"
	"TRACE_EVENT trace_event_buffer_reserve trace_event_buffer_commit"
	"trace_puts() __trace_bputs"
	"trace_printk() trace_vbprintk"
	"trace_array_printk() __trace_array_vprintk"
	"tracer function_trace_call"
	"graph trace_graph_entry trace_graph_return")

WORK=$BUILD/bench/stepping
need gdb:gdb nm:binutils python3:python3
"$QUILT_TOOLS/lib/qemu.sh" install
make_dir "$WORK"
make_dir "$results"

pid=''
# shellcheck disable=SC2317
cleanup() {
	[ -z "$pid" ] || kill "$pid" 2>/dev/null || true
	rm -f "$WORK/gdb"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

# step_through SIDE KERNEL ROW FUNCTION...: lines "FUNCTION|INSTRUCTIONS"
step_through() {
	local side=$1 kernel=$2 row=$3 log=$WORK/$1-${3%%(*} rc=0
	shift 3
	rm -f "$WORK/gdb"
	qemu-system-x86_64 -accel tcg -cpu qemu64 -smp 1 -m 1024 \
		-nodefaults -display none -monitor none -serial "file:$log.console" -no-reboot \
		-chardev "socket,id=gdb,path=$WORK/gdb,server=on,wait=off" -gdb chardev:gdb -S \
		-kernel "$OUT/$kernel/arch/x86/boot/bzImage" -initrd "$BUILD/bench/$kernel.cpio" \
		-append "console=ttyS0 panic=-1 nokaslr tsc=reliable trace_clock=local only=$row" \
		</dev/null >"$log.qemu" 2>&1 &
	pid=$!
	while [ ! -S "$WORK/gdb" ]; do
		kill -0 "$pid" 2>/dev/null || die "the guest does not start" "see $log.qemu"
		sleep 0.1
	done
	VMLINUX=$OUT/$kernel/vmlinux TARGET=$WORK/gdb CALLS=$* \
		timeout -k 5 "${LIMIT:-300}" gdb -nx -q -batch -x "$BENCH_TOOLS/lib/step.gdb.py" \
		>"$log.gdb" 2>&1 </dev/null || rc=$?
	kill "$pid" 2>/dev/null || true
	wait "$pid" 2>/dev/null || true
	pid=''
	grep -aE '^[a-zA-Z_][a-zA-Z0-9_.]*\|[0-9]+$' "$log.gdb" >"$log.steps" ||
		die "no record of $row on the $side (gdb ended with $rc)" "see $log.gdb and $log.console"
}

for kernel in bench-base bench; do
	for file in "$OUT/$kernel/bench-source" "$BUILD/bench/$kernel.cpio"; do
		[ -f "$file" ] || die "there is no $file" "run: make bench"
	done
done
for kind in "${KINDS[@]}"; do
	read -ra words <<<"$kind"
	step "stepping through ${words[0]}"
	step_through base bench-base "${words[@]}"
	step_through quilt bench "${words[@]}"
done
{
	say "Instructions that one record executes in each function, on x86_64, counted by"
	say "stepping through the calls that the headings name. The function that makes the record"
	say "and ftrace's trampolines are not part of it."
	say
	say "- base: $(cat "$OUT/bench-base/bench-source")"
	say "- quilt: $(cat "$OUT/bench/bench-source")"
	say "- compiler: $(gcc --version | head -n 1)"
	say "- date: $(date -u +%Y-%m-%d)"
	say "- command: tools/bench/stepping.sh"
	for kind in "${KINDS[@]}"; do
		read -ra words <<<"$kind"
		name=${words[0]%%(*}
		say
		awk -F'|' -v calls="${words[*]:1}" '
			{ sub(/\.(isra|constprop|part)\.[0-9]+$/, "", $1) }
			!($1 in seen) { seen[$1] = 1; order[++n] = $1 }
			FNR == NR { base[$1] += $2; all_base += $2; next }
			{ quilt[$1] += $2; all_quilt += $2 }
			END {
				printf "%-44s  %6s  %6s\n", calls, "base", "quilt"
				for (i = 1; i <= n; i++)
					printf "  %-42s  %6d  %6d\n", order[i], base[order[i]], quilt[order[i]]
				printf "  %-42s  %6d  %6d\n", "all", all_base, all_quilt
			}' "$WORK/base-$name.steps" "$WORK/quilt-$name.steps"
	done
} >"$results/stepping.txt"
cat "$results/stepping.txt"
