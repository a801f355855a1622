#!/bin/bash
# Builds the programs that Documentation/ shows to users. A program is an indented
# block with a main(). Each is built with all warnings, and must not have any.
#
# usage: test-documents.sh
#
# One "ok" or "not ok" line a program; the last line is a summary.

# shellcheck source=tools/quilt/tests/lib.sh
. "$(dirname "$0")/lib.sh"

need gcc:gcc

# programs FILE: writes the blocks of C with a main() to $work/program-N.c
programs() {
	awk -v out="$work/program-" '
		function finish() {
			if (block ~ /(^|\n)int main\(/) {
				n++
				printf "%s", block > (out n ".c")
			}
			block = ""
			inside = 0
		}
		inside && /^[^ \t]/ { finish() }
		inside { sub(/^(\t|  )/, ""); block = block $0 "\n" }
		/^\.\. code-block:: c$/ || /[^:]::$/ || /^::$/ { if (!inside) inside = 1 }
		END { finish() }' "$1"
}

found=0
while read -r file; do
	rm -f "$work"/program-*.c
	programs "$file"
	for program in "$work"/program-*.c; do
		[ -f "$program" ] || continue
		found=$((found + 1))
		name="${file#"$TOP/"}, $(basename "$program" .c)"
		if gcc -Wall -Wextra -Werror -Wno-unused-result -O2 -o "$work/a.out" "$program" >"$work/out" 2>&1; then
			ok "$name"
		else
			not_ok "$name"
		fi
	done
done < <(find "$TOP/Documentation" -name '*.rst' | sort)

# It finds programs, and one that does not build is noticed.
: >"$work/out"
if [ $found -gt 0 ]; then ok "there are programs"; else not_ok "there are programs"; fi
printf 'Text::\n\n\tint main(void)\n\t{\n\t\treturn none;\n\t}\n\nEnd\n' >"$work/bad.rst"
rm -f "$work"/program-*.c
programs "$work/bad.rst"
if [ -f "$work/program-1.c" ] && ! gcc -o "$work/a.out" "$work/program-1.c" >"$work/out" 2>&1; then
	ok "a program that does not build is noticed"
else
	not_ok "a program that does not build is noticed"
fi
verdict
