# shellcheck shell=sh
# Shared by the scenarios NAME-torture: loops in the background that go on until
# the tortured feature has had enough cycles, and each loop enough rounds.
#
# The scenario sets $cycles, and SHARE: a loop goes round cycles / SHARE + 1 times
# at least. It has the functions
#
#   cycles_gone        prints the number of cycles so far
#   failures_elsewhere prints the number of failures that fail() has not counted

# shellcheck disable=SC2153,SC2154

T=/sys/kernel/tracing
# Seconds without a cycle, after which something hangs.
PATIENCE=180

work=$(mktemp -d /tmp/torture.XXXXXX)
: >"$work/failures"
cd $T || { echo "there is no tracefs"; exit 1; }

fail() { echo "failure: $*" | tee -a "$work/failures"; }
failures_elsewhere() { echo 0; }
failures() { echo $(($(failures_elsewhere) + $(wc -l <"$work/failures"))); }
going() { [ ! -e "$work/stop" ]; }
rest() { sleep "0.$1"; }
# -EBUSY because of another user is no failure.
try() { "$@" 2>/dev/null || :; }
# put VALUE FILE, add VALUE FILE
put() { try eval "echo '$1' >$2"; }
add() { try eval "echo '$1' >>$2"; }

# count LOOP: one round more
count() { echo >>"$work/count.$1"; }
counted() { wc -l <"$work/count.$1"; }
# The same for a loop that would get far ahead of the cycles, and leave them no CPU
# on a slow machine. It compares seldom, as cycles_gone starts processes.
count_in_step() {
	count "$1"
	while going && [ "$(counted "$1")" -gt $(($(cycles_gone) / SHARE + 1)) ]; do
		sleep 1
	done
}

# start_loops LOOP...
start_loops() {
	LOOPS=$*
	jobs=''
	for loop in $LOOPS; do
		: >"$work/count.$loop"
		$loop &
		jobs="$jobs $!"
	done
}

rounds() {
	for loop in $LOOPS; do
		printf ' %s %d' "$loop" "$(counted "$loop")"
	done
}
# Prints the rounds of the loop that has the fewest.
slowest() {
	for loop in $LOOPS; do
		counted "$loop"
	done | sort -n | head -n 1
}
rounds_done() { [ "$(slowest)" -ge $((cycles / SHARE + 1)) ]; }

hangs() {
	fail "no cycle for $PATIENCE s"
	grep -s . /sys/kernel/debug/*_torture/status
	for cause in w l t; do
		put $cause /proc/sysrq-trigger
	done
}

# Waits for enough cycles and rounds, or a failure, and stops the loops. Sets $gone
# to the number of cycles.
wait_for_cycles() {
	start=$(cut -d . -f 1 /proc/uptime) last=0 shown=0 moved=$start
	while :; do
		gone=$(cycles_gone)
		[ "$gone" -lt "$cycles" ] || ! rounds_done || break
		[ "$(failures)" -eq 0 ] || break
		sleep 1
		now=$(cut -d . -f 1 /proc/uptime)
		if [ "$gone" -eq "$last" ]; then
			idle=$((now - moved))
			[ $idle -lt $PATIENCE ] || { hangs; break; }
		else
			moved=$now last=$gone
		fi
		tenths=$((gone * 10 / cycles))
		[ $tenths -le 10 ] || tenths=10
		[ $tenths -lt 10 ] || tenths=$((10 + $(slowest) * 10 / (cycles / SHARE + 1)))
		[ $tenths -le $shown ] ||
			echo "$(since_start) s: $gone cycles, $(failures) failures; rounds:$(rounds)"
		shown=$tenths
	done

	: >"$work/stop"
	# shellcheck disable=SC2086
	wait $jobs
	gone=$(cycles_gone)
	for loop in $LOOPS; do
		echo "$loop: $(counted "$loop") times"
	done
}

since_start() { echo $(($(cut -d . -f 1 /proc/uptime) - start)); }

# Twice: kmemleak skips young objects, and finds no pointer in a register.
leaks() {
	[ -e /sys/kernel/debug/kmemleak ] || return 1
	for _ in 1 2; do
		sleep 6
		echo scan >/sys/kernel/debug/kmemleak
	done
	grep . /sys/kernel/debug/kmemleak
}

# Comes last: looks for leaks, and prints the line that counts. NR is the last
# result of failures_elsewhere, whose module is gone.
verdict() { # NR
	left=$(find instances -mindepth 1 -maxdepth 1 -name 'torture_*')
	[ -z "$left" ] || fail "left: $left"
	! leaks || fail "memory is leaked"
	nr=$(($1 + $(wc -l <"$work/failures")))
	echo "$gone cycles, $nr failures"
	[ $nr -eq 0 ] && [ "$gone" -ge "$cycles" ]
}
