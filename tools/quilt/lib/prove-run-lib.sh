# shellcheck shell=bash disable=SC2154
# Parts of prove.sh: the two trees, their kernels, and a run of each kind of test.
# Sourced by it.

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

# Only the side fixes, as the commits of the tree, which git revert needs.
make_fixes() {
	local dir=$BUILD/prove/fixes subject
	make_dir "$BUILD/prove"
	subject=$(topic_subjects "${existing[-1]}" | tail -n 1)
	if [ ! -e "$dir/.git" ]; then
		need_space "$BUILD" 4000 "a kernel tree and its builds"
		scratch_clone "$dir" "$(base_of "$TREE")"
	fi
	git -C "$dir" fetch -q --no-tags "$TREE" HEAD
	all_fixes=$(commit_with "$subject" FETCH_HEAD)
	[ -n "$all_fixes" ] || die "the tree has no commit '$subject'" "make tree"
	git -C "$dir" checkout -q --detach --force "$all_fixes"
	left_out=''
}

# commit_with SUBJECT TIP
commit_with() {
	git -C "$BUILD/prove/fixes" log --format='%H%x09%s' "$(base_of "$TREE")..$2" |
		awk -F '\t' -v subject="$1" '$2 == subject { id = $1 } END { print id }'
}

put_fix_back() {
	git -C "$BUILD/prove/fixes" reset -q --hard "$all_fixes"
	built=()
}

# leave_fix_out SUBJECT: reverts it in the side fixes. Fails if others build on it.
leave_fix_out() {
	local id
	[ "$left_out" != "$1" ] || return "$left_out_rc"
	put_fix_back
	left_out=$1 left_out_rc=0
	id=$(commit_with "$1" "$all_fixes")
	[ -n "$id" ] || die "the tree has no commit '$1'" "make tree"
	step "all fixes but: $1"
	git -C "$BUILD/prove/fixes" -c user.name=prove -c user.email=prove@example.org \
		revert --no-commit "$id" >/dev/null 2>&1 || {
		left_out_rc=1
		git -C "$BUILD/prove/fixes" revert --quit
		put_fix_back
	}
	return $left_out_rc
}

# compiler_complains KIND WHAT: about what the test wants of the side fixes. A build may
# fail for other reasons, such as a full disk.
compiler_complains() {
	local run
	read -r _ run _ <<<"$2"
	case $1/${run:-} in
	kunit/) run=uml-debug ;;
	kunit/uml* | kunit/i386 | selftest/uml-debug) ;;
	*) run=guest ;;
	esac
	! grep -q 'No space left on device' "$LOGS/build-prove-fixes-$run.log" || return 1
	grep -qE '^[^ ]+\.[ch]:[0-9:]+ (fatal )?error: |undefined reference to|^ERROR: modpost: ' "$LOGS/build-prove-fixes-$run.log"
}

# build_uml SIDE RUN, as kunit.sh does it; i386, too
build_uml() {
	local options=() log=$LOGS/build-prove-$1-$2.log
	[ "$2" != i386 ] || options=(--arch i386)
	kconfig_add "$2"
	need gcc:gcc make:make flex:flex bison:bison bc:bc python3:python3
	make_dir "$OUT/prove-$1-$2"
	step "building kernel prove-$1-$2 (log: $log)"
	cd "$BUILD/prove/$1" && logged "$log" python3 tools/testing/kunit/kunit.py build \
		--build_dir "$OUT/prove-$1-$2" --kunitconfig kernel/trace --jobs "$JOBS" "${options[@]}"
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
		rm -f "$LOGS/build-prove-$1-$2.log"
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
	elif [ -f "$QUILT_TOOLS/guest/programs/$name.c" ]; then
		guest_program "$name" -pthread >&2
		extra=(-a "$program:/usr/bin/$name")
	fi
	guest "${extra[@]}" ${1:+-A "${*:2}"} "${args[@]}" || rc=$?
	scenario_verdict "$log" "$name" $rc x86_64
}
