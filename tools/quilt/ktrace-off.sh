#!/bin/bash
# A ktrace() line that is off has to be one NOP: looks at the disassembly of files
# of the kernel that have lines, compiled for x86_64 and arm64, with gcc and with
# clang. It compares each file with itself without what its lines record, see
# ktrace-off.py. Then it does so with a line that is wrong, which has to be noticed.
#
# usage: ktrace-off.sh [ARCH]...
#
#   ARCH  x86_64 or arm64 (both)
#   COMPILERS=LIST in the environment: "gcc", "-19" for clang 19 (gcc -19)
#
# The last line is a summary.

# shellcheck source=tools/quilt/lib/tree-lib.sh
. "$(dirname "$0")/lib/tree-lib.sh"
# shellcheck source=tools/quilt/lib/compile-lib.sh
. "$QUILT_TOOLS/lib/compile-lib.sh"

case ${1:-} in
-h | --help) usage; exit 0 ;;
-*) usage >&2; exit 2 ;;
esac
[ $# -gt 0 ] || set -- x86_64 arm64
files=(drivers/hwtracing/stm/core mm/shmem kernel/fork samples/ktrace/ktrace-sample)
work=$BUILD/check/ktrace-off
passed=0 failed=0
make_dir "$work"

# The same branch with a call that has no arguments. And a line that does something
# before its branch.
cat >"$work/without.h" <<-'END'
	#include <linux/ktrace.h>
	#undef ktrace
	void without_ktrace(void);
	#define ktrace(args...)						\
	do {								\
		static struct static_key_false __key = STATIC_KEY_FALSE_INIT; \
									\
		if (static_branch_unlikely(&__key)) {			\
			without_ktrace();				\
			barrier();					\
		}							\
	} while (0)
END
cat >"$work/wrong.h" <<-'END'
	#include <linux/ktrace.h>
	#undef ktrace
	extern int wrong_ktrace;
	#define ktrace(args...)						\
	do {								\
		static struct ktrace_site __ktrace_site			\
		__aligned(8) __section("__ktrace_sites") = {		\
			.file	= __FILE__,				\
			.key	= STATIC_KEY_FALSE_INIT,		\
		};							\
		int __nr = ++wrong_ktrace;				\
									\
		if (static_branch_unlikely(&__ktrace_site.key))		\
			__ktrace(&__ktrace_site, __nr, 0, 0, 0, 0);	\
	} while (0)
END

# compile_as NAME ARCH FILE...: objects in $work/NAME, with NAME.h in front
compile_as() {
	local name=$1 arch=$2 flags=() file dir=$OUT/check-$2${LLVM:-}
	shift 2
	for file; do
		[ "$name" = with ] || flags+=("CFLAGS_${file##*/}.o=-include $work/$name.h")
	done
	logged "$LOGS/ktrace-off-$arch${LLVM:-}-$name.log" \
		compile "$arch" "${flags[@]}" "${@/%/.o}" ||
		die "the files do not compile" "see $LOGS/ktrace-off-$arch${LLVM:-}-$name.log"
	make_dir "$work/$name"
	for file; do
		cp "$dir/$file.o" "$work/$name/"
	done
}

verdict() { # RESULT TEXT
	if [ "$1" = ok ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
	fi
	say "$1 $2"
}

compile_checkout "$(git -C "$TREE" rev-parse HEAD)"
for arch in "$@"; do
	objdump=objdump
	if [ "$arch" = arm64 ]; then
		need aarch64-linux-gnu-objdump:binutils-aarch64-linux-gnu
		objdump=aarch64-linux-gnu-objdump
	fi
	for compiler in ${COMPILERS:-gcc -19}; do
		unset LLVM
		[ "$compiler" = gcc ] || export LLVM=$compiler
		what="$arch, ${LLVM:+clang}$compiler"
		step "compiling for $what"
		compile_as with "$arch" "${files[@]}"
		compile_as without "$arch" "${files[@]}"
		compile_as wrong "$arch" "${files[-1]}"
		for file in "${files[@]##*/}"; do
			if out=$("$QUILT_TOOLS/lib/ktrace-off.py" "$objdump" "$work"/with{,out}/"$file.o"); then
				verdict ok "$what: $file: ${out#ok }"
			else
				say "$out"
				verdict "not ok" "$what: $file"
			fi
		done
		if "$QUILT_TOOLS/lib/ktrace-off.py" "$objdump" "$work"/{wrong,without}/"${files[-1]##*/}.o" >"$work/wrong.log"; then
			verdict "not ok" "$what: a line that is wrong is not noticed"
		else
			verdict ok "$what: a line that is wrong is noticed"
		fi
	done
done
say "$passed passed, $failed failed"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
