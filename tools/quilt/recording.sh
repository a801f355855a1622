#!/bin/bash
# Reads a recording that the scenario demo has left, with trace-cmd and with the
# library of KernelShark: both find the same records, and those of each topic.
#
# usage: recording.sh [-n] [-p SVG] FILE
#
#   -n      is it noticed that a topic's records are missing, and that a record is
#           another one?
#   -p SVG  draw the recording

# shellcheck source=tools/quilt/lib/lib.sh
. "$(dirname "$0")/lib/lib.sh"

noticed='' picture=''
while [ $# -gt 1 ]; do
	case $1 in
	-n) noticed=y ;;
	-p) picture=$2; shift ;;
	*) usage >&2; exit 2 ;;
	esac
	shift
done
case ${1:-} in
-h | --help) usage; exit 0 ;;
esac
[ $# -eq 1 ] || { usage >&2; exit 2; }
file=$1
[ -r "$file" ] || die "can't read $file" "make demo leaves a recording"

need trace-cmd:trace-cmd gcc:gcc /usr/include/kernelshark/libkshark.h:libkshark-dev \
	/usr/include/json-c/json.h:libjson-c-dev
make_dir "$BUILD/guest"
work=$(mktemp -d "$BUILD/guest/recording.XXXXXX")
trap 'rm -rf "$work"' EXIT
# -isystem: the header has warnings of its own.
gcc -Wall -Wextra -O2 -isystem /usr/include/kernelshark -o "$work/kshark-read" \
	"$QUILT_TOOLS/lib/kshark-read.c" -lkshark ||
	die "kshark-read does not build" "see above"

# Both print a record as "CPU EVENT TEXT" in the end.
by_trace_cmd() {
	trace-cmd report -i "$file" 2>"$work/log" |
		sed -nE 's/^ *.*-[0-9]+ +\[0*([0-9]+)\] +[0-9.]+: +([a-z_0-9]+): */\1 \2 /p'
}
by_kshark() {
	"$work/kshark-read" "$file" 2>"$work/log" |
		awk -F '\t' '{ sub(/.*\//, "", $5); print $2, $5, $6 }'
}
# same: the two readers agree
same() {
	cmp -s "$work/trace_cmd" "$work/kshark" && return
	diff "$work/trace_cmd" "$work/kshark" | head -n 6
	say "trace-cmd and KernelShark's library read other records"
	return 1
}

# topics: the records of each
topics() {
	local topic pattern count bad=0
	while read -r topic pattern; do
		count=$(grep -cE "^[0-9]+ $pattern" "$work/kshark" || true)
		say "    $topic: $count records"
		[ "$count" -gt 0 ] || bad=1
	done <<-'END'
	ktrace netdev_event dev=wan2 event=NETDEV_UP carrier=1
	dyndbg dyndbg_message .*wan2
	process process_fork fork child=
	process process_exec exec .*/ip
	process process_sys_enter openat\(
	process process_sys_exit openat\(\) = .*ENOENT
	process process_exit exit code=3
	snapshot print .*this snapshot ends here
	END
	if grep -m 1 'FAILED TO PARSE' "$work/kshark"; then
		say "an event has a format that libtraceevent does not understand"
		bad=1
	fi
	if grep -q 'this comes later' "$work/kshark"; then
		say "a record that is later than the snapshot is in the recording"
		bad=1
	fi
	return $bad
}

for reader in trace_cmd kshark; do
	"by_$reader" | sed -E 's/[[:space:]]+/ /g; s/ $//' | sort >"$work/$reader"
	[ -s "$work/$reader" ] || { cat "$work/log"; die "$reader finds no record in $file" "see above"; }
done
same
topics
if [ -n "$picture" ]; then
	need python3:python3
	"$work/kshark-read" "$file" 2>"$work/log" |
		"$QUILT_TOOLS/lib/timeline.py" "What a shell and its children did before a snapshot" >"$picture"
fi
say "$(wc -l <"$work/kshark") records, the same for trace-cmd and KernelShark's library"
[ -n "$noticed" ] || exit 0

mv "$work/kshark" "$work/good"
grep -v dyndbg_message "$work/good" >"$work/kshark"
! topics >/dev/null || die "did not notice that a topic has no records" "see recording.sh"
sed '5s/$/0/' "$work/good" >"$work/kshark"
! same >/dev/null || die "did not notice another record" "see recording.sh"
say "noticed: missing records, and another record"
