#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Checks that a ktrace() which could not record fails the build, in vmlinux and
# in modules, with a message that names its line, that the build refuses the
# formats that the kernel refuses, and that the compiler checks the arguments.
# And that a ktrace() is one instruction in its function while it is off, on x86
# and arm64.
#
# usage: build.sh [BUILD_DIR]
#
# BUILD_DIR is where a kernel with CONFIG_KTRACE has been built. ARCH and the
# like come from the environment, as for make.

BUILD=$(realpath "${1:-.}")
FORMATS=$(realpath "$(dirname "$0")/../../../kernel/trace/tests/trace_ktrace_formats.h")
TMP=$(mktemp -d) || exit 1
trap 'rm -rf "$TMP"' EXIT
failed=0
nr=0

grep -q '^CONFIG_KTRACE=y' "$BUILD/.config" || {
	echo "SKIP: no kernel with CONFIG_KTRACE in $BUILD"
	exit 4
}

report() { # result text
	nr=$((nr + 1))
	echo "$1 $nr $2"
	[ "$1" = ok ] || failed=1
}

# A source file with these lines, and others before its includes
source_file() { # name lines [first lines]
	cat > "$TMP/$1.c" <<-END
		$3
		#include <linux/ktrace.h>
		#include <linux/module.h>
		void $1(int x, u8 y, const char *s, const u8 *p);
		void $1(int x, u8 y, const char *s, const u8 *p)
		{
		#line 100
		$2
		}
		MODULE_DESCRIPTION("test");
		MODULE_LICENSE("GPL");
	END
}

compile() { # name...
	local objs=("${@/%/.o}")

	echo "obj-m := ${objs[*]}" > "$TMP/Makefile"
	# Warnings of the compiler do not matter here.
	make -s -C "$BUILD" M="$TMP" KCFLAGS="-Wno-error -w" "${objs[@]}" \
		> "$TMP/make.log" 2>&1 || { cat "$TMP/make.log"; exit 1; }
}

# The compiler says this, as a warning or an error.
compiler_case() { # name lines pattern
	source_file "$1" "$2"
	echo "obj-m := $1.o" > "$TMP/Makefile"
	make -s -C "$BUILD" M="$TMP" KCFLAGS="-Wno-error -Wformat" "$1.o" \
		> "$TMP/log" 2>&1

	if grep -Eq "$3" "$TMP/log"; then
		report ok "compiler: $1"
	else
		report "not ok" "compiler: $1"
		sed 's/^/# /' "$TMP/log"
	fi
}

modpost() { # object
	(cd "$TMP" && "$BUILD/scripts/mod/modpost" -w -N -o syms "$1") \
		> "$TMP/log" 2>&1
}

expect() { # name result of modpost, text for a message that there has to be
	local text=$1 rc=$2 pattern=$3

	if [ -z "$pattern" ]; then
		[ "$rc" -eq 0 ] && ! grep -q 'ktrace event' "$TMP/log"
	else
		[ "$rc" -ne 0 ] && grep -Eq "$pattern" "$TMP/log"
	fi && report ok "$text" && return
	report "not ok" "$text"
	sed 's/^/# /' "$TMP/log"
}

names=() patterns=()
module_case() { # name lines pattern [first lines]
	source_file "$1" "$2" "$4"
	names+=("$1")
	patterns+=("$3")
}

module_case good 'ktrace(a, "s=%s d=%-5.3d h=%*ph %% m=%pM", s, x, 3, p, p);
	ktrace(a, "s=%s d=%-5.3d h=%*ph %% m=%pM", "", true, y, p, p);
	ktrace(b, "nothing");' ''
module_case two_formats 'ktrace(a, "x=%d", x);
	ktrace(a, "y=%d", y);' \
	'\.c:101: .* two_formats:a: another format than at .*\.c:100'
module_case follows 'ktrace(a, "x=%d %pd", x, p);' '\.c:100: .* %pd would follow'
module_case no_size 'ktrace(a, "%ph", p);' '\.c:100: .* %ph without a size'
module_case precision 'ktrace(a, "%*.*ph", x, y, p);' \
	'\.c:100: .* %ph with a precision'
module_case disorder 'ktrace(a, "%l5d", (long)x);' '\.c:100: .* %5 can not'
module_case wide_percent 'ktrace(a, "%*%", x);' '\.c:100: .* %% can not'
module_case swallows 'ktrace(a, "%pMtu-and-more %pMandsomemore", p, p);' \
	'\.c:100: .* swallows'
module_case no_conversion 'ktrace(a, "%jd", (long)x);' '\.c:100: .* %j can not'
module_case too_few 'ktrace(a, "%d %d", x);' '\.c:100: .* 1 arguments .* has 2'
module_case too_many 'ktrace(a, "%d", x, y);' '\.c:100: .* 2 arguments .* has 1'
module_case too_long "ktrace(a, \"$(printf '%0513d' 0)\");" '\.c:100: .* longer than'
module_case bad_name 'ktrace(1a, "%d", x);' '\.c:100: .* no identifier'
module_case file_name 'ktrace(enable, "%d", x);' '\.c:100: .* file of that name'
module_case all_systems 'ktrace(a, "%d", x);' '\.c:100: .* stands for all' \
	'#define KTRACE_SYSTEM ktrace'
module_case bad_system 'ktrace(a, "%d", x);' '\.c:100: .* no name for a system' \
	'#define KTRACE_SYSTEM a-b'

# In one image two files can disagree, if they have the same system.
source_file one 'ktrace(a, "x=%d", x);' '#define KTRACE_SYSTEM shared'
source_file two 'ktrace(a, "y=%d", x);' '#define KTRACE_SYSTEM shared'
source_file three 'ktrace(a, "x=%d", y);' '#define KTRACE_SYSTEM shared'
source_file four 'ktrace(a, "y=%d", x);' ''

# Two functions that differ in a ktrace() only
cat > "$TMP/off.c" <<-END
	#include <linux/ktrace.h>
	#include <linux/module.h>
	void with_line(u64 a, u64 b);
	void without_line(u64 a, u64 b);
	void with_line(u64 a, u64 b)
	{
		ktrace(event, "a=%llu b=%llu", a, b);
	}
	void without_line(u64 a, u64 b)
	{
	}
	MODULE_DESCRIPTION("test");
	MODULE_LICENSE("GPL");
END
# Sites that the compiler has not seen the formats of, with those of the kernel
cat > "$TMP/formats.c" <<-END
	#include <linux/ktrace.h>
	#include <linux/module.h>
	#define FORMAT(_verdict, _fmt, _nr)				\\
		static struct ktrace_site __used __aligned(8)		\\
		__section("__ktrace_sites")				\\
		CONCATENATE(site, __LINE__) = {				\\
			.text = "formats\\0f" __stringify(__LINE__) "\\0" _fmt, \\
			.file = _verdict,				\\
			.func = "",					\\
			.line = __LINE__,				\\
			.nr_args = _nr,					\\
		};
	#define GOOD(_nr, _fmt) FORMAT("good", _fmt, _nr)
	#define BAD(_nr, _fmt) FORMAT("bad", _fmt, _nr)
	#include "$FORMATS"
	MODULE_DESCRIPTION("test");
	MODULE_LICENSE("GPL");
END
compile "${names[@]}" one two three four off formats

for i in "${!names[@]}"; do
	modpost "${names[i]}.o"
	expect "module: ${names[i]}" $? "${patterns[i]}"
done

for name in follows good; do
	cp "$TMP/$name.o" "$TMP/vmlinux.o"
	modpost vmlinux.o
	rc=$?
	pattern=
	[ "$name" = good ] || pattern='modpost: vmlinux: .*\.c:100: .* %pd would follow'
	expect "vmlinux: $name" $rc "$pattern"
done

modpost formats.o
grep -o 'bad:[0-9]*: ktrace event' "$TMP/log" | sort -u > "$TMP/refused"
grep -n '^BAD(' "$FORMATS" |
	sed 's/^\([0-9]*\):.*/bad:\1: ktrace event/' | sort -u > "$TMP/bad"
if [ -s "$TMP/bad" ] && cmp -s "$TMP/bad" "$TMP/refused" &&
   ! grep -q 'good:[0-9]*: ktrace event' "$TMP/log"; then
	report ok "formats: as the kernel refuses them"
else
	report "not ok" "formats: as the kernel refuses them"
	diff "$TMP/bad" "$TMP/refused" | sed 's/^/# /'
	grep 'good:' "$TMP/log" | sed 's/^/# /'
fi

compiler_case wants_string 'ktrace(a, "s=%s", x);' 'warning: format .*-Wformat'
compiler_case wants_int 'ktrace(a, "d=%d s=%s", s, s);' \
	'warning: format .*-Wformat'
compiler_case sixteen \
	'ktrace(a, "%d", x, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);' \
	'ktrace\(\) takes no more than 15 arguments'

# LD is what the kernel was linked with, for the same architecture.
link() { # object...
	(cd "$TMP" && ${LD:-${CROSS_COMPILE}ld} -r -o vmlinux.o "$@") || exit 1
}

link one.o two.o
modpost vmlinux.o
expect "vmlinux: two files disagree" $? '(one|two)\.c:100: .* shared:a: .*(one|two)\.c:100'
link one.o three.o four.o
modpost vmlinux.o
expect "vmlinux: files agree, or have other systems" $? ''

# How many instructions has a function up to its first return?
path() { # function
	${OBJDUMP:-${CROSS_COMPILE}objdump} -dr "$TMP/off.o" | awk -v name="<$1>:" '
		$2 == name { found = 1; next }
		!found { next }
		/^ *[0-9a-f]+:/ && /\t/ && !/R_/ { n++ }
		/\tret|return_thunk/ { print n; exit }'
}

if grep -Eq '^CONFIG_(X86_64|ARM64)=y' "$BUILD/.config"; then
	with=$(path with_line) without=$(path without_line)
	if [ -n "$without" ] && [ "$with" = $((without + 1)) ]; then
		report ok "off: one instruction"
	else
		report "not ok" "off: $with instructions, and $without without the line"
	fi
fi

echo "1..$nr"
exit $failed
