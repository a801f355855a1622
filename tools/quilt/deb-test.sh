#!/bin/bash
# Tests deb.sh: builds packages with the guest's configuration and a disk, installs
# the kernel into a Debian root file system, and boots that in QEMU from its own
# initramfs. The files of the quilt have to be in tracefs there, and a module of
# the package has to make its event.
#
# usage: deb-test.sh [-n]
#
#   -n   do not build the packages anew
#
# Takes about 30 minutes on two cores, and needs root for chroot.

# shellcheck source=tools/quilt/lib/lib.sh
. "$(dirname "$0")/lib/lib.sh"
# shellcheck source=tools/quilt/lib/apt-lib.sh
. "$QUILT_TOOLS/lib/apt-lib.sh"

build=y
case ${1:-} in
-n) build='' ;;
-h | --help) usage; exit 0 ;;
'') ;;
*) usage >&2; exit 2 ;;
esac

dir=$BUILD/deb
root=$dir/root
disk=$dir/disk.ext4
console=$LOGS/deb-test-console.log

[ "$(uname -m)" = x86_64 ] || die "this test is for x86_64" "install the packages by hand"
"$QUILT_TOOLS/lib/qemu.sh" install
need debootstrap:debootstrap mke2fs:e2fsprogs

if [ -n "$build" ]; then
	config=$OUT/guest/.config
	[ -f "$config" ] || "$QUILT_TOOLS/kernel.sh" guest
	"$QUILT_TOOLS/deb.sh" -c "$config" -e "$QUILT_TOOLS/configs/deb-test.config"
fi
package=$(find "$dir" -maxdepth 1 -name 'linux-image-*.deb' ! -name '*-dbg_*' | head -n 1)
[ -n "$package" ] || die "there is no package in $dir" "run it without -n"

step "making a Debian root file system (log: $LOGS/deb-root.log)"
source=$(debian_source) || die "no Debian mirror is known" "name one with DEBIAN_MIRROR=URI"
as_root rm -rf "$root"
logged "$LOGS/deb-root.log" as_root debootstrap --variant=minbase \
	--include=initramfs-tools,kmod,udev,zstd \
	bookworm "$root" "${source%% *}" ||
	die "debootstrap failed" "see $LOGS/deb-root.log"

step "installing ${package##*/} (log: $LOGS/deb-install.log)"
as_root cp "$package" "$root/tmp/kernel.deb"
logged "$LOGS/deb-install.log" as_root chroot "$root" dpkg -i /tmp/kernel.deb ||
	die "the package can't be installed" "see $LOGS/deb-install.log"
as_root rm "$root/tmp/kernel.deb"
as_root install -m 755 "$QUILT_TOOLS/guest/deb-check" "$root/deb-check"
kernel=$(as_root find "$root/boot" -name 'vmlinuz-*' | head -n 1)
initrd=$(as_root find "$root/boot" -name 'initrd.img-*' | head -n 1)
{ [ -n "$kernel" ] && [ -n "$initrd" ]; } ||
	die "the package made no kernel or no initramfs in /boot" "see $LOGS/deb-install.log"

step "booting it (log: $console)"
rm -f "$disk"
as_root mke2fs -q -t ext4 -d "$root" "$disk" 2G
read -ra accel < <("$QUILT_TOOLS/lib/qemu.sh" accel "$OUT/guest")
clock=$("$QUILT_TOOLS/lib/qemu.sh" clock)
timeout --foreground 600 qemu-system-x86_64 "${accel[@]}" -smp 2 -m 2048 \
	-nographic -no-reboot -nodefaults -serial "file:$console" \
	-kernel "$kernel" -initrd "$initrd" \
	-drive "file=$disk,if=virtio,format=raw" \
	-append "root=/dev/vda rw init=/deb-check console=ttyS0 panic=-1 $clock" </dev/null ||
	die "the guest did not end" "see $console"
tr -d '\r' <"$console" | sed -n 's/^deb-check: //p'
tr -d '\r' <"$console" | grep -x 'deb-check: all there' >/dev/null ||
	die "the installed kernel lacks something" "see $console"
say "1 passed, 0 failed"
