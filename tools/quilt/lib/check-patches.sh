# shellcheck shell=bash disable=SC2154
# The checks of check.sh that apply patches and compare them with the tree. Sourced
# by it.

check_series() {
	local bad=0 patch listed topic name before=' '
	listed=$(list_series "$TOP")
	[ -n "$listed" ] || { echo "series names no patch"; echo "make export"; return 1; }
	while read -r patch; do
		[ -f "$TOP/patches/$patch" ] || { echo "series names $patch, which is not in patches/"; bad=1; }
	done <<<"$listed"
	while read -r patch; do
		echo "$patch is not in series"
		bad=1
	done < <(cd "$TOP/patches" && find . -name '*.patch' ! -name 0000-cover-letter.patch |
		sed 's|^\./||' | sort | comm -23 - <(sort <<<"$listed"))
	while read -r patch; do
		echo "series names $patch twice"
		bad=1
	done < <(sort <<<"$listed" | uniq -d)
	for topic in $(topics); do
		[ -f "$TOP/patches/$topic/0000-cover-letter.patch" ] || { echo "$topic has no cover letter"; bad=1; }
		[ -f "$TOP/patches/$topic/depends" ] || { echo "$topic has no file depends"; bad=1; continue; }
		while read -r name; do
			[[ $before == *" $name "* ]] || { echo "$topic depends on $name, which is no topic before it"; bad=1; }
		done <"$TOP/patches/$topic/depends"
		before+="$topic "
	done
	[ $bad -eq 0 ] || echo "write both from the tree: make export; or get them back: git checkout -- series patches"
	return $bad
}

check_shown() {
	local new=$WORK/export bad=0 file dir
	rm -rf "$new"
	"$QUILT_TOOLS/export.sh" -o "$new"
	for file in patches series base; do
		diff -rq "$TOP/$file" "$new/$file" || bad=1
	done
	(cd "$new/shown" && find . -type f | sed 's|^\./||' | sort) >"$WORK/shown"
	while read -r file; do
		cmp "$new/shown/$file" "$TOP/$file" || bad=1
	done <"$WORK/shown"
	# The kernel's directories hold nothing else.
	while read -r dir; do
		[ -d "$TOP/$dir" ] || continue
		(cd "$TOP" && find "$dir" \( -path tools/quilt -o -path tools/bench \) -prune -o -type f -print) |
			sort | comm -23 - "$WORK/shown" | sed 's/$/ is not a file that the quilt adds/'
	done < <(git -C "$TREE" ls-tree -d --name-only "$base") >"$WORK/surplus"
	cat "$WORK/surplus"
	[ $bad -eq 0 ] && [ ! -s "$WORK/surplus" ] && return
	echo "the tree is right: make export (and remove surplus files); the files are right: FORCE=1 make tree"
	return 1
}

patch_clone() { # DIR
	local files
	mapfile -t files < <(patch_paths | tr '\n' '\0' | xargs -0r sed -n 's|^diff --git a/\(.*\) b/.*|\1|p' | sort -u)
	scratch_clone "$1" "$base" "${files[@]}"
	printf '%s\n' "${files[@]}" >"$1/.git/touched"
}

same_tree() { # WHAT ID
	[ "$2" = "$(git -C "$TREE" rev-parse 'HEAD^{tree}')" ] && return
	echo "$1 ends in tree $2, $tree_name holds $(git -C "$TREE" rev-parse 'HEAD^{tree}')"
	echo "make export"
	return 1
}

check_apply() {
	local clone=$WORK/am quilt=$WORK/quilt patches
	need quilt:quilt patch:patch
	mapfile -t patches < <(patch_paths)
	patch_clone "$clone"

	# quilt first, on plain files of the base.
	rm -rf "$quilt"
	mkdir -p "$quilt/files"
	(cd "$clone" && git ls-files -t | sed -n 's/^H //p' | tar -cf - -T -) | tar -xf - -C "$quilt/files"
	(cd "$quilt/files" && QUILT_PATCHES=$TOP/patches QUILT_SERIES=$TOP/series QUILT_PC=$quilt/pc \
		quilt --quiltrc - push -a -q --fuzz=0) ||
		{ echo "quilt does not apply the patches: make export"; return 1; }
	export GIT_INDEX_FILE=$quilt/index
	git -C "$clone" read-tree HEAD
	git -C "$clone" --work-tree="$quilt/files" update-index --add --remove --stdin <"$clone/.git/touched"
	same_tree quilt "$(git -C "$clone" write-tree)"
	unset GIT_INDEX_FILE

	open_stack "$WORK/stack-am"
	am "$stack" "${patches[@]}" || { echo "git am does not apply the patches: make export"; return 1; }
	stack_whole all
	same_tree "git am" "$(git -C "$stack" rev-parse 'all^{tree}')"
	rm -rf "$clone" "$quilt" "$stack"
}

check_b4() {
	local topic
	need b4:b4
	open_stack "$WORK/stack-b4"
	for topic in $(topics); do
		rm -rf "$WORK/mbox"
		mkdir -p "$WORK/mbox/out"
		cat "$TOP/patches/$topic"/*.patch >"$WORK/mbox/topic.mbx"
		XDG_CACHE_HOME=$WORK/mbox XDG_DATA_HOME=$WORK/mbox b4 --no-stdin -n --offline-mode \
			am -T -m "$WORK/mbox/topic.mbx" -o "$WORK/mbox/out" </dev/null ||
			{ echo "b4 am does not take the mails of $topic"; echo "look at patches/$topic"; return 1; }
		[ "$(grep -hc '^From git@z ' "$WORK/mbox/out"/*.mbx)" -eq "$(list_series "$TOP" | grep -c "^$topic/")" ] ||
			{ echo "b4 am finds other patches than series for $topic"; echo "make export"; return 1; }
		am "$stack" "$WORK/mbox/out"/*.mbx ||
			{ echo "the mailbox that b4 made of $topic does not apply"; echo "look at patches/$topic"; return 1; }
	done
	stack_whole all
	same_tree "b4 am" "$(git -C "$stack" rev-parse 'all^{tree}')"
	rm -rf "$stack" "$WORK/mbox"
}

# No Signed-off-by: that is for the person who sends the patches. MAINTAINERS is
# not patched, see MAINTAINERS-snippet. Five fixes name the posting of the patch
# that they fix by Link:, as its id is not known. Without the kernel's history
# checkpatch can look up no commit id.
check_checkpatch() {
	local ignore=MISSING_SIGN_OFF,FILE_PATH_CHANGES,MISSING_FIXES_TAG,UNKNOWN_COMMIT_ID git_dir=/nonexistent patch patches bad=0
	need perl:perl
	if [ -e "${LINUX_SRC:-}/.git" ] && git -C "$LINUX_SRC" cat-file -e 1da177e4c3f4 2>/dev/null; then
		ignore=MISSING_SIGN_OFF,FILE_PATH_CHANGES,MISSING_FIXES_TAG
		git_dir=$(git -C "$LINUX_SRC" rev-parse --absolute-git-dir)
	else
		echo "note: commit ids are not looked up without LINUX_SRC, a git tree with the history"
	fi
	cd "$TREE" || return
	checkpatch() { # PATCH...
		GIT_DIR=$git_dir scripts/checkpatch.pl --strict --no-summary -q --show-types \
			--ignore "$ignore" "$@" >"$WORK/checkpatch" 2>&1 && [ ! -s "$WORK/checkpatch" ]
	}
	# One run for all takes half the time. Only a complaint needs a run for each.
	mapfile -t patches < <(patch_paths)
	checkpatch "${patches[@]}" && return
	while read -r patch; do
		checkpatch "$patch" && continue
		echo "${patch#"$TOP/"}:"
		cat "$WORK/checkpatch"
		bad=1
	done < <(patch_paths)
	[ $bad -eq 0 ] || echo "amend the commit in $tree_name, and make export"
	return $bad
}
