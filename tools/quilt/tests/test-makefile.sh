#!/bin/bash
# Tests of the Makefile: it knows the targets that its help names, and no others,
# whether a file has that name or not.
#
# usage: test-makefile.sh
#
# One "ok" or "not ok" line a test; the last line is a summary.

# shellcheck source=tools/quilt/tests/lib.sh
. "$(dirname "$0")/lib.sh"

need make:make
cd "$TOP"

# The commands of the target are not run.
run() { rc=0; make -n "$@" >"$work/out" 2>&1 || rc=$?; }

for target in $(make -s help | sed -n "s/^make \([a-z0-9-]*\) .*/\1/p"); do
	run "$target"
	if [ $rc -eq 0 ] && grep -q tools/ "$work/out" || [ "$target" = clean ]; then
		ok "make $target"
	else
		not_ok "make $target"
	fi
done
for name in * tools/quilt no-such-target; do
	case $name in
	Makefile | bench | *.o) continue ;;
	esac
	rc=0
	make "$name" >"$work/out" 2>&1 || rc=$?
	if [ $rc -ne 0 ] && grep -qxF "error: no target '$name'" "$work/out"; then
		ok "make $name is refused"
	else
		not_ok "make $name is refused"
	fi
done
run
if [ $rc -eq 0 ] && grep -q "all targets\|make demo" "$work/out"; then
	ok "make alone shows the help"
else
	not_ok "make alone shows the help"
fi

verdict
