#!/bin/bash
# Prints the path of a sparse that understands the kernel in build/linux: the
# host's, or one built from Debian's newest source package into the cache.
#
# usage: sparse.sh

# shellcheck source=tools/quilt/lib/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tools/quilt/lib/apt-lib.sh
. "$QUILT_TOOLS/lib/apt-lib.sh"

case ${1:-} in
'') ;;
-h | --help) usage; exit 0 ;;
*) die "unknown argument: $1" "see sparse.sh --help" ;;
esac

[ -f "$TREE/scripts/checker-valid.sh" ] || die "no kernel tree in $TREE" "run: make tree"

# The kernel's own test: make C=2 checks nothing, and goes on, when it fails.
usable() {
	[ "$("$TREE/scripts/checker-valid.sh" "$1" 2>/dev/null)" = 1 ] || return 1
	echo "$1"
}

usable sparse && exit 0
usable "$CACHE/sparse" && exit 0

give_up() { die "$1" "install a sparse that scripts/checker-valid.sh of the kernel accepts"; }

{ command -v apt-get && command -v dpkg-deb; } >/dev/null || give_up "sparse is missing or too old"
exec 3>&1 1>&2
need gcc:gcc make:make
make_dir "$CACHE"
make_dir "$LOGS"
dir=$BUILD/sparse
log=$LOGS/sparse.log
rm -rf "$dir"
make_dir "$dir/source"
opts=$(BUILD=$dir && apt_isolated sid) || give_up "sparse is too old, and no Debian mirror is known (DEBIAN_MIRROR=URL)"
mapfile -t opts <<<"$opts"
sed -i 's/^deb /deb-src /' "$dir/apt/sources.list"
say "building a newer sparse"
{
	apt-get -q "${opts[@]}" -o APT::Update::Error-Mode=any update &&
		(cd "$dir" && apt-get -q "${opts[@]}" --download-only source sparse) &&
		tar -xf "$dir"/sparse_*.orig.tar.* -C "$dir/source" --strip-components=1 &&
		make -C "$dir/source" -j"$JOBS" sparse
} >"$log" 2>&1 || give_up "sparse is too old, and a newer one could not be built, see $log"
mv "$dir/source/sparse" "$CACHE/sparse"
rm -rf "$dir"
usable "$CACHE/sparse" >&3 || give_up "Debian's newest sparse is too old"
