#!/bin/bash
# Runs upstream's own tests of the ring buffer, on the quilt or on the base: the self
# tests of ftrace and of the ring buffer at boot, and ring_buffer_benchmark.
#
# usage: ring-buffer.sh [-n] [base|quilt]
#
#   base  the unpatched base; the quilt unless told
#   -n    take the kernel guest-startup that is there, and leave the last two out
#
# It boots five guests, the first three with the kernel guest-startup of kernel.sh:
#
#   startup    the self tests
#   benchmark  ring_buffer_benchmark with its reader
#   cost       the same without its reader, one CPU, instructions counted: a
#              nanosecond is one
#   deltas, deltas-benchmark
#              the self test of the ring buffer and the benchmark in the kernel
#              guest-deltas, which compares the time of each record with all deltas
#              before it on the page. That is slow, so the other kernel does not
#              have it.
#
# tools/quilt/results/ring-buffer-SIDE.txt keeps what they say. The first guest runs
# for minutes, as the self tests patch code for each event. The last line is a summary.
#
#   LIMIT=SECONDS in the environment: for one guest (3600)

# shellcheck source=tools/quilt/lib/tree-lib.sh
. "$(dirname "$0")/lib/tree-lib.sh"

side=quilt kernels=y
while [ $# -gt 0 ]; do
	case $1 in
	-n) kernels='' ;;
	-h | --help) usage; exit 0 ;;
	base | quilt) side=$1 ;;
	*) usage >&2; exit 2 ;;
	esac
	shift
done

require_tree
if [ "$side" = base ]; then
	make_base_tree
	TREE=$BASE_TREE
fi
export TREE
kernel=$OUT/startup-$side
results=$QUILT_TOOLS/results/ring-buffer-$side.txt
make_dir "$LOGS"
passed=0 failed=0

# kernel KIND: all of them in one directory, as one file differs
kernel() {
	[ -z "$kernels" ] || "$QUILT_TOOLS/kernel.sh" -o "startup-$side" "$1"
	[ -f "$kernel/arch/x86/boot/bzImage" ] ||
		die "there is no kernel in $kernel" "run it without -n"
}

# guest NAME ARGUMENT...: of guest.sh run
guest() {
	local name=$1 rc=0 out p f
	shift
	out=$LOGS/ring-buffer-$side-$name.out
	step "$name on the $side"
	"$QUILT_TOOLS/guest.sh" run -q -k "$kernel" -t "${LIMIT:-3600}" -A log_buf_len=16M \
		-L "$LOGS/ring-buffer-$side-$name.log" "$@" | tee "$out" || rc=$?
	read -r p f < <(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed$/\1 \2/p' "$out" | tail -n 1) || true
	passed=$((passed + ${p:-0}))
	# A guest that did not end well is a failure, too.
	if [ $rc -ne 0 ] && [ "${f:-0}" -eq 0 ]; then
		say "not ok the guest $name ended with $rc"
		f=1
	fi
	failed=$((failed + ${f:-0}))
	{
		say
		say "$name"
		say
		cat "$out"
	} >>"$results.new"
}

{
	say "Upstream's tests of the ring buffer on Linux $(make -s -C "$TREE" kernelversion), $side, tree"
	say "$(git -C "$TREE" rev-parse --short=12 'HEAD^{tree}'), $(date -u +%Y-%m-%d), tools/quilt/ring-buffer.sh $side. In the run \"cost\" a"
	say "nanosecond is an instruction."
} >"$results.new"

# A tracer on the command line leaves the self tests of ftrace out.
kernel guest-startup
# One host thread: several can Oops on text that is being patched (QEMU 10).
TCG=single guest startup startup-tests
guest benchmark -A ftrace=nop ring-buffer-benchmark 2
guest cost --icount -A ftrace=nop ring-buffer-benchmark 1 disable_reader=1
if [ -n "$kernels" ]; then
	kernel guest-deltas
	guest deltas -A ftrace=nop startup-tests ring-buffer
	guest deltas-benchmark -A ftrace=nop ring-buffer-benchmark 2
fi
mv "$results.new" "$results"
say "$passed passed, $failed failed"
[ $failed -eq 0 ]
