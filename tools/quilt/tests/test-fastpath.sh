#!/bin/bash
# Tests of fastpath.py: small functions, compiled with and without code that it has
# to find or to accept; and of hot-functions -o, in the same way.
#
# usage: test-fastpath.sh
#
# One "ok" or "not ok" line a test; the last line is a summary.

# shellcheck source=tools/quilt/tests/lib.sh
. "$(dirname "$0")/lib.sh"

need gcc:gcc objdump:binutils python3:python3
[ "$(uname -m)" = x86_64 ] || { say "0 passed, 0 failed, 1 skipped: the samples are for x86_64"; exit 0; }

# side NAME BODY: an object with the function record(), which has BODY
side() {
	mkdir -p "$work/$1"
	cat >"$work/source.c" <<-END
		struct key { long enabled; } keys[2];
		int slow(int);
		static inline __attribute__((always_inline)) int branch(struct key *key)
		{
			asm goto("1: .byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"
				 ".pushsection __jump_table, \"aw\"\n.balign 8\n"
				 ".long 1b - ., %l[yes] - .\n.quad %c0 - .\n.popsection"
				 : : "i" (key) : : yes);
			return 0;
		yes:
			return 1;
		}
		int record(int *a)
		{
			$2
			return a[0];
		}
	END
	gcc -O2 -fno-pic -c -o "$work/$1/source.o" "$work/source.c" 2>"$work/out" ||
		not_ok "the sample $1 compiles"
}

# compare WANT WHAT BASE QUILT ARGUMENT...
compare() {
	local want=$1 what=$2 base=$3 quilt=$4 rc=0
	shift 4
	"$QUILT_TOOLS/lib/fastpath.py" "$@" "$work/$base" "$work/$quilt" >"$work/out" 2>&1 || rc=$?
	if [ $rc -eq "$want" ]; then ok "$what"; else not_ok "$what: exit code $rc"; fi
}

side plain ''
side branch 'if (branch(&keys[1])) return slow(1);'
side argument 'int b = a[1]; if (branch(&keys[1])) return slow(b);'
side store 'if (branch(&keys[1])) return slow(1); a[1] = 7;'
side other 'if (branch(&keys[0])) return slow(1);'

compare 0 'nothing has changed' plain plain -f record
compare 0 'a static branch is a NOP' plain branch -f record -k keys
compare 0 'what only the other side of the branch needs is free' plain argument -f record
compare 1 'an instruction more is found by the name' plain store -f record
compare 1 'an instruction more is found by the key' plain store -k keys
lengths() { # BASE QUILT: "WAS NOW"
	"$QUILT_TOOLS/lib/fastpath.py" -v -f record "$work/$1" "$work/$2" | sed -n 's/.*: \([0-9]*\) -> \([0-9]*\) instr.*/\1 \2/p'
}
read -r was now < <(lengths plain store)
echo "record $was $now # why" >"$work/list"
compare 0 'a listed instruction more passes' plain store -l "$work/list"
compare 1 'as many as listed, and not fewer' plain branch -l "$work/list"
compare 0 'fewer, with another compiler' plain branch -d -l "$work/list"
echo "record $now $was" >"$work/list"
compare 1 'more, with another compiler' plain store -d -l "$work/list"
echo "recorder 1 1" >"$work/list"
compare 1 'a listed function that nobody has is an error' plain branch -l "$work/list"
compare 0 'a shorter path passes' store branch -f record
compare 1 'a key that nobody has is an error' plain plain -f record -k keys
compare 1 'a function that nobody has is an error' plain branch -f recorder

"$QUILT_TOOLS/lib/fastpath.py" -f record "$work/plain" "$work/store" >"$work/out" 2>&1 || true
if grep -qx 'source.o: record: [0-9]* -> [0-9]* instructions, 0 -> 1 static branches' "$work/out"; then
	ok 'the report names the function'
else
	not_ok 'the report names the function'
fi

# sizes SIDE STATEMENTS: an object with a function that each record runs
sizes() {
	mkdir -p "$work/$1/kernel/trace"
	echo "void slow(void); void ring_buffer_lock_reserve(void) { $2 }" >"$work/source.c"
	gcc -O2 -c -o "$work/$1/kernel/trace/ring_buffer.o" "$work/source.c"
}

# larger WANT WHAT BASE QUILT
larger() {
	local rc=0
	"$BENCH_TOOLS/lib/hot-functions" -o "$work/$3" "$work/$4" >"$work/out" 2>&1 || rc=$?
	if [ $rc -eq "$1" ]; then ok "$2"; else not_ok "$2: exit code $rc"; fi
}

sizes small 'slow();'
sizes large 'slow(); slow(); slow(); slow();'
larger 0 'hot functions of the same size' large large
larger 0 'smaller hot functions' large small
larger 1 'larger hot functions' small large
if grep -q '^reserve and commit: [0-9]* -> [0-9]* bytes' "$work/out"; then
	ok 'the report names the record'
else
	not_ok 'the report names the record'
fi
larger 1 'no objects are an error' small nothing

verdict
