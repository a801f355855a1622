#!/bin/bash
# Tests of splat.sh: made-up console logs, one for each class of splat, and
# logs that only look bad.
#
# usage: test-splat.sh
#
# One "ok" or "not ok" line a test; the last line is a summary.

# shellcheck source=tools/quilt/tests/lib.sh
. "$(dirname "$0")/lib.sh"

boot='[    0.000000] Linux version 7.3.4 (quilt@quilt) #1 SMP PREEMPT @0
[    0.000000] Command line: console=ttyS0 panic=-1 oops=panic
[    0.512345] Spectre V2 : Vulnerable
[    1.200000] Run /init as init process'
trace='[    2.000001] CPU: 0 UID: 0 PID: 42 Comm: sh Not tainted 7.3.4 #1 PREEMPT
[    2.000002] Call Trace:
[    2.000003]  <TASK>
[    2.000004]  dump_stack_lvl+0x4d/0x70
[    2.000005]  ? some_caller+0x1a/0x200
[    2.000006]  </TASK>'
plain() { sed -E 's/^\[ *[0-9.]+\] //'; }

# scan WANT WHAT TEXT [OPTION]...
scan() {
	local want=$1 what=$2 text=$3 rc=0
	shift 3
	printf '%s\n' "$text" >"$work/log"
	"$QUILT_TOOLS/lib/splat.sh" "$@" "$work/log" >"$work/out" 2>&1 || rc=$?
	if [ $rc -eq "$want" ]; then
		ok "$what"
	else
		not_ok "$what: returned $rc, not $want"
	fi
}

# bad WHAT LINE: found with time stamps, without, with the calling task, and behind
# the output of a program; the report shows the line.
bad() {
	scan 1 "$1" "$boot
[    2.000000] $2"
	if grep -qF -e ": $2" "$work/out"; then
		ok "$1, in the report"
	else
		not_ok "$1, in the report"
	fi
	scan 1 "$1, no time stamps" "$(plain <<<"$boot")
$2"
	scan 1 "$1, with the caller" "$boot
[    2.000000][   T42] $2"
	scan 1 "$1, in the middle of a line" "$boot
[3] Basic trace clock test[    2.000000] $2"
}

# good WHAT LINES
good() {
	scan 0 "$1" "$boot
$2"
}

bad 'WARN' 'WARNING: kernel/trace/ring_buffer.c:4711 at rb_commit+0x12/0x80, CPU#0: sh/42'
bad 'WARN, old form' 'WARNING: CPU: 0 PID: 42 at kernel/trace/trace.c:1 foo+0x1/0x2'
bad 'WARN of a subsystem' 'unwind: WARNING: kernel stack regs at 000000 in sh:42 has bad bp value 0'
bad 'BUG' 'kernel BUG at kernel/trace/trace.c:1234!'
bad 'NULL pointer' 'BUG: kernel NULL pointer dereference, address: 0000000000000008'
bad 'page fault' 'BUG: unable to handle page fault for address: ffffc90000000000'
bad 'Oops' 'Oops: Oops: 0000 [#1] SMP NOPTI'
bad 'Oops of text patching' 'Oops: int3: 0000 [#1] SMP'
bad 'general protection fault' 'Oops: general protection fault, probably for non-canonical address 0xdead: 0000 [#1] SMP'
bad 'general protection fault, old form' 'general protection fault: 0000 [#1] SMP'
bad 'Unable to handle' 'Unable to handle kernel paging request at virtual address ffff800000'
bad 'panic' 'Kernel panic - not syncing: sysrq triggered crash'
bad 'KASAN' 'BUG: KASAN: slab-use-after-free in foo+0x1/0x2'
bad 'KASAN, wild access' 'KASAN: null-ptr-deref in range [0x0000000000000000-0x0000000000000007]'
bad 'KCSAN' 'BUG: KCSAN: data-race in foo / bar'
bad 'UBSAN' 'UBSAN: array-index-out-of-bounds in kernel/trace/trace.c:12:3'
bad 'slab' 'BUG kmalloc-64 (Not tainted): Poison overwritten'
bad 'bad page' 'BUG: Bad page state in process sh  pfn:12345'
bad 'recursive locking' 'WARNING: possible recursive locking detected'
bad 'circular locking' 'WARNING: possible circular locking dependency detected'
bad 'circular locking, old form' 'INFO: possible circular locking dependency detected'
bad 'irq inversion' 'WARNING: possible irq lock inversion dependency detected'
bad 'lock order' 'WARNING: HARDIRQ-safe -> HARDIRQ-unsafe lock order detected'
bad 'lock state' 'WARNING: inconsistent lock state'
bad 'unlock balance' 'WARNING: bad unlock balance detected!'
bad 'held lock freed' 'WARNING: held lock freed!'
bad 'lock left held' 'WARNING: lock held when returning to user space!'
bad 'wait context' '[ BUG: Invalid wait context ]'
bad 'lockdep gives up' 'BUG: MAX_LOCKDEP_CHAINS too low!'
bad 'lockdep off' 'turning off the locking correctness validator.'
bad 'RCU usage' 'WARNING: suspicious RCU usage'
bad 'RCU usage, old form' 'INFO: suspicious RCU usage'
bad 'RCU stall' 'rcu: INFO: rcu_preempt self-detected stall on CPU'
bad 'RCU stall elsewhere' 'rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:'
bad 'expedited stall' 'rcu: INFO: rcu_preempt detected expedited stalls on CPUs/tasks: { 1-... } 21000 jiffies'
bad 'RCU tasks stall' 'INFO: rcu_tasks detected stalls on tasks:'
bad 'soft lockup' 'watchdog: BUG: soft lockup - CPU#1 stuck for 26s! [sh:42]'
bad 'hard lockup' 'watchdog: CPU0: Watchdog detected hard LOCKUP on cpu 0'
bad 'workqueue lockup' 'BUG: workqueue lockup - pool cpus=0 node=0 flags=0x0 nice=0 stuck for 33s!'
bad 'hung task' 'INFO: task rmmod:55 blocked for more than 120 seconds.'
bad 'kmemleak' 'kmemleak: 3 new suspected memory leaks (see /sys/kernel/debug/kmemleak)'
bad 'debug objects' 'ODEBUG: free active (active state 0) object: 0000 object type: timer_list'
bad 'sleep while atomic' 'BUG: sleeping function called from invalid context at kernel/locking/mutex.c:283'
bad 'schedule while atomic' 'BUG: scheduling while atomic: sh/42/0x00000002'
bad 'preemptible' 'BUG: using smp_processor_id() in preemptible [00000000] code: sh/42'
bad 'refcount' 'refcount_t: underflow; use-after-free.'
bad 'instance' 'ERROR: Failed to create instance directory'
bad 'list corruption' 'list_del corruption. prev->next should be ffff, but was dead'
bad 'lonely interrupt' 'irq 4: nobody cared (try booting with the "irqpoll" option)'
bad 'stack overflow' 'BUG: TASK stack guard page was hit at 0000 (stack is 0000..0000)'
bad 'cut here alone' '------------[ cut here ]------------'
bad 'a stack trace of unknown cause' 'Call Trace:'
bad 'a stack trace, other spelling' 'Call trace:'

: >"$work/empty"
printf '\n  \n' >"$work/blank"
for file in empty blank missing; do
	rc=0
	"$QUILT_TOOLS/lib/splat.sh" "$work/$file" >"$work/out" 2>&1 || rc=$?
	if [ $rc -eq 1 ]; then ok "$file log"; else not_ok "$file log: returned $rc"; fi
done
printf '%s\n' "$boot" >"$work/fine"
rc=0
"$QUILT_TOOLS/lib/splat.sh" "$work/fine" "$work/missing" >"$work/out" 2>&1 || rc=$?
if [ $rc -eq 1 ]; then ok 'a missing log beside a clean one'; else not_ok "a missing log beside a clean one: returned $rc"; fi

good 'clean log' '[    2.000000] reboot: Restarting system'
scan 0 'clean log, no time stamps' "$(plain <<<"$boot")"
good 'sanitizers say that they are on' '[    0.010000] KernelAddressSanitizer initialized (generic)
[    0.020000] KASAN: enabled
[    0.020000] kasan: KernelAddressSanitizer initialized (sw-tags)
[    0.030000] kcsan: enabled early
[    0.040000] ODEBUG: selftest passed
[    0.050000] Running RCU self tests
[    0.060000] rcu: RCU lockdep checking is enabled.
[    0.060000] Lock dependency validator: Copyright (c) 2006 Red Hat, Inc., Ingo Molnar
[    0.070000] kmemleak: Kernel memory leak detector initialized (mem pool available: 15000)
[    0.080000] kmemleak: Automatic memory scanning thread started
[    0.090000] Spectre V1 : Vulnerable: __user pointer sanitization and usercopy barriers only
[    0.100000] clocksource: timekeeping watchdog on CPU0: Marking clocksource tsc as unstable'
good 'KUnit results with such names' '[    1.300000] KTAP version 1
[    1.300000]     # Subtest: trace_export warning and BUG: cases
[    1.310000]     # test_oops: Oops: 0000 [#1] is the text of this case
[    1.310000]     ok 1 WARNING: on double registration
[    1.320000]     not ok 2 suspicious RCU usage in a name
[    1.330000] ok 1 kernel_panic_names'
scan 0 'the same without time stamps' 'Linux version 7.3.4
KTAP version 1
    ok 1 WARNING: on double registration
    # a_case: BUG: no bug
ok 1 possible recursive locking of names'
good 'selftests with such names' '[3] Test WARNING: and BUG: in descriptions	[PASS]
[12] Kernel panic - not syncing: a name	[UNRESOLVED]
[13] Check possible recursive locking	[PASS]'
good 'programs that print such words' 'WARNING: this is a shell
BUG: reported by a program
   sh-42   [001] .....  12.345678: bprint: WARNING: a record
Call Trace:'
good 'the banner of trace_printk' '[    3.000000] **********************************************************
[    3.000000] ** trace_printk() being used. Allocating extra memory.  **
[    3.000000] ** This means that this is a DEBUG kernel and it is     **
[    3.000000] **********************************************************'
good 'a crashing program of user space' '[    3.000000] traps: sh[42] general protection fault ip:7f sp:7f error:0 in libc.so.6
[    3.000000] sh[43]: segfault at 0 ip 00000000 sp 00000000 error 14'

# The list of known splats, with a list made for this test.
mkdir -p "$work/tools/quilt/data"
cp -r "$QUILT_TOOLS/lib" "$work/tools/quilt/"
printf '# a comment\nthis-kind\t^WARNING: suspicious RCU usage$\tenqueued on offline CPU\tknown_caller\\+0x\nthis-kind+\t^WARNING: suspicious RCU usage$\tenqueued on offline CPU\toften_caller\\+0x\n' >"$work/tools/quilt/data/splats"
QUILT_TOOLS=$work/tools/quilt

known="[    2.000000] =============================
[    2.000000] WARNING: suspicious RCU usage
[    2.000000] 7.3.4 #1 Not tainted
[    2.000000] -----------------------------
[    2.000000] kernel/rcu/tree.c:3185 Callback enqueued on offline CPU!
[    2.000000] stack backtrace:
${trace/some_caller/known_caller}"
other="[    2.100000] =============================
[    2.100000] WARNING: suspicious RCU usage
[    2.100000] 7.3.4 #1 Not tainted
[    2.100000] -----------------------------
[    2.100000] kernel/trace/trace.c:1 suspicious rcu_dereference_check() usage!
$trace"
# with WANT WHAT LINES...
with() {
	local want=$1 what=$2
	shift 2
	scan "$want" "$what" "$(printf '%s\n' "$boot" "$@")" -k this-kind
}
with 0 'known splat' "$known"
scan 1 'known splat in another kind of run' "$boot
$known" -k that-kind
scan 1 'known splat, no kind of run' "$boot
$known"
with 1 'the header of the known one with another trace' "$other"
with 1 'the header and the trace of the known one with another cause' \
	"${known/enqueued on offline CPU/done}"
with 0 'known, in two boots' "$known" "$boot" "$known"
with 1 'known, then another' "$known" "$other"
with 1 'another, then known' "$other" "$known"
with 1 'known, twice' "$known" "$known"
with 0 'known as one that comes often, twice' "${known//known_caller/often_caller}" \
	"${known//known_caller/often_caller}"
with 1 'known, then a lonely trace' "$known" "$trace"
with 1 'another inside of the known one' "$(head -n 4 <<<"$known")" \
	'[    2.000000] BUG: KASAN: slab-use-after-free in foo+0x1/0x2' "$(tail -n 8 <<<"$known")"
with 1 'known, then a panic' "$known" '[    3.000000] Kernel panic - not syncing: foo'
with 1 'known, then a WARN' "$known" '[    3.000000] ------------[ cut here ]------------' \
	'[    3.000000] WARNING: kernel/trace/trace.c:1 at foo+0x1/0x2, CPU#0: sh/42' \
	"$trace" '[    3.000000] ---[ end trace 0000000000000000 ]---'
if [ "$(grep -c '^/.*log:[0-9]*: ' "$work/out")" -eq 1 ] &&
   grep -q 'log:18: WARNING: kernel/trace/trace.c:1 at foo' "$work/out"; then
	ok 'the report names the one that is not known, by line'
else
	not_ok 'the report names the one that is not known, by line'
fi

verdict
