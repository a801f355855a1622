#!/bin/bash
# Runs ftracetest cases in the guest: the quilt's own, or all of upstream's.
#
# usage: selftest.sh [-k KERNEL] [--all | TEST...]
#
#   -k KERNEL  see guest.sh
#   (none)  the tests below test.d that the quilt adds; one that is not supported
#           is a failure if tools/quilt/data/baseline/unsupported.txt does not list it
#   --all   the whole suite, compared with the verdicts of the unpatched base in
#           tools/quilt/data/baseline (12 to 30 minutes): a worse or missing verdict
#           is a failure, and so is a new test that does not pass
#   TEST    directories or files below test.d; verification/FILE for those of
#           runtime verification
#
# In the environment:
#   SELFTESTS_TREE=TREE  the tests of another tree than the kernel's, see image.sh
#   SHARE=PERCENT        how many of the quilt's own, others each day; all unless told
#
# The last line is a summary.

# shellcheck source=tools/quilt/lib/lib.sh
. "$(dirname "$0")/lib/lib.sh"

# Runs the whole suite, and prints the differences from the base behind its
# output. A guest that did not end well is one more failure.
compare_all() {
	local log=$LOGS/selftest-all.log differs=$LOGS/selftest-all-differs.log
	local version base rc=0 passed failed skipped
	version=$(sed -n 's/^version //p' "$TOP/base")
	base=$QUILT_TOOLS/data/baseline/ftracetest-$version.txt
	[ -f "$base" ] || die "there are no verdicts of the base $version" \
		"run the suite on the unpatched base, and put the verdicts it prints into $base"
	make_dir "$LOGS"
	"$QUILT_TOOLS/guest.sh" run -q ${kernel[0]:+"${kernel[@]}"} -t 5400 selftest --any |
		tee "$log" || rc=$?
	"$QUILT_TOOLS/lib/compare-ftracetest.sh" -u "$QUILT_TOOLS/data/baseline/unsupported.txt" \
		"$base" "$log" >"$differs" || true
	read -r passed _ failed _ skipped _ < <(tail -n 1 "$differs") || true
	say
	if [ "${passed:-0}" -eq 0 ]; then
		say "not ok the suite gave no verdicts (log: $log)"
		passed=0 failed=1 skipped=0
	else
		say "beside the base, $(basename "$base"):"
		sed '$d' "$differs"
	fi
	if [ $rc -ne 0 ]; then
		say "not ok the guest ended with $rc"
		failed=$((failed + 1))
	fi
	say "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" -eq 0 ]
}

# A test that begins to be unsupported proves nothing any more. The names are too
# many for the kernel command line.
run_added() {
	local log=$LOGS/selftest-added.log list=$LOGS/selftest-added.list rc=0 new passed failed skipped file
	make_dir "$LOGS"
	printf '%s\n' "${tests[@]}" >"$list"
	"$QUILT_TOOLS/guest.sh" run -q ${kernel[0]:+"${kernel[@]}"} -t 3600 -a "$list:/selftests/list" \
		selftest --list /selftests/list | tee "$log" || rc=$?
	mapfile -t new < <(awk '$1 ~ /^(UNSUPPORTED|UNTESTED)$/ && $2 ~ /^[0-9]+$/ { print $3 }' "$log" |
		sort | grep -vxF -f <(grep '\.tc$' "$QUILT_TOOLS/data/baseline/unsupported.txt"))
	[ ${#new[@]} -gt 0 ] || return $rc
	read -r passed _ failed _ skipped _ < <(grep -aE '^[0-9]+ passed, [0-9]+ failed' "$log" | tail -n 1) || true
	for file in "${new[@]}"; do
		say "not ok $file is not supported, and tools/quilt/data/baseline/unsupported.txt does not list it"
	done
	say "${passed:-0} passed, $((${failed:-0} + ${#new[@]})) failed, $((${skipped:-0} - ${#new[@]})) skipped"
	return 1
}

tests=() kernel=()
if [ "${1:-}" = -k ]; then
	kernel=(-k "${2:?}")
	shift 2
fi
case ${1:-} in
-h | --help) usage; exit 0 ;;
--all)
	[ $# -eq 1 ] || { usage >&2; exit 2; }
	compare_all
	exit
	;;
'')
	# The tests that the quilt adds are among the shown files.
	mapfile -t tests < <(cd "$TOP/tools/testing/selftests/ftrace/test.d" 2>/dev/null &&
		find . -name '*.tc' -printf '%P\n' | sort
		cd "$TOP/tools/testing/selftests/verification/test.d" 2>/dev/null &&
			printf 'verification/%s\n' *.tc)
	if [ ${#tests[@]} -eq 0 ]; then
		say "0 passed, 0 failed"
		exit 0
	fi
	mapfile -t tests < <(share_of_today "${tests[@]}" | sort)
	run_added
	exit
	;;
*) tests=("$@") ;;
esac

exec "$QUILT_TOOLS/guest.sh" run -q ${kernel[0]:+"${kernel[@]}"} -t 1200 selftest "${tests[@]}"
