#!/bin/bash
# Shows that exports and instances of kernel code are refused when the kernel is
# locked down: builds a kernel for it, and runs the scenario "lockdown" there.
#
# usage: lockdown.sh
#
# It takes 10 to 20 minutes, nearly all of them for the kernel. The last line counts.

# shellcheck source=tools/quilt/lib.sh
. "$(dirname "$0")/lib.sh"

usage() { sed -n '2,/^$/s/^# \{0,1\}//p' "$0"; }
case ${1:-} in
'') ;;
-h | --help) usage; exit 0 ;;
*) usage >&2; exit 2 ;;
esac

make_dir "$LOGS"
"$QUILT_TOOLS/kernel.sh" guest-lockdown
guest_module guest-lockdown instance_lockdown
exec "$QUILT_TOOLS/guest.sh" run -q -k "$OUT/guest-lockdown" \
	-a "$module:/modules/instance_lockdown.ko" lockdown
