# shellcheck shell=bash
# The checks of check.sh that are about the topics of fixes. Sourced by it.

# shellcheck source=tools/quilt/lib/topics-lib.sh
. "$QUILT_TOOLS/lib/topics-lib.sh"

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

