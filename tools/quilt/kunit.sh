#!/bin/bash
# Runs the quilt's KUnit suites through kunit.py and scans the kernel's log.
#
# usage: kunit.sh [-n] [RUN...]
#
#   -n         do not build the kernels of UML and x86_64, take those in build/out as
#              they are
#
#   uml        UML with kunit.py's own configuration, without modules
#   uml-debug  UML with two CPUs, KASAN, lockdep, PROVE_RCU, kmemleak, which scans
#              when all suites have ended; without modules, which would make
#              each allocation slow
#   x86_64     the guest kernel in QEMU with two CPUs: function tracer and
#              jump labels
#   (none)     all three
#   x86_64-debug
#              the same with modules, under KASAN, lockdep, PROVE_RCU and kmemleak,
#              which scans in the end
#   arm64      in QEMU, as kunit.py does it; cross-built
#   s390       the same: 64 bits, big-endian
#   i386       the same: 32 bits
#   riscv      the same
#   corner-NAME
#              x86_64 with the options of tools/quilt/configs/corners/NAME.config
#              on top: the kernel boots, and runs the suites that it has
#
# In the environment:
#   FILTER=GLOB        other suites than the quilt's
#   LIMIT=SECONDS      how long a kernel may run (1800)
#   TREE=DIR, OUT=DIR  another tree and its builds

# shellcheck source=tools/quilt/lib/lib.sh
. "$(dirname "$0")/lib/lib.sh"
# shellcheck source=tools/quilt/lib/kunit-lib.sh
. "$QUILT_TOOLS/lib/kunit-lib.sh"

all=y
[ -z "${FILTER:-}" ] || all=''
FILTER=${FILTER:-trace_*}
passed=0 failed=0 skipped=0

# count RUN LOG: adds up kunit.py's numbers; no result at all is a failure.
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
	local run=$1 rc=$2 result=$3 console=$4 before=$failed kind=$1
	grep -aE '\[(FAILED|CRASHED|ERROR)\]|EXPECTATION FAILED|ASSERTION FAILED' "$result" | head -n 20 || true
	count "$run" "$result"
	[ "$rc" -eq 0 ] || [ "$failed" -gt "$before" ] || problem "$run" "it ended with $rc" "$result"
	case $run in
	x86_64-debug | corner-*) kind=x86_64 ;;
	esac
	"$QUILT_TOOLS/lib/splat.sh" -k "$kind" "$console" || problem "$run" "the kernel complained" "$console"
	judge_skips "$run" "$console" "$all"
}

kunit_py() { (cd "$TREE" && exec python3 tools/testing/kunit/kunit.py "$@"); }

build_uml() { # RUN
	local run=$1 dir=$OUT/$1 options=()
	need gcc:gcc make:make flex:flex bison:bison bc:bc python3:python3
	kconfig_add "$run"
	make_dir "$dir"
	make_dir "$LOGS"
	step "building kernel $run (log: $LOGS/build-$run.log)"
	logged "$LOGS/build-$run.log" kunit_py build --build_dir "$dir" \
		--kunitconfig kernel/trace --jobs "$JOBS" "${options[@]}" ||
		die "kernel $run does not build" "see $LOGS/build-$run.log"
}

# As kunit.py does it for anybody.
run_uml() {
	local run=uml dir=$OUT/uml rc=0
	[ -n "$keep" ] || build_uml $run
	step "running KUnit on $run"
	rm -f "$dir/test.log"
	kunit_py exec --build_dir "$dir" --timeout "${LIMIT:-1800}" "$FILTER" \
		>"$LOGS/kunit-$run.log" 2>&1 </dev/null || rc=$?
	# kunit.py parses the log; what it does not show is in there too.
	[ ! -f "$dir/test.log" ] || cp "$dir/test.log" "$LOGS/console-$run.log"
	judge "$run" $rc "$LOGS/kunit-$run.log" "$LOGS/console-$run.log"
}

# At boot, before the guest's scenario begins. A case may take as long as it wants, within
# reason: fault injection at each allocation takes minutes in a debug kernel.
run_guest() { # RUN KERNEL [SCENARIO [OPTION of guest.sh]...]
	local run=$1 rc=0 log=$LOGS/console-$1.log args=()
	step "running KUnit on $run in the guest"
	grep -q '^CONFIG_TRACING=y' "$OUT/$2/.config" || args=(no-tracing)
	"$QUILT_TOOLS/guest.sh" run -q --no-splat -t "${LIMIT:-1800}" -k "$OUT/$2" -L "$log" \
		-A "kunit.enable=1 kunit.autorun=1 kunit.timeout=1800 kunit.filter_glob=$FILTER" "${@:4}" "${3:-true}" "${args[@]}" || rc=$?
	if ! grep -q '^CONFIG_TRACE_.*KUNIT_TEST=y' "$OUT/$2/.config"; then
		[ $rc -eq 0 ] || problem "$run" "the guest ended with $rc" "$log"
		say "kunit $run: boots, and has none of the suites"
		passed=$((passed + 1))
		return
	fi
	kunit_py parse "$log" >"$LOGS/kunit-$run.log" 2>&1 || rc=$?
	judge "$run" $rc "$LOGS/kunit-$run.log" "$log"
}

run_corner() { # RUN
	local extra=$QUILT_TOOLS/configs/corners/${1#corner-}.config cpus=()
	[ -f "$extra" ] ||
		die "no such corner: ${1#corner-}" "they are: $(cd "${extra%/*}" && printf '%s ' *.config)"
	EXTRA=$extra "$QUILT_TOOLS/kernel.sh" -o "$1" guest
	grep -q '^CONFIG_SMP=y' "$OUT/$1/.config" || cpus=(-s 1)
	run_guest "$1" "$1" true "${cpus[@]}"
}

# run_qemu ARCH CPU [PREFIX]
run_qemu() {
	local run=$1 cpu=$2 prefix=${3:-} rc=0 options=() args=(--arch "$1")
	"$QUILT_TOOLS/lib/qemu.sh" install "$cpu"
	[ "$run" != riscv ] || need /usr/share/qemu/opensbi-riscv64-generic-fw_dynamic.bin:opensbi
	if [ -n "$prefix" ]; then
		need "${prefix}gcc:gcc-${prefix%-}"
		args+=(--cross_compile "$prefix")
	fi
	args+=(--build_dir "$OUT/$run")
	kconfig_add "$run"
	make_dir "$OUT/$run"
	make_dir "$LOGS"
	step "building kernel $run (log: $LOGS/build-$run.log)"
	logged "$LOGS/build-$run.log" kunit_py build "${args[@]}" "${options[@]}" --kunitconfig kernel/trace \
		--jobs "$JOBS" || die "kernel $run does not build" "see $LOGS/build-$run.log"
	step "running KUnit on $run in QEMU"
	rm -f "$OUT/$run/test.log"
	if [ "$run" = i386 ]; then
		kunit_i386 "$OUT/$run" "$FILTER" 900 >"$OUT/$run/test.log" || rc=$?
		kunit_py parse "$OUT/$run/test.log" >"$LOGS/kunit-$run.log" 2>&1 || rc=$?
	else
		kunit_py exec "${args[@]}" --timeout 900 "$FILTER" \
			>"$LOGS/kunit-$run.log" 2>&1 </dev/null || rc=$?
	fi
	[ ! -f "$OUT/$run/test.log" ] || cp "$OUT/$run/test.log" "$LOGS/console-$run.log"
	judge "$run" $rc "$LOGS/kunit-$run.log" "$LOGS/console-$run.log"
}

keep=''
if [ "${1:-}" = -n ]; then
	keep=y
	shift
fi
runs=("$@")
[ $# -gt 0 ] || runs=(uml uml-debug x86_64)
for run in "${runs[@]}"; do
	case $run in
	uml) run_uml ;;
	uml-debug)
		[ -n "$keep" ] || build_uml uml-debug
		# The clock clears the buffers before most of tracing is set up.
		run_guest uml-debug uml-debug kmemleak -A trace_clock=global
		;;
	x86_64)
		[ -n "$keep" ] || "$QUILT_TOOLS/kernel.sh" guest
		run_guest x86_64 guest
		;;
	x86_64-debug)
		"$QUILT_TOOLS/kernel.sh" guest-debug
		# KASAN and kmemleak want room and time.
		LIMIT=${LIMIT:-9000} run_guest x86_64-debug guest-debug kmemleak -m 4096
		;;
	corner-*) run_corner "$run" ;;
	arm64) run_qemu arm64 aarch64 aarch64-linux-gnu- ;;
	s390) run_qemu s390 s390x s390x-linux-gnu- ;;
	i386) run_qemu i386 i386 ;;
	riscv) run_qemu riscv riscv64 riscv64-linux-gnu- ;;
	-h | --help) usage; exit 0 ;;
	*) usage >&2; exit 2 ;;
	esac
done
say "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
