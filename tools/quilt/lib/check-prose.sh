# shellcheck shell=bash
# The checks of check.sh that read texts. Sourced by it; prose.py and
# sources.py do the work.

check_architecture() {
	need python3:python3
	"$QUILT_TOOLS/lib/sources.py" architecture "$TOP/ARCHITECTURE.md" "$TREE" "$TOP" && return
	echo "correct ARCHITECTURE.md"
	return 1
}

# The order of posting and what is not done: a maintainer asks for both.
check_covers() {
	local topic title bad=0
	cd "$QUILT_TOOLS/cover" || return
	for topic in $(topics); do
		[ -f "$topic.txt" ] || { echo "there is no cover/$topic.txt"; bad=1; continue; }
		for title in 'Order of posting' 'Not done'; do
			grep -A1 -xF "$title" "$topic.txt" | tail -n 1 | grep -qx '==*' ||
				{ echo "cover/$topic.txt has no section \"$title\""; bad=1; }
		done
	done
	[ $bad -eq 0 ] || echo "write it: what has to be posted before, or what this topic does not do"
	return $bad
}

# Percent. In the base it is 0.1.
MAX_HEADLESS=0.2

check_sentences() {
	local files where=${TREE#"$PWD/"}
	need python3:python3
	cd "$TOP" || return
	mapfile -t files < <(
		find patches -name '*.patch' | sort
		find . -maxdepth 1 -name '*.md' | sort
		find tools/quilt tools/bench -type f ! -path '*/results/*' ! -path '*/baseline/*' 2>/dev/null | sort
	)
	"$QUILT_TOOLS/lib/prose.py" sentences $MAX_HEADLESS "${files[@]}" && return
	echo "give these sentences a subject and a verb; those of patches in the commits of $where, and make export"
	return 1
}

# The numbers in cover letters and documents are those of make bench.
check_numbers() {
	local bad=0 topic
	need python3:python3
	cd "$TOP" || return
	"$QUILT_TOOLS/figures.py" missing tools/quilt/cover/*.txt 2>&1 || bad=1
	! grep -nE '\{[a-z0-9]+:' patches/*/0000-cover-letter.patch || bad=1
	"$QUILT_TOOLS/figures.py" typed tools/quilt/cover/*.txt | sed 's/$/: typed, and not listed in figures-typed/' || bad=1
	for topic in $(topics); do
		"$QUILT_TOOLS/figures.py" fill "tools/quilt/cover/$topic.txt" 2>/dev/null | sed '1,/^$/d' >"$WORK/cover"
		# The text of the letter is between its header and the list of patches. head
		# does not read it all, so that sed would die of a pipe without a reader.
		sed '1,/^$/d' "patches/$topic/0000-cover-letter.patch" >"$WORK/letter"
		head -n "$(wc -l <"$WORK/cover")" "$WORK/letter" |
			cmp -s - "$WORK/cover" || { echo "the cover letter of $topic is not what the results give: make export"; bad=1; }
	done
	"$QUILT_TOOLS/figures.py" docs "$TREE" 2>&1 || bad=1
	[ $bad -eq 0 ] || echo "make bench measures; figures.py docs -w ${TREE#"$PWD/"} corrects documents; make export"
	return $bad
}

# The files of tracefs that the quilt adds are in the list of ftrace.rst.
check_files() {
	local name bad=0 rst
	rst=$(git -C "$TREE" show HEAD:Documentation/trace/ftrace.rst) || return
	while read -r name; do
		# "name:", alone, in a list, or in the directory of a CPU
		grep -qE "^  ([A-Za-z_/0-9]+, )*$name(, [A-Za-z_/0-9]+)*:" <<<"$rst" || {
			echo "$name is not in Documentation/trace/ftrace.rst"
			bad=1
		}
	done < <("$QUILT_TOOLS/lib/sources.py" files "$TREE" "$(base_of "$TREE")" HEAD)
	[ $bad -eq 0 ] || echo "describe these files in the documentation patch of their topic, and make export"
	return $bad
}

