#!/bin/bash
# Configures and builds one of the project's kernels out of tree.
#
# usage: kernel.sh [-o NAME] KIND
#
#   KIND    what to build, see the table below
#   -o NAME name of the directory in build/out (KIND unless told); a new one begins
#           as a copy of that of KIND if it is of the same tree, so that only what
#           differs is built
#   TREE=DIR in the environment: another source tree than build/linux
#   EXTRA=FILE in the environment: one more fragment, which may also take options
#           away that the others ask for
#
# It is an error if the result lacks an option that a fragment asks for, as a test
# without its feature proves nothing.

# shellcheck source=tools/quilt/lib/lib.sh
. "$(dirname "$0")/lib/lib.sh"

kind='' name=''
while [ $# -gt 0 ]; do
	case $1 in
	-o) name=$2; shift ;;
	-h | --help) usage; exit 0 ;;
	-*) usage >&2; exit 2 ;;
	*) kind=$1 ;;
	esac
	shift
done
[ -n "$kind" ] || { usage >&2; exit 2; }

selftests="$TREE/tools/testing/selftests/ftrace/config selftests"
verification=$TREE/tools/testing/selftests/verification/config
# The quilt's suites; the base has none.
suites=$TREE/kernel/trace/.kunitconfig
[ -f "$suites" ] || suites=''
samples=samples
grep -qs FLIGHT_RECORDER "$TREE/samples/Kconfig" || samples=''
rds=rds
grep -qs RDS_RECORDER "$TREE/net/rds/Kconfig" || rds=''
ours=bench-quilt features=features
grep -qs 'config KTRACE$' "$TREE/kernel/trace/Kconfig" || ours='' features=''
case $kind in
guest)       arch=x86_64; parts="guest guest-x86_64 tracing faults kunit $samples $rds $suites $selftests $verification" ;;
guest-debug) arch=x86_64; parts="guest guest-x86_64 tracing faults kunit $samples $rds $suites $selftests $verification debug" ;;
guest-lockdown) arch=x86_64; parts="guest guest-x86_64 tracing faults kunit lockdown $samples $rds $suites $selftests $verification" ;;
guest-kcsan) arch=x86_64; parts="guest guest-x86_64 tracing kunit $samples $rds $suites kcsan" ;;
guest-startup) arch=x86_64; parts="guest guest-x86_64 tracing $features startup" ;;
guest-deltas) arch=x86_64; parts="guest guest-x86_64 tracing $features startup deltas" ;;
guest-arm64) arch=arm64; parts="guest guest-arm64 tracing kunit $samples $rds $suites $selftests $verification" ;;
bench)       arch=x86_64; parts="guest guest-x86_64 bench bench-x86_64 $ours" ;;
bench-process) arch=x86_64; parts="guest guest-x86_64 bench bench-x86_64 bench-process $features" ;;
bench-arm64) arch=arm64; parts="guest guest-arm64 bench bench-arm64 $ours" ;;
bench-uml)   arch=um; parts="uml bench-uml $ours" ;;
*) die "no such kind of kernel: $kind" "see the table in tools/quilt/kernel.sh" ;;
esac

need gcc:gcc make:make flex:flex bison:bison bc:bc pahole:dwarves \
	/usr/include/gelf.h:libelf-dev \
	'/usr/include/openssl/opensslv.h:libssl-dev' cpio:cpio rsync:rsync flock:util-linux
[ -f "$TREE/Makefile" ] || die "no kernel tree in $TREE" "run: make tree"

dir=$OUT/${name:-$kind}
if [ ! -e "$dir" ] && [ -f "$OUT/$kind/vmlinux" ] && [ "$OUT/$kind/source" -ef "$TREE" ]; then
	need_space "$OUT" 4000 "a second kernel of the kind $kind"
	copy_build "$OUT/$kind" "$dir"
fi
make_dir "$dir"
make_dir "$LOGS"
# Two builds in one directory take each other's objects away.
exec {lock}>"$dir/lock"
flock -n "$lock" || { say "waiting for another build in $dir"; flock "$lock"; }

fragments=()
for part in $parts; do
	case $part in
	/*) fragments+=("$part") ;;
	*) fragments+=("$(find_ours "configs/$part.config")") ;;
	esac
done
cat "${fragments[@]}" ${EXTRA:+"$EXTRA"} >"$dir/fragments.new"

cross=()
if [ $arch = arm64 ]; then
	need aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu
	cross=(CROSS_COMPILE=aarch64-linux-gnu-)
fi

# The release string is pinned: modules stay where they are when the tree
# gets dirty. The build date is pinned: the same source gives the same image.
build=(make -C "$TREE" "O=$dir" "ARCH=$arch" "${cross[@]}" LOCALVERSION= KBUILD_BUILD_TIMESTAMP=@0
	KBUILD_BUILD_USER=quilt KBUILD_BUILD_HOST=quilt)

# With the function tracer, kbuild keeps KCSAN off kernel/trace, as functions that
# KCSAN calls may be traced in turn. Ftrace's guard against recursion handles
# that, so KCSAN looks at the quilt's files and at most that it changes.
if [ "$kind" = guest-kcsan ]; then
	for stem in trace trace_{events,events_syscall,export_core} \
		trace_{follow,follow_files,instance,pid,printk,syscalls} \
		trace_ktrace{,_format,_module,_print,_record,_sites} \
		trace_process{,_files,_print,_syscalls} \
		trace_snapshot{,_pipe} ring_buffer; do
		build+=("KCSAN_SANITIZE_$stem.o=y")
	done
fi

if ! cmp -s "$dir/fragments.new" "$dir/fragments" || [ ! -f "$dir/.config" ] ||
   [ -n "$(find "$TREE/kernel/trace" "$TREE/samples" "$TREE/net/rds" -name 'Kconfig*' -newer "$dir/.config" -print -quit)" ]; then
	rm -f "$dir/fragments"
	logged "$LOGS/config-$(basename "$dir").log" \
		"${build[@]}" -s "KCONFIG_ALLCONFIG=$dir/fragments.new" allnoconfig
	# The last word on an option counts, as it does for Kconfig.
	awk -F= '/^CONFIG_/ { want[$1] = $0 }
		 /^# CONFIG_.* is not set/ { split($0, w, " "); delete want[w[2]] }
		 END { for (o in want) print want[o] }' \
		"$dir/fragments.new" | sort >"$dir/wanted"
	sort "$dir/.config" >"$dir/got"
	[ -z "${EXTRA:-}" ] || grep -E '^(# )?CONFIG_' "$EXTRA" | sort >"$dir/wanted"
	missing=$(comm -23 "$dir/wanted" "$dir/got")
	[ -z "$missing" ] ||
		die "kernel $kind: the configuration lost what its fragments ask for:" "${missing//$'\n'/ }" \
		    "look for a dependency that is off, or drop the line from the fragment"
	mv "$dir/fragments.new" "$dir/fragments"
fi

targets=()
case $arch in
x86_64) targets=(bzImage modules) ;;
um) targets=(linux modules) ;;
arm64) targets=(Image modules) ;;
esac
step "building kernel $(basename "$dir") (log: $LOGS/build-$(basename "$dir").log)"
logged "$LOGS/build-$(basename "$dir").log" "${build[@]}" -j"$JOBS" "${targets[@]}" ||
	die "kernel $(basename "$dir") does not build" "see $LOGS/build-$(basename "$dir").log"
