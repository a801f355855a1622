#!/bin/bash
# Tests of what reads results: the skips of KUnit, the numbers of the benchmarks and
# the list of fixes, with made-up files.
#
# usage: test-results.sh
#
# One "ok" or "not ok" line a test; the last line is a summary.

# shellcheck source=tools/quilt/tests/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tools/quilt/lib/kunit-lib.sh
. "$QUILT_TOOLS/lib/kunit-lib.sh"

# --- skips ------------------------------------------------------------------

export SKIPS=$work/skips
printf '%s\n' 'uml trace_a.skipped' 'uml trace_b.skipped' 'corner-none -' >"$SKIPS"
problem() { echo "$1 $2"; }

# skips WANT WHAT RUN ALL TEXT: as it is, and as a console has it
skips() {
	printf '%s\n' "$5" >"$work/console"
	judge_skips "$3" "$work/console" "$4" >"$work/out"
	out_is "$1" "skips: $2"
	sed -i 's/^/[    1.234567][    T1] /; s/$/\r/' "$work/console"
	judge_skips "$3" "$work/console" "$4" >"$work/out"
	out_is "$1" "skips: $2, with time stamps"
}

a='    # Subtest: trace_a
    ok 1 runs
    ok 2 skipped # SKIP needs two CPUs'
b='    # Subtest: trace_b
    ok 1 skipped # SKIP needs two CPUs
    not ok 2 fails'
skips '' "as listed" uml y "$a
$b"
skips 'uml skips what tools/quilt/data/skips does not list: trace_b.fails' "one more" uml y "$a
${b/not ok 2 fails/ok 2 fails # SKIP why}"
skips 'uml runs what tools/quilt/data/skips lists, remove it there: trace_a.skipped' "one less" uml y "${a/ # SKIP*/}
$b"
skips 'uml has no case that tools/quilt/data/skips lists: trace_b.skipped' "one that is gone" uml y "$a"
p='        # Subtest: p
        ok 1 one CPU
        ok 2 an NMI # SKIP takes none'
skips 'uml skips what tools/quilt/data/skips does not list: trace_b.p/an_NMI' "a parameter" uml y "$a
$b
$p
    ok 3 p"
echo 'uml trace_b.p/*' >>"$SKIPS"
skips '' "any parameter" uml y "$a
$b
$p
    ok 3 p"
skips 'uml has no case that tools/quilt/data/skips lists: trace_b.p/*' "no parameter where any may" uml y "$a
$b
${p% # SKIP*}
    ok 3 p"
sed -i '$d' "$SKIPS"
skips 'uml skips what tools/quilt/data/skips does not list: trace_b.p' "a case with all its parameters" uml y "$a
$b
$p
    ok 3 p # SKIP"
skips '' "one suite alone" uml '' "$a"
skips 'corner-none skips what tools/quilt/data/skips does not list: trace_a.skipped' "a run that skips none" corner-none y "$a"
skips '' "a corner that is not listed" corner-other y "$a"
skips 'other skips what tools/quilt/data/skips does not list: trace_a.skipped' "a run that is not listed" other y "$a"

# --- numbers ----------------------------------------------------------------

export RESULTS=$work/results
mkdir "$RESULTS"
cat >"$RESULTS/steps.md" <<'END'
## x86_64

| patch | write instr | print |
|---|---:|---:|
| one | 372 -> 1,373 | 5 |
| all 15 | 9 -> 7 (2) | - |

## arm64

| patch | write instr | print |
|---|---:|---:|
| one | 2 | 1 -> 3 |
END
printf '| what | here |\n|---|---|\n| one | 4 |\n' >"$RESULTS/plain.md"
cat >"$RESULTS/lttng.txt" <<'END'
what          base  quilt
records        1.5      2
END

# number WANT KEY
number() {
	"$QUILT_TOOLS/figures.py" value "$2" >"$work/out" 2>&1 || true
	out_is "$1" "$2 is $1"
}
number 1,373 'steps:one:write'
number 372 'steps:one:write before'
number 5 'steps:one:print before'
number 7 'steps:all:write'
number 2 'steps:arm64:one:write'
number 1 'steps:arm64:one:print before'
number 4 'plain:one:here'
number 1.5 'lttng:records:base'
number 2 'lttng:what:records:quilt'
number 1,001 'steps:one:write - steps:one:write before'
for key in 'plain:one:here before' 'steps:all:print' steps:two:write; do
	if "$QUILT_TOOLS/figures.py" value "$key" >"$work/out" 2>&1; then
		not_ok "$key has no number"
	else
		ok "$key has no number"
	fi
done

# --- fixes ------------------------------------------------------------------

mkdir -p "$work/quilt/lib" "$work/quilt/data/proofs" "$work/patches/fixes"
cp "$QUILT_TOOLS/lib/fixes.py" "$work/quilt/lib"
printf '= memory\tmemory is freed twice\n= wrong\tsomething is wrong\n' >"$work/quilt/data/fix-effects"
printf 'memory\tFix one\nwrong\tFix two\n' >>"$work/quilt/data/fix-effects"
printf 'fix Fix one\n\tkunit trace_a.case\nfix Fix two\n\treading It is rare.\n' >"$work/quilt/data/proofs/fixes"
fix() { # NUMBER SUBJECT TEXT
	printf 'Subject: [PATCH %s] %s\n\n%s\n---\ndiff\n' "$1" "$2" "$3" >"$work/patches/fixes/$1-$2.patch"
}
fixes() { python3 "$work/quilt/lib/fixes.py" "$work/patches" fixes >"$work/out" 2>&1; }
fix 0001 'Fix one' 'Cc: stable@vger.kernel.org # 6.1'
fix 0002 'Fix two' $'Needs patch "Fix\none", as it\nfails without.'
fixes || not_ok "lists the fixes"
grep '^[-|] \|^| \[' "$work/out" | grep -v '^| patch' >"$work/rows" || true
cp "$work/rows" "$work/out"
# shellcheck disable=SC2016 # Markdown
out_is '- [fixes/0001](fixes/0001-Fix one.patch) Fix one
| [fixes/0001](fixes/0001-Fix one.patch) | Fix one | 6.1 |  | `trace_a.case` |
| [fixes/0002](fixes/0002-Fix two.patch) | Fix two | no | fixes/0001 | none |' "lists the fixes"

# refused WANT WHAT
refused() {
	if fixes; then
		not_ok "fixes: $2"
	else
		out_is "$1" "fixes: $2"
	fi
}

# not_first WHAT TEXT TEST: then "Fix one" is none to read first
not_first() {
	fix 0001 'Fix one' "$2"
	printf 'fix Fix one\n\t%s\nfix Fix two\n\treading It is rare.\n' "$3" >"$work/quilt/data/proofs/fixes"
	fixes || not_ok "$1"
	grep -e '^- ' -e '^[0-9]* fixes need' "$work/out" >"$work/first" || true
	cp "$work/first" "$work/out"
	out_is '0 fixes need no other patch, are for stable, have a test, and are about crashes or hangs. Read these first:' \
		"fixes: not first: $1"
}
stable='Cc: stable@vger.kernel.org'
not_first "is not for stable" 'Not for stable: it is rare.' 'kunit trace_a.case'
not_first "has no test" "$stable" 'reading It is rare.'
fix 0002 'Fix two' 'It is wrong.'
not_first "needs another patch" 'Needs patch "Fix two".'$'\n\n'"$stable" 'kunit trace_a.case'
sed -i 's/^memory\tFix one/wrong\tFix one/' "$work/quilt/data/fix-effects"
not_first "is no crash" "$stable" 'kunit trace_a.case'

fix 0002 'Fix two' 'Needs patch "Fix three".'
refused 'fixes/0002-Fix two.patch needs a patch that is not there: Fix three' "a patch that is not there"
fix 0002 'Fix two' 'It is wrong.'
printf 'wrong\tFix four\n' >>"$work/quilt/data/fix-effects"
refused 'fix-effects: no fix has the subject: Fix four' "an effect of no fix"
sed -i '/Fix four/d; /Fix two/d' "$work/quilt/data/fix-effects"
refused 'fix-effects has no effect of: Fix two' "a fix without an effect"

verdict
