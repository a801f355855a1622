#!/bin/bash
# Tests of compare-ftracetest.sh, which judges upstream's selftests, with made-up
# verdicts.
#
# usage: test-ftracetest.sh
#
# One "ok" or "not ok" line a test; the last line is a summary.

# shellcheck source=tools/quilt/tests/ftracetest-verdicts.sh
. "$(dirname "$0")/ftracetest-verdicts.sh"

finds 0 "$same" 'the same' <"$work/base"
finds 0 "$same" 'the same with other numbers' < <(changed 's/^([A-Z]+ +)([0-9])/\12\2/')
finds 0 "$same" 'the same in another order' < <(sort -r "$work/base")
finds 0 "$same" 'the same, from a console' < <(
	printf '[1] Basic trace file check\t[PASS]\r\n'; sed 's/$/\r/' "$work/base"
	printf '4 passed, 2 failed, 1 skipped\r\nTQ-EXIT 0\r\n')
for verdict in FAIL UNRESOLVED UNSUPPORTED UNTESTED UNDEFINED NORESULT XFAIL; do
	finds 1 "$worse" "$verdict where the base passes" \
		"not ok 00basic/basic1.tc: $verdict, was PASS" < <(changed "/basic1/s/PASS/$verdict/")
done
finds 1 "$worse" 'worse in an instance only' \
	'not ok 00basic/snapshot.tc (instance): FAIL, was PASS' < <(changed '/instance/s/PASS/FAIL/')
finds 1 "$worse" 'worse outside of an instance only' \
	'not ok 00basic/snapshot.tc: FAIL, was PASS' < <(changed '/ 2 .*snapshot/s/PASS/FAIL/')
finds 1 '4 passed, 1 failed, 2 skipped' 'unresolved, was unsupported' \
	'not ok remotes/hotplug.tc: UNRESOLVED, was UNSUPPORTED' < <(changed 's/^UNSUPPORTED/UNRESOLVED /')
finds 1 '4 passed, 1 failed, 2 skipped' 'fails, was unresolved' \
	'not ok selftest/bashisms.tc: FAIL, was UNRESOLVED' < <(changed 's/^UNRESOLVED/FAIL      /')
finds 0 '5 passed, 0 failed, 2 skipped' 'better' \
	'ok remotes/hotplug.tc: PASS, was UNSUPPORTED' < <(changed 's/^UNSUPPORTED/PASS       /')
finds 0 "$same" 'better, and not good' \
	'ok trigger/broken.tc: UNRESOLVED, was FAIL' < <(changed 's/^FAIL/UNRESOLVED/')
finds 0 "$same" 'passed when an expected failure does' \
	'ok trigger/xfail.tc: PASS, was XFAIL' < <(changed 's/^XFAIL/PASS /')
finds 1 '3 passed, 1 failed, 3 skipped' 'a test has vanished' \
	'not ok 00basic/basic1.tc: did not run, was PASS' < <(changed '/basic1/d')
finds 1 '3 passed, 1 failed, 3 skipped' 'a test has vanished from instances' \
	'not ok 00basic/snapshot.tc (instance): did not run, was PASS' < <(changed '/instance/d')
finds 1 '4 passed, 1 failed, 2 skipped' 'a test that does not pass has vanished' \
	'not ok remotes/hotplug.tc: did not run, was UNSUPPORTED' < <(changed '/remotes/d')
finds 1 '2 passed, 5 failed, 0 skipped' 'the log ends early' \
	'not ok remotes/hotplug.tc: did not run, was UNSUPPORTED' \
	'not ok selftest/bashisms.tc: did not run, was UNRESOLVED' \
	'not ok trigger/xfail.tc: did not run, was XFAIL' \
	'not ok trigger/broken.tc: did not run, was FAIL' \
	'not ok 00basic/snapshot.tc (instance): did not run, was PASS' < <(head -n 3 "$work/base")
finds 0 '5 passed, 0 failed, 3 skipped' 'a new test passes' \
	'ok new/one.tc: PASS, new' < <(cat "$work/base"; echo 'PASS 8 new/one.tc A new one')
finds 0 '5 passed, 0 failed, 3 skipped' 'a test of the base passes in an instance, too' \
	'ok 00basic/basic1.tc (instance): PASS, new' < <(
	cat "$work/base"; echo 'PASS 8 00basic/basic1.tc (instance)  Basic trace file check')
for verdict in FAIL UNRESOLVED UNSUPPORTED XFAIL; do
	finds 1 '4 passed, 1 failed, 3 skipped' "a new test: $verdict" \
		"not ok new/one.tc: $verdict, new" < <(cat "$work/base"; echo "$verdict 8 new/one.tc A new one")
done
finds 0 '4 passed, 0 failed, 4 skipped' 'a new test is unsupported, as listed' \
	'ok new/listed.tc: UNSUPPORTED, new' < <(cat "$work/base"; echo 'UNSUPPORTED 8 new/listed.tc A new one')
finds 1 '4 passed, 1 failed, 3 skipped' 'a listed test fails' \
	'not ok new/listed.tc: FAIL, new' < <(cat "$work/base"; echo 'FAIL 8 new/listed.tc A new one')
finds 1 "$worse" 'a test of the base is not excused by the list' \
	'not ok 00basic/basic1.tc: UNSUPPORTED, was PASS' < <(
	echo '00basic/basic1.tc' >>"$work/listed"; changed '/basic1/s/PASS/UNSUPPORTED/')
finds 0 "$same" 'passed when tried again' \
	'ok 00basic/basic1.tc: PASS, but not at once' < <(changed '/basic1/s/$/, retried\r/')
finds 1 "$worse" 'the worst verdict counts, first or last' \
	'not ok 00basic/basic1.tc: FAIL, was PASS' < <(
	echo 'FAIL 1 00basic/basic1.tc first'; cat "$work/base")
finds 1 "$worse" 'the worst verdict counts, last or first' \
	'not ok 00basic/basic1.tc: FAIL, was PASS' < <(
	cat "$work/base"; echo 'FAIL 1 00basic/basic1.tc last')
cp "$work/base" "$work/kept"
echo '# nothing' >"$work/base"
finds 1 '1 passed, 1 failed, 0 skipped' 'no verdicts of the base' \
	'not ok there are no verdicts of the base' 'ok new/one.tc: PASS, new' <<<'PASS 8 new/one.tc A new one'
cp "$work/kept" "$work/base"
for args in '' "$work/base" "$work/base $work/missing" "$work/missing $work/base" \
	    "-u $work/missing $work/base $work/base" '--what x y'; do
	rc=0
	# shellcheck disable=SC2086
	"$QUILT_TOOLS/lib/compare-ftracetest.sh" $args >"$work/out" 2>&1 || rc=$?
	if [ $rc -ne 0 ] && [ "$(grep -c ' passed, ' "$work/out")" -eq 0 ]; then
		ok "refused: '${args//$work\//}'"
	else
		not_ok "refused: '${args//$work\//}': returned $rc"
	fi
done

# The list of the project can be read, and equals itself.
rc=0
version=$(sed -n 's/^version //p' "$TOP/base")
baseline=$QUILT_TOOLS/data/baseline/ftracetest-$version.txt
"$QUILT_TOOLS/lib/compare-ftracetest.sh" "$baseline" "$baseline" >"$work/out" 2>&1 || rc=$?
if [ $rc -eq 0 ] && grep -q '^171 passed, 0 failed, 8 skipped$' "$work/out"; then
	ok "the verdicts of $version"
else
	not_ok "the verdicts of $version: returned $rc"
fi

verdict
