#!/bin/bash
# Makes build/linux: the pinned base as commit 0 (tag base) and every patch
# of series on top (branch quilt).
#
# usage: tree.sh [-k]
#
#   -k, --keep  leave a tree alone that holds work of its own, for targets that
#               only need a tree to build
#
# In the environment:
#   BASE=any    take another base than the pinned one
#   FORCE=1     discard work that is not exported; a branch backup-DATE keeps it
#
# A later run applies the changed patches, and touches only files that differ.
# lib/fetch.sh --help says where the base comes from.

# shellcheck source=tools/quilt/lib/tree-lib.sh
. "$(dirname "$0")/lib/tree-lib.sh"
# shellcheck source=tools/quilt/lib/base-lib.sh
. "$QUILT_TOOLS/lib/base-lib.sh"

keep=''
case ${1:-} in
'') ;;
-k | --keep) keep=1 ;;
-h | --help) usage; exit 0 ;;
*) usage >&2; exit 2 ;;
esac

tree_name=${TREE#"$PWD/"}
version=$(pinned_version)

check_base() {
	local dir=$1 got='' differs advice
	advice="give Linux $version with LINUX_SRC=DIR or LINUX_TARBALL=FILE, or try yours with BASE=any"

	[ ! -f "$dir/Makefile" ] || got=$(makefile_version <"$dir/Makefile")
	[ -n "$got" ] ||
		die "what was found is not a kernel tree" \
		    "give one with LINUX_SRC=DIR or LINUX_TARBALL=FILE"
	differs=$(base_differs blob_in_dir "$dir")
	if [ -z "$differs" ] && [ "$got" = "$version" ]; then
		return
	elif [ "$BASE" = any ]; then
		warn "BASE=any: this is Linux $got, not the pinned $version; patches may fail or misbehave"
	elif [ -n "$differs" ]; then
		die "this is Linux $got, the quilt wants $version; $(wc -l <<<"$differs") files that it touches differ:" \
		    "$(head -n 3 <<<"$differs" | paste -sd ' ')" "$advice"
	elif [ -f "$BASE_FILE" ]; then
		say "this is Linux $got, not $version; the files that the quilt touches are the same"
	else
		die "this is Linux $got, the quilt wants $version" "$advice"
	fi
}

make_base() {
	local new=$TREE.new src path

	src=$("$QUILT_TOOLS/lib/fetch.sh") || exit 1
	path=${src#*:}
	make_dir "$(dirname "$TREE")"
	need_space "$(dirname "$TREE")" 4000 "the kernel tree"
	mkdir "$new"
	unpack_base "$src" "$new"
	check_base "$new"
	step "making it commit 0"
	commit_base "$new" "$(makefile_version <"$new/Makefile")" ||
		die "the base could not be committed" "see $LOGS/base.log, and run again"
	TREE=$new state_set head "$(git -C "$new" rev-parse base)"
	if [ "$BASE" = any ]; then
		TREE=$new state_set base any
		# git am -3 finds the blobs there that the patches were made from.
		[ "${src%%:*}" != git ] ||
			TREE=$new state_set objects "$(git -C "${path% *}" rev-parse --path-format=absolute --git-path objects)"
	fi
	mv "$new" "$TREE"
}

# Names the work that would be lost; nothing when all of the tree is exported.
own_work() {
	local head=$1 commits dirty
	if [ -d "$TREE/.git/rebase-merge" ] || [ -d "$TREE/.git/rebase-apply" ]; then
		echo "a rebase or git am in progress"
		return
	fi
	commits=$(git -C "$TREE" rev-list --count "$head..HEAD")
	dirty=$(git -C "$TREE" status --porcelain | wc -l)
	if [ "$dirty" -gt 0 ]; then
		echo "$dirty changed or new files that are not committed"
	elif [ "$(git -C "$TREE" rev-parse HEAD)" != "$head" ]; then
		echo "commits that are not exported ($commits)"
	elif [ "$(git -C "$TREE" symbolic-ref -q HEAD)" != refs/heads/quilt ]; then
		echo "another branch than quilt"
	fi
}

throw_away() {
	local backup
	backup=backup-$(date +%Y%m%d-%H%M%S)
	git -C "$TREE" rebase --quit 2>/dev/null || git -C "$TREE" am --quit 2>/dev/null || true
	git -C "$TREE" checkout -q --detach
	git -C "$TREE" add -A
	git -C "$TREE" diff --cached --quiet ||
		git -C "$TREE" commit -q -m 'work in progress, kept by FORCE=1 make tree'
	git -C "$TREE" branch "$backup"
	say "what the tree held is on its branch $backup"
}

# switch_to COMMIT: files that are the same in both keep their time stamps, so
# the next build is short. The note makes an interrupted switch repeatable.
switch_to() {
	state_set switching "$1"
	rm -f "$TREE/.git/index.lock"
	git -C "$TREE" symbolic-ref HEAD refs/heads/quilt
	git -C "$TREE" reset -q --hard "$1"
	state_set head "$1"
	state_set switching
}

apply_series() {
	local clone=$BUILD/apply patches files log=$LOGS/am.log base bad

	base=$(base_of "$TREE")
	mapfile -t patches < <(patch_paths)
	step "applying ${#patches[@]} patches"
	make_dir "$LOGS"
	mapfile -t files < <(touched "${patches[@]}")
	scratch_clone "$clone" "$base" Makefile "${files[@]}"
	state_get objects >>"$clone/.git/objects/info/alternates"
	if ! am "$clone" "${patches[@]}" >"$log" 2>&1; then
		bad=${patches[$(cat "$clone/.git/rebase-apply/next" 2>/dev/null || echo 1) - 1]}
		rm -rf "$clone"
		die "${bad#"$TOP/"} does not apply: $(grep -m 1 '^error: ' "$log" | sed 's/^error: //')" \
			"the tree is as it was; the whole message is in $log" \
			"correct the patch (git checkout), or try by hand: git -C $tree_name am -3 $bad"
	fi
	git -C "$TREE" fetch -q --no-tags "$clone" HEAD
	rm -rf "$clone"
	switch_to "$(git -C "$TREE" rev-parse FETCH_HEAD)"
	state_set series "$(series_id)"
}

lock_tree
rm -rf "$TREE.new" "$BUILD/apply"
require_patches
[ -e "$TREE" ] || make_base
require_tree
git -C "$TREE" rev-parse -q --verify base >/dev/null || git -C "$TREE" tag base "$(base_of "$TREE")"

switching=$(state_get switching)
[ -z "$switching" ] || switch_to "$switching"

head=$(state_get head)
head=${head:-$(base_of "$TREE")}
work=$(own_work "$head")
if [ -n "$work" ] && [ -n "${FORCE:-}" ]; then
	throw_away
	switch_to "$(base_of "$TREE")"
	state_set series
	work=''
fi
if [ -n "$work" ] && [ -n "$keep" ]; then
	say "$tree_name holds $work: used as it is"
	exit 0
fi
[ -z "$work" ] ||
	die "$tree_name holds $work" \
	    "keep it: commit in $tree_name (branch quilt), then make export" \
	    "or throw it away: FORCE=1 make tree (it stays on a branch backup-DATE)"

if [ "$(state_get series)" != "$(series_id)" ]; then
	[ "$(state_get base)" = any ] || [ -z "$(base_differs blob_in_tree "$TREE")" ] ||
		die "$tree_name is made from another base than Linux $version" \
		    "move it away, and run: make tree"
	apply_series
fi
say "$tree_name: Linux $(git -C "$TREE" show base:Makefile | makefile_version) and $(git -C "$TREE" rev-list --count base..HEAD) patches"
