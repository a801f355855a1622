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

# shellcheck source=tools/quilt/lib/tree-lib.sh
. "$(dirname "$0")/lib/tree-lib.sh"
# shellcheck source=tools/quilt/lib/topics-lib.sh
. "$QUILT_TOOLS/lib/topics-lib.sh"
# shellcheck source=tools/quilt/lib/export-lib.sh
. "$QUILT_TOOLS/lib/export-lib.sh"

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
	[ ! -d "$TOP/patches" ] || (cd "$TOP/patches" && find . -name '*.patch' -o -name '*.diff' -o -name depends -o -name FIXES.md) |
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
