#!/bin/bash
# Makes build/linux: the pinned base as commit 0 (tag base) and every patch
# of series on top (branch quilt).
#
# usage: tree.sh [-k]
#
#   -k      a tree that holds work of its own is fine as it is: for targets
#           that only want a tree to build
#   BASE=any in the environment: take another base than the pinned one
#   FORCE=1 in the environment: throw work that is not exported away; it stays
#           on a branch backup-DATE
#
# Run again it applies what has changed in patches/, and touches only the
# files that come out differently. Where the base comes from: fetch.sh --help.

# shellcheck source=tools/quilt/tree-lib.sh
. "$(dirname "$0")/tree-lib.sh"

keep=''
case ${1:-} in
'') ;;
-k | --keep) keep=1 ;;
-h | --help) usage; exit 0 ;;
*) usage >&2; exit 2 ;;
esac

tree_name=${TREE#"$PWD/"}
version=$(pinned_version)

# take_base SOURCE DIR: the files of what fetch.sh has found.
take_base() {
	local path=${1#*:}
	case $1 in
	tar:*) unpack "$2" --strip-components=1 -f "$path" ;;
	git:*) git -C "${path% *}" archive --format=tar "${path##* }" | unpack "$2" -f - ;;
	# A build in tools/ survives mrproper.
	dir:*)
		tar -C "$path" -cf - --exclude='*.o' --exclude='*.o.d' \
			--exclude='.*.cmd' --exclude=__pycache__ . | unpack "$2" -f -
		;;
	esac
}

unpack() {
	tar -C "$1" -x --no-same-owner --checkpoint=20000 --checkpoint-action=totals "${@:2}"
}

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

# The same content gives the same commit on every machine.
commit_base() {
	local dir=$1 version=$2
	# Debian's .gitignore hides the whole tree.
	sed -i '\|^/\*$|d' "$dir/.gitignore" 2>/dev/null || true
	git init -q --template= -b quilt "$dir" &&
		git -C "$dir" config user.name "$QUILT_NAME" &&
		git -C "$dir" config user.email "$QUILT_EMAIL" &&
		git -C "$dir" config core.autocrlf false || return
	# With this threshold git writes one pack, not a hundred thousand files.
	logged "$LOGS/base.log" git -C "$dir" -c core.bigFileThreshold=1 -c core.compression=1 \
		add -f -A || return
	GIT_AUTHOR_DATE='2026-01-01T00:00:00Z' GIT_COMMITTER_DATE='2026-01-01T00:00:00Z' \
		git -C "$dir" commit -q -m "Linux $version" || return
	git -C "$dir" tag base
}

make_base() {
	local new=$TREE.new src path

	src=$("$QUILT_TOOLS/fetch.sh") || exit 1
	path=${src#*:}
	make_dir "$(dirname "$TREE")"
	need_space "$(dirname "$TREE")" 4000 "the kernel tree"
	need xz:xz-utils
	mkdir "$new"
	step "unpacking the base"
	logged "$LOGS/unpack.log" take_base "$src" "$new" ||
		die "the base could not be unpacked: $path" \
		    "a damaged file or a full disk: see $LOGS/unpack.log, and run again"
	check_base "$new"
	step "making it commit 0"
	commit_base "$new" "$(makefile_version <"$new/Makefile")" ||
		die "the base could not be committed" "see $LOGS/base.log, and run again"
	TREE=$new state_set head "$(git -C "$new" rev-parse base)"
	if [ "$BASE" = any ]; then
		TREE=$new state_set base any
		# git am -3 finds there what the patches were made from.
		[ "${src%%:*}" != git ] ||
			TREE=$new state_set objects "$(git -C "${path% *}" rev-parse --path-format=absolute --git-path objects)"
	fi
	mv "$new" "$TREE"
}

# What would be lost, in words; nothing when all of the tree is exported.
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
