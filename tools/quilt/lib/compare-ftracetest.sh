#!/bin/bash
# Compares the verdicts of two runs of the ftrace selftests.
#
# usage: compare-ftracetest.sh [-u FILE] BASE RESULT
#
#   BASE     verdicts of the unpatched kernel, "VERDICT NUMBER FILE ..." lines
#   RESULT   the same of the kernel in question: the output of the scenario
#            "selftest", or a console log of it
#   -u FILE  tests that are not in BASE and may be UNSUPPORTED, one a line
#
# Tests are matched by file and "(instance)", as numbers move. A test fails if it is
# worse than in BASE, missing, or new and not passed. A test that is there twice
# has its worst verdict. Prints the differences, and the tests that passed only
# when they were tried again. The last line is a summary.

# shellcheck source=tools/quilt/lib/lib.sh
. "$(dirname "$0")/lib.sh"

unsupported=/dev/null
while [ $# -gt 0 ]; do
	case $1 in
	-u) unsupported=${2:?}; shift ;;
	-h | --help) usage; exit 0 ;;
	-*) usage >&2; exit 2 ;;
	*) break ;;
	esac
	shift
done
[ $# -eq 2 ] || { usage >&2; exit 2; }
for file in "$@" "$unsupported"; do
	[ -e "$file" ] || die "no such file: $file" "see: tools/quilt/lib/compare-ftracetest.sh --help"
done

tr -d '\r' <"$2" | awk '
	BEGIN {
		rank["PASS"] = 1
		rank["XFAIL"] = 2
		rank["UNSUPPORTED"] = rank["UNTESTED"] = 3
		rank["UNRESOLVED"] = 4
		rank["FAIL"] = rank["UNDEFINED"] = rank["NORESULT"] = 5
	}
	part == "unsupported" { if ($1 ~ /\.tc$/) listed[$1]; next }
	!($1 in rank) || $2 !~ /^[0-9]+$/ || $3 !~ /\.tc$/ { next }
	{ test = $3 ($4 == "(instance)" ? " (instance)" : "") }
	part == "base" {
		if (!(test in base))
			known[++bases] = test
		base[test] = $1
		next
	}
	!(test in now) { order[++tests] = test }
	!(test in now) || rank[$1] > rank[now[test]] { now[test] = $1; file[test] = $3 }
	/, retried$/ { retried[test] }
	function report(good, what) {
		print (good ? "ok " : "not ok ") test ": " what
		if (!good)
			failed++
	}
	END {
		if (!bases) {
			print "not ok there are no verdicts of the base"
			failed++
		}
		for (i = 1; i <= tests; i++) {
			test = order[i]
			verdict = now[test]
			good = 1
			if (!(test in base)) {
				good = verdict == "PASS" ||
				       (verdict == "UNSUPPORTED" && (file[test] in listed))
				report(good, verdict ", new")
			} else if (verdict != base[test]) {
				good = rank[verdict] <= rank[base[test]]
				report(good, verdict ", was " base[test])
			} else if (test in retried) {
				report(1, verdict ", but not at once")
			}
			if (good) {
				if (rank[verdict] <= 2)
					passed++
				else
					skipped++
			}
		}
		for (i = 1; i <= bases; i++) {
			test = known[i]
			if (!(test in now))
				report(0, "did not run, was " base[test])
		}
		printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
		exit failed > 0 || passed == 0
	}' part=unsupported "$unsupported" part=base "$1" part=now -
