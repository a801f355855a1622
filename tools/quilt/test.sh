#!/bin/bash
# The whole test suite: all claims of the project that a test can check in less
# than an hour.
#
# usage: test.sh
#
# Installs missing packages, makes the tree, and runs in turn: the tests of the
# scripts, make check, KUnit on UML, on UML with sanitizers and two CPUs, and on
# x86_64 in QEMU, the quilt's selftests, scenarios and a short torture in the
# guest, and makes builds that have to fail. It goes on after a failure. The last
# line counts all.

# shellcheck source=tools/quilt/lib.sh
. "$(dirname "$0")/lib.sh"

usage() { sed -n '2,/^$/s/^# \{0,1\}//p' "$0"; }
case ${1:-} in
'') ;;
-h | --help) usage; exit 0 ;;
*) usage >&2; exit 2 ;;
esac

start=$SECONDS passed=0 failed=0 skipped=0 broken=()

# part NAME CMD...: its last line counts; no such line is a failure.
part() {
	local name=$1 log=$LOGS/test-$1.log rc=0 line begin=$SECONDS p f s
	shift
	step "$name"
	"$@" 2>&1 | tee "$log" || rc=$?
	line=$(grep -aE '^[0-9]+ passed, [0-9]+ failed' "$log" | tail -n 1)
	read -r p f s < <(sed -E 's/^([0-9]+) passed, ([0-9]+) failed(, ([0-9]+) skipped)?.*/\1 \2 \4/' <<<"${line:-0 passed, 0 failed}")
	if [ $((p + f)) -eq 0 ] || { [ $rc -ne 0 ] && [ "$f" -eq 0 ]; }; then
		say "not ok $name: ended with $rc and no failure counted (log: $log)"
		f=$((f + 1))
	fi
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + ${s:-0}))
	[ "$f" -eq 0 ] || broken+=("$name")
	say "    $name: $((SECONDS - begin)) s"
}

make_dir "$LOGS"
"$QUILT_TOOLS/tree.sh" --keep

"$QUILT_TOOLS/kernel.sh" guest
part scripts "$QUILT_TOOLS/tests/run.sh"
part check "$QUILT_TOOLS/check.sh"
part kunit "$QUILT_TOOLS/kunit.sh"
part selftest "$QUILT_TOOLS/selftest.sh"
part scenarios "$QUILT_TOOLS/scenarios.sh"
part torture env KINDS=guest CYCLES=100 "$QUILT_TOOLS/torture.sh" -n
part ktrace-build "$QUILT_TOOLS/ktrace-build.sh"

say
[ ${#broken[@]} -eq 0 ] || say "failed: ${broken[*]} (logs: $LOGS/test-*.log)"
say "$(((SECONDS - start) / 60)) min $(((SECONDS - start) % 60)) s"
say "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
