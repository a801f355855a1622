#!/bin/bash
# Removes reports of data races that are not the quilt's from a console log.
#
# usage: races.sh NAMES <LOG
#
#   NAMES  a file of lines "own FUNCTION" (the base has none of that name),
#          "added FUNCTION" (in a file that the quilt adds or makes anew),
#          "tracing FUNCTION" (any other one of kernel/trace and its surroundings)
#
# It removes reports of KCSAN
#   - of which neither function has to do with tracing
#   - of functions of mainline's on one CPU, one of them in an interrupt, which
#     leaves the counters per CPU and per task as it found them
# but never a report that is cut, or has another complaint in its middle.

set -u
usage() { sed -n '2,/^$/s/^# \{0,1\}//p' "$0"; }
case ${1:-} in
-h | --help) usage; exit 0 ;;
'' | -*) usage >&2; exit 2 ;;
esac

awk '
	NR == FNR {
		kind = $1
		sub(/^[a-z]+ /, "")
		of[kind, $0] = 1
		next
	}
	/BUG: KCSAN: / {
		printf "%s", text
		text = ""
		report = 1
		ours = about_us = nested = sides = other = 0
		races = $0
		sub(/.* in /, "", races)
		split(races, functions, " / ")
		for (i in functions) {
			sub(/[. ].*/, "", functions[i])
			if (("own", functions[i]) in of || ("added", functions[i]) in of) ours = about_us = 1
			if (("tracing", functions[i]) in of) about_us = 1
		}
	}
	!report { print; next }
	/(BUG|WARNING|INFO|Oops): / && !/BUG: KCSAN: / { other = 1 }
	/ by (task|interrupt).* on cpu / {
		cpu = $0
		sub(/.* on cpu /, "", cpu)
		sides++
		if (/ by interrupt/) nested = 1
		if (sides == 1) first = cpu
	}
	{ text = text $0 "\n" }
	/\] =====/ {
		mine = about_us
		if (!ours && nested && sides == 2 && cpu == first) mine = 0
		if (mine || other) printf "%s", text
		text = ""
		report = 0
	}
	END { printf "%s", text }' "$1" -
