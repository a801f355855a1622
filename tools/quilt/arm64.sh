#!/bin/bash
# Runs the tests that depend on the architecture on arm64, cross-built and
# emulated: the selftests of ktrace, of followed tasks and of the tracer "process",
# and that tracer beside strace -f and with strings on pages that come late.
#
# usage: arm64.sh
#
# The first run fetches an arm64 userland of some 100 MB. A run takes half an
# hour, most of it for the kernel. "tools/quilt/kunit.sh arm64" runs KUnit there.
# The last line is a summary.

# shellcheck source=tools/quilt/lib/lib.sh
. "$(dirname "$0")/lib/lib.sh"
# shellcheck source=tools/quilt/lib/guest-lib.sh
. "$QUILT_TOOLS/lib/guest-lib.sh"

no_arguments "$@"

kernel=$OUT/guest-arm64
"$QUILT_TOOLS/kernel.sh" guest-arm64

export CROSS=aarch64-linux-gnu-
need ${CROSS}gcc:gcc-aarch64-linux-gnu /usr/aarch64-linux-gnu/include/stdio.h:libc6-dev-arm64-cross
programs=()
for name in process-jobs process-compare process-fault; do
	guest_program $name -pthread
	programs+=(-a "$program:/usr/bin/$name")
done

make_dir "$LOGS"
step "selftests on arm64"
rc=0
"$QUILT_TOOLS/selftest.sh" -k "$kernel" ktrace follow process | tee "$LOGS/arm64-selftest.log" || rc=1
read -r passed failed skipped < <(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$/\1 \2 \3/p' \
	"$LOGS/arm64-selftest.log" | tail -n 1) || true
passed=${passed:-0} failed=${failed:-0}
[ $rc -eq 0 ] || [ "$failed" -gt 0 ] || failed=1

for scenario in 'process-strace short' 'process-strace noticed' process-fault 'process-fault noticed'; do
	step "$scenario on arm64"
	read -ra words <<<"$scenario"
	if "$QUILT_TOOLS/guest.sh" run -q -k "$kernel" -t 1200 \
		-L "$LOGS/arm64-${scenario// /-}.log" "${programs[@]}" "${words[@]}"; then
		say "ok $scenario"
		passed=$((passed + 1))
	else
		say "not ok $scenario"
		failed=$((failed + 1))
	fi
done
say "$passed passed, $failed failed, ${skipped:-0} skipped"
[ "$failed" -eq 0 ]
