# shellcheck shell=bash
# Shared by the tests of upstream's selftests: made-up verdicts of the base in $work/base,
# a list of tests that may be unsupported, and comparisons. Sourced with the arguments
# of the test.

# shellcheck source=tools/quilt/tests/lib.sh
. "$(dirname "$0")/lib.sh"

base='# Verdicts of the base
PASS          1 00basic/basic1.tc                         Basic trace file check
PASS          2 00basic/snapshot.tc                       Snapshot and tracing setting
UNSUPPORTED   3 remotes/hotplug.tc                        Test trace remote read
UNRESOLVED    4 selftest/bashisms.tc                      Meta-selftest: Checkbashisms
XFAIL         5 trigger/xfail.tc                          expected fail actions
FAIL          6 trigger/broken.tc                         broken on the base
PASS          7 00basic/snapshot.tc                       (instance)  Snapshot and tracing setting

total 7'
printf '%s\n' "$base" >"$work/base"
printf '# may be\n\nnew/listed.tc\n' >"$work/listed"

# finds RC COUNT WHAT [LINE]...: RC and the last line of the comparison of the
# verdicts on standard input, and all it prints else
finds() {
	local rc=0 want_rc=$1 count=$2 what=$3
	shift 3
	cat >"$work/result"
	"$QUILT_TOOLS/lib/compare-ftracetest.sh" -u "$work/listed" "$work/base" "$work/result" >"$work/out" 2>&1 || rc=$?
	printf '%s\n' "$@" "$count" | sed '/^$/d' >"$work/want"
	if [ $rc -ne "$want_rc" ]; then
		not_ok "$what: returned $rc, not $want_rc"
	elif ! cmp -s "$work/want" "$work/out"; then
		not_ok "$what"
	else
		ok "$what"
	fi
}

# changed SED-SCRIPT: the base's verdicts with changes
changed() { sed -E "$1" "$work/base"; }

same='4 passed, 0 failed, 3 skipped' worse='3 passed, 1 failed, 3 skipped'
