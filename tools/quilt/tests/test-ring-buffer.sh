#!/bin/bash
# Tests of the scenarios startup-tests and ring-buffer-benchmark, with what the kernel
# would say: they notice a test that failed, one that did not run, and records that
# are missing. And of the tables of steps-report.
#
# usage: test-ring-buffer.sh
#
# One "ok" or "not ok" line a test; the last line is a summary.

# shellcheck source=tools/quilt/tests/lib.sh
. "$(dirname "$0")/lib.sh"

need python3:python3
mkdir -p "$work/bin" "$work/tracing"
printf '#!/bin/sh\ncat %s/dmesg\n' "$work" >"$work/bin/dmesg"
printf '#!/bin/sh\necho 2\n' >"$work/bin/nproc"
chmod +x "$work/bin/dmesg" "$work/bin/nproc"
ln -s "$(type -P true)" "$work/bin/modprobe"
ln -s "$(type -P true)" "$work/bin/rmmod"
tracers=(nop function function_graph irqsoff preemptoff preemptirqsoff wakeup wakeup_rt wakeup_dl)
echo "${tracers[*]}" >"$work/tracing/available_tracers"
: >"$work/tracing/recursed_functions"
for name in startup-tests ring-buffer-benchmark; do
	sed "s|/sys/kernel/tracing|$work/tracing|; s|^log=.*|log=$work/log|" \
		"$QUILT_TOOLS/guest/scenarios/$name" >"$work/$name"
done

messages() {
	local i
	echo 'Linux version 7.3.4'
	echo 'ftrace section at (____ptrval____) sorted properly'
	printf 'Testing tracer %s: PASSED\n' "${tracers[@]}"
	printf '%s\n' 'Testing dynamic ftrace: PASSED' 'Testing dynamic ftrace ops #1: ' '(1 0 1 0 0) ' \
		'(1 1 2 0 0) PASSED' 'Testing multiple fgraph storage on a function: PASSED' \
		'trace_kprobe: Testing kprobe tracing: OK'
	for i in 1 2; do
		[ $i -eq 1 ] || echo 'Running tests again, along with the function tracer'
		echo 'Running tests on trace events:'
		seq -f 'Testing event number_%g: OK' 100
		# Somebody else's message in the middle
		printf '%s\n' 'Testing event sched_switch: ' 'clocksource: Switched' 'OK' \
			'Testing event system sched: OK' 'Running tests on all trace events:' \
			'Testing all events: OK'
	done
	printf '%s\n' 'Running ring buffer tests...' finished
	for i in 0 1; do
		printf '%s\n' "CPU $i:" "              events:    1201$i" '       dropped bytes:    0' \
			'         lost events:   7' '        total events:   12010'
	done
	echo 'Ring buffer PASSED!'
}

# startup WANT WHAT SED ARGUMENT...: the messages, changed
startup() {
	local rc=0 want=$1 what=$2
	messages | sed "$3" | sed 's/^/[    1.234567] /' >"$work/dmesg"
	PATH=$work/bin:$PATH sh "$work/startup-tests" "${@:4}" >"$work/out" 2>&1 || rc=$?
	if [ $rc -eq "$want" ]; then ok "$what"; else not_ok "$what: exit code $rc"; fi
}

startup 0 'all self tests passed' ''
startup 1 'a tracer that failed' 's/irqsoff: PASSED/irqsoff: .. no entries found ..FAILED!/'
startup 1 'a test of a tracer without an end' 's/dynamic ftrace: PASSED/dynamic ftrace: /'
startup 1 'a tracer that was not tested' '/tracer wakeup_rt/d'
startup 1 'an event without an end' 's/number_77: OK/number_77: /'
startup 1 'no second run beside the function tracer' '/^Running tests again/d'
startup 1 'self tests that are off' '/^ftrace section/aFtrace startup test is disabled due to running a tracer'
startup 1 'a log that has lost its beginning' 1d
startup 1 'the ring buffer did not pass' /^Ring/d
startup 1 'a CPU without events' 's/events:    12011/events:    0/'
startup 1 'a CPU that is not there' '/^ *events:    12011/d'
startup 1 'dropped bytes' 's/dropped bytes:    0/dropped bytes:    8/'
startup 0 'the ring buffer alone' '/^Testing/d; /^Running tests/d' ring-buffer
startup 1 'the ring buffer alone, and it failed' '/^Testing/d; s/^Ring.*/FAILED!/' ring-buffer

# benchmark WANT WHAT SED: what the module writes, changed
benchmark() {
	local rc=0
	{
		printf '%s\n' 'Starting ring buffer hammer' 'End ring buffer hammer' 'Running Consumer at nice: 19' \
			'Time:     10000000 (usecs)' 'Overruns: 100' 'Read:     9000  (by events)' 'Entries:  900' \
			'Total:    10000' 'Missed:   0' 'Hit:      10000' '1000 ns per entry' 'Sleeping for 10 secs'
	} | sed -e "$3" -e 's/^/     rb_producer-97      [001] .....    12.345678: ring_buffer_producer_thread: /' \
		>"$work/tracing/trace_pipe"
	PATH=$work/bin:$PATH sh "$work/ring-buffer-benchmark" 1 >"$work/out" 2>&1 || rc=$?
	if [ $rc -eq "$1" ]; then ok "$2"; else not_ok "$2: exit code $rc"; fi
}

benchmark 0 'a round of the benchmark' ''
benchmark 1 'a round with an error' '1s/.*/ERROR!/'
benchmark 1 'a round without an end' /Sleeping/d
benchmark 1 'a round without figures' '/Hit/d'
benchmark 1 'a record that is missed' 's/^Missed:   0/Missed:   1/'
benchmark 1 'a record that is neither read nor there' 's/^Total:    10000/Total:    9999/'

# log ARCH-TREE INSTRUCTIONS
log() {
	printf 'bench: row|%s\nbench: written|%d\n' 'two instructions|instructions|1000|2000|2000|2000|0' 0 \
		"a record|instructions|1000|${2}000|${2}000|${2}000|1000" 1000 >"$work/steps/$1.log"
}
mkdir "$work/steps" "$work/results"
printf 'a|the base\nb|in front\nc|The first\nd|The second\n' >"$work/steps/states"
printf 'topic|fastpath\n' >"$work/steps/info"
log x86_64-a 620
log x86_64-b 621
log x86_64-c 621
"$BENCH_TOOLS/lib/steps-report" "$work/steps" "$work/results" >"$work/out" 2>&1 || not_ok 'steps-report'
row() { # ROW
	if tr -s ' ' <"$work/results/steps.md" | grep -qxF "$1"; then ok "$1"; else not_ok "no row $1"; fi
}
row '| the base | 620 |'
row '| in front | 620 -> 621 |'
row '| The first | 621 |'
log x86_64-d 500
log arm64-a 737
"$BENCH_TOOLS/lib/steps-report" "$work/steps" "$work/results" >"$work/out" 2>&1 || not_ok 'steps-report'
row '| The second | 621 -> 500 |'
row '| all 2 | 621 -> 500 |'
row '| the base | 737 |'
sed -i 's/written|1000/written|999/' "$work/steps/x86_64-d.log"
if "$BENCH_TOOLS/lib/steps-report" "$work/steps" "$work/results" >"$work/out" 2>&1; then
	not_ok 'a row without its records is an error'
else
	ok 'a row without its records is an error'
fi

verdict
