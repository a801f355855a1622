# shellcheck shell=bash
# Shared by the scripts that make, export and check the tree: git without the
# user's settings, the pinned base, the series, scratch clones. Source it.

# shellcheck source=tools/quilt/lib/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

BASE=${BASE:-}
BASE_FILE=$TOP/base
# The version before the first export, which writes the file base.
FIRST_VERSION=7.3.4

need git:git

# Neither the caller's repository nor the user's or the host's settings may
# change the result. The settings below win over the tree's own config.
# shellcheck disable=SC2046
unset $(git rev-parse --local-env-vars)
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_ATTR_NOSYSTEM=1
export GIT_EDITOR=true
# The project is a repository, too: never mistake it for a tree that is broken.
GIT_CEILING_DIRECTORIES=$BUILD:$(dirname "$TREE")
export GIT_CEILING_DIRECTORIES
export GIT_CONFIG_COUNT=0
git_setting() {
	export "GIT_CONFIG_KEY_$GIT_CONFIG_COUNT=$1"
	export "GIT_CONFIG_VALUE_$GIT_CONFIG_COUNT=$2"
	GIT_CONFIG_COUNT=$((GIT_CONFIG_COUNT + 1))
}
git_setting safe.directory '*'
git_setting user.name "$QUILT_NAME"
git_setting user.email "$QUILT_EMAIL"
git_setting core.autocrlf false
git_setting core.hooksPath /dev/null
git_setting core.fsmonitor false
git_setting commit.gpgSign false
git_setting gc.auto 0
git_setting maintenance.auto false
git_setting advice.detachedHead false

# One at a time. The lock is kept by children too, so a tar that outlives a
# killed run is waited for.
lock_tree() {
	need flock:util-linux
	make_dir "$BUILD"
	exec 9>"$BUILD/.tree.lock"
	flock -n 9 || { say "waiting for another run on $BUILD"; flock 9; }
}

# WANTED_VERSION in the environment is for a run of bump.sh.
pinned_version() {
	[ -z "${WANTED_VERSION:-}" ] || { echo "$WANTED_VERSION"; return; }
	[ ! -f "$BASE_FILE" ] || awk '$1 == "version" { print $2; exit }' "$BASE_FILE"
	[ -f "$BASE_FILE" ] || echo "$FIRST_VERSION"
}

# makefile_version <Makefile: "7.3.4"
makefile_version() {
	awk '$1 ~ /^(VERSION|PATCHLEVEL|SUBLEVEL)$/ && $2 == "=" { v = v sep $3; sep = "." }
	     $1 == "EXTRAVERSION" && !said++ { print v $3 }' | sed 's/\.0$//'
}

# The two places in which the base's files are looked up: a directory and
# the commit base of a repository. Both print nothing for a missing file.
blob_in_dir()  { [ ! -f "$1/$2" ] || git hash-object --no-filters "$1/$2"; }
blob_in_tree() { git -C "$1" rev-parse -q --verify "$(base_of "$1"):$2" || true; }

# base_differs blob_in_dir|blob_in_tree WHERE: the files of the pinned base that
# differ there.
base_differs() {
	local kind want path got
	[ -f "$BASE_FILE" ] || return 0
	while read -r kind want path; do
		case $kind in
		blob) ;;
		none) path=$want want='' ;;
		*) continue ;;
		esac
		got=$("$1" "$2" "$path")
		[ "$got" = "$want" ] || echo "$path"
	done <"$BASE_FILE"
}

# The tag base, or the first commit of a tree that was made by hand.
base_of() {
	git -C "$1" rev-parse -q --verify 'base^{commit}' 2>/dev/null ||
		git -C "$1" rev-list --max-parents=0 -n 1 HEAD 2>/dev/null
}

require_tree() {
	[ -e "$TREE" ] || die "no kernel tree in $TREE" "run: make tree"
	[ -e "$TREE/.git" ] || die "$TREE is not a git tree" "move it away, and run: make tree"
	[ -n "$(base_of "$TREE")" ] ||
		die "$TREE is not a tree that make tree has made" \
		    "move it away, and run: make tree"
}

# list_series DIR: the patches that DIR/series names, in order.
list_series() { [ ! -f "$1/series" ] || sed 's/#.*//; s/[[:space:]]*$//; /^$/d' "$1/series"; }

patch_paths() { list_series "$TOP" | sed "s|^|$TOP/patches/|"; }

require_patches() {
	local patch
	patch_paths | while read -r patch; do
		[ -f "$patch" ] ||
			die "series names patches/${patch#"$TOP/patches/"}, which does not exist" \
			    "restore it (git checkout), or write the patches from the tree: make export"
	done
}

# One id for what make tree applies: base, series and patches.
series_id() {
	{
		cat "$BASE_FILE" "$TOP/series" 2>/dev/null || true
		patch_paths | tr '\n' '\0' | xargs -0r cat --
	} | sha256sum | cut -d ' ' -f 1
}

# touched FILE...: the paths that these patches touch.
touched() {
	[ $# -eq 0 ] || sed -n 's|^diff --git a/\(.*\) b/.*|\1|p' -- "$@" | sort -u
}

# .git/quilt-state describes the tree: "head ID", the last commit that is in the
# patches; "series ID"; "base any" for another base than the pinned one, and
# "objects DIR", the repository that it came from; and "switching ID" or
# "exporting yes" while a run changes it.
state_get() { sed -n "s/^$1 //p" "$TREE/.git/quilt-state" 2>/dev/null || true; }
state_set() {
	local file=$TREE/.git/quilt-state key=$1 value=${2:-}
	{
		sed "/^$key /d" "$file" 2>/dev/null || true
		[ -z "$value" ] || echo "$key $value"
	} >"$file.new"
	mv "$file.new" "$file"
}

# scratch_clone DIR COMMIT [PATH...]: a clone of the tree that shares its
# objects and holds COMMIT, with the given files only. Fast, and rm -rf
# leaves no trace of it.
scratch_clone() {
	local dir=$1 commit=$2 sparse=false
	shift 2
	[ $# -eq 0 ] || sparse=true
	rm -rf "$dir"
	make_dir "$(dirname "$dir")"
	git clone -q --shared --no-checkout --no-tags --template= \
		-c core.sparseCheckout=$sparse "$TREE" "$dir"
	if [ $# -gt 0 ]; then
		mkdir -p "$dir/.git/info"
		printf '/%s\n' "$@" >"$dir/.git/info/sparse-checkout"
	fi
	git -C "$dir" update-ref --no-deref HEAD "$commit"
	git -C "$dir" read-tree -mu HEAD
}

# am DIR PATCH...: git am with ids that depend on the patches only.
am() {
	local dir=$1 three=()
	shift
	[ "$(state_get base)" != any ] || three=(-3)
	[ $# -eq 0 ] ||
		git -C "$dir" am -q "${three[@]}" --committer-date-is-author-date "$@" </dev/null
}

# changed_files FILTER: paths that differ between base and the tree's head.
changed_files() {
	git -C "$TREE" diff --name-only --no-renames --diff-filter="$1" "$(base_of "$TREE")" HEAD
}

# The unpatched base, checked out beside the tree.
BASE_TREE=${BASE_TREE:-$BUILD/base}

# Under another name until it is whole: an interrupted checkout is not used.
make_base_tree() {
	local root
	[ -e "$TREE/.git" ] || return 0
	root=$(git -C "$TREE" rev-list --max-parents=0 HEAD)
	if [ ! -f "$BASE_TREE/Makefile" ]; then
		say "checking out the base in $BASE_TREE"
		git -C "$TREE" worktree remove -f "$BASE_TREE.new" 2>/dev/null ||
			rm -rf "$BASE_TREE.new"
		git -C "$TREE" worktree prune
		if ! git -C "$TREE" worktree add -q --detach "$BASE_TREE.new" "$root" ||
		   ! git -C "$TREE" worktree move "$BASE_TREE.new" "$BASE_TREE"; then
			die "can't make a work tree of the base in $BASE_TREE" \
			    "remove what is in the way and run the same command again"
		fi
	fi
	[ "$BASE_TREE" != "$BUILD/base" ] ||
		[ "$(git -C "$BASE_TREE" rev-parse HEAD)" = "$root" ] ||
		die "$BASE_TREE is not the base of $TREE" \
		    "run: git -C $TREE worktree remove -f $BASE_TREE"
}
