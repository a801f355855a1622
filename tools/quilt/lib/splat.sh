#!/bin/bash
# Looks for complaints of a kernel: warnings, oopses, reports of the sanitizers and
# of lockdep, stalls, leaks.
#
# usage: splat.sh [-k KIND] LOG...
#
#   LOG      console logs; one that is missing or empty is a failure, too
#   -k KIND  allow the splats that tools/quilt/data/splats lists for this kind of run
#
# Prints each splat with the place in its log and returns 1 when there is any.
# A splat is a header line and the lines up to the end of its stack trace. A known
# one is allowed once a boot, some more often. Its header has to match, and lines
# of its trace. The next header begins another splat.

# shellcheck source=tools/quilt/lib/lib.sh
. "$(dirname "$0")/lib.sh"

kind=none
while [ $# -gt 0 ]; do
	case $1 in
	-k) kind=${2:?}; shift ;;
	-h | --help) usage; exit 0 ;;
	-*) usage >&2; exit 2 ;;
	*) break ;;
	esac
	shift
done
[ $# -gt 0 ] || { usage >&2; exit 2; }

rc=0
for log in "$@"; do
	if [ ! -f "$log" ]; then
		printf '%s: no such log: did the kernel run at all?\n' "$log"
		rc=1
		continue
	elif ! grep -aq '[^[:space:]]' "$log"; then
		printf '%s: the log is empty: did the kernel run at all?\n' "$log"
		rc=1
		continue
	fi
	# If the kernel's lines have time stamps (PRINTK_TIME), the others are of user
	# space and do not count.
	stamped=0
	! grep -aqE '\[ *[0-9]+\.[0-9]+\](\[ *[CT][0-9]+\])? Linux version' "$log" || stamped=1
	awk -v kind="$kind" -v stamped=$stamped -v log_name="$log" \
		-f "$QUILT_TOOLS/lib/splat.awk" "$QUILT_TOOLS/data/splats" "$log" || rc=1
done
exit $rc
