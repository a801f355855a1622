# shellcheck shell=bash
# Shared by the tests of guest.sh with a real kernel, and sourced with their arguments.
# One of these tests runs at a time, as guests share the CPUs, and limits on time are
# tested.

# shellcheck source=tools/quilt/tests/lib.sh
. "$(dirname "$0")/lib.sh"

kernel=${KERNEL:-$OUT/guest}
[ -f "$kernel/arch/x86/boot/bzImage" ] ||
	die "there is no kernel in $kernel" "run: make tree && tools/quilt/kernel.sh guest"

exec {lock}>"$BUILD/test-guest.lock"
flock "$lock"
guest=$QUILT_TOOLS/guest.sh

# expect CODE TEXT WHAT CMD...: returns CODE and prints a line with TEXT.
expect() {
	local want=$1 text=$2 what=$3 rc=0
	shift 3
	"$@" >"$work/out" 2>&1 </dev/null || rc=$?
	if [ $rc -ne "$want" ]; then
		not_ok "$what: returned $rc, not $want"
	elif ! grep -qF -e "$text" "$work/out"; then
		not_ok "$what: did not say '$text'"
	else
		ok "$what"
	fi
}

# scenario NAME: the script is standard input.
scenario() {
	{ echo '#!/bin/sh'; cat; } >"$work/$1"
	chmod +x "$work/$1"
}

# runs SCENARIO [OPTION]...: command line of a made-up scenario.
runs() {
	local name=$1
	shift
	command=("$guest" run -q -k "$kernel" -t 240 -L "$work/console"
		-a "$work/$name:/scenarios/$name" "$@" "$name")
}
