#!/bin/bash
# Runs a command again and again while other jobs keep the CPUs busy. A test that
# fails then depends on time, and is broken.
#
# usage: busy.sh [-n TIMES] [-j LOAD] COMMAND [ARG]...
#
#   -n TIMES  how often (10)
#   -j LOAD   how many jobs beside it (as many as there are CPUs; or BUSY_LOAD of
#             the environment, if the machine has other work already)
#
# For example: busy.sh -n 20 tools/quilt/tests/run.sh guest
# Each run comes with the machine's load average of its last minute, in which the
# command counts, too. The last line is a summary; the output of a run that failed
# is kept.

# shellcheck source=tools/quilt/lib/lib.sh
. "$(dirname "$0")/lib/lib.sh"

[ "${1:-}" != --help ] || { usage; exit 0; }
times=10 load=${BUSY_LOAD:-$(nproc)}
while getopts +n:j:h opt; do
	case $opt in
	n) times=$OPTARG ;;
	j) load=$OPTARG ;;
	h) usage; exit 0 ;;
	*) usage >&2; exit 2 ;;
	esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || { usage >&2; exit 2; }

jobs=()
end_load() { kill "${jobs[@]}" 2>/dev/null || true; }
trap end_load EXIT
for ((i = 0; i < load; i++)); do
	(while :; do :; done) &
	jobs+=($!)
done

make_dir "$LOGS"
passed=0 failed=0
for ((i = 1; i <= times; i++)); do
	# Another busy.sh has logs of its own.
	log=$LOGS/busy-$$-$i.log start=$SECONDS rc=0
	"$@" >"$log" 2>&1 </dev/null || rc=$?
	read -r average _ </proc/loadavg
	if [ $rc -eq 0 ]; then
		passed=$((passed + 1))
		say "ok $i ($((SECONDS - start)) s, load $average)"
		rm -f "$log"
	else
		failed=$((failed + 1))
		say "not ok $i ($((SECONDS - start)) s, load $average, log: $log)"
		tail -n 30 "$log" | sed 's/^/    /'
	fi
done
say "$passed passed, $failed failed"
[ $failed -eq 0 ]
