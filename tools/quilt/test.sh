#!/bin/bash
# The whole test suite: all claims of the project that a test can check in less
# than an hour.
#
# usage: test.sh
#
# Installs missing packages, makes the tree, and runs KUnit on UML or on UML with
# sanitizers and two CPUs, and on x86_64 in QEMU, the quilt's selftests, scenarios
# and a short torture in the guest, make check, the tests of the scripts, and builds
# that have to fail. The parts in the guest go beside the others where there
# are two CPUs and 8 GB of memory, as they use one CPU or wait. It goes on after a
# failure. The last line is a summary of all.
#
# In the environment:
#   KUNIT=N            how many of the two runs of KUnit on UML, others each day (1)
#   NOTICED=N          how many of the runs "noticed" of scenarios.sh (2)
#   SLOW=N             how many of the slow tests of the scripts, see tests/run.sh (2)
#   TOPICS=N           how many topics topics-build of check.sh takes (1)
#   TEST_SHORT=y       one in five selftests and scenarios, others each day, and instead
#                      of KUnit on UML and the checks that compile a cell of the matrix,
#                      another one each day
#   TEST_MINUTES=N     a part or scenario that has not begun N minutes after the
#                      start is skipped, and named in the end; all run unless told

# shellcheck source=tools/quilt/lib/lib.sh
. "$(dirname "$0")/lib/lib.sh"

no_arguments "$@"

start=$SECONDS passed=0 failed=0 skipped=0 broken=() times=()
export NOTICED=${NOTICED:-2} SLOW=${SLOW:-2} TOPICS=${TOPICS:-1}
minutes=${TEST_MINUTES:-}
[[ $minutes =~ ^[0-9]*$ ]] || die "TEST_MINUTES=$minutes is no number" "for example: TEST_MINUTES=60"
DEADLINE=${minutes:+$(($(date +%s) + 60 * minutes))}
export DEADLINE
[ -z "${TEST_SHORT:-}" ] || export SHARE=20

# work NAME CMD...: what it says goes to a log, and the exit code, seconds and
# seconds of CPU to another file.
work() {
	local log=$LOGS/test-$1.log rc=0 begin=$SECONDS before cpu
	cpu_seconds
	before=$cpu
	if no_time; then
		say "skipped $1: more than $minutes minutes have gone" | tee "$log"
		say "0 passed, 0 failed, 1 skipped" >>"$log"
		echo "0 0 0" >"${log%.log}.end"
		return
	fi
	shift
	"$@" 2>&1 </dev/null | tee "$log" || rc=$?
	cpu_seconds
	echo "$rc $((SECONDS - begin)) $((cpu - before))" >"${log%.log}.end"
}

# count NAME: the last line of its log; no such line is a failure.
count() {
	local name=$1 log=$LOGS/test-$1.log rc line p f s seconds cpu
	read -r rc seconds cpu <"${log%.log}.end" || { rc=1 seconds='no' cpu='no'; }
	line=$(grep -aE '^[0-9]+ passed, [0-9]+ failed' "$log" | tail -n 1 || true)
	read -r p f s < <(sed -E 's/^([0-9]+) passed, ([0-9]+) failed(, ([0-9]+) skipped)?.*/\1 \2 \4/' <<<"${line:-0 passed, 0 failed}")
	if [ $((p + f + ${s:-0})) -eq 0 ] || { [ "$rc" -ne 0 ] && [ "$f" -eq 0 ]; }; then
		say "not ok $name: ended with $rc and no failure counted (log: $log)"
		f=$((f + 1))
	fi
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + ${s:-0}))
	[ "$f" -eq 0 ] || broken+=("$name")
	say "    $name: $seconds s ($cpu of CPU)"
	times+=("$name $seconds s ($cpu of CPU)")
}

part() { # NAME CMD...
	step "$1"
	work "$@"
	count "$1"
}

# The parts in two lanes. A lane is a list of functions.
lane_kernel() {
	"$1" kunit-x86_64 env LIMIT=1800 "$QUILT_TOOLS/kunit.sh" -n x86_64
	"$1" selftest "$QUILT_TOOLS/selftest.sh"
	"$1" torture env KINDS=guest CYCLES=20 "$QUILT_TOOLS/torture.sh" -n
}
lane_scenarios() {
	"$1" scenarios "$QUILT_TOOLS/scenarios.sh"
}

quiet_work() { work "$@" >/dev/null; }
show() { # NAME CMD...
	step "$1"
	cat "$LOGS/test-$1.log"
	count "$1"
}

beside() { # LANE
	[ -n "$lanes" ] || { "$1" part; return; }
	# A process group of its own, for the end.
	set -m
	"$1" quiet_work &
	set +m
	pids+=($!)
	pending+=("$1")
}
collect() {
	local lane
	[ ${#pids[@]} -eq 0 ] || wait "${pids[@]}" || true
	for lane in "${pending[@]}"; do
		"$lane" show
	done
	pids=() pending=()
}

lanes='' pids=() pending=()
if [ "$(nproc)" -ge 2 ] && [ "$(awk '$1 == "MemTotal:" { print int($2 / 1024) }' /proc/meminfo)" -ge 7500 ]; then
	lanes=y
fi
# shellcheck disable=SC2317
leave() {
	local pid
	for pid in "${pids[@]}"; do
		kill -TERM -- "-$pid" 2>/dev/null || true
	done
}
trap leave EXIT
trap 'exit 130' INT TERM

make_dir "$LOGS"
rm -f "$LOGS"/test-*.end
"$QUILT_TOOLS/tree.sh" --keep
"$QUILT_TOOLS/kernel.sh" guest
# Once, before the parts do it beside each other.
"$QUILT_TOOLS/guest.sh" run -q true
beside lane_scenarios
beside lane_kernel
if [ -n "${TEST_SHORT:-}" ]; then
	part proof "$QUILT_TOOLS/proof.sh" -n 1
	part check "$QUILT_TOOLS/check.sh" -r
else
	mapfile -t runs < <(of_today "${KUNIT:-1}" uml uml-debug)
	part kunit env LIMIT=1800 "$QUILT_TOOLS/kunit.sh" "${runs[@]}"
	part check "$QUILT_TOOLS/check.sh"
fi
part scripts "$QUILT_TOOLS/tests/run.sh"
collect
# It breaks the guest's kernel for a while, so it is alone.
part ktrace-build "$QUILT_TOOLS/ktrace-build.sh"

say
# Once more, as the middle of a log this long is easily lost.
for name in "${broken[@]}"; do
	say "$name:"
	grep -aE '^ *(not ok|FAIL)|\[(FAIL|FAILED|CRASHED|ERROR)\]|^(failed|error):|^    \|' \
		"$LOGS/test-$name.log" | tail -n 30 || true
done
[ ${#broken[@]} -eq 0 ] || say "failed: ${broken[*]} (logs: $LOGS/test-*.log)"
grep -ahE '^skipped ' "$LOGS"/test-*.log || true
printf '    %s\n' "${times[@]}"
say "$(((SECONDS - start) / 60)) min $(((SECONDS - start) % 60)) s"
say "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
