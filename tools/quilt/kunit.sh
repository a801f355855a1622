#!/bin/bash
# Runs the quilt's KUnit suites through kunit.py and scans the kernel's log.
#
# usage: kunit.sh [RUN...]
#
#   uml        UML, as kunit.py does it for anybody
#   uml-debug  UML with two CPUs, KASAN, lockdep, PROVE_RCU, kmemleak
#   x86_64     the guest kernel in QEMU with two CPUs: function tracer and
#              jump labels
#   (none)     all three
#   arm64      in QEMU, as kunit.py does it; cross-built
#   s390       the same: 64 bits, big-endian
#   i386       the same: 32 bits
#
# FILTER=GLOB in the environment: other suites than the quilt's. TREE=DIR and
# OUT=DIR: another tree. Results stay in build/logs/kunit-*.log. The last line
# counts.

# shellcheck source=tools/quilt/lib.sh
. "$(dirname "$0")/lib.sh"

usage() { sed -n '2,/^$/s/^# \{0,1\}//p' "$0"; }

FILTER=${FILTER:-trace_*}
passed=0 failed=0 skipped=0

# count RUN LOG: adds up what kunit.py said; no result at all is a failure.
count() {
	local line p f s
	line=$(grep -a 'Testing complete. Ran' "$2" | tail -n 1)
	number() { grep -o "$1: [0-9]*" <<<"$line" | grep -o '[0-9]*' || echo 0; }
	p=$(number passed) f=$(($(number failed) + $(number crashed) + $(number errors))) s=$(number skipped)
	if [ -z "$line" ] || [ $((p + f)) -eq 0 ]; then
		say "not ok kunit $1: no test ran (log: $2)"
		f=$((f + 1))
	fi
	say "kunit $1: $p passed, $f failed, $s skipped"
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
}

# problem RUN WHAT LOG
problem() {
	say "not ok kunit $1: $2 (log: $3)"
	failed=$((failed + 1))
}

judge() {
	local run=$1 rc=$2 result=$3 console=$4 before=$failed
	grep -aE '\[(FAILED|CRASHED|ERROR)\]|EXPECTATION FAILED|ASSERTION FAILED' "$result" | head -n 20 || true
	count "$run" "$result"
	[ "$rc" -eq 0 ] || [ "$failed" -gt "$before" ] || problem "$run" "kunit.py returned $rc" "$result"
	"$QUILT_TOOLS/splat.sh" -k "$run" "$console" || problem "$run" "the kernel complained" "$console"
}

kunit_py() { (cd "$TREE" && exec python3 tools/testing/kunit/kunit.py "$@"); }

run_uml() {
	local run=$1 dir=$OUT/$1 rc=0 opt args=()
	shift
	need gcc:gcc make:make flex:flex bison:bison bc:bc python3:python3
	if [ -f "$QUILT_TOOLS/configs/$run.config" ]; then
		while read -r opt; do
			args+=(--kconfig_add "$opt")
		done < <(grep '^CONFIG' "$QUILT_TOOLS/configs/$run.config")
	fi
	make_dir "$dir"
	make_dir "$LOGS"
	step "building kernel $run (log: $LOGS/build-$run.log)"
	logged "$LOGS/build-$run.log" kunit_py build --build_dir "$dir" \
		--kunitconfig kernel/trace --jobs "$JOBS" "${args[@]}" ||
		die "kernel $run does not build" "see $LOGS/build-$run.log"
	step "running KUnit on $run"
	rm -f "$dir/test.log"
	kunit_py exec --build_dir "$dir" --timeout 600 "$@" "$FILTER" \
		>"$LOGS/kunit-$run.log" 2>&1 </dev/null || rc=$?
	# kunit.py parses the log; what it does not show is in there too.
	[ ! -f "$dir/test.log" ] || cp "$dir/test.log" "$LOGS/console-$run.log"
	judge "$run" $rc "$LOGS/kunit-$run.log" "$LOGS/console-$run.log"
}

run_x86_64() {
	local rc=0 log=$LOGS/console-x86_64.log
	"$QUILT_TOOLS/kernel.sh" guest
	step "running KUnit on x86_64 in QEMU"
	"$QUILT_TOOLS/guest.sh" run -q --no-splat -t 600 -L "$log" \
		-A "kunit.enable=1 kunit.autorun=1 kunit.filter_glob=$FILTER" true || rc=$?
	kunit_py parse "$log" >"$LOGS/kunit-x86_64.log" 2>&1 || rc=$?
	judge x86_64 $rc "$LOGS/kunit-x86_64.log" "$log"
}

# run_qemu ARCH CPU [PREFIX]
run_qemu() {
	local run=$1 cpu=$2 prefix=${3:-} rc=0 args=(--arch "$1")
	"$QUILT_TOOLS/qemu.sh" install "$cpu"
	if [ -n "$prefix" ]; then
		need "${prefix}gcc:gcc-${prefix%-}"
		args+=(--cross_compile "$prefix")
	fi
	args+=(--build_dir "$OUT/$run")
	make_dir "$OUT/$run"
	make_dir "$LOGS"
	step "building kernel $run (log: $LOGS/build-$run.log)"
	logged "$LOGS/build-$run.log" kunit_py build "${args[@]}" --kunitconfig kernel/trace \
		--jobs "$JOBS" || die "kernel $run does not build" "see $LOGS/build-$run.log"
	step "running KUnit on $run in QEMU"
	rm -f "$OUT/$run/test.log"
	if [ "$run" = i386 ]; then
		# kunit.py would take a /dev/kvm, which may hang a guest.
		timeout 900 qemu-system-i386 -nodefaults -no-reboot -display none -serial stdio \
			-accel tcg -m 1024 -kernel "$OUT/$run/arch/x86/boot/bzImage" \
			-append "kunit.filter_glob=$FILTER kunit.enable=1 console=ttyS0 kunit_shutdown=reboot" \
			>"$OUT/$run/test.log" 2>&1 </dev/null || rc=$?
		kunit_py parse "$OUT/$run/test.log" >"$LOGS/kunit-$run.log" 2>&1 || rc=$?
	else
		kunit_py exec "${args[@]}" --timeout 900 "$FILTER" \
			>"$LOGS/kunit-$run.log" 2>&1 </dev/null || rc=$?
	fi
	[ ! -f "$OUT/$run/test.log" ] || cp "$OUT/$run/test.log" "$LOGS/console-$run.log"
	judge "$run" $rc "$LOGS/kunit-$run.log" "$LOGS/console-$run.log"
}

runs=("$@")
[ $# -gt 0 ] || runs=(uml uml-debug x86_64)
for run in "${runs[@]}"; do
	case $run in
	uml) run_uml uml ;;
	uml-debug) run_uml uml-debug --kernel_args seccomp=on --kernel_args ncpus=2 ;;
	x86_64) run_x86_64 ;;
	arm64) run_qemu arm64 aarch64 aarch64-linux-gnu- ;;
	s390) run_qemu s390 s390x s390x-linux-gnu- ;;
	i386) run_qemu i386 i386 ;;
	-h | --help) usage; exit 0 ;;
	*) usage >&2; exit 2 ;;
	esac
done
say "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
