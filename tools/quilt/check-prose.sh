# shellcheck shell=bash
# The checks of check.sh that read texts. Sourced by it; prose.py does the work.

check_architecture() {
	need python3:python3
	"$QUILT_TOOLS/prose.py" architecture "$TOP/ARCHITECTURE.md" "$TREE" "$TOP" && return
	echo "correct ARCHITECTURE.md"
	return 1
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
	"$QUILT_TOOLS/prose.py" sentences $MAX_HEADLESS "${files[@]}" && return
	echo "give these sentences a subject and a verb; those of patches in the commits of $where, and make export"
	return 1
}

check_words() {
	local hosts='(deb|security|archive|ports|snapshot|registry|files|proxy|index|ghcr|quay|crates|static[.]crates)'
	hosts+='[.](debian[.]org|ubuntu[.]com|npmjs[.]org|yarnpkg[.]com|pythonhosted[.]org|golang[.]org|crates[.]io|docker[.]io|io)'
	hosts+='|(^|[^a-z])pypi[.]org|docker[.]io'
	cd "$TOP" || return
	! find . \( -path ./build -o -path ./.git -o -path "./${BUILD#"$TOP/"}" \) -prune -o -type f -print0 |
		xargs -0 grep -nEI "$hosts|(^|[^[:alnum:]_./-])/(work|root|home)/" ||
		{ echo "take these hosts and paths out"; return 1; }
}
