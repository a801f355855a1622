#!/bin/bash
# Finds the pinned Linux source, or fetches it.
#
# usage: fetch.sh
#
# Prints one line: dir:/path, git:/path COMMIT or tar:/path. It looks in these
# places, in this order:
#
#   LINUX_SRC=DIR       a kernel tree that you have; of a git tree LINUX_REF,
#                       or the tag of the pinned version, or HEAD
#   LINUX_TARBALL=FILE  a tarball that you have
#   the cache           ${XDG_CACHE_HOME:-~/.cache}/tracing-quilt
#   kernel.org          KERNEL_MIRROR=URL names another mirror
#   Debian's package    linux-source-X.Y of DEBIAN_SUITE, from the mirror that
#                       this host uses, or DEBIAN_MIRROR=URL
#
# A download is kept only when its checksum is right. An interrupted download is
# resumed.

# shellcheck source=tools/quilt/lib/tree-lib.sh
. "$(dirname "$0")/tree-lib.sh"
# shellcheck source=tools/quilt/lib/apt-lib.sh
. "$QUILT_TOOLS/lib/apt-lib.sh"
# shellcheck source=tools/quilt/lib/cache-lib.sh
. "$QUILT_TOOLS/lib/cache-lib.sh"

no_arguments "$@"

KERNEL_MIRROR=${KERNEL_MIRROR:-https://cdn.kernel.org/pub/linux/kernel}
DEBIAN_SUITE=${DEBIAN_SUITE:-trixie-backports}

# Only the result goes to stdout.
exec 3>&1 1>&2

version=$(pinned_version)
# 7.3 of 7.3.4 and of 7.4-rc1; Debian's version of the latter is 7.4~rc1-1.
release=$version
[[ ! $version =~ ^[0-9]+\.[0-9]+ ]] || release=${BASH_REMATCH[0]}
package=linux-source-$release
tried=()
failed() { tried+=("$1"); say "    $1"; }

found() {
	printf '%s\n' "$1" >&3
	exit 0
}

from_src() {
	local src ref
	src=$(cd "$LINUX_SRC" 2>/dev/null && pwd) ||
		die "LINUX_SRC=$LINUX_SRC is not a directory" "name a kernel tree, or leave it out"
	if [ -e "$src/.git" ]; then
		ref=${LINUX_REF:-}
		if [ -z "$ref" ]; then
			ref=HEAD
			[ "$BASE" = any ] || ! git -C "$src" rev-parse -q --verify "v$version^{commit}" >/dev/null ||
				ref=v$version
		fi
		git -C "$src" rev-parse -q --verify "$ref^{commit}" >/dev/null ||
			die "$src has no commit $ref" "name one with LINUX_REF=COMMIT"
		say "using commit $ref of $src"
		found "git:$src $(git -C "$src" rev-parse "$ref^{commit}")"
	fi
	[ -f "$src/Makefile" ] || die "$src is not a kernel tree" "LINUX_SRC is the directory with Kbuild and MAINTAINERS in it"
	if [ -e "$src/.config" ] || [ -e "$src/include/config" ]; then
		die "$src holds build products" "run there: make mrproper"
	fi
	say "using $src"
	found "dir:$src"
}

from_tarball() {
	[ -f "$LINUX_TARBALL" ] ||
		die "LINUX_TARBALL=$LINUX_TARBALL: no such file" "name a tarball of Linux $version, or leave it out"
	say "using $LINUX_TARBALL"
	found "tar:$(realpath "$LINUX_TARBALL")"
}

from_cache() {
	local name file
	for name in "linux-$version.tar.xz" "${package}_${version/-/\~}"; do
		for file in "$CACHE/$name"*.tar.xz "$CACHE/$name"; do
			cached "${file##*/}" || continue
			say "using $file"
			found "tar:$file"
		done
	done
	tried+=("cache: no tarball of Linux $version in $CACHE")
}

from_kernel_org() {
	local dir=$KERNEL_MIRROR/v${version%%.*}.x name=linux-$version.tar.xz
	local part=$CACHE/$name.part progress=(-sS) want err rc try
	local curl=(curl -f -L --connect-timeout 10 --speed-limit 1000 --speed-time 60)

	need curl:curl
	say "looking for $name in $dir"
	err=$("${curl[@]}" -sS -o "$CACHE/sha256sums.asc" "$dir/sha256sums.asc" 2>&1) ||
		{ failed "kernel.org: $(head -n 1 <<<"$err")"; return; }
	want=$(awk -v name="$name" '$2 == name && length($1) == 64 { print $1; exit }' \
		"$CACHE/sha256sums.asc")
	rm -f "$CACHE/sha256sums.asc"
	[ -n "$want" ] || { failed "kernel.org: no checksum of $name in sha256sums.asc"; return; }

	need_space "$CACHE" 400 "the tarball"
	[ ! -t 2 ] || progress=(-#)
	# A partial file can be stale or damaged: then the second try is without it.
	for try in resumed fresh; do
		[ $try = resumed ] || rm -f "$part"
		[ -f "$part" ] || try=fresh
		if [ $try = fresh ] || [ "$(sha256_of "$part")" != "$want" ]; then
			[ $try = fresh ] || say "resuming at $(($(stat -c %s "$part") / 1048576)) MiB"
			rc=0
			fetch_file "${curl[@]}" "${progress[@]}" --retry 3 -C - -o "$part" "$dir/$name" || rc=$?
			case $try-$rc in
			*-0) ;;
			resumed-22 | resumed-33 | resumed-36) continue ;;
			*)
				failed "kernel.org: the download of $name stopped (curl error $rc): run again to resume"
				return
				;;
			esac
		fi
		if [ "$(sha256_of "$part")" = "$want" ]; then
			keep "$part" "$name"
			found "tar:$CACHE/$name"
		fi
		rm -f "$part"
		say "    wrong checksum, the $try download is deleted"
		[ $try = resumed ] || break
	done
	failed "kernel.org: the checksum of $name is wrong, the file is deleted"
}

from_debian() {
	local opts deb name log=$LOGS/apt-source.log

	{ command -v apt-get && command -v dpkg-deb; } >/dev/null ||
		{ failed "Debian: no apt-get on this machine"; return; }
	opts=$(apt_isolated "$DEBIAN_SUITE") ||
		{ failed "Debian: this host uses no Debian mirror, name one with DEBIAN_MIRROR=URL"; return; }
	need /usr/share/keyrings/debian-archive-keyring.gpg:debian-archive-keyring
	mapfile -t opts <<<"$opts"
	make_dir "$LOGS"
	say "looking for $package in Debian's $DEBIAN_SUITE"
	apt-get -q "${opts[@]}" -o APT::Update::Error-Mode=any update >"$log" 2>&1 ||
		{ failed "Debian: $(grep -m 1 '^[EW]:' "$log" || tail -n 1 "$log")"; return; }
	deb=$(cd "$CACHE" && apt-get -q "${opts[@]}" --print-uris download "$package" 2>>"$log" |
		awk 'NF >= 3 { print $2 }') || true
	[ -n "$deb" ] || { failed "Debian: no package $package in $DEBIAN_SUITE"; return; }
	name=${deb%_*.deb}.tar.xz
	if cached "$name"; then
		say "using $CACHE/$name"
		found "tar:$CACHE/$name"
	fi

	need_space "$CACHE" 400 "the package"
	mkdir -p "$CACHE/deb"
	# apt resumes a partial file and verifies the checksum.
	(cd "$CACHE/deb" && fetch_file apt-get -q "${opts[@]}" download "$package") ||
		{ failed "Debian: the download of $package failed: run again to resume"; return; }
	rm -f "$CACHE/$name.part"
	dpkg-deb --fsys-tarfile "$CACHE/deb/$deb" |
		tar -xO "./usr/src/$package.tar.xz" >"$CACHE/$name.part" ||
		{ rm -rf "$CACHE/deb" "$CACHE/$name.part"; failed "Debian: no tarball in $deb"; return; }
	keep "$CACHE/$name.part" "$name"
	rm -rf "$CACHE/deb"
	found "tar:$CACHE/$name"
}

[ -z "${LINUX_SRC:-}" ] || from_src
[ -z "${LINUX_TARBALL:-}" ] || from_tarball
make_dir "$CACHE"
from_cache
from_kernel_org
from_debian

die "no source of Linux $version was found" "${tried[@]}" \
	"put the tarball of Linux $version somewhere, and run: make tree LINUX_TARBALL=FILE"
