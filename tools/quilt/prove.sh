#!/bin/bash
# Shows that the tests of the fixes find the bugs: each has to fail on the base
# with nothing but tests added, and to pass on the base with the topics of fixes
# and nothing else. Builds both, which is slow the first time.
#
# usage: prove.sh [-l] [FIX...]
#
#   -l      list the proofs and run none
#   FIX     part of a fix's subject; all fixes unless told
#   LIMIT=SECONDS in the environment: how long a boot may take (120; in the
#           guest 300). One that takes longer hangs.
#
# tools/quilt/proofs/TOPIC has for each fix of the topic one proof or more:
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

# shellcheck source=tools/quilt/tree-lib.sh
. "$(dirname "$0")/tree-lib.sh"
# shellcheck source=tools/quilt/topics-lib.sh
. "$QUILT_TOOLS/topics-lib.sh"
# shellcheck source=tools/quilt/prove-lib.sh
. "$QUILT_TOOLS/prove-lib.sh"

list=''
while [ $# -gt 0 ]; do
	case $1 in
	-l) list=y ;;
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
		found=$(parse_proofs "$QUILT_TOOLS/proofs/$topic") ||
			die "the proofs of $topic can't be read, see above" "correct tools/quilt/proofs/$topic, see prove.sh --help"
		[ -z "$found" ] || mapfile -t -O ${#proofs[@]} proofs <<<"$found"
	done
	[ ${#existing[@]} -gt 0 ] || die "series has no topic of fixes" "it has: $(topics | xargs)"
}

# chosen SUBJECT PART...
chosen() {
	local subject=$1 part
	shift
	[ $# -gt 0 ] || return 0
	for part; do
		[[ $subject != *"$part"* ]] || return 0
	done
	return 1
}

# checkout_side SIDE: checks the stack out in build/prove/SIDE
checkout_side() {
	local dir=$BUILD/prove/$1
	stack_whole "side-$1"
	if [ ! -e "$dir/.git" ]; then
		need_space "$BUILD" 8000 "two kernel trees and their builds"
		scratch_clone "$dir" "$(base_of "$TREE")"
	fi
	git -C "$dir" fetch -q --no-tags "$stack" "side-$1"
	git -C "$dir" checkout -q --detach --force FETCH_HEAD
}

make_sides() {
	local topic patch subject with
	with=$(printf '%s\n' "${proofs[@]}" | sed -n 's/^with\t\([^\t]*\).*/\1/p')
	make_dir "$BUILD/prove"
	open_stack "$BUILD/prove/stack"
	for topic in "${existing[@]}"; do
		for patch in $(topic_patches "$topic"); do
			subject=$(patch_subject "$patch")
			is_test_patch "$patch" || grep -xF -e "$subject" >/dev/null <<<"$with" || continue
			stack_am "$patch" ||
				die "on the base with tests alone $stack_error" \
				    "make it stand on tests only, or name what it needs with \"with\": prove.sh --help"
		done
	done
	checkout_side base
	stack_topics "${existing[@]}" || die "$stack_error" "see: make check, topics"
	checkout_side fixes
}

# build_uml SIDE RUN, as kunit.sh does it; i386, too
build_uml() {
	local opt args=() log=$LOGS/build-prove-$1-$2.log
	[ "$2" != i386 ] || args=(--arch i386)
	[ ! -f "$QUILT_TOOLS/configs/$2.config" ] || [ "$2" = uml ] || while read -r opt; do
		args+=(--kconfig_add "$opt")
	done < <(grep '^CONFIG' "$QUILT_TOOLS/configs/$2.config")
	need gcc:gcc make:make flex:flex bison:bison bc:bc python3:python3
	make_dir "$OUT/prove-$1-$2"
	step "building kernel prove-$1-$2 (log: $log)"
	cd "$BUILD/prove/$1" && logged "$log" python3 tools/testing/kunit/kunit.py build \
		--build_dir "$OUT/prove-$1-$2" --kunitconfig kernel/trace --jobs "$JOBS" "${args[@]}"
}

build_kernel() { # SIDE RUN
	case $2 in
	guest) TREE=$BUILD/prove/$1 "$QUILT_TOOLS/kernel.sh" -o "prove-$1-guest" guest ;;
	*) (build_uml "$1" "$2") ;;
	esac
}

# leave_out LOG: takes the tests at which a build has stopped out of the base, and
# fails if there are none. A fix may change a function that its test calls.
leave_out() {
	local name makefile=$BUILD/prove/base/kernel/trace/tests/Makefile found=1
	while read -r name; do
		grep -qw "$name\.o" "$makefile" || continue
		warn "$name.c does not compile on the base, its cases prove nothing"
		sed -i "s/\b$name\.o\b//" "$makefile"
		found=0
	done < <(sed -n 's|^make.*[ /]kernel/trace/tests/\([^]/]*\)\.o\] Error.*|\1|p' "$1")
	return $found
}

# kernel_of SIDE RUN: builds it once; fails when it does not build.
declare -A built=()
kernel_of() {
	if [ -z "${built[$1 $2]:-}" ]; then
		built[$1 $2]=yes
		until build_kernel "$1" "$2" >&2; do
			[ "$1" = base ] && leave_out "$LOGS/build-prove-$1-$2.log" && continue
			built[$1 $2]=no
			break
		done
	fi
	[ "${built[$1 $2]}" = yes ]
}

guest() { # ARGUMENT... of guest.sh run
	"$QUILT_TOOLS/guest.sh" run -q -t "${LIMIT:-300}" -k "$OUT/prove-$side-${kernel:-guest}" \
		-L "$log.console" "$@" >"$log" 2>&1 </dev/null
}

run_kunit() { # SUITE.CASE [RUN]
	local run=${2:-uml-debug} limit=${LIMIT:-120} rc=0 late='' args=()
	if [ "$run" = x86_64 ]; then
		kernel_of "$side" guest || return
		guest --no-splat -A "kunit.enable=1 kunit.autorun=1 kunit.filter_glob=$1" true || rc=$?
		[ $rc -ne 124 ] || late=${LIMIT:-300}
		kunit_verdict "$log.console" "${1%%.*}" "${1#*.}" x86_64 "$late"
		return
	fi
	kernel_of "$side" "$run" || return
	if [ "$run" = i386 ]; then
		limit=${LIMIT:-300}
		kunit_i386 "$OUT/prove-$side-i386" "$1" "$limit" >"$log" || rc=$?
		[ $rc -ne 124 ] || late=$limit
		kunit_verdict "$log" "${1%%.*}" "${1#*.}" i386 "$late"
		return
	fi
	[ "$run" = uml ] || args=(seccomp=on ncpus=2)
	timeout -s KILL "$limit" "$OUT/prove-$side-$run/linux" "${args[@]}" mem=1G console=tty \
		kunit_shutdown=halt "kunit.filter_glob=$1" >"$log" 2>&1 </dev/null || rc=$?
	[ $rc -ne 137 ] || late=$limit
	kunit_verdict "$log" "${1%%.*}" "${1#*.}" "$run" "$late"
}

run_selftest() { # FILE [uml-debug] [-A PARAMETER...]
	local rc=0 kernel=guest file=$1
	shift
	if [ "${1:-}" = uml-debug ]; then
		kernel=$1
		shift
	fi
	kernel_of "$side" "$kernel" || return
	SELFTESTS_TREE=$BUILD/prove/fixes guest ${1:+-A "${*:2}"} selftest "$file" || rc=$?
	selftest_verdict "$log" "$file" $rc "${kernel/#guest/x86_64}"
}

run_scenario() { # NAME [ARGUMENT]... [-A PARAMETER...]
	local rc=0 name=$1 args=() extra=() program
	while [ $# -gt 0 ] && [ "$1" != -A ]; do
		args+=("$1")
		shift
	done
	kernel_of "$side" guest || return
	if [ "$name" = rtla ]; then
		guest_rtla "$BUILD/prove/$side" >&2
		extra=(-a "$program:/usr/bin/rtla")
	elif [ -f "$QUILT_TOOLS/guest/$name.c" ]; then
		guest_program "$name" -pthread >&2
		extra=(-a "$program:/usr/bin/$name")
	fi
	guest "${extra[@]}" ${1:+-A "${*:2}"} "${args[@]}" || rc=$?
	scenario_verdict "$log" "$name" $rc x86_64
}

# prove KIND WHAT: sets on_base and on_fixes
prove() {
	local side log file words
	read -ra words <<<"$2"
	file=${words[0]//\//-}
	for side in base fixes; do
		log=$LOGS/prove-$side-$1-$file.log
		"run_$1" "${words[@]}" >"$LOGS/prove-verdict" || echo "did not run: the kernel does not build, see $LOGS" >"$LOGS/prove-verdict"
		declare -g "on_$side=$(tail -n 1 "$LOGS/prove-verdict")"
	done
}

row() { # CELL...
	local cell
	for cell; do
		printf '| %s ' "${cell//|/\\|}"
	done
	echo "|"
}

write_results() {
	local table=$QUILT_TOOLS/results/prove.md proof kind subject what key
	make_dir "$QUILT_TOOLS/results"
	{
		echo "# The fixes and what proves them"
		echo
		echo "Each test was run on the base with nothing but the tests, and on the base with the topics of"
		echo "fixes and nothing else (\`make prove\`, ${#proofs[@]} proofs)."
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

require_patches
read_proofs
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
