#!/bin/bash
# Measures the cost of a record of LTTng and of ftrace with the same fields, in
# instructions. It builds the newest lttng-modules of Debian against the quilt's
# kernel for the guest, and writes lttng.txt.
#
# usage: lttng.sh [-o DIR]
#
#   -o DIR  where the result goes (tools/bench/results)

# shellcheck source=tools/quilt/lib/lib.sh
. "$(dirname "$0")/../quilt/lib/lib.sh"
# shellcheck source=tools/bench/lib/bench-lib.sh
. "$(dirname "$0")/lib/bench-lib.sh"

results_option "$@"

[ -f "$OUT/guest/arch/x86/boot/bzImage" ] ||
	die "there is no kernel for the guest" "run: tools/quilt/kernel.sh guest"
make_dir "$results"
lttng_modules guest
bench_module guest

"$QUILT_TOOLS/guest.sh" run --icount -s 1 -q -t "${LIMIT:-300}" -p lttng-tools \
	-a "$module:/modules/quilt_bench.ko" -a "$lttng_dir:/modules/lttng" \
	lttng-bench >"$BUILD/lttng/result" ||
	die "LTTng can't be measured" "see $LOGS/guest-lttng-bench.log"
{
	say "Instructions of a record with LTTng and with ftrace, the same fields, into a"
	say "buffer that overwrites (x86_64, one CPU, QEMU with -icount; the kernel of the"
	say "guest). $lttng_version, $(date -u +%Y-%m-%d), tools/bench/lttng.sh."
	say
	grep ' instructions$' "$BUILD/lttng/result"
} >"$results/lttng.txt"
cat "$results/lttng.txt"
