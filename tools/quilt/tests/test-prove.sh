#!/bin/bash
# Tests of prove-lib.sh with made-up files of proofs and logs.
#
# usage: test-prove.sh
#
# One "ok" or "not ok" line a test; the last line is a summary.

# shellcheck source=tools/quilt/tests/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tools/quilt/lib/prove-lib.sh
. "$QUILT_TOOLS/lib/prove-lib.sh"

# --- proofs -----------------------------------------------------------------

# parsed WANT WHAT TEXT
parsed() {
	printf '%s\n' "$3" >"$work/fixes"
	parse_proofs "$work/fixes" >"$work/out" 2>&1 || true
	out_is "$1" "$2"
}
t=$'\t'

parsed "kunit${t}tracing: Fix it${t}trace_a.case_1
selftest${t}tracing: Fix it${t}dir/a.tc -A a=b c
with${t}tracing: Let tests see it${t}
scenario${t}tracing: Fix \"that\" | this${t}boot -A tp_printk
kunit${t}tracing: Fix \"that\" | this${t}trace_a.case_2 x86_64
reading${t}tracing: Fix more${t}It takes a day." "a file of proofs" \
	'# All of them
fix tracing: Fix it
	kunit trace_a.case_1
	selftest dir/a.tc -A a=b c

with tracing: Let tests see it
fix tracing: Fix "that" | this
	scenario boot -A tp_printk
	kunit trace_a.case_2 x86_64
fix tracing: Fix more
	reading It takes a day. '
parsed '' "no proofs at all" '# None yet'
parsed 'proofs/fixes:2: no proof of: tracing: A
proofs/fixes:2: no proof of: tracing: B' "fixes without a proof" $'fix tracing: A\nfix tracing: B'
parsed "proofs/fixes:3: twice: tracing: A
reading${t}tracing: A${t}Why.
reading${t}tracing: A${t}Why." "a fix that is there twice" $'fix tracing: A\n\treading Why.\nfix tracing: A\n\treading Why.'
parsed 'proofs/fixes:1: a proof before any fix' "a proof before any fix" 'kunit trace_a.case'
parsed "proofs/fixes:2: no such proof: test
proofs/fixes:2: no proof of: tracing: A" "a proof of another kind" $'fix tracing: A\n\ttest a.tc'
for line in 'kunit trace_a' 'kunit trace_a.case arm' 'selftest a.tc' 'selftest dir/a.tc b' scenario reading; do
	printf 'fix tracing: A\n\t%s\n' "$line" >"$work/fixes"
	if parse_proofs "$work/fixes" >"$work/out" 2>&1 || ! grep -q "^proofs/fixes:2: want: ${line%% *} " "$work/out"; then
		not_ok "refuses: $line"
	else
		ok "refuses: $line"
	fi
done

# --- KUnit ------------------------------------------------------------------

start='[    0.000000] Linux version 7.3.4 (quilt@quilt) #1 SMP PREEMPT @0
[    0.100000] WARNING: CPU: 0 PID: 1 at kernel/other.c:1 before+0x1/0x2
KTAP version 1
1..1'
header='    KTAP version 1
    # Subtest: trace_a
    # module: trace_a_kunit
    1..1'

# kunit WANT WHAT TEXT [LIMIT]: as it is, and as a console has it
kunit() {
	printf '%s\n' "$3" >"$work/log"
	kunit_verdict "$work/log" trace_a case_1 none "${4:-}" >"$work/out"
	out_is "$1" "kunit: $2"
	sed -E '/^\[ *[0-9.]+\]/!s/^/[    1.234567][    T1] /; s/$/\r/' "$work/log" >"$work/console"
	kunit_verdict "$work/console" trace_a case_1 none "${4:-}" >"$work/out"
	out_is "$1" "kunit: $2, with time stamps"
}

kunit passes "ok" "$start
$header
    ok 1 case_1
ok 1 trace_a"
kunit passes "ok, slow, with parameters" "$start
$header
        KTAP version 1
        # Subtest: case_1
        ok 1 one
        not ok 2 case_1_not
        # case_1: pass:1 fail:0 skip:0 total:1
    # case_1.speed: slow
    ok 1 case_1
# Totals: pass:1 fail:0 skip:0 total:1
ok 1 trace_a"
kunit 'fails: not ok' "not ok" "$start
$header
    # case_1: EXPECTATION FAILED at kernel/trace/tests/a.c:1
    not ok 1 case_1
not ok 1 trace_a"
kunit 'did not run: skipped' "SKIP" "$start
$header
    ok 1 case_1 # SKIP needs two CPUs
ok 1 trace_a # SKIP"
kunit 'fails: BUG: KASAN: slab-use-after-free in trace_a+0x12/0x34' "ok and a splat" "$start
$header
[    2.000000] BUG: KASAN: slab-use-after-free in trace_a+0x12/0x34
    ok 1 case_1
ok 1 trace_a"
kunit 'fails: Kernel panic - not syncing: Segfault with no mm' "panic" "$start
$header
[    2.000000] Kernel panic - not syncing: Segfault with no mm"
kunit 'fails: BUG: spinlock recursion on CPU#0, kunit_try_catch/42' "time limit with a BUG" "$start
$header
[    2.000000] BUG: spinlock recursion on CPU#0, kunit_try_catch/42" 60
kunit 'fails: hangs, no end after 60 s' "time limit" "$start
$header" 60
kunit 'did not run: the log ends in the case without a word' "an end without a word" "$start
$header"
kunit 'did not run: the kernel did not come to the suite trace_a' "panic before the suite" "$start
    # Subtest: trace_ab
[    2.000000] Kernel panic - not syncing: no init" 60
kunit 'did not run: the kernel did not come to the suite trace_a' "no such case" "$start
1..0"
kunit 'did not run: 2 cases were chosen, not one' "panic in another case, perhaps" "$start
${header%1}2
    ok 1 case_0
[    2.000000] Kernel panic - not syncing: x"
kunit 'did not run: the suite ended without this case' "a suite that can't start" "$start
$header
    # trace_a: failed to initialize (-12)
not ok 1 trace_a"
kunit 'did not run: the kernel did not come to the suite trace_a' "an empty log" ""
kunit 'did not run: the suite ended without this case' "a case with a longer name" "$start
$header
    ok 1 case_10
ok 1 trace_a"

# --- selftests --------------------------------------------------------------

# selftest WANT WHAT RC TEXT [FILE]
selftest() {
	printf '%s\n' "$4" >"$work/log"
	selftest_verdict "$work/log" "${5:-dir/a.tc}" "$3" none >"$work/out"
	out_is "$1" "selftest: $2"
}
running='=== Ftrace unit tests ===
[1] A test'
pass='PASS           1 dir/a.tc                                                     A test'

selftest passes "PASS" 0 "$running	[PASS]

$pass

1 passed, 0 failed, 0 skipped"
selftest 'fails: FAIL' "FAIL" 1 "$running	[FAIL]
--- log of dir/a.tc:
FAIL           1 dir/a.tc                                                     A test
error: scenario selftest: exit code 1, console log: x"
selftest 'fails: FAIL' "FAIL in an instance" 1 "$pass
FAIL           2 dir/a.tc                                                     (instance) A test"
for word in UNSUPPORTED UNRESOLVED UNTESTED XFAIL; do
	selftest "did not run: $word" "$word" 0 "$running	[$word]
$(printf '%-12s' $word)   1 dir/a.tc                                                     A test"
done
selftest 'did not run: UNRESOLVED' "UNRESOLVED in an instance" 1 "$pass
UNRESOLVED     2 dir/a.tc                                                     (instance) A test"
selftest 'did not run: no verdict' "another test" 0 "PASS           1 dir/ab.tc      A test
PASS           1 other/dir/a.tc      A test"
selftest 'fails: hangs' "time limit" 124 "$running
error: the guest did not finish selftest in 300 s"
selftest 'fails: Kernel panic - not syncing: Fatal exception' "panic" 125 "$running
error: the guest did not finish selftest: Kernel panic - not syncing: Fatal exception"
selftest 'did not run: no verdict' "panic before" 125 "error: the guest did not reach init: Kernel panic - not syncing: x"
selftest 'did not run: no verdict' "time limit before" 124 "error: the guest did not reach init in 300 s"
selftest 'did not run: no verdict' "no such test" 1 "no such test: dir/a.tc
error: scenario selftest: exit code 1, console log: x"
selftest 'fails: WARNING: CPU: 1 PID: 12 at kernel/trace/trace.c:1' "PASS and a splat" 125 "$running	[PASS]
$pass
log:100: WARNING: CPU: 1 PID: 12 at kernel/trace/trace.c:1
error: the kernel complained during selftest (exit code 0), console log: x
        100: WARNING: CPU: 1 PID: 12 at kernel/trace/trace.c:1"
selftest passes "runtime verification" 0 "PASS           1 rv_a.tc    A test" verification/rv_a.tc

console='[    0.000000] Linux version 7.3.4 (quilt@quilt) #1 SMP PREEMPT @0
[    0.100000] WARNING: CPU: 0 PID: 1 at kernel/other.c:1 before+0x1/0x2
[    0.200000] Run /init as init process'
printf '%s\n' "$console" >"$work/log.console"
selftest 'fails: hangs' "time limit without a report" 124 "$running
error: the guest did not finish selftest in 300 s"
printf '%s\n' "$console" '[    9.000000] BUG: KASAN: slab-use-after-free in trace_a+0x12/0x34' >"$work/log.console"
selftest 'fails: BUG: KASAN: slab-use-after-free in trace_a+0x12/0x34' "time limit with a report" 124 "$running
error: the guest did not finish selftest in 300 s"
rm "$work/log.console"

# --- scenarios --------------------------------------------------------------

# scenario WANT WHAT RC TEXT
scenario() {
	printf '%s\n' "$4" >"$work/log"
	scenario_verdict "$work/log" boot "$3" none >"$work/out"
	out_is "$1" "scenario: $2"
}

scenario passes "exit code 0" 0 "1 passed, 0 failed"
scenario 'fails: exit code 1' "exit code 1" 1 "0 passed, 1 failed
error: scenario boot: exit code 1, console log: x"
scenario "did not run: it says that it can't" "exit code 77" 77 "error: scenario boot: exit code 77, console log: x"
scenario 'did not run: there is no scenario boot' "no such scenario" 1 "error: there is no scenario boot"
scenario 'fails: hangs' "time limit" 124 "error: the guest did not finish boot in 300 s"
scenario 'did not run: the guest did not reach init in 300 s' "time limit before" 124 "error: the guest did not reach init in 300 s"
scenario 'fails: Kernel panic - not syncing: x' "panic" 125 "error: the guest did not finish boot: Kernel panic - not syncing: x"
scenario 'did not run: QEMU ended with 1, the guest did not reach init' "no QEMU" 125 "error: QEMU ended with 1, the guest did not reach init"
scenario 'fails: BUG: x' "a splat" 125 "error: the kernel complained during boot (exit code 0), console log: x
       BUG: x"

verdict
