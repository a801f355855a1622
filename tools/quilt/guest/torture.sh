# shellcheck shell=sh
# What the scenarios NAME-torture have in common: loops that go round in the
# background until there were enough cycles of what is tortured, and as many
# rounds of each loop as that makes sense.
#
# Who reads this has set $cycles, and SHARE: a loop goes round cycles / SHARE + 1
# times at least. It has functions
#
#   cycles_gone        prints how many there were
#   failures_elsewhere prints how many failures there were that fail() does not
#                      know of

# shellcheck disable=SC2153,SC2154

T=/sys/kernel/tracing
# Without one cycle in so many seconds something hangs.
PATIENCE=180

work=$(mktemp -d /tmp/torture.XXXXXX)
: >"$work/failures"
cd $T || { echo "there is no tracefs"; exit 1; }

fail() { echo "failure: $*" | tee -a "$work/failures"; }
failures_elsewhere() { echo 0; }
failures() { echo $(($(failures_elsewhere) + $(wc -l <"$work/failures"))); }
going() { [ ! -e "$work/stop" ]; }
rest() { sleep "0.$1"; }
# Being refused what somebody else holds at the moment is no failure.
try() { "$@" 2>/dev/null || :; }
# put VALUE FILE, add VALUE FILE
put() { try eval "echo '$1' >$2"; }
add() { try eval "echo '$1' >>$2"; }

# count LOOP: one round more
count() { echo >>"$work/count.$1"; }
counted() { wc -l <"$work/count.$1"; }
# The same, for a loop that would get far ahead of the cycles and leave them no
# CPU where that is slow. Looking for how far they are takes processes, so it
# looks seldom.
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
# The rounds of the loop that has the fewest
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

# Until there were enough, or one failure; then it stops the loops. $gone is the
# number of cycles.
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

# Twice: what is young is not looked at, what is in a register not found.
leaks() {
	[ -e /sys/kernel/debug/kmemleak ] || return 1
	for _ in 1 2; do
		sleep 6
		echo scan >/sys/kernel/debug/kmemleak
	done
	grep . /sys/kernel/debug/kmemleak
}

# The last thing: is anything left, and the line that counts. NR is what
# failures_elsewhere would say if its module were still there.
verdict() { # NR
	left=$(find instances -mindepth 1 -maxdepth 1 -name 'torture_*')
	[ -z "$left" ] || fail "left: $left"
	! leaks || fail "memory is leaked"
	nr=$(($1 + $(wc -l <"$work/failures")))
	echo "$gone cycles, $nr failures"
	[ $nr -eq 0 ] && [ "$gone" -ge "$cycles" ]
}
