#!/bin/bash
# Checks the patches without booting anything, two checks at a time, and prints a
# line for each.
#
# usage: check.sh [-r | NAME...]
#
#   series       series and the files in patches/ agree
#   shown        patches, series, base and shown files are what the tree holds
#   apply        git am and quilt (no fuzz) end in the tree's very files
#   b4           b4 am takes each topic's mails, and they apply
#   topics       each topic applies on the base with those it depends on, alone
#   standalone   each fix applies on the base alone, or says which it needs, says
#                what it fixes and whether it is for stable, and touches no test
#   size         no patch changes more than 700 lines, but for size-exceptions
#   proofs       each fix has a proof in tools/quilt/data/proofs, of things that exist
#   checkpatch   scripts/checkpatch.pl --strict is silent
#   kernel-doc   comments of all added and changed files
#   warnings     gcc W=1 and sparse say no more than for the base
#   topics-build each topic compiles there, with W=1: for x86_64 all files that
#                the quilt touches, for UML those that the topic touches
#   fastpath     a feature that is off adds a NOP to the fast paths, and two to four
#                instructions to those that check_fastpath() names; what each record
#                runs is no larger than on the base
#   scripts      shellcheck of the project's own
#   maintainers  MAINTAINERS-snippet is valid and covers what is added
#   architecture ARCHITECTURE.md names files and functions that exist
#   covers       each cover letter has an order of posting and what is not done
#   numbers      the numbers in cover letters and documents are those of the benchmark
#   files        Documentation/trace/ftrace.rst has the files that the patches create
#   sentences    few sentences of comments, documents and changelogs open
#                without a subject
#   words        no file names a package registry or a path of one machine
#
# Without names it runs all of them, with -r those that compile nothing. LINUX_SRC,
# a git tree with the kernel's history, lets checkpatch look the commits up that
# Fixes: lines name. With TOPICS=N, topics-build takes N topics, others each day.

# shellcheck source=tools/quilt/lib/tree-lib.sh
. "$(dirname "$0")/lib/tree-lib.sh"
# shellcheck source=tools/quilt/lib/check-patches.sh
. "$QUILT_TOOLS/lib/check-patches.sh"
# shellcheck source=tools/quilt/lib/check-topics.sh
. "$QUILT_TOOLS/lib/check-topics.sh"
# shellcheck source=tools/quilt/lib/check-fixes.sh
. "$QUILT_TOOLS/lib/check-fixes.sh"
# shellcheck source=tools/quilt/lib/check-proofs.sh
. "$QUILT_TOOLS/lib/check-proofs.sh"
# shellcheck source=tools/quilt/lib/check-code.sh
. "$QUILT_TOOLS/lib/check-code.sh"
# shellcheck source=tools/quilt/lib/check-prose.sh
. "$QUILT_TOOLS/lib/check-prose.sh"
# shellcheck source=tools/quilt/lib/check-project.sh
. "$QUILT_TOOLS/lib/check-project.sh"

names="series shown apply b4 topics standalone size proofs checkpatch kernel-doc warnings topics-build"
names+=" fastpath scripts maintainers architecture covers numbers files sentences words"
case ${1:-} in
-h | --help) usage; exit 0 ;;
-r)
	for name in warnings topics-build fastpath; do
		names=${names/ $name/}
	done
	shift
	;;
esac
for name in "$@"; do
	[[ " $names " == *" $name "* ]] || die "no such check: $name" "they are: $names"
done
[ $# -eq 0 ] || names=$*

WORK=$BUILD/check
tree_name=${TREE#"$PWD/"}

# A failing check says why, and what to do in its last line. Lines that start
# with "note: " are shown for a passing one, too.

require_tree
base=$(base_of "$TREE")
head=$(git -C "$TREE" rev-parse HEAD)
make_dir "$WORK"
make_dir "$LOGS"

lane() { # NAME...: one after the other
	local name log start rc report before cpu
	for name; do
		log=$LOGS/check-$name.log
		start=$SECONDS
		rc=0
		cpu_seconds
		before=$cpu
		# set -e works in the background, and not in a condition.
		"check_$name" >"$log" 2>&1 </dev/null &
		wait $! || rc=$?
		cpu_seconds
		if [ $rc -eq 0 ]; then
			report="ok $name ($((SECONDS - start)) s, $((cpu - before)) of CPU)
$(sed -n 's/^note: /    /p' "$log")"
		else
			report="not ok $name ($((SECONDS - start)) s, log: $log)
$(tail -n 15 "$log" | sed 's/^/    /')"
		fi
		say "${report%$'\n'}"
		echo "$rc" >>"$results"
	done
}

# The checks that compile share one tree and have a lane of their own.
compiling=() reading=()
for name in $names; do
	case $name in
	warnings | topics-build | fastpath) compiling+=("$name") ;;
	*) reading+=("$name") ;;
	esac
done
# Another check.sh may run at the same time.
results=$WORK/results.$$
: >"$results"
# A background job does not hear Ctrl-C; all of the group has it anyway.
trap 'kill -TERM 0' INT
lane "${compiling[@]}" &
lane "${reading[@]}" &
wait
passed=$(grep -cx 0 "$results" || true)
rm -f "$results"
failed=$(($(wc -w <<<"$names") - passed))
say "$passed passed, $failed failed"
[ $failed -eq 0 ]
