# shellcheck shell=bash disable=SC2154
# The check of check.sh that each fix has a proof. Sourced by it
# behind topics-lib.sh.

# shellcheck source=tools/quilt/lib/prove-lib.sh
. "$QUILT_TOOLS/lib/prove-lib.sh"

# exists KIND WHAT: in the tree of the fixes, $stack has their files.
exists() {
	case $1 in
	kunit)
		grep -lrE "KUNIT_CASE[A-Z_]*\(${2#*.}[,)]" "$stack" --include='*.c' |
			xargs -r grep -qE "\.name[[:space:]]*= \"${2%%.*}\""
		;;
	selftest)
		[ -f "$stack/tools/testing/selftests/ftrace/test.d/$2" ] ||
			[ -f "$stack/tools/testing/selftests/verification/test.d/${2#verification/}" ] ||
			git -C "$TREE" cat-file -e "$(base_of "$TREE"):tools/testing/selftests/ftrace/test.d/$2" 2>/dev/null
		;;
	scenario) [ -f "$QUILT_TOOLS/guest/scenarios/$2" ] ;;
	esac
}

# named KIND WHAT: the tests that it names; a reason may name some, too.
named() {
	case $1 in
	reading) grep -oE '[a-z0-9_]+/[A-Za-z0-9_.-]+\.tc\b' <<<"$2" | sed 's/^/selftest /' || true
		grep -oE '\btrace_[a-z0-9_]+\.[a-z0-9_]{4,}' <<<"$2" | sed 's/^/kunit /' || true ;;
	*) echo "$1 ${2%% *}" ;;
	esac
}

check_proofs() {
	local topic bad=0 file patch fixes subject kind what proven existing=()
	for topic in $FIXES_TOPICS; do
		! topics | grep -xF "$topic" >/dev/null || existing+=("$topic")
	done
	open_stack "$BUILD/check/proofs"
	stack_topics "${existing[@]}" || { stack_says fixes "on the base"; echo "see the check topics"; return 1; }
	for topic in "${existing[@]}"; do
		file=$QUILT_TOOLS/data/proofs/$topic
		fixes=$(for patch in $(code_fixes "$topic"); do patch_subject "$patch"; done)
		proven=$(parse_proofs "$file") || { bad=1; continue; }
		while IFS=$'\t' read -r kind subject what; do
			case $kind in
			with) topic_subjects "$topic" | grep -xF -e "$subject" >/dev/null || { echo "$topic: with names no patch of this topic: $subject"; bad=1; } ;;
			*)
				grep -qxF -e "$subject" <<<"$fixes" || { echo "$topic: no fix of this topic: $subject"; bad=1; }
				while read -r kind what; do
					exists "$kind" "$what" || { echo "$topic: there is no $kind $what, which is to prove: $subject"; bad=1; }
				done < <(named "$kind" "$what")
				;;
			esac
		done <<<"$proven"
		while read -r subject; do
			[ -z "$subject" ] || cut -f 2 <<<"$proven" | grep -xF -e "$subject" >/dev/null ||
				{ echo "$topic: no proof of: $subject"; bad=1; }
		done <<<"$fixes"
	done
	for file in "$QUILT_TOOLS"/data/proofs/*; do
		[[ ! -f $file || $file == */README.md || " $FIXES_TOPICS " == *" ${file##*/} "* ]] || { echo "proofs/${file##*/} is of no topic of fixes"; bad=1; }
	done
	rm -rf "$stack"
	[ $bad -eq 0 ] || echo "correct tools/quilt/data/proofs/TOPIC, see prove.sh --help"
	return $bad
}
