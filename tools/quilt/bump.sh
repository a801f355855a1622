#!/bin/bash
# Moves the quilt to another version of Linux: applies the series to it patch by
# patch with git am -3, and says which patches are upstream already and which
# need work. A patch that needs work is left out, and the rest goes on.
#
# usage: bump.sh VERSION|TARBALL|DIR
#
#   VERSION        of kernel.org, or of Debian's package in DEBIAN_SUITE
#   TARBALL, DIR   sources that you have
#
# The result is the tree build/bump, and a list of what happened to each patch in
# build/bump.txt. build/linux and patches/ stay as they are. The exit code is 0
# when no patch needs work, and 1 when one does.

# shellcheck source=tools/quilt/lib/tree-lib.sh
. "$(dirname "$0")/lib/tree-lib.sh"
# shellcheck source=tools/quilt/lib/base-lib.sh
. "$QUILT_TOOLS/lib/base-lib.sh"

case ${1:-} in
-h | --help) usage; exit 0 ;;
'' | -*) usage >&2; exit 2 ;;
esac
[ $# -eq 1 ] || { usage >&2; exit 2; }

BUMP=$BUILD/bump
LIST=$BUILD/bump.txt
log=$LOGS/bump-am.log

# sources WHAT: as fetch.sh names them
sources() {
	if [ -d "$1" ]; then
		BASE=any LINUX_SRC=$1 "$QUILT_TOOLS/lib/fetch.sh"
	elif [ -f "$1" ]; then
		LINUX_TARBALL=$1 "$QUILT_TOOLS/lib/fetch.sh"
	elif [[ $1 =~ ^[0-9]+\.[0-9]+(\.[0-9]+|-rc[0-9]+)?$ ]]; then
		WANTED_VERSION=$1 "$QUILT_TOOLS/lib/fetch.sh"
	else
		die "$1 is no version, no file and no directory" "give one: make bump VERSION=7.3.5, or TARBALL=FILE"
	fi
}

make_bump() { # SOURCE
	rm -rf "$BUMP" "$BUMP.new"
	need_space "$BUILD" 4000 "the kernel tree"
	mkdir "$BUMP.new"
	unpack_base "$1" "$BUMP.new"
	[ -f "$BUMP.new/Makefile" ] || die "${1#*:} holds no kernel" "give the sources of one"
	version=$(makefile_version <"$BUMP.new/Makefile")
	step "making Linux $version a tree"
	# git am -3 finds the blobs there that the patches were made from.
	OBJECTS=$(git -C "$TREE" rev-parse --path-format=absolute --git-path objects) \
		commit_base "$BUMP.new" "$version" ||
		die "the sources could not be committed" "see $LOGS/base.log, and run again"
	mv "$BUMP.new" "$BUMP"
}

# move_patch PATCH: sets $what to applied, merged, upstream or work, and $files to
# the files that need work.
move_patch() {
	local before
	files=''
	before=$(git -C "$clone" rev-parse HEAD)
	if git -C "$clone" am -3 --committer-date-is-author-date "$1" >"$log" 2>&1 </dev/null; then
		what=applied
		[ "$(git -C "$clone" rev-parse HEAD)" != "$before" ] || what=upstream
		[ $what = upstream ] || ! grep -q '^Using index info' "$log" || what=merged
		return
	fi
	files=$(git -C "$clone" diff --name-only --diff-filter=U | paste -sd ' ')
	git -C "$clone" am -q --abort
	what=work
	! git -C "$clone" apply --reverse --check "$1" 2>/dev/null || what=upstream
}

lock_tree
require_tree
require_patches
source=$(sources "$1") || exit 1
make_bump "$source"
mapfile -t patches < <(patch_paths)
mapfile -t touched < <(touched "${patches[@]}")
step "applying ${#patches[@]} patches"
clone=$BUILD/bump-apply
TREE=$BUMP scratch_clone "$clone" "$(base_of "$BUMP")" Makefile "${touched[@]}"

declare -A count=([applied]=0 [merged]=0 [upstream]=0 [work]=0)
: >"$LIST"
for patch in "${patches[@]}"; do
	move_patch "$patch"
	count[$what]=$((count[$what] + 1))
	printf '%-9s%s%s\n' "$what" "${patch#"$TOP/patches/"}" "${files:+ ($files)}" >>"$LIST"
	[ $what = applied ] || tail -n 1 "$LIST"
done
git -C "$BUMP" fetch -q --no-tags "$clone" HEAD
git -C "$BUMP" reset -q --hard FETCH_HEAD
TREE=$BUMP state_set base any
TREE=$BUMP state_set head "$(git -C "$BUMP" rev-parse HEAD)"
TREE=$BUMP state_set series "$(series_id)"
rm -rf "$clone"

say "Linux $version: ${count[applied]} patches apply, ${count[merged]} after a three-way merge, ${count[upstream]} are upstream, ${count[work]} need work"
say "the tree is ${BUMP#"$PWD/"}, the list is ${LIST#"$PWD/"}"
if [ "${count[work]}" -gt 0 ]; then
	say "next: git -C ${BUMP#"$PWD/"} am -3 PATCH for each that needs work, and move it to its place with rebase -i"
fi
say "then: TREE=${BUMP#"$PWD/"} BASE=any make export, move build/linux away, make tree, make test"
[ "${count[work]}" -eq 0 ]
