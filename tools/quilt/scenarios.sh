#!/bin/bash
# Runs the guest scenarios that prove something and are no selftests, in their
# short form.
#
# usage: scenarios.sh [RECORDS]
#
#   export-relay   the sample module's stream beside trace_pipe_raw, record by
#                  record (RECORDS of them, 20000), and that the comparison
#                  notices what is wrong
#   boot-snapshot  which boot instances have a snapshot buffer
#   flight-recorder  the sample's coredumps of a network device that was down
#   snapshot-proof  each record of a thousand snapshots once, in order, or said
#                  to be lost, and that the comparison notices what is wrong
#   ktrace-many    modules with 1,000, 3,000 and 10,000 ktrace events: all there,
#                  each once, and gone in the end; what that takes is printed
#
# The last line counts.

# shellcheck source=tools/quilt/lib.sh
. "$(dirname "$0")/lib.sh"

case ${1:-20000} in
-h | --help) sed -n '2,/^$/s/^# \{0,1\}//p' "$0"; exit 0 ;;
*[!0-9]*) die "not a number: $1" "see: tools/quilt/scenarios.sh --help" ;;
esac

need gcc:gcc
make_dir "$BUILD/guest"
compare=$BUILD/guest/relay-compare
snapshots=$BUILD/guest/snapshot-compare
gcc -Wall -Wextra -O2 -static -o "$compare" "$QUILT_TOOLS/guest/relay-compare.c" ||
	die "relay-compare does not build" "see above"
gcc -Wall -Wextra -O2 -static -pthread -o "$snapshots" "$QUILT_TOOLS/guest/snapshot-compare.c" ||
	die "snapshot-compare does not build" "see above"

# Against the guest's kernel: a module that was built for it before is there.
make_dir "$BUILD/guest/ktrace_many"
cp -u "$QUILT_TOOLS"/guest/modules/ktrace_many/* "$BUILD/guest/ktrace_many/"
logged "$LOGS/build-ktrace_many.log" make -C "$OUT/guest" M="$BUILD/guest/ktrace_many" modules ||
	die "the modules with many ktrace events do not build" "see $LOGS/build-ktrace_many.log"

passed=0 failed=0

# scenario NAME ARGUMENT...: of guest.sh run, the scenario is among them
scenario() {
	local name=$1
	shift
	if "$QUILT_TOOLS/guest.sh" run -q -t 600 "$@"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		say "not ok $name"
	fi
}

for argument in "${1:-20000}" noticed; do
	scenario "export-relay $argument" -a "$compare:/usr/bin/relay-compare" export-relay "$argument"
done
instances="trace_instance=foo trace_instance=bar trace_instance=baz"
scenario flight-recorder flight-recorder
for argument in 1000 noticed; do
	scenario "snapshot-proof $argument" -a "$snapshots:/usr/bin/snapshot-compare" snapshot-proof "$argument"
done
many=()
for module in "$BUILD"/guest/ktrace_many/*.ko; do
	many+=(-a "$module:/modules/${module##*/}")
done
scenario ktrace-many "${many[@]}" ktrace-many
scenario boot-snapshot -A "$instances ftrace_boot_snapshot=foo ftrace_boot_snapshot=bar" boot-snapshot
say "$passed passed, $failed failed"
[ $failed -eq 0 ]
