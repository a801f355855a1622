#!/bin/bash
# Runs the matrix: tests that take too long for make test, or need other
# architectures, compilers and configurations.
#
# usage: proof.sh [-l] [-a] [-n N [-s SEED]] [CELL...]
#
#   CELL     names or patterns of cells; all of them unless told
#   -l       list the cells and their last results, and run none
#   -a       run cells again that have passed with this very tree
#   -n N     N cells of those that CI may sample, chosen by SEED (the date unless
#            told); their results are not kept
#
# tools/quilt/data/proof-cells has the cells. tools/quilt/results/proof.md has a line for
# each: date, tree, command, verdict, duration. The line is written when the cell
# ends, so an interrupted run goes on where it was. The tree is the id of the
# kernel's tree; git log -S ID of that file finds the project's commit.

# shellcheck source=tools/quilt/lib/tree-lib.sh
. "$(dirname "$0")/lib/tree-lib.sh"

CELLS=${PROOF_CELLS:-$QUILT_TOOLS/data/proof-cells}
RESULTS=${PROOF_RESULTS:-$QUILT_TOOLS/results/proof.md}

list='' again='' sample=0 seed=$(date +%F)
while [ $# -gt 0 ]; do
	case $1 in
	-l) list=y ;;
	-a) again=y ;;
	-n) sample=${2:?N}; shift ;;
	-s) seed=${2:?SEED}; shift ;;
	-h | --help) usage; exit 0 ;;
	-*) usage >&2; exit 2 ;;
	*) break ;;
	esac
	shift
done

cells() { sed 's/^#.*//; /^ *$/d' "$CELLS"; }

chosen() { # NAME PATTERN...
	local name=$1 pattern
	shift
	[ $# -gt 0 ] || return 0
	for pattern; do
		# shellcheck disable=SC2053
		[[ $name != $pattern ]] || return 0
	done
	return 1
}

# The order that SEED gives the cells is that of their checksums.
sampled() {
	cells | awk '$3 == "sample" { print $1 }' | while read -r name; do
		printf '%s %s\n' "$(sha256sum <<<"$seed $name" | cut -c 1-16)" "$name"
	done | sort | head -n "$sample" | cut -d ' ' -f 2
}

result_of() { sed -n "s/^| $1 |/&/p" "$RESULTS" 2>/dev/null | head -n 1 || true; }
passed_here() { [[ $(result_of "$1") == *"| $tree |"*"| ok |"* ]]; }

# keep NAME COMMAND VERDICT SECONDS: others may write rows, too.
keep() {
	make_dir "$(dirname "$RESULTS")"
	(
		flock 9
		keep_row "$@"
	) 9>"$LOGS/proof.lock" || die "the row of $1 can't be written to $RESULTS" "is the disk full?"
}

keep_row() {
	local row
	row="| $1 | $(date -u '+%F %H:%M') | $tree | \`$2\` | $3 | $(($4 / 60)) min $(($4 % 60)) s |"
	{
		echo '| cell | date (UTC) | tree | command | verdict | duration |'
		echo '|---|---|---|---|---|---|'
		{ sed -n '3,$p' "$RESULTS" 2>/dev/null | grep -v "^| $1 |" || true; echo "$row"; } | sort
	} >"$RESULTS.new" && mv "$RESULTS.new" "$RESULTS"
}

tree_id() { git -C "$TREE" rev-parse --short=12 'HEAD^{tree}'; }

# A command can go on after an error, such as a build that it tries again.
reason() { # LOG
	grep -am 1 '^not ok' "$1" || grep -am 1 '^error:' "$1" || true
}

run_cell() { # NAME MINUTES FLAG COMMAND
	local log=$LOGS/proof-$1.log rc=0 start verdict=ok
	tree=$(tree_id)
	make_dir "$LOGS"
	# With a kernel of before the verdict would be one of another tree.
	[ "$3" != guest ] || "$QUILT_TOOLS/kernel.sh" guest </dev/null || rc=kernel
	step "$1: $4"
	start=$SECONDS
	# shellcheck disable=SC2086
	[ "$rc" = kernel ] || (cd "$TOP" && timeout -k 30 "$2m" $4) >"$log" 2>&1 </dev/null || rc=$?
	case $rc in
	0) ;;
	kernel) verdict="not ok: the guest's kernel does not build" ;;
	124 | 137) verdict="not ok: more than $2 minutes" ;;
	*) verdict="not ok: $(reason "$log" | sed "s|$TOP/||g" | cut -c 1-80 | tr '|' '/')" ;;
	esac
	[ "$tree" = "$(tree_id)" ] || verdict='not ok: the tree has changed meanwhile'
	say "$verdict $1 ($((SECONDS - start)) s, log: ${log#"$PWD/"})"
	[ "$sample" -gt 0 ] || keep "$1" "$4" "$verdict" $((SECONDS - start))
	[ "$verdict" = ok ]
}

require_tree
tree=$(tree_id)
patterns=("$@")
[ "$sample" -eq 0 ] || mapfile -t patterns < <(sampled)

passed=0 failed=0 skipped=0 here=0 older=0 never=0
while read -r name minutes flag command; do
	chosen "$name" "${patterns[@]}" || continue
	if [ -n "$list" ]; then
		row=$(result_of "$name")
		case $row in
		'') never=$((never + 1)) ;;
		*'| ok |'*) if passed_here "$name"; then here=$((here + 1)); else older=$((older + 1)); fi ;;
		*) failed=$((failed + 1)) ;;
		esac
		say "${row:-"| $name | never | | \`$command\` | | |"}"
	elif [ -z "$again" ] && [ "$sample" -eq 0 ] && passed_here "$name"; then
		say "ok $name has passed with this tree"
		skipped=$((skipped + 1))
	elif run_cell "$name" "$minutes" "$flag" "$command"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
	fi
done < <(cells)
if [ -n "$list" ]; then
	say "this tree is $tree: $here passed with it, $older with an older one, $failed failed, $never never run"
	exit 0
fi
say "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
