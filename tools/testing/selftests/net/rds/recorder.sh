#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The flight recorder of RDS: two network namespaces talk to each other by RDS
# over TCP. TCP gives up when the link is down, and RDS reconnects when it is
# up again. The recorder has to tell what happened, and messages have to arrive
# again. Whether all of them arrive is up to RDS, and not tested.
#
# This reloads the modules rds and rds_tcp if it has to.

dir=$(dirname "$0")
traffic=$dir/rds_traffic
instance=/sys/kernel/tracing/instances/rds
text=/sys/kernel/debug/rds/recorder
ksft_skip=4
tests=0
failures=0
loaded=''
work=$(mktemp -d /tmp/rds-recorder.XXXXXX)
nsa=rdsa-$$
nsb=rdsb-$$

skip() {
	echo "1..0 # SKIP $*"
	exit $ksft_skip
}

# check WHAT COMMAND...
check() {
	what=$1
	shift
	tests=$((tests + 1))
	if "$@"; then
		echo "ok $tests $what"
	else
		echo "not ok $tests $what"
		failures=$((failures + 1))
	fi
}

not() { ! "$@"; }

# RDS has a socket probed after five seconds, and gives up after five probes.
# TCP waits as long between two tries to connect. Ten minutes are generous, and
# mean that something hangs.
wait_for() {
	tries=6000
	until "$@"; do
		[ $tries -gt 0 ] || return 1
		tries=$((tries - 1))
		sleep 0.1
	done
}

# shellcheck disable=SC2046
cleanup() {
	exec 9<&-
	kill $(cat "$work"/pid.* 2>/dev/null) 2>/dev/null
	wait
	ip netns del $nsa 2>/dev/null
	ip netns del $nsb 2>/dev/null
	# A namespace goes some time after its name.
	if [ -n "$loaded" ]; then
		wait_for modprobe -q -r rds_tcp
		wait_for modprobe -q -r rds
	fi
	if [ "$loaded" = before ]; then
		modprobe rds
		modprobe -q rds_tcp
	fi
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

# start NAMESPACE ADDRESS PEER
start() {
	ip netns exec "$1" "$traffic" "$2" "$3" 4000 >"$work/out.$1" 2>&1 &
	echo $! >"$work/pid.$1"
}
arrived() { grep -c messages "$work/out.$1"; }
# As many as have arrived so far, and a hundred more
arrive_again() {
	number=$(($(arrived "$1") + 1))
	wait_for at_least arrived "$1" && return
	sed 's/^/# /' "$work/out.$1"
	return 1
}

# changes ADDRESS OLDSTATE NEWSTATE: how many are recorded so far
changes() {
	grep -c "rds_conn_state: .* laddr=::ffff:$1 .* oldstate=$2 newstate=$3 " \
		$instance/trace
}
at_least() { [ "$("$@")" -ge "$number" ]; }
count() { grep -c -e "$1" $instance/trace; }
tries_again() {
	number=3
	at_least count ' rds_conn_connect: .* ret=-' &&
		at_least count ' rds_conn_reconnect: .* delay='
}
# all OLDSTATE NEWSTATE: all paths have changed so, on both sides
all() {
	number=$up
	at_least changes 192.0.2.1 "$1" "$2" && at_least changes 192.0.2.2 "$1" "$2"
}
paused() { [ "$(cat $instance/tracing_on)" = 0 ]; }
# The reader keeps the snapshot, too.
offered() {
	exec 9<&-
	exec 9<$text
	cat <&9 >"$work/text" &&
		number=$((2 * up)) &&
		at_least grep -c '^# tcp .* lost [0-9.]* back [0-9.]*$' "$work/text"
}

# in_order REGEX...: the first line with each comes after the one before it
in_order() {
	local from=1 n regex

	for regex in "$@"; do
		n=$(sed "1,${from}d" "$work/text" | grep -n -m 1 -e "$regex" | cut -d : -f 1)
		if [ -z "$n" ]; then
			echo "# not there, or not after line $from: $regex"
			return 1
		fi
		from=$((from + n))
	done
}

attempts_are_counted() {
	awk '/^# attempts to connect: [0-9]+, [0-9]+ of them not recorded$/ {
			attempts = $5 + 0
			skipped = $6 + 0
		}
		END { exit !(skipped > 0 && attempts > skipped) }' "$work/text"
}

# tcp_send_reset has no ports, so nothing could tell whose reset it was.
others() {
	grep ' sport=' "$work/text" | grep -qv 'port=16385 ' ||
		grep -q ' tcp_send_reset: ' "$work/text"
}

# For each loss in the header there is the record of the change, not after the
# time in the header; and so for its end, after the loss.
header_is_true() {
	awk '
		function when(  i) {
			for (i = 1; i <= NF; i++)
				if ($i ~ /^[0-9]+\.[0-9]+:$/)
					return $i + 0
		}
		/^# tcp / {
			key = $3 " " $5 " " $7 " " $11 + 0
			n++
			lost[key] = $13
			back[key] = $15
			if ($13 + 0 >= $15 + 0)
				bad = bad "\n   not lost before it was back: " $0
		}
		/ rds_conn_state: / {
			for (i = 1; i <= NF; i++) {
				split($i, word, "=")
				v[word[1]] = word[2]
			}
			key = v["laddr"] " " v["faddr"] " " v["netns"] " " v["path"]
			if (!(key in lost))
				next
			if (v["oldstate"] == "UP" && when() <= lost[key])
				was[key] = 1
			if (v["newstate"] == "UP" && when() > lost[key] &&
			    when() <= back[key])
				is[key] = 1
		}
		END {
			for (key in lost)
				if (!was[key] || !is[key])
					bad = bad "\n   not in the records: " key
			if (bad)
				print bad
			exit bad != "" || !n
		}' "$work/text"
}

[ "$(id -u)" -eq 0 ] || skip "must be root"
[ -x "$traffic" ] || skip "rds_traffic is not built"
[ -d /sys/kernel/tracing/instances ] || skip "no instances in /sys/kernel/tracing"
[ -d /sys/kernel/debug ] || skip "no debugfs"
if [ ! -e $text ]; then
	loaded=now
	if [ -d /sys/module/rds ]; then
		modprobe -q -r rds_tcp
		loaded=before
	fi
	if [ -d /sys/module/rds ] && ! modprobe -q -r rds; then
		loaded=''
		skip "rds can't be unloaded: boot with rds.recorder=1"
	fi
	# However slow this machine is, the outage is one.
	modprobe -q rds recorder=1 recorder_secs=3600
	[ -e $text ] || skip "RDS has no flight recorder"
fi
modprobe -q rds_tcp || [ -d /sys/module/rds_tcp ] || skip "no RDS over TCP"

ip netns add $nsa && ip netns add $nsb || skip "no network namespaces"
ip -n $nsa link add veth0 type veth peer name veth0 netns $nsb || skip "no veth"
ip -n $nsa addr add 192.0.2.1/24 dev veth0
ip -n $nsb addr add 192.0.2.2/24 dev veth0
ip -n $nsa link set lo up
ip -n $nsa link set veth0 up
ip -n $nsb link set veth0 up
for ns in $nsa $nsb; do
	ip netns exec $ns sh -c 'echo 4 >/proc/sys/net/ipv4/tcp_retries2'
done

check "nobody else can remove the instance" not rmdir $instance 2>/dev/null

# Each attempt to connect fails at once.
ip -n $nsa route add unreachable 192.0.2.2
start $nsa 192.0.2.1 192.0.2.2
check "RDS tries again and again without a route" wait_for tries_again
ip -n $nsa route del unreachable 192.0.2.2

# RDS connects the other paths when it knows how many the peer has. If both sides
# connect at once, it may drop a path, which would be an outage of its own.
up=8
check "all paths are up" wait_for all CONNECTING UP
start $nsb 192.0.2.2 192.0.2.1

ip -n $nsb link set veth0 down
# A socket that the recorder is to leave alone
ip netns exec $nsa bash -c ': >/dev/tcp/127.0.0.1/9' 2>/dev/null
check "TCP gives up" wait_for all UP ERROR
check "recording pauses after many attempts to connect" wait_for paused
check "nothing is offered before the end" grep -qx '# paths lost: 0' $text
ip -n $nsb link set veth0 up
check "RDS is back, and the record is offered" wait_for offered
# Its first line is the header, so nothing is looked for there.
check "TCP retransmits, the loss, a new socket, and the connection, in this order" \
	in_order \
	' tcp_retransmit_skb: .*state=TCP_ESTABLISHED ' \
	' rds_conn_state: .*oldstate=UP newstate=ERROR ' \
	' rds_conn_reconnect: ' \
	' inet_sock_set_state: .*newstate=TCP_SYN_SENT' \
	' rds_conn_connect: .* ret=0' \
	' inet_sock_set_state: .*oldstate=TCP_SYN_SENT newstate=TCP_ESTABLISHED' \
	' rds_conn_state: .*oldstate=CONNECTING newstate=UP '
check "the header is true" header_is_true
check "the header counts the attempts" attempts_are_counted
check "no other socket is recorded" not others
grep -v '^#' "$work/text" >"$work/records"
grep -v '^#' $instance/snapshot >"$work/snapshot"
check "the snapshot has the same records" cmp "$work/records" "$work/snapshot"
exec 9<&-
check "messages arrive again in $nsa" arrive_again $nsa
check "messages arrive again in $nsb" arrive_again $nsb

echo "1..$tests"
[ $failures -eq 0 ]
