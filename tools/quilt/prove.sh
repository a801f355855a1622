#!/bin/bash
# Shows that the tests of the fixes find the bugs: each has to fail on the base
# with nothing but tests added, and to pass on the base with the topics of fixes
# and nothing else. Builds both, which is slow the first time.
#
# usage: prove.sh [-l | -w] [FIX...]
#
#   -l      list the proofs and run none
#   -w      run the tests of each fix with all fixes but this one, where that can
#           be reverted. The results are in tools/quilt/results/prove-without.md.
#   FIX     part of a fix's subject; all fixes unless told
#   LIMIT=SECONDS in the environment: how long a boot may take (120; in the
#           guest 300). One that takes longer hangs.
#
# tools/quilt/data/proofs/TOPIC has for each fix of the topic one proof or more:
#
#   fix SUBJECT
#           kunit SUITE.CASE [RUN]      RUN is uml-debug unless told, uml, x86_64,
#                                       i386
#           selftest DIR/FILE.tc [uml-debug] [-A KERNEL PARAMETER...]
#           scenario NAME [ARGUMENT]... [-A KERNEL PARAMETER...]
#           reading REASON              there is no test: why
#   with SUBJECT        a patch that the tests need on the base, too, though it
#                       changes code
#
# A test that did not run, was skipped or is not supported proves nothing, and is a
# failure on either side. The run goes on after a failure. The results are in
# tools/quilt/results/prove.md; a run of some fixes changes their rows only.

# shellcheck source=tools/quilt/lib/tree-lib.sh
. "$(dirname "$0")/lib/tree-lib.sh"
# shellcheck source=tools/quilt/lib/topics-lib.sh
. "$QUILT_TOOLS/lib/topics-lib.sh"
# shellcheck source=tools/quilt/lib/prove-lib.sh
. "$QUILT_TOOLS/lib/prove-lib.sh"
# shellcheck source=tools/quilt/lib/kunit-lib.sh
. "$QUILT_TOOLS/lib/kunit-lib.sh"
# shellcheck source=tools/quilt/lib/guest-lib.sh
. "$QUILT_TOOLS/lib/guest-lib.sh"
# shellcheck source=tools/quilt/lib/prove-run-lib.sh
. "$QUILT_TOOLS/lib/prove-run-lib.sh"

list='' without=''
while [ $# -gt 0 ]; do
	case $1 in
	-l) list=y without='' ;;
	-w) without=y list='' ;;
	-h | --help) usage; exit 0 ;;
	-*) usage >&2; exit 2 ;;
	*) break ;;
	esac
	shift
done

# Sets proofs, a line each, and existing, the topics of fixes that there are.
read_proofs() {
	local topic found
	proofs=() existing=()
	for topic in $FIXES_TOPICS; do
		topics | grep -xF "$topic" >/dev/null || continue
		existing+=("$topic")
		found=$(parse_proofs "$QUILT_TOOLS/data/proofs/$topic") ||
			die "the proofs of $topic can't be read, see above" "correct tools/quilt/data/proofs/$topic, see prove.sh --help"
		[ -z "$found" ] || mapfile -t -O ${#proofs[@]} proofs <<<"$found"
	done
	[ ${#existing[@]} -gt 0 ] || die "series has no topic of fixes" "it has: $(topics | xargs)"
}

# prove_side SIDE KIND WHAT: sets on_base or on_fixes
prove_side() {
	local side=$1 log file words
	read -ra words <<<"$3"
	file=${words[0]//\//-}
	log=$LOGS/prove-$side-$2-$file.log
	"run_$2" "${words[@]}" >"$LOGS/prove-verdict" || echo "did not run: the kernel does not build, see $LOGS" >"$LOGS/prove-verdict"
	declare -g "on_$side=$(tail -n 1 "$LOGS/prove-verdict")"
}

prove() { # KIND WHAT
	prove_side base "$@"
	prove_side fixes "$@"
}

row() { # CELL...
	local cell
	for cell; do
		printf '| %s ' "${cell//|/\\|}"
	done
	echo "|"
}

write_results() {
	local table=$QUILT_TOOLS/results/prove.md proof kind subject what key tested
	tested=$(printf '%s\n' "${proofs[@]}" | grep -vE '^(with|reading)'$'\t' || true)
	make_dir "$QUILT_TOOLS/results"
	{
		echo "# The fixes and what proves them"
		echo
		echo "Each test was run on the base with nothing but the tests, and on the base with the topics of"
		echo "fixes and nothing else (\`make prove\`): $(grep -c . <<<"$tested") tests of $(cut -sf 2 <<<"$tested" | sort -u | wc -l) fixes. $(printf '%s\n' "${proofs[@]}" | grep -c '^reading'$'\t') fixes have none. Where fixes share a"
		echo "test, it does not show that each is needed; \`prove-without.md\` does where a fix can be reverted."
		echo
		row subject proof "on the base" "on the fixes"
		echo "|---|---|---|---|"
		for proof in "${proofs[@]}"; do
			IFS=$'\t' read -r kind subject what <<<"$proof"
			case $kind in
			with) ;;
			reading) row "$subject" "by reading: $what" - - ;;
			*)
				key=$(row "$subject" "$kind $what")
				if [ -n "${results[$key]:-}" ]; then
					echo "${results[$key]}"
				else
					grep -sF -e "${key%|}| " "$table" || row "$subject" "$kind $what" "not run" "not run"
				fi
				;;
			esac
		done
	} >"$LOGS/prove.md"
	mv "$LOGS/prove.md" "$table"
}

# Fixes that share a test: is each of them needed for it to pass? The rows of the
# results are those of the run and, for other fixes, of earlier runs.
prove_without() {
	local table=$QUILT_TOOLS/results/prove-without.md proof kind subject what verdict failed=0 passed=0 skipped=0
	local -A rows=()
	make_dir "$LOGS"
	make_fixes
	for proof in "${proofs[@]}"; do
		IFS=$'\t' read -r kind subject what <<<"$proof"
		if ! chosen "$subject" "$@" || [[ $kind = with ]] || [ -n "$(commit_with "$subject" "$all_fixes")" ]; then
			continue
		fi
		die "the tree has no commit '$subject'" "make tree"
	done
	for proof in "${proofs[@]}"; do
		IFS=$'\t' read -r kind subject what <<<"$proof"
		if [[ $kind = with || $kind = reading ]] || ! chosen "$subject" "$@"; then
			continue
		fi
		if ! leave_fix_out "$subject"; then
			verdict='can not be reverted alone'
			skipped=$((skipped + 1))
		else
			prove_side fixes "$kind" "$what"
			verdict=$on_fixes
			case $verdict in
			fails*) passed=$((passed + 1)) ;;
			*'does not build'*)
				failed=$((failed + 1))
				! compiler_complains "$kind" "$what" || {
					verdict='the others do not compile without it'
					failed=$((failed - 1)) skipped=$((skipped + 1))
				}
				;;
			*) failed=$((failed + 1)) ;;
			esac
		fi
		say "$subject: $kind $what: $verdict"
		rows[$(row "$subject" "$kind $what")]=$verdict
	done
	put_fix_back
	[ ${#rows[@]} -gt 0 ] || die "no fix with a test has this in its subject: $*" "see: tools/quilt/prove.sh -l"
	{
		echo "# The tests of fixes with all fixes but one"
		echo
		echo "Each test was run with all fixes but the one in its row (\`tools/quilt/prove.sh -w\`). A fix that others"
		echo "build on can't be reverted alone."
		echo
		row fix test "without it"
		echo "|---|---|---|"
		for proof in "${proofs[@]}"; do
			IFS=$'\t' read -r kind subject what <<<"$proof"
			[[ $kind != with && $kind != reading ]] || continue
			proof=$(row "$subject" "$kind $what")
			if [ -n "${rows[$proof]:-}" ]; then
				row "$subject" "$kind $what" "${rows[$proof]}"
			else
				grep -sF -e "${proof%|}| " "$table" || true
			fi
		done
	} >"$LOGS/prove-without.md"
	make_dir "$QUILT_TOOLS/results"
	mv "$LOGS/prove-without.md" "$table"
	say "$passed fail without their fix, $failed do not, $skipped can't be run"
	[ $failed -eq 0 ]
}

require_patches
read_proofs
if [ -n "$without" ]; then
	require_tree
	prove_without "$@"
	exit
fi
if [ -z "$list" ]; then
	require_tree
	make_dir "$LOGS"
	make_sides
fi

passed=0 failed=0 on_base='' on_fixes='' any=''
declare -A results=()
for proof in "${proofs[@]}"; do
	IFS=$'\t' read -r kind subject what <<<"$proof"
	if [ "$kind" = with ] || ! chosen "$subject" "$@"; then
		continue
	fi
	any=y
	if [ -n "$list" ]; then
		say "$subject: $kind $what"
		continue
	elif [ "$kind" = reading ]; then
		say "-- $subject: by reading: $what"
		continue
	fi
	prove "$kind" "$what"
	results[$(row "$subject" "$kind $what")]=$(row "$subject" "$kind $what" "$on_base" "$on_fixes")
	if [[ $on_base == fails* ]] && [ "$on_fixes" = passes ]; then
		passed=$((passed + 1))
		word=ok
	else
		failed=$((failed + 1))
		word="not ok"
	fi
	say "$word - $subject: $kind $what"
	say "    on the base:  $on_base"
	say "    on the fixes: $on_fixes"
done
[ -n "$any" ] || die "no fix has this in its subject: $*" "see: tools/quilt/prove.sh -l"
[ -z "$list" ] || exit 0
write_results
say "$passed passed, $failed failed"
[ $failed -eq 0 ]
