#!/bin/bash
# Makes the initramfs of the guest: userland (cached), modules of the kernel,
# ftrace selftests of its tree, the project's init and scenarios. No root
# rights, no loop mounts.
#
# usage: image.sh [-k KERNELDIR] [-a SRC:DEST]... [-p PACKAGE]... OUT
#
#   OUT           the file to write: cpio, not compressed, because an emulated
#                 CPU copies 50 MB faster than it unpacks them
#   -k KERNELDIR  build directory of the kernel (build/out/guest)
#   -a SRC:DEST   put the file or directory SRC at DEST in the guest, too
#   -p PACKAGE    a Debian package to add to the userland
#   GUEST_SUITE=SUITE in the environment: another Debian release for the
#                 userland than the host's (bookworm where that is not Debian)
#   SELFTESTS_TREE=TREE  the same: selftests of another tree than the kernel's

# shellcheck source=tools/quilt/lib/lib.sh
. "$(dirname "$0")/lib.sh"
PATH=$PATH:/usr/sbin:/sbin

kernel=$OUT/guest out='' extras=() packages=()
while [ $# -gt 0 ]; do
	case $1 in
	-k) kernel=${2:?}; shift ;;
	-a) extras+=("${2:?}"); shift ;;
	-p) packages+=(-p "${2:?}"); shift ;;
	-h | --help) usage; exit 0 ;;
	-*) usage >&2; exit 2 ;;
	*) out=$1 ;;
	esac
	shift
done
[ -n "$out" ] || { usage >&2; exit 2; }

# The userland has the architecture of the kernel.
arch=amd64 karch=x86_64 cross=''
if [ -d "$kernel/arch/arm64/boot" ]; then
	arch=arm64 karch=arm64 cross=aarch64-linux-gnu-
	need ${cross}gcc:gcc-aarch64-linux-gnu /usr/aarch64-linux-gnu/include/stdio.h:libc6-dev-arm64-cross
fi

need cpio:cpio depmod:kmod flock:util-linux gcc:gcc make:make strip:binutils \
	/usr/include/stdio.h:libc6-dev
make_dir "$BUILD/guest"
make_dir "$(dirname "$out")"
need_space "$(dirname "$out")" 200 "the guest's image"

# One maker at a time: the caches below are shared by runs side by side.
exec {lock}>"$BUILD/guest/lock"
flock "$lock"

work=$(mktemp -d "$BUILD/guest/image.XXXXXX")
trap 'rm -rf "$work"' EXIT
root=$work/root
umask 022

host_suite() {
	# shellcheck source=/dev/null
	. /etc/os-release
	[ "${ID:-}" = debian ] && [ -n "${VERSION_CODENAME:-}" ] || return 1
	echo "$VERSION_CODENAME"
}

userland() {
	local suite key
	suite=${GUEST_SUITE:-$(host_suite || echo bookworm)}
	key=$({ cat "$QUILT_TOOLS/lib/userland.sh"; echo "${packages[*]-}"; } |
		sha256sum | cut -c 1-12)
	userland=$CACHE/guest/userland-$suite-$arch-$key.cpio
	[ -f "$userland" ] ||
		"$QUILT_TOOLS/lib/userland.sh" -A $arch -s "$suite" \
			${packages[0]:+"${packages[@]}"} "$userland" >&2
}

# Installed anew only when a module has changed.
modules() {
	local dir list
	[ -f "$kernel/modules.order" ] || return 0
	dir=$BUILD/guest/modules/$(readlink -f "$kernel" | sha256sum | cut -c 1-12)
	list=$(cd "$kernel" && cat include/config/kernel.release modules.order &&
		sed 's/\.o$/.ko/' modules.order | xargs -r stat -c '%n %s %Y') ||
		die "the modules of $kernel are not built" "run: tools/quilt/kernel.sh guest"
	if [ "$list" != "$(cat "$dir/list" 2>/dev/null)" ]; then
		rm -rf "$dir"
		make_dir "$dir"
		logged "$LOGS/modules-install.log" make -C "$kernel" ARCH=$karch ${cross:+CROSS_COMPILE=$cross} LOCALVERSION= \
			INSTALL_MOD_PATH="$dir" INSTALL_MOD_STRIP=1 modules_install >&2 ||
			die "the modules of $kernel can't be installed" "see $LOGS/modules-install.log"
		rm -f "$dir"/lib/modules/*/{build,source}
		printf '%s\n' "$list" >"$dir/list"
	fi
	mkdir -p "$root/usr/lib"
	cp -a "$dir/lib/modules" "$root/usr/lib/"
}

selftests() {
	local tree built
	tree=${SELFTESTS_TREE:-$(readlink -f "$kernel/source" || true)}
	[ -d "$tree" ] || tree=$TREE
	[ -d "$tree/tools/testing/selftests/ftrace" ] || return 0
	# Of these very sources: make would take newer programs of an older tree.
	built=$BUILD/guest/selftests-$karch-$(cat "$tree"/tools/testing/selftests/ftrace/*.c | sha256sum | cut -c 1-12)
	make_dir "$built"
	# Static: the guest's libc is not the host's.
	make -s -C "$tree/tools/testing/selftests/ftrace" "OUTPUT=$built" "CC=${cross}gcc" LDFLAGS=-static \
		>"$LOGS/selftests-build.log" 2>&1 ||
		die "the programs of the ftrace selftests do not build" "see $LOGS/selftests-build.log"
	mkdir -p "$root/selftests"
	cp -a "$tree/tools/testing/selftests/ftrace" "$root/selftests/"
	cp -a "$tree/tools/testing/selftests/verification" "$root/selftests/"
	find "$built" -maxdepth 1 -type f -exec cp -a {} "$root/selftests/ftrace/" \;
}

extra() {
	local src=${1%%:*} dest=${1#*:}
	case $1 in
	?*:/?*) ;;
	*) die "-a $1: not of the form SRC:/DEST" "DEST is an absolute path in the guest" ;;
	esac
	[ -e "$src" ] || die "-a $1: there is no $src" "check the path"
	mkdir -p "$root$(dirname "$dest")"
	# Links of the host mean nothing in the guest.
	cp -rLp "$src" "$root$dest"
}

make_dir "$LOGS"
# The links of the merged layout: files below /bin or /lib land where the
# userland has them.
mkdir -p "$root"/usr/{bin,sbin,lib,lib64}
for dir in bin sbin lib lib64; do
	ln -s "usr/$dir" "$root/$dir"
done
userland
modules
selftests
cp -r "$QUILT_TOOLS"/guest/{init,scenarios,torture.sh} "$root/"
cp -r "$BENCH_TOOLS/guest/scenarios" "$root/"
for spec in ${extras[0]:+"${extras[@]}"}; do
	extra "$spec"
done
rm -f "$root/scenarios/README.md"
chmod 755 "$root/init" "$root"/scenarios/*

(cd "$root" && find . -print0 | sort -z | cpio -0 -o -H newc -R +0:+0 --quiet) >"$work/cpio"
cat "$userland" "$work/cpio" >"$work/image"
mv "$work/image" "$out"
