#!/bin/bash
# Runs the guest scenarios that prove something and are no selftests, in their
# short form.
#
# usage: scenarios.sh [RECORDS]
#
#   export-relay   the sample module's stream beside trace_pipe_raw, record by
#                  record (RECORDS of them, 20000), and that the comparison
#                  notices what is wrong
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
gcc -Wall -Wextra -O2 -static -o "$compare" "$QUILT_TOOLS/guest/relay-compare.c" ||
	die "relay-compare does not build" "see above"

passed=0 failed=0
for argument in "${1:-20000}" noticed; do
	if "$QUILT_TOOLS/guest.sh" run -q -t 600 -a "$compare:/usr/bin/relay-compare" \
		export-relay "$argument"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		say "not ok export-relay $argument"
	fi
done
say "$passed passed, $failed failed"
[ $failed -eq 0 ]
