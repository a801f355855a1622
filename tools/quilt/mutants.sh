#!/bin/bash
# Mutation testing: changes one line of the kernel code that the quilt adds, and
# finds out whether a test notices. Each mutant takes a minute or two.
#
# usage: mutants.sh [-n N] [-s SEED] [-t TOPIC]... [-p PART/PARTS] [-k] [-g] [-a] [-l]
#
#   -n N      how many mutants (20), as many of each topic as there can be
#   -s SEED   other mutants (1), or with -k others of those that have no result
#   -t TOPIC  of these topics alone
#   -k        first those that have a result: after a change of the tree only as
#             many are run as it took away
#   -g        run KUnit and the selftests of the topic in the guest, too, for
#             mutants that survive KUnit on UML (some minutes more)
#   -a        run those again that are in the results as survived, for example
#             with more tests than before
#   -p I/N    the I-th of N parts; several may run beside each other
#   -l        list the mutants and run none
#   MUTANTS_RUN=uml in the environment: without the second run of KUnit, with KASAN
#             and lockdep, for mutants that survive the first
#   MUTANTS_RUN=guest: with -a, those that have survived run in the guest alone
#
# Each mutant is a line in tools/quilt/results/mutants.tsv:
#
#   ID TOPIC FILE LINE KIND OLD NEW VERDICT SECONDS
#
#   killed    KUnit or a selftest fails, or the kernel complains
#   hung      a time limit was reached, which counts as noticed
#   unbuilt   it does not compile, or brings an error of objtool or modpost
#   survived  no test noticed
#   excused   no test noticed, and tools/quilt/data/mutants-excused says why, with
#             ID FILE KIND OLD NEW REASON
#
# A mutant that is in the file already is not run again: a run that was ended
# goes on where it was. Results of lines that the tree does not have any more are
# dropped. The last line is a summary. It is a failure if less than 90 % are noticed.

# shellcheck source=tools/quilt/lib/tree-lib.sh
. "$(dirname "$0")/lib/tree-lib.sh"
# shellcheck source=tools/quilt/lib/topics-lib.sh
. "$QUILT_TOOLS/lib/topics-lib.sh"

[ "${1:-}" != --help ] || { usage; exit 0; }
number=20 seed=1 chosen=() part=1/1 known_first='' again='' guest='' list=''
while getopts n:s:t:p:kaglh opt; do
	case $opt in
	n) number=$OPTARG ;;
	s) seed=$OPTARG ;;
	t) chosen+=(-t "$OPTARG") ;;
	p) part=$OPTARG ;;
	k) known_first=y ;;
	a) again=y ;;
	g) guest=y ;;
	l) list=y ;;
	h) usage; exit 0 ;;
	*) usage >&2; exit 2 ;;
	esac
done

[[ $part =~ ^[1-9][0-9]*/[1-9][0-9]*$ ]] || die "-p $part is not of the form I/N" "for example: -p 1/2"

run=${MUTANTS_RUN:-uml-debug}
if [ "$run" = guest ]; then
	guest=y run=uml
fi
results=$QUILT_TOOLS/results/mutants.tsv
excuses=$QUILT_TOOLS/data/mutants-excused
place=$BUILD/mutants/${part%/*}

# mutate list|known [ARG]...: of TREE, which needs no change that is not committed
mutate() {
	local topic
	for topic in $(topics); do
		topic_subjects "$topic" | sed "s/^/$topic\t/"
	done | python3 "$QUILT_TOOLS/lib/mutate.py" "$1" "$TREE" "$(base_of "$TREE")" "${@:2}"
}

list_all() { mutate list -n "$number" -s "$seed" ${known_first:+-r "$results"} "${chosen[@]}"; }

# in_place CMD...: with the mutated tree, and builds of its own
in_place() { env BUILD="$place" TREE="$place/linux" LIMIT="$limit" "$@"; }

# judge_run LOG CMD...: prints a verdict, or nothing if all is well.
judge_run() {
	local log=$1
	shift
	! in_place "$@" >"$log" 2>&1 </dev/null || return 0
	if grep -q 'does not build' "$log"; then
		echo unbuilt
	elif grep -qE 'TIMEOUT|time limit|timed out' "$log"; then
		echo hung
	else
		echo killed
	fi
}

# on_uml LOG RUN: kunit.py builds more than the kernel, which takes as long as that.
on_uml() {
	if ! in_place make -s -C "$place/linux" "O=$place/out/$2" ARCH=um -j"$JOBS" linux >"$1" 2>&1 </dev/null; then
		echo unbuilt
	else
		judge_run "$1" "$QUILT_TOOLS/kunit.sh" -n "$2"
	fi
}

# selftests_of TOPIC: those that it adds
selftests_of() {
	local patch
	case $1 in
	# It adds none, and changes how all records are written.
	fastpath) echo 00basic event exports snapshot ;;
	fixes-stm) echo exports ;;
	*)
		for patch in $(topic_patches "$1"); do
			sed -n -e 's|^+++ b/tools/testing/selftests/ftrace/test.d/\(.*\.tc\)$|\1|p' \
				-e 's|^+++ b/tools/testing/selftests/\(verification/\)test.d/\(.*\.tc\)$|\1\2|p' "$patch"
		done | sort -u
		;;
	esac
}

# in_guest TOPIC LOG FILE: first the selftests, as KUnit has had its say on UML.
in_guest() {
	local verdict limit=1800
	# A guest that hangs would do so until the time limit, and so would one that
	# complains in a loop. A busy host can keep a CPU of it for long.
	local -x APPEND='hung_task_panic=1 sysctl.kernel.hung_task_timeout_secs=60'
	APPEND+=' panic_on_warn=1 oops=panic softlockup_panic=1 watchdog_thresh=60'
	if ! in_place "$QUILT_TOOLS/kernel.sh" guest >"$2" 2>&1 </dev/null; then
		echo unbuilt
		return
	fi
	if [[ $3 =~ ^net/rds/|/rds\.h$ ]]; then
		judge_run "$2" env ONLY=rds "$QUILT_TOOLS/scenarios.sh"
		return
	fi
	# shellcheck disable=SC2046 # a list
	verdict=$(judge_run "$2" "$QUILT_TOOLS/selftest.sh" -k "$place/out/guest" $(selftests_of "$1"))
	[ -n "$verdict" ] || verdict=$(judge_run "$2" "$QUILT_TOOLS/kunit.sh" -n x86_64)
	echo "$verdict"
}

# verdict_of TOPIC LOG FILE [VERDICT-BEFORE]
verdict_of() {
	local verdict=''
	# First without sanitizers, which is faster. UML has no STM and no RDS.
	if [ "${MUTANTS_RUN:-}/${4:-}" != guest/survived ] &&
	   [[ $3 == *.h || -f "$place/out/uml/${3%.c}.o" ]]; then
		verdict=$(on_uml "$2" uml)
		[ -n "$verdict" ] || [ "$run" = uml ] || verdict=$(on_uml "$2" "$run")
	fi
	if [ -z "$verdict" ] && [ -n "$guest" ]; then
		verdict=$(in_guest "$1" "$2" "$3")
	fi
	echo "${verdict:-survived}"
}

# keep MUTANT VERDICT SECONDS: other parts write to the file, too.
keep() {
	(
		flock 9
		[ ! -f "$results" ] || sed -i "/^${1%%$'\t'*}\t/d" "$results"
		printf '%s\t%s\t%s\n' "$@" >>"$results"
	) 9>"$BUILD/mutants/lock"
}

# is_excused ID
is_excused() { [ -f "$excuses" ] && grep -q "^$1"$'\t' "$excuses"; }

require_tree
require_patches
[ -f "$results" ] || known_first=''
if [ -n "$list" ]; then
	list_all
	exit 0
fi

make_dir "$(dirname "$results")"
make_dir "$BUILD/mutants"
(
	flock 9
	[ -f "$results" ] || : >"$results"
	mutate known "$results" | sort >"$results.new"
	mv "$results.new" "$results"
	[ ! -f "$excuses" ] || cut -f 1 "$excuses" | sort | comm -23 - <(mutate list -n 1000000 | cut -f 1 | sort) |
		while read -r id; do warn "mutants-excused has $id, which the tree does not have"; done
) 9>"$BUILD/mutants/lock"
# What is there stays, as its objects belong to the files of before.
if [ -e "$place/linux/.git" ]; then
	git -C "$place/linux" fetch -q "$TREE" HEAD
	git -C "$place/linux" checkout -q -f --detach FETCH_HEAD
else
	rm -rf "$place"
	make_dir "$place"
	git clone -q -s "$TREE" "$place/linux"
fi
make_dir "$place/logs"
# Mutants of a header are next to each other, as each builds many files. The order
# depends on no results, which other parts may write meanwhile.
list_all | sort -t $'\t' -k 3,3 -k 1,1 | awk -v part="${part%/*}" -v parts="${part#*/}" 'NR % parts == part % parts' >"$place/list"
total=$(wc -l <"$place/list")
mapfile -t runs < <(printf '%s\n' uml "$run" | uniq)
# One part builds the kernels, and the others copy them.
kernels=("${runs[@]}" ${guest:+guest})
(
	flock 8
	LIMIT=1800 "$QUILT_TOOLS/kunit.sh" "${runs[@]}" ||
		die "KUnit fails without any mutant" "see above"
	[ -z "$guest" ] || "$QUILT_TOOLS/kernel.sh" guest
	for kernel in "${kernels[@]}"; do
		[ -e "$place/out/$kernel" ] || copy_build "$OUT/$kernel" "$place/out/$kernel" "$TREE" "$place/linux"
	done
) 8>"$BUILD/mutants/build-lock"
limit=1800
for _ in 1 2; do
	begin=$SECONDS
	step "without a mutant: ${runs[*]}"
	[ -z "$(judge_run "$place/logs/none.log" "$QUILT_TOOLS/kunit.sh" "${runs[@]}")" ] ||
		die "KUnit fails without any mutant" "see $place/logs/none.log"
done
# The second time nothing was built.
limit=$((240 + 3 * (SECONDS - begin)))

declare -A count=([killed]=0 [hung]=0 [unbuilt]=0 [survived]=0 [excused]=0)
nr=0
while IFS= read -r mutant; do
	nr=$((nr + 1))
	IFS=$'\t' read -r id topic file line kind old new <<<"$mutant"
	known=$(grep -P "^$id\t" "$results" 2>/dev/null | tail -n 1 | cut -f 8 || true)
	before=$known
	start=$SECONDS
	[ "$known" != survived ] || [ -z "$again" ] || known=''
	[ "$known" != excused ] || is_excused "$id" || known=''
	if [ -z "$known" ] || { [ "$known" = survived ] && is_excused "$id"; }; then
		git -C "$place/linux" checkout -q -f
		python3 "$QUILT_TOOLS/lib/mutate.py" apply "$place/linux" <<<"$mutant"
		verdict=$known
		[ -n "$verdict" ] || verdict=$(verdict_of "$topic" "$place/logs/$id.log" "$file" "$before")
		if [ "$verdict" = survived ] && is_excused "$id"; then
			verdict=excused
		fi
		keep "$mutant" "$verdict" $((SECONDS - start))
	else
		verdict=$known
	fi
	count[$verdict]=$((count[$verdict] + 1))
	say "$nr/$total $verdict $topic $file:$line $kind: $old -> $new"
done <"$place/list"
git -C "$place/linux" checkout -q -f

noticed=$((count[killed] + count[hung]))
judged=$((noticed + count[survived]))
share=$((judged ? 100 * noticed / judged : 100))
say "of $judged that build and are not excused, $share % were noticed"
say "${count[killed]} killed, ${count[hung]} hung, ${count[survived]} survived, ${count[excused]} excused, ${count[unbuilt]} unbuilt"
[ $share -ge 90 ]
