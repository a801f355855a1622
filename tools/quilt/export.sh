#!/bin/bash
# Writes patches/, series, base and the files that the quilt adds, from the
# commits base..quilt in build/linux. The same commits give the same bytes.
#
# usage: export.sh [-o DIR]
#
#   -o DIR  write to DIR, an empty or new directory, and leave the project
#           as it is
# In the environment:
#   BASE=any       pin the base of the tree
#   NUMBERS=any    print "?" where a cover letter wants a number that tools/bench/results
#                  does not have
#   FORCE=1        overwrite patches that are newer than the tree
#   LINUX_SRC=DIR  a git tree that has upstream's tag of the base; the id of that
#                  commit goes to base and the cover letters
#
# A topic has its cover letter in tools/quilt/cover/TOPIC.txt: the lines
# "Subject:", "First:" (subject of its first commit) and "Depends:" (names of
# the earlier topics that it stands on, or nothing), an empty line, the text, in
# which figures.py fills the placeholders in. A topic ends where the next one starts.

# shellcheck source=tools/quilt/tree-lib.sh
. "$(dirname "$0")/tree-lib.sh"
# shellcheck source=tools/quilt/topics-lib.sh
. "$QUILT_TOOLS/topics-lib.sh"

to=''
while [ $# -gt 0 ]; do
	case $1 in
	-o) to=${2:?DIR} && shift ;;
	-h | --help) usage; exit 0 ;;
	*) usage >&2; exit 2 ;;
	esac
	shift
done

COVERS=$QUILT_TOOLS/cover
domain=${QUILT_EMAIL#*@}
tree_name=${TREE#"$PWD/"}

# A commit's ids, subject and problems that would spoil a patch.
check_commit() {
	local id=$1 body who=" of ${1:0:12} ($2)"
	body=$(git -C "$TREE" show -s --format=%B "$id")
	[ "$(git -C "$TREE" show -s --format='%an <%ae>' "$id")" = "$QUILT_NAME <$QUILT_EMAIL>" ] ||
		die "the author$who is not $QUILT_NAME <$QUILT_EMAIL>" \
		    "git -C $tree_name rebase base --exec 'git commit --amend --no-edit --reset-author'"
	[ "$(git -C "$TREE" rev-list --no-walk --count --merges "$id")" -eq 0 ] ||
		die "a merge: ${id:0:12} ($2)" "make it linear: git -C $tree_name rebase base"
	case $2 in
	fixup!* | squash!* | amend!*)
		die "the subject$who" "git -C $tree_name rebase -i --autosquash base" ;;
	*[![:print:]]*)
		die "the subject$who is not plain ASCII" "git -C $tree_name rebase -i base, and reword it" ;;
	esac
	! grep -qi '^Signed-off-by:' <<<"$body" ||
		die "the message$who has a Signed-off-by, which is for the person who sends it" \
		    "git -C $tree_name rebase -i base, and reword it"
	grep -q '^Assisted-by: ' <<<"$body" ||
		die "the message$who has no Assisted-by line" \
		    "git -C $tree_name rebase -i base, and reword it"
}

header() { sed -n "/^$/q; s/^$1: *//p" "$2"; }

# A repository with the tree's objects and without its settings, which could
# change a patch. Versions of git differ in the rule for function names in hunk
# headers, so it is set here.
bare_clone() {
	git init -q --bare --template= "$1"
	mkdir -p "$1/info"
	git -C "$TREE" rev-parse --path-format=absolute --git-path objects >"$1/objects/info/alternates"
	echo '*.[ch] diff=cpp' >"$1/info/attributes"
	git -C "$1" config diff.cpp.xfuncname '!^[ \t]*[A-Za-z_][A-Za-z_0-9]*:[[:space:]]*($|/[/*])
^((::[[:space:]]*)?[A-Za-z_].*)$'
}

# write_depends TOPIC: may name the topics that are written by now.
write_depends() {
	local name cover=$COVERS/$1.txt
	for name in $(header Depends "$cover" | tr ',' ' '); do
		[ -f "$new/patches/$name/depends" ] ||
			die "${cover#"$TOP/"}: Depends: names $name, which is no topic before $1" \
			    "correct that line, or move the commits: git -C $tree_name rebase -i base"
		echo "$name"
	done >"$new/depends"
	mkdir -p "$new/patches/$1"
	mv "$new/depends" "$new/patches/$1/depends"
}

# Prints the lines that git format-patch --base writes at the end of a cover
# letter. They do not name commit 0 of the tree, as no other tree has it. The id
# of upstream's commit is in no tarball; they name it when the file base has it.
base_block() { # TOPIC
	local needed patch
	echo
	echo "For Linux $version (tag v$version)"
	[ -z "$upstream" ] || echo "base-commit: $upstream"
	for needed in $(needed_topics "$1" "$new"); do
		for patch in $(topic_patches "$needed" "$new"); do
			git patch-id --stable <"$patch" | sed 's/^\([0-9a-f]*\) .*/prerequisite-patch-id: \1/'
		done
	done
}

# The id of upstream's commit, from LINUX_SRC, or as the project has it.
upstream_commit() {
	[ -n "${LINUX_SRC:-}" ] &&
		git -C "$LINUX_SRC" rev-parse -q --verify "v$version^{commit}" 2>/dev/null && return
	[ "$(pinned_version)" != "$version" ] || [ ! -f "$BASE_FILE" ] ||
		sed -n 's/^commit \([0-9a-f]\{40\}\)$/\1/p' "$BASE_FILE"
}

message_id() { echo "<$1-$2-of-$3.$QUILT_NAME@$domain>"; }

write_topic() { # TOPIC FROM TO
	local topic=$1 range=$2..$3 cover=$COVERS/$1.txt dir=$new/patches/$1 count n patch
	count=$(git -C "$TREE" rev-list --count "$range")
	write_depends "$topic"
	git -C "$bare" format-patch -q -n --zero-commit --no-signature --abbrev=12 --no-renames \
		-o "$dir" "$range"
	n=0
	for patch in "$dir"/*.patch; do
		n=$((n + 1))
		# Some versions of b4 die on a folded header.
		sed -i ':fold; 1,/^$/{N; s/\n / /; tfold; P; D}' "$patch"
		sed -i "1a Message-ID: $(message_id "$topic" $n "$count")\n\
In-Reply-To: $(message_id "$topic" 0 "$count")\n\
References: $(message_id "$topic" 0 "$count")" "$patch"
		echo "$topic/${patch##*/}"
	done >"$new/names"

	{
		echo "From $(printf '%040d' 0) Mon Sep 17 00:00:00 2001"
		echo "Message-ID: $(message_id "$topic" 0 "$count")"
		echo "From: $QUILT_NAME <$QUILT_EMAIL>"
		git -C "$bare" log --reverse --format='Date: %aD' "$range" | sed -n 1p
		echo "Subject: [PATCH 0/$count] $(header Subject "$cover")"
		printf '%s\n' 'MIME-Version: 1.0' 'Content-Type: text/plain; charset=UTF-8' \
			'Content-Transfer-Encoding: 8bit' ''
		"$QUILT_TOOLS/figures.py" fill "$cover" 2>/dev/null | sed '1,/^$/d'
		echo
		git -C "$bare" shortlog -w72,2,4 "$range"
		git -C "$bare" diff --stat=72 --summary --no-renames "$2" "$3"
		base_block "$topic"
	} >"$dir/0000-cover-letter.patch"

	{
		echo "# $topic: $(header Subject "$cover")"
		cat "$new/names"
	} >>"$new/series"
}

write_patches() {
	local id subject topic='' from='' prev=$base cover first
	declare -A first_of=()

	for cover in "$COVERS"/*.txt; do
		[ -f "$cover" ] || die "no cover letter in tools/quilt/cover" "write one: see export.sh --help"
		first=$(header First "$cover")
		{ [ -n "$first" ] && [ -n "$(header Subject "$cover")" ]; } ||
			die "${cover#"$TOP/"} has no Subject: or no First: line" "see export.sh --help"
		sed '/^$/q' "$cover" | grep '^Depends:' >/dev/null ||
			die "${cover#"$TOP/"} has no Depends: line" \
			    "add one with the names of the topics that it stands on, or empty"
		first_of[$first]=$(basename "$cover" .txt)
	done

	: >"$new/series"
	while IFS=$'\t' read -r id subject; do
		check_commit "$id" "$subject"
		if [ -n "${first_of[$subject]:-}" ]; then
			[ -z "$topic" ] || write_topic "$topic" "$from" "$prev"
			topic=${first_of[$subject]} from=$prev
			first_of[$subject]=''
		fi
		[ -n "$topic" ] ||
			die "no topic starts with the commit ${id:0:12} ($subject)" \
			    "write its subject as First: into a tools/quilt/cover/TOPIC.txt"
		prev=$id
	done < <(git -C "$TREE" log --reverse --format='%H%x09%s' "$base..$head")
	[ -z "$topic" ] || write_topic "$topic" "$from" "$prev"
	for first in "${!first_of[@]}"; do
		[ -z "${first_of[$first]}" ] ||
			die "no commit has the subject '$first'" \
			    "correct First: in tools/quilt/cover/${first_of[$first]}.txt"
	done
	rm -f "$new/names"
}

# Every path that a patch touches, with its blob in the base.
write_base() {
	local path id
	echo "version $version"
	[ -z "$upstream" ] || echo "commit $upstream"
	git -C "$TREE" log --no-renames --name-only --format= "$base..$head" | sort -u |
		while read -r path; do
			if id=$(git -C "$TREE" rev-parse -q --verify "$base:$path"); then
				echo "blob $id $path"
			else
				echo "none $path"
			fi
		done
}

# The files that the quilt adds, as the last patch leaves them.
write_shown() {
	local files file
	mapfile -t files < <(git -C "$TREE" diff --name-only --no-renames --diff-filter=A "$base" "$head")
	mkdir -p "$new/shown"
	for file in "${files[@]}"; do
		case $file in
		tools/quilt/* | tools/bench/* | patches/* | build/* | .ci/*) ;;
		*/*) continue ;;
		esac
		die "the quilt adds $file, which is a place of the project's own" "give it another name"
	done
	[ ${#files[@]} -eq 0 ] ||
		git -C "$TREE" -c tar.umask=0022 archive "$head" -- "${files[@]}" |
			tar -x -m -C "$new/shown"
}

mode() { [ ! -x "$1" ] || echo x; }

# put FROM TO: copies a file, unless it is the same.
put() {
	if ! cmp -s "$1" "$2" || [ "$(mode "$1")" != "$(mode "$2")" ]; then
		mkdir -p "$(dirname "$2")"
		rm -f "$2"
		cp -p "$1" "$2"
		changed=$((changed + 1))
	fi
}

# Removes files that an earlier export wrote and this one does not: those in
# patches/, and the paths that base has as none.
remove_old() {
	local file
	[ ! -d "$TOP/patches" ] || (cd "$TOP/patches" && find . -name '*.patch' -o -name '*.diff' -o -name depends) |
		while read -r file; do
			[ -f "$new/patches/$file" ] || rm -f "$TOP/patches/$file"
		done
	[ ! -d "$TOP/patches" ] || find "$TOP/patches" -mindepth 1 -type d -empty -delete
	[ ! -f "$BASE_FILE" ] || sed -n 's/^none //p' "$BASE_FILE" | while read -r file; do
		[ -f "$new/shown/$file" ] || [ ! -f "$TOP/$file" ] || {
			rm -f "$TOP/$file"
			(cd "$TOP" && rmdir -p --ignore-fail-on-non-empty "$(dirname "$file")")
		}
	done
}

install_all() {
	local file
	changed=0
	state_set exporting yes
	remove_old
	while read -r file; do
		put "$new/$file" "$TOP/$file"
	done < <(cd "$new" && find patches series -type f 2>/dev/null)
	while read -r file; do
		put "$new/shown/$file" "$TOP/$file"
	done < <(cd "$new/shown" && find . -type f)
	# Last: remove_old of a repeated run needs the old one.
	put "$new/base" "$BASE_FILE"
	state_set head "$head"
	state_set series "$(series_id)"
	state_set base
	state_set exporting
}

lock_tree
require_tree
base=$(base_of "$TREE")
head=$(git -C "$TREE" rev-parse HEAD)
if [ -d "$TREE/.git/rebase-merge" ] || [ -d "$TREE/.git/rebase-apply" ]; then
	die "a rebase or git am is in progress in $tree_name" \
	    "finish it: git -C $tree_name status"
fi
[ -z "$(git -C "$TREE" status --porcelain)" ] ||
	die "$tree_name has changed or new files that are not committed" \
	    "commit them, see: git -C $tree_name status"
[ "$(git -C "$TREE" symbolic-ref -q HEAD)" = refs/heads/quilt ] ||
	die "$tree_name is not on its branch quilt" "git -C $tree_name switch quilt"
if [ "$BASE" != any ]; then
	{ [ "$(state_get base)" != any ] && [ -z "$(base_differs blob_in_tree "$TREE")" ]; } ||
		die "$tree_name has another base than the pinned Linux $(pinned_version)" \
		    "make a tree from that, or pin this one: BASE=any make export"
fi
[ -n "$to" ] || [ -n "${FORCE:-}" ] || [ ! -f "$TOP/series" ] || [ -n "$(state_get exporting)" ] ||
	[ "$(state_get series)" = "$(series_id)" ] ||
	die "patches/, series or base have changed since the tree was made" \
	    "take them into the tree: FORCE=1 make tree (yours stays on a branch, cherry-pick it)" \
	    "or overwrite them: FORCE=1 make export"

need python3:python3
[ "${NUMBERS:-}" = any ] || "$QUILT_TOOLS/figures.py" missing "$COVERS"/*.txt ||
	die "cover letters want numbers that tools/bench/results does not have" \
	    "correct their names, or measure: make bench; or do without: NUMBERS=any make export"
new=${to:-$BUILD/export.new}
bare=$BUILD/export.git
rm -rf "$bare"
[ -n "$to" ] || rm -rf "$new"
make_dir "$new"
bare_clone "$bare"
version=$(git -C "$TREE" show "$base:Makefile" | makefile_version)
upstream=$(upstream_commit)
write_patches
write_base >"$new/base"
write_shown
rm -rf "$bare"
[ -z "$to" ] || exit 0
install_all
say "patches: $(list_series "$TOP" | wc -l), topics: $(grep -c '^#' "$TOP/series"), added files: $(find "$new/shown" -type f | wc -l), changed by this run: $changed files"
rm -rf "$new"
