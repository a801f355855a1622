# shellcheck shell=bash
# The checks of check.sh that are about the topics of fixes. Sourced by it.

# shellcheck source=tools/quilt/topics-lib.sh
. "$QUILT_TOOLS/topics-lib.sh"
# shellcheck source=tools/quilt/prove-lib.sh
. "$QUILT_TOOLS/prove-lib.sh"

# closure PATCH...: these and all that they need, in the order of the series;
# of the fixes that $fix_of knows by their subjects.
closure() {
	local todo=("$@") seen=' ' patch subject
	while [ ${#todo[@]} -gt 0 ]; do
		patch=${todo[0]}
		todo=("${todo[@]:1}")
		[[ $seen != *" $patch "* ]] || continue
		seen+="$patch "
		while IFS=$'\t' read -r subject _; do
			[ -z "${fix_of[$subject]:-}" ] || todo+=("${fix_of[$subject]}")
		done < <(needs_of "$patch")
	done
	patch_paths | while read -r patch; do
		[[ $seen != *" $patch "* ]] || echo "$patch"
	done
}

# applies PATCH NEED...: on the base with what it needs alone
applies() {
	local patch=$1 on=()
	shift
	[ $# -eq 0 ] || mapfile -t on < <(closure "$@")
	git -C "$stack" reset -q --hard base
	stack_am "${on[@]}" "$patch"
}

# behind PATCH FIX...: does it apply behind these?
behind() {
	local patch=$1
	shift
	git -C "$stack" reset -q --hard base
	stack_am "$@" "$patch"
}

# why_not PATCH: the fixes before it behind which it applies, as few as it takes.
why_not() {
	local patch=$1 all near need some=()
	mapfile -t all < <(printf '%s\n' "${fix_of[@]}" | grep -xF -f - <(patch_paths))
	# Those that touch the same files are enough, as a rule.
	touched "$patch" >"$stack/.git/touched"
	mapfile -t near < <(for need in "${all[@]}"; do
		! touched "$need" | grep -xF -f "$stack/.git/touched" >/dev/null || echo "$need"
	done)
	if behind "$patch" "${near[@]}"; then
		all=("${near[@]}")
	elif ! behind "$patch" "${all[@]}"; then
		echo "    it does not apply behind all fixes before it either"
		return
	fi
	# The last ones first: an earlier one may be there for them only.
	while read -r need; do
		mapfile -t some < <(printf '%s\n' "${all[@]}" | grep -vxF "$need")
		! behind "$patch" "${some[@]}" || all=("${some[@]}")
	done < <(printf '%s\n' "${all[@]}" | tac)
	for need in "${all[@]}"; do
		echo "    it applies behind: $(patch_subject "$need")"
	done
}

# stands_alone TOPIC PATCH
stands_alone() {
	local subject why need others bad=0 needs=() strict=()
	while IFS=$'\t' read -r subject why; do
		need=${fix_of[$subject]:-}
		if [ -z "$need" ]; then
			echo "$1: ${2##*/} needs \"$subject\", which is no patch of a topic of fixes before it"
			return 1
		fi
		needs+=("$need")
		[ -n "$why" ] || strict+=("$need")
	done < <(needs_of "$2")
	if ! applies "$2" "${needs[@]}"; then
		stack_says "$1" "on the base${needs[*]:+ with what its changelog says it needs} alone"
		why_not "$2"
		return 1
	fi
	for need in "${strict[@]}"; do
		mapfile -t others < <(printf '%s\n' "${needs[@]}" | grep -vxF "$need")
		[ ${#others[@]} -eq 0 ] || ! closure "${others[@]}" | grep -xF "$need" >/dev/null || continue
		applies "$2" "${others[@]}" || continue
		echo "$1: ${2##*/} says that it needs \"$(patch_subject "$need")\", and applies without"
		bad=1
	done
	return $bad
}

# explains PATCH WORDS: the changelog has a paragraph "WORDS: REASON".
explains() {
	patch_message "$1" | awk -v words="$2" 'BEGIN { RS = "" } $0 ~ "^" words ": [^ ]" { found = 1 } END { exit !found }'
}

# fix_says TOPIC PATCH: the trailers, and nothing of tests
fix_says() {
	local bad=0 file stable='' not=''
	file=$(files_of "$2" tests | sed -n 1p)
	[ -z "$file" ] || { echo "$1: ${2##*/} changes code and $file: make two patches of it"; bad=1; }
	if has_trailer "$2" Fixes:; then
		! has_trailer "$2" "$STABLE_TRAILER" || stable=y
		! explains "$2" 'Not for stable' || not=y
		case $stable,$not in
		,) echo "$1: ${2##*/} has Fixes: and neither Cc: stable@vger.kernel.org nor a paragraph 'Not for stable: REASON'"; bad=1 ;;
		y,y) echo "$1: ${2##*/} has Cc: stable@vger.kernel.org and says 'Not for stable:'"; bad=1 ;;
		esac
	elif ! has_trailer "$2" "(Link:|$STABLE_TRAILER)" && ! explains "$2" 'No Fixes: tag'; then
		echo "note: $1: neither Fixes: nor Link: in ${2##*/}"
	fi
	return $bad
}

check_standalone() {
	local topic patch bad=0 fixes=' '
	declare -A fix_of=()
	open_stack "$BUILD/check/standalone"
	for topic in $FIXES_TOPICS; do
		fixes+="$(code_fixes "$topic" | tr '\n' ' ')"
		for patch in $(topic_patches "$topic"); do
			if grep -qE '^([^:]*: )*[Ff]ix(es)? ' <<<"$(patch_subject "$patch")" &&
			   ! has_trailer "$patch" '(Fixes|Link):' && ! explains "$patch" 'No Fixes: tag'; then
				echo "$topic: ${patch##*/} is a fix by its subject and has neither Fixes: nor Link: nor a paragraph 'No Fixes: tag: REASON'"
				bad=1
			fi
			is_test_patch "$patch" && continue
			[[ $fixes != *" $patch "* ]] || fix_says "$topic" "$patch" || bad=1
			stands_alone "$topic" "$patch" || bad=1
			fix_of[$(patch_subject "$patch")]=$patch
		done
	done
	rm -rf "$stack"
	[ $bad -eq 0 ] && return
	echo "a fix that needs others says so in its changelog, a line each: Needs patch \"SUBJECT\" (and what for, if it applies without: ... to build)"
	return 1
}

# named KIND WHAT: the tests that it names; a reason may name some, too.
named() {
	case $1 in
	reading) grep -oE '[a-z0-9_]+/[A-Za-z0-9_.-]+\.tc\b' <<<"$2" | sed 's/^/selftest /' || true
		grep -oE '\btrace_[a-z0-9_]+\.[a-z0-9_]{4,}' <<<"$2" | sed 's/^/kunit /' || true ;;
	*) echo "$1 ${2%% *}" ;;
	esac
}

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

check_proofs() {
	local topic bad=0 file patch fixes subject kind what proven existing=()
	for topic in $FIXES_TOPICS; do
		! topics | grep -xF "$topic" >/dev/null || existing+=("$topic")
	done
	open_stack "$BUILD/check/proofs"
	stack_topics "${existing[@]}" || { stack_says fixes "on the base"; echo "see the check topics"; return 1; }
	for topic in "${existing[@]}"; do
		file=$QUILT_TOOLS/proofs/$topic
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
	for file in "$QUILT_TOOLS"/proofs/*; do
		[[ ! -f $file || $file == */README.md || " $FIXES_TOPICS " == *" ${file##*/} "* ]] || { echo "proofs/${file##*/} is of no topic of fixes"; bad=1; }
	done
	rm -rf "$stack"
	[ $bad -eq 0 ] || echo "correct tools/quilt/proofs/TOPIC, see prove.sh --help"
	return $bad
}
