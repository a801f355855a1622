#!/bin/bash
# QEMU for the x86_64 guest: installs it where it is missing and chooses the
# accelerator.
#
# usage: qemu.sh install [CPU]      install qemu-system-CPU (x86_64; aarch64, s390x,
#                                   i386, riscv64) if it is missing
#        qemu.sh accel [KERNELDIR]  print the options for KERNELDIR's kernel
#                                   (build/out/guest)
#        qemu.sh clock              print the kernel parameters about the clock of
#                                   an emulated CPU
#
# KVM is used only after a probe boot has ended as it should, as a guest may hang
# with the /dev/kvm of a nested machine. Otherwise the CPU is emulated. From QEMU
# 10 on each guest CPU has a host thread. Before, one thread runs them all, as
# several break the kernel's text patching (int3 Oops).
#
#   ACCEL=tcg|kvm in the environment: use this one, without a probe
#   TCG=single in the environment: use one host thread to emulate the CPUs

# shellcheck source=tools/quilt/lib/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tools/quilt/lib/apt-lib.sh
. "$QUILT_TOOLS/lib/apt-lib.sh"

QEMU=qemu-system-x86_64
PACKAGE=qemu-system-x86
GOOD=10

version() { $QEMU --version | sed -n '1s/.*version \([0-9]*\).*/\1/p'; }

# Major version that the host's own apt would install, 0 for none.
candidate() {
	local major
	major=$(apt-cache policy "$PACKAGE" |
		sed -n 's/^ *Candidate: \([0-9]*:\)\{0,1\}\([0-9][0-9]*\).*/\2/p')
	echo "${major:-0}"
}

# From backports, without making them a source of the host.
backports() {
	local codename=$1 options apt
	options=$(BUILD=$BUILD/guest apt_isolated "$codename" "$codename-updates" "$codename-backports") ||
		return 1
	mapfile -t apt <<<"$options"
	apt+=(-q -o APT::Update::Error-Mode=any)
	apt-get "${apt[@]}" update &&
		as_root env DEBIAN_FRONTEND=noninteractive apt-get "${apt[@]}" -y \
			--no-install-recommends -t "$codename-backports" install "$PACKAGE"
}

install() {
	local id='' codename=''
	case ${1:-x86_64} in
	x86_64 | i386) ;;
	aarch64) PACKAGE=qemu-system-arm ;;
	s390x | riscv64) PACKAGE=qemu-system-misc ;;
	*) PACKAGE=qemu-system-$1 ;;
	esac
	QEMU=qemu-system-${1:-x86_64}
	! command -v "$QEMU" >/dev/null || return 0
	if [ -r /etc/os-release ]; then
		# shellcheck source=/dev/null
		read -r id codename < <(. /etc/os-release; echo "${ID:-} ${VERSION_CODENAME:-}") || true
	fi
	if [ "$id" = debian ] && [ -n "$codename" ] && command -v apt-get >/dev/null &&
	   { [ "$(id -u)" -eq 0 ] || command -v sudo >/dev/null; }; then
		make_dir "$LOGS"
		as_root apt-get -q update >"$LOGS/qemu-install.log" 2>&1 || true
		if [ "$(candidate)" -lt $GOOD ]; then
			say "installing $PACKAGE from $codename-backports"
			backports "$codename" >>"$LOGS/qemu-install.log" 2>&1 ||
				warn "no QEMU $GOOD from $codename-backports (see $LOGS/qemu-install.log), taking $codename's own"
		fi
	fi
	need "$QEMU:$PACKAGE"
}

# True when the kernel boots under KVM and ends by itself. The verdict is kept
# until the host boots anew or gets another QEMU.
kvm_works() {
	local kernel=$1 kept=$BUILD/guest/kvm-verdict key verdict=broken
	{ [ -r /dev/kvm ] && [ -w /dev/kvm ]; } || return 1
	[ -f "$kernel/arch/x86/boot/bzImage" ] || return 1
	key="$(cat /proc/sys/kernel/random/boot_id) $($QEMU --version | head -n 1)"
	if ! grep -qsxF "$key works" "$kept" && ! grep -qsxF "$key broken" "$kept"; then
		if ACCEL=kvm "$QUILT_TOOLS/guest.sh" run -q -k "$kernel" -t 20 \
			-L "$LOGS/guest-kvm-probe.log" true >"$LOGS/kvm-probe.log" 2>&1; then
			verdict=works
		fi
		make_dir "$BUILD/guest"
		printf '%s %s\n' "$key" $verdict >"$kept"
	fi
	grep -qxF "$key works" "$kept"
}

accel() {
	case ${ACCEL:-} in
	kvm)
		{ [ -r /dev/kvm ] && [ -w /dev/kvm ]; } ||
			die "ACCEL=kvm, but /dev/kvm can't be opened" \
			    "use ACCEL=tcg, or give yourself access to /dev/kvm"
		echo '-accel kvm -cpu host'
		return ;;
	'' | tcg) ;;
	*) die "ACCEL=$ACCEL: no such accelerator" "use ACCEL=tcg or ACCEL=kvm" ;;
	esac
	if [ -z "${ACCEL:-}" ] && kvm_works "$1"; then
		echo '-accel kvm -cpu host'
	elif [ "$(version)" -ge $GOOD ] && [ "${TCG:-multi}" = multi ]; then
		echo '-accel tcg,thread=multi'
	else
		echo '-accel tcg,thread=single'
	fi
}

# On a busy host the guest fails to measure the TSC and does not use it, and then
# tests of clocks and latencies hang or fail. The parameters tell it the frequency,
# which is that of the host. And it panics when too few ticks come while it checks
# the timer, which is one of QEMU's.
clock() {
	local kept=$BUILD/guest/tsc-khz boot khz
	boot=$(cat /proc/sys/kernel/random/boot_id)
	khz=$(sed -n "s/^$boot //p" "$kept" 2>/dev/null || true)
	if [ -z "$khz" ]; then
		need gcc:gcc /usr/include/stdio.h:libc6-dev >&2
		make_dir "$BUILD/guest"
		gcc -O2 -o "$kept.$$" "$QUILT_TOOLS/lib/tsc-khz.c" && khz=$("$kept.$$")
		rm -f "$kept.$$"
		[[ $khz =~ ^[1-9][0-9]{4,}$ ]] || { echo no_timer_check; return 0; }
		echo "$boot $khz" >"$kept"
	fi
	echo "tsc=reliable tsc_early_khz=$khz no_timer_check"
}

case ${1:-} in
clock) clock ;;
install) install "${2:-}" ;;
accel) install >&2; accel "${2:-$OUT/guest}" ;;
-h | --help) usage ;;
*) usage >&2; exit 2 ;;
esac
