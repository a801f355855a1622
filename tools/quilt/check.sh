#!/bin/bash
# Checks the patches without booting anything, two checks at a time, and prints a
# line for each.
#
# usage: check.sh [NAME...]
#
#   series       series and the files in patches/ agree
#   shown        patches, series, base and shown files are what the tree holds
#   apply        git am and quilt (no fuzz) end in the tree's very files
#   b4           b4 am takes each topic's mails, and they apply
#   topics       each topic applies on the base with those it depends on, alone
#   standalone   each fix applies on the base alone, or says which it needs, says
#                what it fixes and whether it is for stable, and touches no test
#   size         no patch changes more than 700 lines, but for size-exceptions
#   proofs       each fix has a proof in tools/quilt/proofs, of things that exist
#   checkpatch   scripts/checkpatch.pl --strict is silent
#   kernel-doc   comments of all added and changed files
#   warnings     gcc W=1 and sparse say no more than for the base
#   topics-build each topic compiles there, with W=1: for x86_64 all files that
#                the quilt touches, for UML those that the topic touches
#   fastpath     a feature that is off adds a NOP to the fast paths, and two to four
#                instructions to those that check_fastpath() names
#   scripts      shellcheck of the project's own
#   maintainers  MAINTAINERS-snippet is valid and covers what is added
#   architecture ARCHITECTURE.md names files and functions that exist
#   covers       each cover letter has an order of posting and what is not done
#   numbers      the numbers in cover letters and documents are those of the benchmark
#   files        Documentation/trace/ftrace.rst has the files that the patches create
#   sentences    few sentences of comments, documents and changelogs open
#                without a subject
#   words        no file names a package registry or a path of one machine
#
# Without names it runs all of them. LINUX_SRC, a git tree with the kernel's history,
# lets checkpatch look the commits up that Fixes: lines name.

# shellcheck source=tools/quilt/tree-lib.sh
. "$(dirname "$0")/tree-lib.sh"
# shellcheck source=tools/quilt/check-topics.sh
. "$QUILT_TOOLS/check-topics.sh"
# shellcheck source=tools/quilt/check-fixes.sh
. "$QUILT_TOOLS/check-fixes.sh"
# shellcheck source=tools/quilt/check-prose.sh
. "$QUILT_TOOLS/check-prose.sh"

names="series shown apply b4 topics standalone size proofs checkpatch kernel-doc warnings topics-build"
names+=" fastpath scripts maintainers architecture covers numbers files sentences words"
case ${1:-} in
-h | --help) usage; exit 0 ;;
esac
for name in "$@"; do
	[[ " $names " == *" $name "* ]] || die "no such check: $name" "they are: $names"
done
[ $# -eq 0 ] || names=$*

WORK=$BUILD/check
tree_name=${TREE#"$PWD/"}

# A failing check says why, and what to do in its last line. Lines that start
# with "note: " are shown for a passing one, too.

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
# not patched, see MAINTAINERS-snippet. Four fixes name the posting of the patch
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
	cd "$TREE"
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

kernel_doc() { # DIR FILE...
	local dir=$1
	shift
	[ $# -gt 0 ] || return 0
	cd "$dir"
	{ python3 "$TREE/scripts/kernel-doc" -none "$@" 2>&1 || true; } |
		sed 's/:[0-9]\+/:/g' | sort
}

check_kernel-doc() {
	local old=$WORK/kernel-doc files modified
	need python3:python3
	mapfile -t files < <(changed_files AM | grep '\.[ch]$')
	mapfile -t modified < <(changed_files M | grep '\.[ch]$')
	[ ${#files[@]} -gt 0 ] || return 0
	rm -rf "$old"
	mkdir -p "$old"
	[ ${#modified[@]} -eq 0 ] || git -C "$TREE" archive "$base" -- "${modified[@]}" | tar -x -C "$old"
	kernel_doc "$old" "${modified[@]}" >"$WORK/kernel-doc.base"
	kernel_doc "$TREE" "${files[@]}" | comm -13 "$WORK/kernel-doc.base" - >"$WORK/kernel-doc.new"
	rm -rf "$old"
	[ -s "$WORK/kernel-doc.new" ] || return 0
	cat "$WORK/kernel-doc.new"
	echo "amend the commit in $tree_name, and make export"
	return 1
}

# The fixes and fastpath change the cost of all records, and their cover letters say
# how much. The features behind them may cost a NOP while they are off.
before_features() {
	local n
	n=$(list_series "$TOP" | grep -n '^fastpath/' | tail -n 1 | cut -d : -f 1)
	[ -n "$n" ] || { echo "$base"; return; }
	git -C "$TREE" rev-list --reverse "$base..$head" | sed -n "${n}p"
}

# compile_sides [ARGUMENT...]: compiles all changed files of the base, of the tree
# before the features and of the quilt. The objects go to $WORK/objects/, the
# messages to $log.COMMIT.
compile_sides() {
	local touched objects commit file rc
	mapfile -t touched < <(compile_files)
	rm -rf "$WORK/objects"
	for commit in $(printf '%s\n' "$base" "$(before_features)" "$head" | uniq); do
		compile_checkout "$commit"
		objects=()
		for file in "${touched[@]}"; do
			[ ! -f "$COMPILE_TREE/${file%.o}.c" ] || objects+=("$file")
			# make does not repeat the warnings of an object that is there.
			rm -f "$OUT/check-x86_64/$file"
		done
		rc=0
		[ ${#objects[@]} -eq 0 ] ||
			compile x86_64 "$@" "${objects[@]}" >"$log.${commit:0:12}" 2>&1 || rc=$?
		[ $rc -eq 0 ] || {
			grep -E 'error:|Error|\*\*\*' "$log.${commit:0:12}" | head -n 10
			echo "$(git -C "$TREE" log -1 --format=%s "$commit") does not build, see $log.${commit:0:12}"
			return 1
		}
		for file in "${objects[@]}"; do
			install -D -m 644 "$OUT/check-x86_64/$file" "$WORK/objects/$commit/$file"
		done
	done
	echo "$head" >"$WORK/objects/stamp"
}

check_warnings() {
	local commit file place line log=$LOGS/check-warnings sparse=()
	if file=$("$QUILT_TOOLS/sparse.sh"); then
		sparse=(C=2 "CHECK=$file")
	else
		echo "note: without sparse, none that understands this kernel was found"
	fi
	compile_sides "${sparse[@]}" || return 1
	for commit in "$base" "$head"; do
		warnings <"$log.${commit:0:12}" >"$WORK/warnings.$commit"
	done
	comm -13 "$WORK/warnings.$base" "$WORK/warnings.$commit" >"$WORK/warnings.new"
	# sparse stops early in a file, so another one's complaint about a line
	# that the base has too can come to light. That is not the quilt's.
	while read -r place; do
		file=${place%%:*} line=${place#*:}
		if git -C "$TREE" cat-file -e "$base:$file" 2>/dev/null &&
		   grep -qxF -e "$(git -C "$TREE" show "HEAD:$file" | sed -n "${line%%:*}p")" \
			<(git -C "$TREE" show "$base:$file"); then
			continue
		fi
		echo "$place"
	done < <(sed "s|$COMPILE_TREE/||g; s|\(\.\./\)\+||g" "$log.${commit:0:12}" |
		grep -E ':[0-9]+(:[0-9]+)?: (warning|error|Warning|Error):' | sort -u |
		while read -r place; do
			! grep -qxF -e "$(echo "$place" | warnings)" "$WORK/warnings.new" || echo "$place"
		done) >"$WORK/warnings.mine"
	[ -s "$WORK/warnings.mine" ] || return 0
	cat "$WORK/warnings.mine"
	echo "amend the commit in $tree_name, and make export"
	return 1
}

check_fastpath() {
	local log=$LOGS/check-fastpath list=$QUILT_TOOLS/fastpath-functions differences=()
	need python3:python3 objdump:binutils
	[ "$(cat "$WORK/objects/stamp" 2>/dev/null)" = "$head" ] || compile_sides || return 1
	if ! grep -qx "# compiler gcc $(gcc -dumpfullversion)" "$list"; then
		echo "note: another compiler than that of tools/quilt/fastpath-functions: differences alone are compared"
		differences=(-d)
	fi
	"$QUILT_TOOLS/fastpath.py" "${differences[@]}" -k trace_export_keys -l "$list" \
		"$WORK/objects/$(before_features)" "$WORK/objects/$head" && return
	echo "look at the disassembly, objdump -dr build/check/objects/*/..., and write what is right into tools/quilt/fastpath-functions"
	return 1
}

check_scripts() {
	local scripts libs advice="correct the scripts"
	need shellcheck:shellcheck
	cd "$TOP"
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
	cd "$clone"
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

require_tree
base=$(base_of "$TREE")
head=$(git -C "$TREE" rev-parse HEAD)
make_dir "$WORK"
make_dir "$LOGS"

lane() { # NAME...: one after the other
	local name log start rc report
	for name; do
		log=$LOGS/check-$name.log
		start=$SECONDS
		rc=0
		# set -e works in the background, and not in a condition.
		"check_$name" >"$log" 2>&1 </dev/null &
		wait $! || rc=$?
		if [ $rc -eq 0 ]; then
			report="ok $name ($((SECONDS - start)) s)
$(sed -n 's/^note: /    /p' "$log")"
		else
			report="not ok $name ($((SECONDS - start)) s, log: $log)
$(tail -n 15 "$log" | sed 's/^/    /')"
		fi
		say "${report%$'\n'}"
		echo "$rc" >>"$results"
	done
}

# The checks that compile share one tree and have a lane of their own.
compiling=() reading=()
for name in $names; do
	case $name in
	warnings | topics-build | fastpath) compiling+=("$name") ;;
	*) reading+=("$name") ;;
	esac
done
# Another check.sh may run at the same time.
results=$WORK/results.$$
: >"$results"
# A background job does not hear Ctrl-C; all of the group has it anyway.
trap 'kill -TERM 0' INT
lane "${compiling[@]}" &
lane "${reading[@]}" &
wait
passed=$(grep -cx 0 "$results" || true)
rm -f "$results"
failed=$(($(wc -w <<<"$names") - passed))
say "$passed passed, $failed failed"
[ $failed -eq 0 ]
