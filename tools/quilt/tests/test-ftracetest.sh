#!/bin/bash
# Tests of the scripts that judge upstream's selftests, with made-up verdicts:
# compare-ftracetest.sh, selftest.sh --all, and the scenario with its retries.
#
# usage: test-ftracetest.sh
#
# One "ok" or "not ok" line a test; the last line counts.

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

# selftest.sh --all, with a guest that prints what it is told to.
mkdir -p "$work/top/tools/quilt/data/baseline"
cp -r "$QUILT_TOOLS"/{lib,selftest.sh} "$work/top/tools/quilt/"
cp "$work/listed" "$work/top/tools/quilt/data/baseline/unsupported.txt"
cp "$work/base" "$work/top/tools/quilt/data/baseline/ftracetest-1.2.3.txt"
echo 'version 1.2.3' >"$work/top/base"
cat >"$work/top/tools/quilt/guest.sh" <<END
#!/bin/bash
echo "\$*" >"$work/command"
cat "$work/result"
exit \$(cat "$work/rc")
END
chmod +x "$work/top/tools/quilt/guest.sh"

# all RC COUNT WHAT GUEST-RC [ARG]...: RC and the last line of selftest.sh --all
# for a guest that ends with GUEST-RC and prints standard input
all() {
	local rc=0 want_rc=$1 count=$2 what=$3
	echo "$4" >"$work/rc"
	shift 4
	cat >"$work/result"
	BUILD=$work/build "$work/top/tools/quilt/selftest.sh" "$@" --all >"$work/out" 2>&1 || rc=$?
	if [ $rc -ne "$want_rc" ]; then
		not_ok "$what: returned $rc, not $want_rc"
	elif [ "$(tail -n 1 "$work/out")" != "$count" ]; then
		not_ok "$what"
	else
		ok "$what"
	fi
}

all 0 "$same" 'the suite, like the base' 0 <"$work/base"
all 0 "$same" 'the suite on another kernel' 0 -k /some/kernel <"$work/base"
if grep -q -- '-k /some/kernel .*selftest --any$' "$work/command"; then
	ok 'that kernel is used'
else
	not_ok "that kernel is used: $(cat "$work/command")"
fi
all 1 "$worse" 'the suite, one is worse' 0 < <(changed '/basic1/s/PASS/FAIL/')
all 1 '4 passed, 1 failed, 3 skipped' 'the suite, the kernel complained' 125 <"$work/base"
all 1 '0 passed, 2 failed, 0 skipped' 'the suite, the guest died' 124 <<<'[1] Basic trace file check'
all 1 '0 passed, 1 failed, 0 skipped' 'the suite, nothing was run' 0 <<<'0 passed, 0 failed, 0 skipped'
echo 'version 1.2.4' >"$work/top/base"
rc=0
BUILD=$work/build "$work/top/tools/quilt/selftest.sh" --all >"$work/out" 2>&1 || rc=$?
if [ $rc -ne 0 ] && grep -q 'no verdicts of the base 1.2.4' "$work/out"; then
	ok 'another base'
else
	not_ok "another base: returned $rc"
fi

# Without --all: the tests that the quilt adds.
mkdir -p "$work/top/tools/testing/selftests/ftrace/test.d/added"
touch "$work/top/tools/testing/selftests/ftrace/test.d/added/one.tc"
printf '%s\n' '# Why' added/listed.tc >"$work/top/tools/quilt/data/baseline/unsupported.txt"
# added RC COUNT WHAT GUEST-RC: as all
added() {
	local rc=0
	echo "$4" >"$work/rc"
	cat >"$work/result"
	BUILD=$work/build "$work/top/tools/quilt/selftest.sh" >"$work/out" 2>&1 || rc=$?
	if [ $rc -eq "$1" ] && [ "$(tail -n 1 "$work/out")" = "$2" ]; then ok "$3"; else not_ok "$3: returned $rc"; fi
}
added 0 '1 passed, 0 failed, 1 skipped' 'an added test that is unsupported, as listed' 0 \
	<<<$'PASS 1 added/one.tc it\nUNSUPPORTED 2 added/listed.tc it\n1 passed, 0 failed, 1 skipped'
added 1 '0 passed, 1 failed, 1 skipped' 'an added test that is unsupported' 0 \
	<<<$'UNSUPPORTED 1 added/one.tc it\nUNSUPPORTED 2 added/listed.tc it\n0 passed, 0 failed, 2 skipped'
added 1 '0 passed, 1 failed, 0 skipped' 'an added test that fails' 1 \
	<<<$'FAIL 1 added/one.tc it\n0 passed, 1 failed, 0 skipped'

# The scenario, with an ftracetest that passes what can be run: a test is a
# script that fails, or not.
mkdir -p "$work/ftrace/test.d/trigger" "$work/bin"
ln -s "$(type -P true)" "$work/bin/modprobe"
sed "s|^ROOT=.*|ROOT=$work/ftrace|" "$QUILT_TOOLS/guest/scenarios/selftest" >"$work/scenario"
cat >"$work/ftrace/ftracetest" <<'END'
#!/bin/sh
# ftracetest -k -l DIR [TEST]
mkdir -p "$3"
[ -n "$4" ] || set -- "$1" "$2" "$3" test.d/*/*.tc
dir=$3 n=0 all=0
shift 3
for mode in '' ' (instance) '; do
	for test; do
		n=$((n + 1)) verdict=PASS
		echo "execute$mode: $PWD/$test" >"$dir/$n-$(basename "$test")-log.x"
		sh "$test" || verdict=FAIL all=1
		printf '[%d]%s What it does\t[%s]\n' $n "$mode" $verdict >>"$dir/ftracetest.log"
	done
done
exit $all
END
chmod +x "$work/ftrace/ftracetest" "$work/scenario"
echo true >"$work/ftrace/test.d/trigger/other.tc"

# tries N WANT-RC WHAT: trigger-hist-poll.tc passes in its Nth run and later, each
# try being one run outside of an instance and one in it.
tries() {
	local rc=0 n=$1 want_rc=$2 what=$3
	shift 3
	echo 0 >"$work/runs"
	echo "n=\$((\$(cat $work/runs) + 1)); echo \$n >$work/runs; [ \$n -ge $n ]" \
		>"$work/ftrace/test.d/trigger/trigger-hist-poll.tc"
	PATH=$work/bin:$PATH sh "$work/scenario" "$@" >"$work/out" 2>&1 || rc=$?
	if [ $rc -eq "$want_rc" ]; then
		ok "$what"
	else
		not_ok "$what: returned $rc, not $want_rc"
	fi
}
# line COUNT REGEX: so many lines of the output are like it
line() {
	local found
	found=$(grep -cE "$2" "$work/out" || true)
	if [ "$found" -eq "$1" ]; then ok "    $1 lines '$2'"; else not_ok "    $1 lines '$2': $found"; fi
}
poll=trigger/trigger-hist-poll.tc
tries 1 0 'a flaky test passes at once'
line 0 'once more'
line 4 '^PASS '
line 1 "^PASS +4 $poll +\(instance\)"
tries 3 0 'a flaky test passes when it is tried again'
line 1 'once more'
line 2 "^PASS .* $poll .*, retried$"
tries 7 0 'a flaky test passes in its last try'
line 3 'once more'
tries 10 1 'a flaky test does not pass'
line 3 'once more'
line 2 "^FAIL .* $poll "
tries 10 0 'the same when somebody else judges' --any
line 1 '^2 passed, 2 failed, 0 skipped$'
printf '%s\n' 'PASS 1 trigger/other.tc it' "PASS 2 $poll it" 'PASS 3 trigger/other.tc (instance) it' \
	"PASS 4 $poll (instance) it" >"$work/base"
tries 3 0 'what passed in the end' --any
cp "$work/out" "$work/seen"
finds 0 '4 passed, 0 failed, 0 skipped' 'is no failure beside the base' "ok $poll: PASS, but not at once" \
	"ok $poll (instance): PASS, but not at once" <"$work/seen"
echo false >"$work/ftrace/test.d/trigger/other.tc"
tries 1 0 'one that is not flaky' --any
line 0 'once more'
line 2 '^FAIL .* trigger/other.tc '

verdict
