# shellcheck shell=bash
# Shared by the tests of scripts. Sourced with the arguments of the test, which has
# only -h. $work is removed in the end.

# shellcheck source=tools/quilt/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

case ${1:-} in
'') ;;
*) usage; exit 0 ;;
esac

export SMALL_TREE=yes
make_dir "$BUILD"
work=$(mktemp -d "$BUILD/test.XXXXXX")
trap 'rm -rf "$work"' EXIT
: >"$work/out"
passed=0 failed=0

ok()     { passed=$((passed + 1)); say "ok $((passed + failed)) $1"; }
not_ok() { failed=$((failed + 1)); say "not ok $((passed + failed)) $1"; tail -n 25 "$work/out" | sed 's/^/# /'; }

# out_is WANT WHAT, for what is in $work/out
out_is() {
	if [ "$(cat "$work/out")" = "$1" ]; then
		ok "$2"
	else
		not_ok "$2, want: $1"
	fi
}

# The last line of a test
verdict() {
	say "$passed passed, $failed failed"
	[ "$failed" -eq 0 ]
}
