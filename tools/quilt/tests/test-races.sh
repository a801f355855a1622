#!/bin/bash
# Tests of races.sh: made-up reports of KCSAN, and which of them are left out.
#
# usage: test-races.sh
#
# One "ok" or "not ok" line a test; the last line is a summary.

# shellcheck source=tools/quilt/tests/lib.sh
. "$(dirname "$0")/lib.sh"

cat >"$work/names" <<-'END'
	added new_one
	tracing old_one
	tracing old_two
	tracing new_one
	own own_one
	tracing own_one
END

# report FUNCTIONS SIDE SIDE [LINE]: a SIDE is "task 7 on cpu 0"
report() {
	printf '[    1.000000] %s\n' "==============================" "BUG: KCSAN: data-race in $1" '' \
		"write to 0xffff888100000000 of 8 bytes by $2:" " caller+0x1/0x10" '' \
		"read to 0xffff888100000000 of 8 bytes by $3:" " caller+0x2/0x10" "${4:-}" \
		"=============================="
}

# test_log kept|left-out WHAT: the log on standard input
test_log() {
	local want=$1 got=left-out
	{ cat; echo "[    9.000000] the end"; } >"$work/log"
	"$QUILT_TOOLS/lib/races.sh" "$work/names" <"$work/log" >"$work/out"
	! grep -q 'BUG: ' "$work/out" || got=kept
	grep -q 'the end' "$work/out" || got='nothing of the rest'
	# A report is kept as a whole.
	[ "$got" != kept ] || cmp -s "$work/log" "$work/out" || got='kept in part'
	if [ "$got" = "$want" ]; then
		ok "$2"
	else
		not_ok "$2: $got"
	fi
}

one='task 7 on cpu 0' two='task 8 on cpu 1' here='task 8 on cpu 0' irq='interrupt on cpu 0' far='interrupt on cpu 1'
test_log left-out "neither has to do with tracing" < <(
	report 'foreign / other' "$one" "$two")
test_log kept "one of mainline's tracing" < <(
	report 'old_one / other' "$one" "$two")
test_log kept "the second one, and a part of a function" < <(
	report 'other / old_two.isra.0' "$one" "$two")
test_log kept "one of the quilt's" < <(
	report 'new_one / other' "$one" "$two")
test_log left-out "mainline's in an interrupt on the same CPU" < <(
	report 'old_one / old_two' "$irq" "$one")
test_log left-out "mainline's in two interrupts on the same CPU" < <(
	report 'old_one / old_two' "$irq" "$irq")
test_log kept "mainline's in an interrupt on another CPU" < <(
	report 'old_one / old_two' "$far" "$one")
test_log kept "mainline's in two tasks on one CPU" < <(
	report 'old_one / old_two' "$one" "$here")
test_log kept "the quilt's in an interrupt on the same CPU" < <(
	report 'new_one / old_two' "$irq" "$one")
test_log kept "the quilt's own" < <(
	report 'own_one / some_reader' "$one" "$two")
test_log kept "the quilt's own in a file of mainline's, in an interrupt on the same CPU" < <(
	report 'old_one / own_one' "$irq" "$one")
test_log kept "another complaint in its middle" < <(
	report 'foreign / other' "$one" "$two" 'WARNING: CPU: 1 at kernel/fork.c:1')
test_log kept "a report without an end" < <(
	report 'foreign / other' "$one" "$two" | sed '$d')
test_log kept "one without an end, and another one" < <(
	{ report 'new_one / other' "$one" "$two" | sed '$d'; report 'new_one / other' "$one" "$two"; })
test_log left-out "a log without reports" <<<'[    1.000000] booted'

verdict
