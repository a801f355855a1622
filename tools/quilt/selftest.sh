#!/bin/bash
# Runs ftracetest cases in the guest: the quilt's own, or all of upstream's.
#
# usage: selftest.sh [-k KERNEL] [--all | TEST...]
#
#   -k KERNEL  see guest.sh
#   (none)  the tests below test.d that the quilt adds
#   --all   the whole suite, beside the verdicts of the base (12 to 30 minutes)
#   TEST    directories or files below test.d; verification/FILE for those of
#           runtime verification
#
# The last line counts.

# shellcheck source=tools/quilt/lib.sh
. "$(dirname "$0")/lib.sh"

usage() { sed -n '2,/^$/s/^# \{0,1\}//p' "$0"; }

tests=() limit=1200 kernel=()
if [ "${1:-}" = -k ]; then
	kernel=(-k "${2:?}")
	shift 2
fi
case ${1:-} in
-h | --help) usage; exit 0 ;;
--all) limit=5400 ;;
'')
	# What the quilt adds, as the project shows it.
	mapfile -t tests < <(cd "$TOP/tools/testing/selftests/ftrace/test.d" 2>/dev/null &&
		find . -name '*.tc' -printf '%P\n' | sort
		cd "$TOP/tools/testing/selftests/verification/test.d" 2>/dev/null &&
			printf 'verification/%s\n' *.tc)
	if [ ${#tests[@]} -eq 0 ]; then
		say "0 passed, 0 failed"
		exit 0
	fi
	;;
*) tests=("$@") ;;
esac

exec "$QUILT_TOOLS/guest.sh" run -q ${kernel[0]:+"${kernel[@]}"} -t $limit selftest "${tests[@]}"
