# shellcheck shell=bash disable=SC2154
# The checks of check.sh that read the project's own files. Sourced by it.

check_scripts() {
	local scripts libs advice="correct the scripts"
	need shellcheck:shellcheck
	cd "$TOP" || return
	mapfile -t scripts < <(find tools/quilt tools/bench .ci -type f -exec \
		grep -lE '^#!.*[ /](ba|da)?sh( |$)' {} + 2>/dev/null | sort)
	# The scripts use the variables that a library only sets.
	mapfile -t libs < <(find tools/quilt tools/bench -type f -exec \
		grep -lE '^# shellcheck shell=' {} + 2>/dev/null | sort)
	shellcheck -x "${scripts[@]}" || { echo "$advice"; return 1; }
	shellcheck -x -e SC2034 "${libs[@]}" || { echo "$advice"; return 1; }
}

check_maintainers() {
	local snippet=$TOP/MAINTAINERS-snippet clone=$WORK/maintainers title bad=0 file added
	need perl:perl
	mapfile -t added < <(changed_files A)
	[ -f "$snippet" ] || { echo "there is no MAINTAINERS-snippet"; echo "write one"; return 1; }
	title=$(grep -m 1 . "$snippet")
	# get_maintainer.pl accepts a tree that has these files.
	scratch_clone "$clone" "$(git -C "$TREE" rev-parse HEAD)" COPYING CREDITS Kbuild \
		MAINTAINERS Makefile README scripts/get_maintainer.pl "${added[@]}"
	cd "$clone" || return
	mkdir -p Documentation arch include drivers fs init ipc kernel lib

	# To test the patterns of the whole file would take minutes.
	mv MAINTAINERS all
	cp "$snippet" MAINTAINERS
	scripts/get_maintainer.pl --self-test=patterns >"$WORK/self-test" 2>&1
	{ cat all; echo; cat "$snippet"; } >MAINTAINERS
	scripts/get_maintainer.pl --self-test=sections 2>&1 |
		awk -F: -v n="$(wc -l <all)" '$2 > n' >>"$WORK/self-test"
	[ ! -s "$WORK/self-test" ] || { cat "$WORK/self-test"; bad=1; }
	for file in "${added[@]}"; do
		scripts/get_maintainer.pl --nogit --nogit-fallback --sections -f "$file" 2>&1 |
			grep -xF "$title" >/dev/null || { echo "the section does not cover $file"; bad=1; }
	done
	rm -rf "$clone"
	[ $bad -eq 0 ] || echo "correct MAINTAINERS-snippet"
	return $bad
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
