#!/bin/bash
# Runs all tests of the scripts, tests/test-*.sh, and adds them up.
#
# usage: run.sh [NAME...]

# shellcheck source=tools/quilt/lib.sh
. "$(dirname "$0")/../lib.sh"

passed=0 failed=0 skipped=0
names=("$@")
[ $# -gt 0 ] || for file in "$QUILT_TOOLS"/tests/test-*.sh; do
	names+=("$(basename "$file" .sh)")
done

make_dir "$LOGS"
for name in "${names[@]}"; do
	name=${name#test-} rc=0
	say "-- $name"
	"$QUILT_TOOLS/tests/test-${name}.sh" 2>&1 | tee "$LOGS/scripts-$name.log" || rc=$?
	read -r p f s < <(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed(, ([0-9]+) skipped)?.*/\1 \2 \4/p' \
		"$LOGS/scripts-$name.log" | tail -n 1) || true
	if [ $rc -ne 0 ] && [ "${f:-0}" -eq 0 ]; then
		say "not ok $name: ended with $rc"
		f=1
	fi
	passed=$((passed + ${p:-0})) failed=$((failed + ${f:-0})) skipped=$((skipped + ${s:-0}))
done
say "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
