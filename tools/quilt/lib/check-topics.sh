# shellcheck shell=bash
# The checks of check.sh that are about topics. Sourced by it.

# shellcheck source=tools/quilt/lib/topics-lib.sh
. "$QUILT_TOOLS/lib/topics-lib.sh"
# shellcheck source=tools/quilt/lib/compile-lib.sh
. "$QUILT_TOOLS/lib/compile-lib.sh"

# After a failure of stack_am: what it is about.
stack_says() { # TOPIC WHERE
	echo "$1: $stack_error"
	echo "    that is $2"
}

# on TOPIC...: where a topic is applied, in words.
on() {
	local names="$*"
	echo "on the base${names:+ with ${names// /, }} alone"
}

check_topics() {
	local topic bad=0 needed
	open_stack "$BUILD/check/topics"
	for topic in $(topics); do
		mapfile -t needed < <(needed_topics "$topic")
		stack_topic "$topic" && continue
		stack_says "$topic" "$(on "${needed[@]}")"
		bad=1
	done
	rm -rf "$stack"
	[ $bad -eq 0 ] && return
	echo "name what is missing in Depends: of tools/quilt/cover/TOPIC.txt, or give the patch other neighbours; and make export"
	return 1
}

# targets_of ARCH: for x86_64 all files that the quilt touches. The configuration
# of UML lacks some of them, so kbuild chooses those of these directories.
targets_of() {
	case $1 in
	x86_64) compile_files ;;
	um) printf '%s\n' kernel/trace/ samples/ ;;
	esac
}

# An id of all that decides about the warnings, besides the tree.
build_id() { # ARCH
	local configs
	mapfile -t configs < <(compile_configs "$1")
	{
		gcc --version | sed -n 1p
		cat "$QUILT_TOOLS/lib/compile-lib.sh" "$QUILT_TOOLS/lib/check-topics.sh" "${configs[@]}"
		targets_of "$1"
	} | sha256sum | cut -d ' ' -f 1
}

# make does not repeat the warnings of objects that are up to date.
forget_objects() { # ARCH
	local part
	for part in $(targets_of "$1"); do
		[ ! -e "$OUT/check-$1/$part" ] || find "$OUT/check-$1/$part" -name '*.o' -delete
	done
}

build_base() { # ARCH
	local log=$LOGS/topics-$1-base.log targets
	mapfile -t targets < <(targets_of "$1")
	forget_objects "$1"
	build_targets "$1" "$log" "${targets[@]}" ||
		{ echo "the base does not build for $1, see $log"; return 1; }
}

# UML builds whole directories. Its objects of files that the topic does not touch
# count as up to date: x86_64 compiles them against the changed headers.
keep_others() { # TOPIC
	local patches
	mapfile -t patches < <(topic_patches "$1")
	(cd "$OUT/check-um" && find kernel/trace samples -name '*.o' 2>/dev/null |
		grep -vxFf <(touched "${patches[@]}" | sed -n 's/\.[cS]$/.o/p') | xargs -r touch)
}

build_topic() { # ARCH TOPIC
	local log=$LOGS/topics-$1-$2.log report targets
	mapfile -t targets < <(targets_of "$1")
	[ "$1" != um ] || keep_others "$2"
	if report=$(build_targets "$1" "$log" "${targets[@]}") &&
	   report=$(comm -13 "$LOGS/topics-$1-base.log.warnings" "$log.warnings") && [ -z "$report" ]; then
		echo "$id $(build_id "$1")" >>"$OUT/check-$1/built"
		return
	fi
	forget_objects "$1"
	printf '%s\n' "$2 for $1, $(on "${needed[@]}"), log $log:" "    ${report//$'\n'/$'\n'    }"
	return 1
}

# side_by_side COMMAND ARGUMENT ARCH...: make uses one core for half of its time.
side_by_side() {
	local command=$1 argument=$2 arch pids=() pid bad=0
	for arch in "${@:3}"; do
		"$command" "$arch" "$argument" &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || bad=1
	done
	return $bad
}

# A topic that was built without a warning is not built again. The base is built
# first, for its warnings and for objects that the topics can share.
check_topics-build() {
	local topic bad=0 needed arch id missing based='' all today
	mapfile -t all < <(topics)
	today=$(of_today "${TOPICS:-100}" "${all[@]}")
	[ -z "${TOPICS:-}" ] || echo "note: of the topics, today: ${today//$'\n'/ }"
	open_stack "$BUILD/check/topics-build"
	for topic in "${all[@]}"; do
		mapfile -t needed < <(needed_topics "$topic")
		stack_topic "$topic" || { stack_says "$topic" "$(on "${needed[@]}")"; bad=1; continue; }
		grep -qx "$topic" <<<"$today" || continue
		stack_whole "$topic"
		id=$(git -C "$stack" rev-parse "$topic^{tree}")
		missing=()
		for arch in x86_64 um; do
			grep -qsxF "$id $(build_id $arch)" "$OUT/check-$arch/built" || missing+=("$arch")
		done
		[ ${#missing[@]} -gt 0 ] || continue
		if [ -z "$based" ]; then
			compile_checkout "$(base_of "$TREE")"
			side_by_side build_base '' x86_64 um ||
				{ echo "the base builds in its own configuration: look at tools/quilt/configs and compile-lib.sh"; return 1; }
			based=1
		fi
		compile_checkout "$topic" "$stack"
		side_by_side build_topic "$topic" "${missing[@]}" || bad=1
	done
	rm -rf "$stack"
	[ $bad -eq 0 ] && return
	echo "amend the commits of that topic in ${TREE#"$PWD/"}, or name in Depends: what it needs, and make export; one by one: tools/quilt/bisect.sh TOPIC"
	return 1
}

MAX_LINES=700

# An exception is a subject, and below it, indented, the reason.
check_size() {
	local patch lines line subject='' bad=0
	declare -A reason=()
	while IFS= read -r line; do
		case $line in
		'' | '#'*) ;;
		[[:space:]]*) [ -z "$subject" ] || reason[$subject]+=$line ;;
		*) subject=$line reason[$line]='' ;;
		esac
	done < <(cat "$QUILT_TOOLS/data/size-exceptions" 2>/dev/null)
	while read -r patch; do
		lines=$(git -C "$BUILD/check" apply --numstat "$patch" | awk '{ n += $1 + $2 } END { print n + 0 }')
		subject=$(patch_subject "$patch")
		if [ "$lines" -gt $MAX_LINES ]; then
			[ -n "${reason[$subject]:-}" ] ||
				{ echo "${patch#"$TOP/"} changes $lines lines, $MAX_LINES are the most"; bad=1; }
		elif [ -n "${reason[$subject]+y}" ]; then
			echo "size-exceptions names a patch of $lines lines: $subject"
			bad=1
		fi
		unset 'reason[$subject]'
	done < <(patch_paths)
	for subject in "${!reason[@]}"; do
		echo "size-exceptions names no patch of the series: $subject"
		bad=1
	done
	[ $bad -eq 0 ] ||
		echo "split the patch, or put its subject and, indented below, the reason into tools/quilt/data/size-exceptions"
	return $bad
}
