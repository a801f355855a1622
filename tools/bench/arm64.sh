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

# shellcheck source=tools/quilt/tree-lib.sh
. "$(dirname "$0")/../quilt/tree-lib.sh"
# shellcheck source=tools/bench/bench-lib.sh
. "$(dirname "$0")/bench-lib.sh"

WORK=$BUILD/bench/arm64
CROSS=aarch64-linux-gnu-

results=$TOP/tools/bench/results build_kernels=y
while [ $# -gt 0 ]; do
	case $1 in
	-n) build_kernels='' ;;
	-o) results=${2:?}; shift ;;
	-h | --help) usage; exit 0 ;;
	*) usage >&2; exit 2 ;;
	esac
	shift
done

need make:make python3:python3 ${CROSS}gcc:gcc-aarch64-linux-gnu
make_dir "$WORK"
make_dir "$results"
rm -f "$WORK"/*
[ -f "$TREE/Makefile" ] || die "no kernel tree in $TREE" "run: make tree"
make_base_tree
for side in base quilt; do
	kernel=bench-arm64 tree=$TREE
	[ $side = quilt ] || kernel=bench-arm64-base tree=$BASE_TREE
	[ -z "$build_kernels" ] || TREE=$tree "$QUILT_TOOLS/kernel.sh" -o $kernel bench-arm64
	ARCH=arm64 CROSS_COMPILE=$CROSS bench_module $kernel
	step "measuring the $side on arm64"
	TREE=$tree "$QUILT_TOOLS/guest.sh" run --icount -k "$OUT/$kernel" -q -t "${LIMIT:-900}" \
		-a "$module:/modules/quilt_bench.ko" bench-rows >"$WORK/$side.log" ||
		die "the rows do not run on the $side" "see $LOGS/guest-bench-rows.log"
done
info "$(describe "$BASE_TREE")" "$(describe "$TREE")" ${CROSS}gcc \
	"$(qemu-system-aarch64 --version | head -n 1), -icount shift=0,sleep=off, -cpu max,pauth-impdef=on" \
	"make bench-arm64" >"$WORK/info"
"$TOP/tools/bench/arm64-report" "$WORK" "$results"
