#!/bin/bash
# Tests of selftest.sh, and of the scenario with its retries, with made-up verdicts.
#
# usage: test-selftest.sh
#
# One "ok" or "not ok" line a test; the last line is a summary.

# shellcheck source=tools/quilt/tests/ftracetest-verdicts.sh
. "$(dirname "$0")/ftracetest-verdicts.sh"

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
