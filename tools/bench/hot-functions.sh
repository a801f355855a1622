#!/bin/bash
# Compares the size of the functions that each record runs on base and quilt, and
# writes hot-functions.txt.
#
# usage: hot-functions.sh [-o DIR]
#
#   -o DIR  where the result goes, and where bench.csv is (tools/bench/results)
#
# It disassembles the kernels build/out/bench-base and build/out/bench of make bench,
# and boots nothing. lib/record_kinds.py lists the functions.

# shellcheck source=tools/quilt/lib/lib.sh
. "$(dirname "$0")/../quilt/lib/lib.sh"

results_option "$@"

need objdump:binutils python3:python3
for kernel in bench-base bench; do
	[ -f "$OUT/$kernel/bench-source" ] || die "there is no kernel in $OUT/$kernel" "run: make bench"
done
[ -f "$results/bench.csv" ] || die "there is no $results/bench.csv" "run: make bench"
table=$("$BENCH_TOOLS/lib/hot-functions" "$OUT/bench-base" "$OUT/bench" "$results/bench.csv")
{
	say "Text of the functions that a record runs, on x86_64: their bytes, with those that"
	say "the record jumps over, the instructions that the call of a row of bench.md executes,"
	say "and all instructions of each function."
	say
	say "- base: $(cat "$OUT/bench-base/bench-source")"
	say "- quilt: $(cat "$OUT/bench/bench-source")"
	say "- compiler: $(gcc --version | head -n 1)"
	say "- command: tools/bench/hot-functions.sh"
	say
	say "$table"
	say
	say "The quilt has a short path for what nothing interrupts. The last table has the code"
	say "for all other cases, too, which a record does not run."
} >"$results/hot-functions.txt"
cat "$results/hot-functions.txt"
