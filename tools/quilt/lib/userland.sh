#!/bin/bash
# Makes the userland of the guest: the Debian packages that the upstream
# ftrace selftests and an interactive shell need, as one cpio archive.
#
# usage: userland.sh [-A ARCH] [-s SUITE] [-p PACKAGE]... OUT
#
#   OUT         the archive to write; OUT.packages lists what is in it
#   -A ARCH     amd64 (unless told) or arm64
#   -s SUITE    Debian release to take the packages from
#   -p PACKAGE  another package, with its dependencies
#
# Packages are resolved against an empty package database and unpacked, not
# installed. So it needs no root rights and runs no maintainer scripts.

# shellcheck source=tools/quilt/lib/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tools/quilt/lib/apt-lib.sh
. "$QUILT_TOOLS/lib/apt-lib.sh"

# usr-is-merged stands in for usrmerge, which would bring perl.
packages=(bash bc binutils busybox-static coreutils dash diffutils findutils gawk
	grep hostname iproute2 iputils-ping kmod ncurses-base procps sed strace tar
	util-linux usr-is-merged)

# Nothing in the guest reads these; they are two thirds of the size.
unwanted=(usr/share/{bash-completion,bug,debconf,dict,doc,doc-base,dpkg,gdb,info,initramfs-tools}
	usr/share/{lintian,locale,man,menu,perl,perl5,pixmaps,polkit-1,tabset,zsh}
	usr/bin/{dpkg,gold,gp,perl,'*'-linux-gnu-{ar,as,dwp,elfedit,gp,gprof,ld,nm,obj,strip}}'*'
	usr/lib/{apt,bfd-plugins,compat-ld,debug,dpkg,gold-ld,init,systemd,udev}
	usr/lib/'*'-linux-gnu/{audit,bfd-plugins,gconv,gprofng,ldscripts,perl,perl-base}
	usr/lib/'*'-linux-gnu/{libbfd,libctf.so,libdb-,libgprofng,libopcodes}'*'
	usr/lib/python3{,.11/'*'} usr/share/{icons,perf-core,pixmaps,python3}
	etc/{apt,cron.daily,debconf.conf,dpkg,init.d,logrotate.d,pam.d,rc?.d,systemd,update-motd.d}
	boot home media mnt opt srv var)

arch=amd64 suite=bookworm out=''
while [ $# -gt 0 ]; do
	case $1 in
	-A) arch=${2:?}; shift ;;
	-s) suite=${2:?}; shift ;;
	-p) packages+=("${2:?}"); shift ;;
	-h | --help) usage; exit 0 ;;
	-*) usage >&2; exit 2 ;;
	*) out=$1 ;;
	esac
	shift
done
[ -n "$out" ] || { usage >&2; exit 2; }

need apt-get:apt dpkg-deb:dpkg tar:tar cpio:cpio \
	/usr/share/keyrings/debian-archive-keyring.gpg:debian-archive-keyring

make_dir "$(dirname "$out")"
make_dir "$CACHE/guest/debs/partial"
make_dir "$BUILD/guest/userland"
need_space "$CACHE" 150 "the guest's userland"
need_space "$BUILD" 300 "the guest's userland"
work=$(mktemp -d "$BUILD/guest/userland/XXXXXX")
trap 'rm -rf "$work"' EXIT

BUILD=$BUILD/guest/userland
apt_options=$(apt_isolated "$suite") ||
	die "no Debian mirror is known to this host's apt" \
	    "name one: DEBIAN_MIRROR=URI (a directory with dists/$suite)"
mapfile -t apt <<<"$apt_options"
: >"$work/status"
apt+=(-o "Dir::State::status=$work/status" -o "Dir::Cache::archives=$CACHE/guest/debs"
	-o "APT::Architecture=$arch" -o "APT::Architectures=$arch"
	-o APT::Update::Error-Mode=any -o APT::Install-Recommends=false -q)

fetch() {
	apt-get "${apt[@]}" update &&
		apt-get "${apt[@]}" --simulate install "${packages[@]}" >"$work/plan" &&
		apt-get "${apt[@]}" -y --download-only install "${packages[@]}"
}
step "fetching the guest's userland (Debian $suite, $arch)"
logged "$LOGS/userland-fetch.log" fetch ||
	die "the packages of the guest's userland can't be fetched" \
	    "see $LOGS/userland-fetch.log; the first run needs a Debian mirror (DEBIAN_MIRROR=URI)"

# "Inst NAME (VERSION ORIGIN [ARCH])" becomes the name of a file in the cache.
awk '$1 == "Inst" {
	version = $3; sub(/^\(/, "", version); gsub(/:/, "%3a", version)
	match($0, /\[[a-z0-9]+\]\)/)
	arch = substr($0, RSTART + 1, RLENGTH - 3)
	print $2 "_" version "_" arch ".deb"
}' "$work/plan" | sort >"$work/packages"
[ -s "$work/packages" ] ||
	die "apt-get names no package to unpack" "see $LOGS/userland-fetch.log"

# The merged layout is made first, so that packages unpack through the links.
root=$work/root
umask 022
mkdir -p "$root"/usr/{bin,sbin,lib,lib64} "$root"/{dev,proc,sys,run,tmp,root,var/tmp}
for dir in bin sbin lib lib64; do
	ln -s "usr/$dir" "$root/$dir"
done
while read -r deb; do
	dpkg-deb --fsys-tarfile "$CACHE/guest/debs/$deb" |
		tar -x -C "$root" --keep-directory-symlink --no-same-owner \
			"${unwanted[@]/#/--exclude=./}" ||
		die "$deb does not unpack" \
		    "remove $CACHE/guest/debs and run the same command again"
done <"$work/packages"

# The work of maintainer scripts.
ln -sf dash "$root/usr/bin/sh"
ln -sf gawk "$root/usr/bin/awk"
find "$root" -xtype l -delete
rm -rf "$root"/usr/share/terminfo
find "$root/usr/lib/terminfo" "$root/lib/terminfo" -type f \
	! -name 'linux' ! -name 'screen*' ! -name 'tmux*' ! -name 'vt1*' ! -name 'xterm*' ! -name dumb -delete 2>/dev/null || true
cat >"$root/etc/passwd" <<-EOF
	root:x:0:0:root:/root:/bin/bash
	nobody:x:65534:65534:nobody:/nonexistent:/bin/sh
EOF
cat >"$root/etc/group" <<-EOF
	root:x:0:
	nogroup:x:65534:
EOF
echo '127.0.0.1 localhost guest' >"$root/etc/hosts"
echo guest >"$root/etc/hostname"
echo "PS1='guest:\\w# '" >"$root/root/.bashrc"

# init puts links to the applets there. It comes last in the guest's PATH: they
# fill the gaps.
mkdir "$root/usr/lib/busybox"

(cd "$root" && find . -print0 | sort -z | cpio -0 -o -H newc -R +0:+0 --quiet) >"$work/cpio"
mv "$work/packages" "$out.packages"
mv "$work/cpio" "$out"
