#!/bin/bash
# Runs the tests of the scripts, all of them unless named, and adds them up.
#
# usage: run.sh [NAME...]
#
# In the environment: SLOW=N, how many of those that take minutes, others each day;
# all unless told

# shellcheck source=tools/quilt/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

case ${1:-} in
-h | --help) usage; exit 0 ;;
-*) usage >&2; exit 2 ;;
esac
passed=0 failed=0 skipped=0
names=("$@")
slow=(bump export fetch fixes guest-fails guest-input prose topics tree)
today=$(of_today "${SLOW:-100}" "${slow[@]}")
[ $# -gt 0 ] || for file in "$QUILT_TOOLS"/tests/test-*.sh; do
	name=$(basename "$file" .sh)
	[[ " ${slow[*]} " == *" ${name#test-} "* ]] && ! grep -qx "${name#test-}" <<<"$today" ||
		names+=("$name")
done
[ -z "${SLOW:-}" ] || [ $# -gt 0 ] || say "of the slow ones, today: ${today//$'\n'/ }"

make_dir "$LOGS"
run_one() { # NAME
	local rc=0 begin=$SECONDS
	"$QUILT_TOOLS/tests/test-$1.sh" >"$LOGS/scripts-$1.log" 2>&1 </dev/null || rc=$?
	echo "$rc" >"$LOGS/scripts-$1.end"
	say "    $1: $((SECONDS - begin)) s"
}

# Two more than CPUs, as some wait for a guest.
trap 'kill -TERM 0' INT
rm -f "$LOGS"/scripts-*.end
for name in "${names[@]}"; do
	while [ "$(jobs -rp | wc -l)" -ge $((JOBS + 2)) ]; do
		wait -n || true
	done
	run_one "${name#test-}" &
done
wait
for name in "${names[@]}"; do
	name=${name#test-} rc=1
	read -r rc <"$LOGS/scripts-$name.end" || true
	say "-- $name"
	cat "$LOGS/scripts-$name.log"
	read -r p f s < <(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed(, ([0-9]+) skipped)?.*/\1 \2 \4/p' \
		"$LOGS/scripts-$name.log" | tail -n 1) || true
	if [ "$rc" -ne 0 ] && [ "${f:-0}" -eq 0 ]; then
		say "not ok $name: ended with $rc"
		f=1
	fi
	passed=$((passed + ${p:-0})) failed=$((failed + ${f:-0})) skipped=$((skipped + ${s:-0}))
done
say "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
