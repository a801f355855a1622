#!/bin/bash
# A ktrace() that could not record has to fail the build, with its file and line:
# the checks of tools/testing/ktrace of the kernel tree, one object at a time, and
# whole builds of the guest kernel, of vmlinux and of a module, with lines that
# are wrong in a file that is there anyway.
#
# usage: ktrace-build.sh [KERNEL]
#
#   KERNEL  name of the directory in build/out, of a kernel of the kind guest
#           that is built (guest)
#   TREE=DIR in the environment: its source
#
# The last line is a summary.

# shellcheck source=tools/quilt/lib/lib.sh
. "$(dirname "$0")/lib/lib.sh"

case ${1:-} in
-h | --help) usage; exit 0 ;;
-*) usage >&2; exit 2 ;;
esac
dir=$OUT/${1:-guest}
[ -f "$dir/vmlinux" ] || die "there is no kernel in $dir" "run: tools/quilt/kernel.sh guest"
make_dir "$LOGS"
passed=0 failed=0
work=$(mktemp -d)
build=(make -C "$TREE" "O=$dir" ARCH=x86_64 LOCALVERSION= KBUILD_BUILD_TIMESTAMP=@0
	KBUILD_BUILD_USER=quilt KBUILD_BUILD_HOST=quilt -j"$JOBS")

verdict() { # RESULT WHAT LOG
	if [ "$1" = ok ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		set -- "not ok" "$2 (log: $3)" ''
	fi
	say "$1 $2"
}

# The kernel is as before when this ends, however it ends.
restored=1
restore() {
	rm -rf "$work"
	[ $restored -eq 1 ] || "${build[@]}" bzImage modules >"$LOGS/ktrace-build-restore.log" 2>&1 ||
		warn "the kernel is not as before (log: $LOGS/ktrace-build-restore.log)"
}
trap restore EXIT

bad() { # NAME TEXT: a file to be included before all others of a source file
	cat >"$work/$1.h" <<-END
		#include <linux/ktrace.h>
		static void __used bad_$1(int x, const void *p);
		static void __used bad_$1(int x, const void *p)
		{
		#line 100
		$2
		}
	END
}

# fails TARGET OBJECT NAME PATTERN: the whole build does, and says this
fails() {
	local log=$LOGS/ktrace-build-$1-$3.log result=ok
	restored=0
	step "building $1 with a line that is wrong: $3"
	if "${build[@]}" "CFLAGS_$2.o=-include $work/$3.h" "$1" >"$log" 2>&1 ||
	   ! grep -qE "ERROR: modpost: $4" "$log"; then
		result="not ok"
	fi
	verdict "$result" "$1: $3" "$log"
}

bad format '	ktrace(bad_format, "x=%d dentry=%pd", x, p);'
bad name '	ktrace(filter, "x=%d", x);'
bad disagree '	ktrace(bad_disagree, "x=%d", x);
	ktrace(bad_disagree, "y=%d", x);'

log=$LOGS/ktrace-build-objects.log
bash "$TREE/tools/testing/ktrace/build.sh" "$dir" >"$log" 2>&1 || true
if [ "$(tail -n 1 "$log" | grep -c '^1[.][.]')" -eq 1 ]; then
	passed=$((passed + $(grep -c '^ok ' "$log" || true)))
	failed=$((failed + $(grep -c '^not ok ' "$log" || true)))
	grep -A 10 '^not ok ' "$log" || true
else
	verdict "not ok" "tools/testing/ktrace/build.sh" "$log"
fi

fails vmlinux ksysfs format 'vmlinux: .*format[.]h:100: ktrace event ksysfs:bad_format: .*%pd'
fails vmlinux ksysfs disagree 'vmlinux: .*disagree[.]h:101: ktrace event ksysfs:bad_disagree: another format than at .*disagree[.]h:100'
fails modules ktrace-sample name 'samples/ktrace/ktrace-sample[.]ko: .*name[.]h:100: ktrace event ktrace_sample:filter: '
fails modules ktrace-sample disagree 'samples/ktrace/ktrace-sample[.]ko: .*disagree[.]h:101: ktrace event ktrace_sample:bad_disagree: another format than at .*disagree[.]h:100'

log=$LOGS/ktrace-build-good.log
step "building all without it"
result="not ok"
! "${build[@]}" bzImage modules >"$log" 2>&1 || result=ok restored=1
verdict "$result" "the whole build" "$log"

say "$passed passed, $failed failed"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
