# shellcheck shell=bash
# Shared by the scripts that make a tree of a kernel's sources. Source it behind
# tree-lib.sh.

# take_base SOURCE DIR: the files of the source that fetch.sh has found.
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

# unpack_base SOURCE DIR: the same, as a step with a log.
unpack_base() {
	need xz:xz-utils
	step "unpacking ${1#*:}"
	logged "$LOGS/unpack.log" take_base "$1" "$2" ||
		die "the sources could not be unpacked: ${1#*:}" \
		    "a damaged file or a full disk: see $LOGS/unpack.log, and run again"
}

# commit_base DIR VERSION: makes the files of DIR a repository with one commit,
# the tag base. The same content gives the same commit on every machine. Objects
# that are in the repository OBJECTS, if that is set, are not written again.
commit_base() {
	local dir=$1 version=$2
	# Debian's .gitignore hides the whole tree.
	sed -i '\|^/\*$|d' "$dir/.gitignore" 2>/dev/null || true
	git init -q --template= -b quilt "$dir" &&
		git -C "$dir" config user.name "$QUILT_NAME" &&
		git -C "$dir" config user.email "$QUILT_EMAIL" &&
		git -C "$dir" config core.autocrlf false || return
	[ -z "${OBJECTS:-}" ] || echo "$OBJECTS" >"$dir/.git/objects/info/alternates"
	# With this threshold git writes one pack, not a hundred thousand files.
	logged "$LOGS/base.log" git -C "$dir" -c core.bigFileThreshold=1 -c core.compression=1 \
		add -f -A || return
	GIT_AUTHOR_DATE='2026-01-01T00:00:00Z' GIT_COMMITTER_DATE='2026-01-01T00:00:00Z' \
		git -C "$dir" commit -q -m "Linux $version" || return
	git -C "$dir" tag base
}
