#!/bin/bash
# Runs the tests of the scripts, all of them unless named, and adds them up.
#
# usage: run.sh [NAME...]

# shellcheck source=tools/quilt/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

case ${1:-} in
-h | --help) usage; exit 0 ;;
-*) usage >&2; exit 2 ;;
esac
passed=0 failed=0 skipped=0
names=("$@")
[ $# -gt 0 ] || for file in "$QUILT_TOOLS"/tests/test-*.sh; do
	names+=("$(basename "$file" .sh)")
done

make_dir "$LOGS"
# All at once: they wait most of the time.
pids=()
trap 'kill -TERM 0' INT
for name in "${names[@]}"; do
	name=${name#test-}
	"$QUILT_TOOLS/tests/test-$name.sh" >"$LOGS/scripts-$name.log" 2>&1 </dev/null &
	pids+=($!)
done
for name in "${names[@]}"; do
	name=${name#test-} rc=0
	say "-- $name"
	wait "${pids[0]}" || rc=$?
	pids=("${pids[@]:1}")
	cat "$LOGS/scripts-$name.log"
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
