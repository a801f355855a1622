# shellcheck shell=bash
# Shared by prove.sh and its tests: reads files of proofs, and finds the verdicts
# in logs. Source it behind lib.sh.
#
# A verdict is one line: "passes", "fails: WHY", or "did not run: WHY".

# parse_proofs FILE: a line for each proof: KIND, SUBJECT and WHAT with tabs
# between. KIND is kunit, selftest, scenario, reading; or with, which has a
# SUBJECT only. Errors go to standard error.
parse_proofs() {
	[ -f "$1" ] || { echo "there is no ${1#"$TOP/"}" >&2; return 1; }
	awk -v file="${1##*/}" '
		function wrong(what) { print "proofs/" file ":" NR ": " what >"/dev/stderr"; bad = 1 }
		function proven() { if (subject != "" && !proofs) wrong("no proof of: " subject) }
		function rest() { sub(/^[ \t]*[^ \t]+[ \t]*/, ""); sub(/[ \t]+$/, ""); return $0 }
		/^[ \t]*(#|$)/ { next }
		/^fix / {
			proven()
			subject = rest()
			proofs = 0
			if (subject in fixes) wrong("twice: " subject)
			fixes[subject]
			next
		}
		/^with / { print "with\t" rest() "\t"; next }
		{ kind = $1 }
		kind == "kunit" && ($2 !~ /^[a-z0-9_-]+\.[a-zA-Z0-9_]+$/ || NF > 3 || (NF == 3 && $3 !~ /^(uml|uml-debug|x86_64|i386)$/)) {
			wrong("want: kunit SUITE.CASE [uml|uml-debug|x86_64|i386]")
		}
		kind == "selftest" && ($2 !~ /^[^\/]+\/.*\.tc$/ || (NF > 2 && $3 !~ /^(-A|uml-debug)$/)) {
			wrong("want: selftest DIR/FILE.tc [uml-debug] [-A KERNEL PARAMETER...]")
		}
		kind == "scenario" && NF < 2 { wrong("want: scenario NAME [ARGUMENT]... [-A KERNEL PARAMETER...]") }
		kind == "reading" && NF < 2 { wrong("want: reading REASON") }
		kind !~ /^(kunit|selftest|scenario|reading)$/ { wrong("no such proof: " kind); next }
		subject == "" { wrong("a proof before any fix"); next }
		{ proofs++; print kind "\t" subject "\t" rest() }
		END { proven(); exit bad }' "$1"
}

# ktap_result LOG SUITE CASE: what a kernel's log says of a case that was chosen
# alone, in a word, and why.
ktap_result() {
	awk -v suite="$2" -v name="$3" '
		{
			gsub(/\r/, "")
			sub(/^\[ *[0-9]+\.[0-9]+\](\[ *[CT][0-9]+\])? ?/, "")
		}
		$0 == "    # Subtest: " suite { begun = 1; plan = ""; next }
		!begun { next }
		/^    1\.\.[0-9]+$/ && plan == "" { plan = substr($0, 8) }
		/^    (not )?ok [0-9]+ / {
			text = $0
			sub(/^    (not )?ok [0-9]+ (- )?/, "", text)
			skip = sub(/ # SKIP/, "", text) ? "skipped" : ""
			split(text, word, " ")
			if (word[1] == name && result == "") {
				result = skip ? "skip" : (/^    not/ ? "not-ok" : "ok")
			}
		}
		/^(not )?ok [0-9]+ / { n = split($0, word, " "); for (i = 1; i <= n; i++) if (word[i] == suite) ended = 1 }
		!trouble && match($0, /Kernel panic - .*|BUG: .*|Oops.*|general protection fault.*|(soft|hard) lockup.*|INFO: task .* blocked for more.*|rcu.*detected.*stall.*/) {
			trouble = substr($0, RSTART, 100)
		}
		END {
			if (result != "") print result
			else if (!begun) print "absent the kernel did not come to the suite " suite
			else if (plan != "" && plan != 1) print "absent " plan " cases were chosen, not one"
			else if (ended) print "absent the suite ended without this case"
			else if (trouble != "") print "trouble " trouble
			else print "begun"
		}' "$1"
}

# splats_of LOG KIND FROM: the first complaint of the kernel behind the line FROM
splats_of() {
	local cut=$1.cut found
	{
		# Whether time stamps are to be expected.
		grep -am 1 'Linux version' "$1" || true
		awk -v from="$3" 'found || (found = index($0, from)) { print }' "$1"
	} >"$cut"
	found=$("$QUILT_TOOLS/lib/splat.sh" -k "$2" "$cut") || sed -n '1s/^[^:]*:[0-9]*: *//p' <<<"$found"
	rm -f "$cut"
}

# kunit_verdict LOG SUITE CASE RUN LIMIT: LIMIT is the time limit in seconds if
# the kernel was stopped at it, otherwise empty.
kunit_verdict() {
	local result why splat
	read -r result why < <(ktap_result "$1" "$2" "$3")
	case $result in
	ok)
		splat=$(splats_of "$1" "$4" "# Subtest: $2")
		echo "${splat:+fails: }${splat:-passes}"
		;;
	not-ok) echo "fails: not ok" ;;
	skip) echo "did not run: skipped" ;;
	trouble) echo "fails: $why" ;;
	begun)
		if [ -n "$5" ]; then
			echo "fails: hangs, no end after $5 s"
		else
			echo "did not run: the log ends in the case without a word"
		fi
		;;
	*) echo "did not run: $why" ;;
	esac
}

# guest_end LOG RC KIND: what guest.sh said at the end of a run that had begun. The
# kernel may have said why it hangs: LOG.console is the console's log.
guest_end() {
	local panic report=''
	panic=$(grep -am 1 -o 'Kernel panic - .*' "$1" || true)
	case $2 in
	124)
		[ ! -s "$1.console" ] || report=$(splats_of "$1.console" "$3" 'Run /init as init process')
		echo "fails: ${report:-hangs}"
		;;
	125) [ -z "$panic" ] || echo "fails: $panic" ;;
	esac
}

# The scenario passed, and the kernel complained.
complained() { # LOG RC
	[ "$2" -ne 125 ] || sed -n '/^error: the kernel complained/,$p' "$1" | sed -n '2s/^ *\([0-9]*: \)\?//p'
}

# selftest_verdict LOG FILE RC KIND: LOG is what guest.sh run selftest FILE printed,
# and LOG.console the console; splat.sh knows KIND.
# A test with "flags: instance" has a line for each of its two runs.
selftest_verdict() {
	local name=${2#verification/} verdicts other end splat
	verdicts=$(awk -v name="$name" '$1 ~ /^[A-Z]+$/ && $2 ~ /^[0-9]+$/ && $3 == name { print $1 }' "$1" | sort -u)
	other=$(sed '/^PASS$/d; /^FAIL$/d' <<<"$verdicts")
	if grep -qx FAIL <<<"$verdicts"; then
		echo "fails: FAIL"
	elif [ -n "$other" ]; then
		echo "did not run: ${other//$'\n'/, }"
	elif [ -n "$verdicts" ]; then
		splat=$(complained "$1" "$3")
		echo "${splat:+fails: }${splat:-passes}"
	elif grep -q '^\[1\] ' "$1" && end=$(guest_end "$1" "$3" "$4") && [ -n "$end" ]; then
		echo "$end"
	else
		echo "did not run: no verdict"
	fi
}

# scenario_verdict LOG NAME RC KIND: LOG is what guest.sh run NAME printed.
scenario_verdict() {
	local end splat
	splat=$(complained "$1" "$3")
	if [ "$3" -eq 0 ]; then
		echo passes
	elif [ -n "$splat" ]; then
		echo "fails: $splat"
	elif [ "$3" -eq 77 ]; then
		echo "did not run: it says that it can't"
	elif grep -q "^error: scenario $2: exit code $3," "$1"; then
		echo "fails: exit code $3"
	elif grep -q "^error: the kernel complained during $2 (exit code $3)," "$1"; then
		echo "fails: exit code $3, and the kernel complains"
	elif grep -q "did not finish $2" "$1" && end=$(guest_end "$1" "$3" "$4") && [ -n "$end" ]; then
		echo "$end"
	else
		echo "did not run: $(sed -n 's/^error: //p' "$1" | head -n 1)"
	fi
}
