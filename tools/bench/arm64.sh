#!/bin/bash
# Measures what a trace record costs on arm64, on base and quilt, in instructions of
# an emulated CPU. Writes arm64.md and arm64.svg. bench.sh has the same rows for
# x86_64 and UML.
#
# usage: arm64.sh [-n] [-o DIR]
#
#   -n      measure the kernels that are there, do not build
#   -o DIR  where the results go (tools/bench/results)
#   TREE=DIR and BASE_TREE=DIR in the environment: other source trees than
#           build/linux (the quilt) and build/base (made when missing)
#   LIMIT=SECONDS in the environment: how long one guest may run (900)

# shellcheck source=tools/quilt/lib/tree-lib.sh
. "$(dirname "$0")/../quilt/lib/tree-lib.sh"
# shellcheck source=tools/bench/lib/bench-lib.sh
. "$(dirname "$0")/lib/bench-lib.sh"

WORK=$BUILD/bench/arm64
CROSS=aarch64-linux-gnu-

bench_options "$@"
need ${CROSS}gcc:gcc-aarch64-linux-gnu
bench_begin
for side in base quilt; do
	bench_kernel $side bench-arm64
	ARCH=arm64 CROSS_COMPILE=$CROSS bench_module "$kernel"
	step "measuring the $side on arm64"
	TREE=$tree "$QUILT_TOOLS/guest.sh" run --icount -k "$OUT/$kernel" -q -t "${LIMIT:-900}" \
		-a "$module:/modules/quilt_bench.ko" bench-rows >"$WORK/$side.log" ||
		die "the rows do not run on the $side" "see $LOGS/guest-bench-rows.log"
done
bench_report arm64 qemu-system-aarch64 "-icount shift=0,sleep=off, -cpu max,pauth-impdef=on"
