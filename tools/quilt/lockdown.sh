#!/bin/bash
# Shows that exports and instances of kernel code, and the files of the topics, are
# refused when the kernel is locked down: builds a kernel for it, and runs the
# scenario "lockdown" there.
#
# usage: lockdown.sh
#
# It takes 10 to 20 minutes, nearly all of them for the kernel. The last line is a summary.

# shellcheck source=tools/quilt/lib/lib.sh
. "$(dirname "$0")/lib/lib.sh"
# shellcheck source=tools/quilt/lib/guest-lib.sh
. "$QUILT_TOOLS/lib/guest-lib.sh"

no_arguments "$@"

make_dir "$LOGS"
"$QUILT_TOOLS/kernel.sh" guest-lockdown
guest_module guest-lockdown instance_lockdown
exec "$QUILT_TOOLS/guest.sh" run -q -k "$OUT/guest-lockdown" \
	-a "$module:/modules/instance_lockdown.ko" lockdown
