#!/bin/bash
# Compares the verdicts of two runs of the ftrace selftests.
#
# usage: compare-ftracetest.sh BASE RESULT
#
#   BASE    verdicts of the unpatched kernel, "VERDICT NUMBER FILE ..." lines
#   RESULT  the same of the kernel in question: what the scenario "selftest"
#           printed, or a console log of it
#
# Tests are matched by file, and apart from that by "(instance)": numbers move.
# Worse than in BASE, missing, or new and not passed is a failure. Prints what
# differs; the last line counts.

# shellcheck source=tools/quilt/lib.sh
. "$(dirname "$0")/../lib.sh"

usage() { sed -n '2,/^$/s/^# \{0,1\}//p' "$0"; }

case ${1:-} in
-h | --help) usage; exit 0 ;;
esac
[ $# -eq 2 ] || { usage >&2; exit 2; }
for file; do
	[ -f "$file" ] || die "no such file: $file" "see: tools/quilt/tests/compare-ftracetest.sh --help"
done

tr -d '\r' <"$2" | awk '
	BEGIN {
		rank["PASS"] = rank["XFAIL"] = 1
		rank["UNSUPPORTED"] = rank["UNTESTED"] = 2
		rank["UNRESOLVED"] = 3
		rank["FAIL"] = rank["UNDEFINED"] = 4
	}
	!($1 in rank) || $2 !~ /^[0-9]+$/ || $3 !~ /\.tc$/ { next }
	{ test = $3 ($4 == "(instance)" ? " (instance)" : "") }
	NR == FNR { base[test] = $1; next }
	!(test in now) { order[++tests] = test }
	{ now[test] = $1 }
	END {
		for (i = 1; i <= tests; i++) {
			test = order[i]
			if (!(test in base)) {
				good = rank[now[test]] <= 2
				print (good ? "ok " : "not ok ") test ": " now[test] ", new"
			} else {
				good = rank[now[test]] <= rank[base[test]]
				if (now[test] != base[test])
					print (good ? "ok " : "not ok ") test ": " now[test] ", was " base[test]
			}
			good ? passed++ : failed++
		}
		for (test in base)
			if (!(test in now)) {
				print "not ok " test ": did not run, was " base[test]
				failed++
			}
		printf "%d passed, %d failed\n", passed, failed
		exit failed > 0 || passed == 0
	}' "$1" -
