#!/bin/bash
# Tests of guest.sh with a real kernel: scenarios that fail, a kernel that complains, a
# guest that dies, hangs, or is interrupted.
#
# usage: test-guest-fails.sh
#
#   KERNEL=DIR in the environment: another kernel than build/out/guest
#
# One "ok" or "not ok" line a test; the last line is a summary.

# shellcheck source=tools/quilt/tests/guest-kernel.sh
. "$(dirname "$0")/guest-kernel.sh"

scenario content </dev/null

scenario three <<'EOF'
echo not content
exit 3
EOF
runs three
begin=$SECONDS
expect 3 'exit code 3' 'exit code 3' "${command[@]}"
# A busy machine boots slowly.
limit=$((15 + 3 * (SECONDS - begin)))

scenario panic <<'EOF'
echo about to crash
sleep 1
echo c >/proc/sysrq-trigger
EOF
runs panic
expect 125 'Kernel panic - not syncing: sysrq triggered crash' 'a panic' "${command[@]}"
if grep -q '^about to crash$' "$work/out"; then
	ok 'a panic: what the scenario printed before is there'
else
	not_ok 'a panic: what the scenario printed before is there'
fi

mkdir "$work/module"
cat >"$work/module/complain.c" <<'EOF'
#include <linux/module.h>

static char *how;
module_param(how, charp, 0);

static int __init complain(void)
{
	if (how && !strcmp(how, "bug"))
		BUG();
	WARN(1, "this is a test");
	return 0;
}
module_init(complain);
MODULE_DESCRIPTION("Makes the kernel complain");
MODULE_LICENSE("GPL");
EOF
echo 'obj-m := complain.o' >"$work/module/Makefile"
if make -C "$kernel" M="$work/module" modules >"$work/out" 2>&1; then
	scenario warn <<-'EOF'
	insmod /modules/complain.ko
	echo loaded
	EOF
	runs warn -a "$work/module/complain.ko:/modules/complain.ko"
	expect 125 'the kernel complained' 'a WARN while the scenario is content' "${command[@]}"
	runs warn -a "$work/module/complain.ko:/modules/complain.ko" --no-splat
	expect 0 'loaded' 'a WARN with --no-splat' "${command[@]}"
	scenario bug <<-'EOF'
	insmod /modules/complain.ko how=bug
	EOF
	runs bug -a "$work/module/complain.ko:/modules/complain.ko"
	expect 125 'Kernel panic - not syncing: Fatal exception' 'a BUG' "${command[@]}"
else
	not_ok 'a module that complains does not build'
fi

# The lines of an Oops, of which the second names the byte behind the trap.
oops() { # BYTE
	scenario oops <<-EOF
	echo '<0>Oops: int3: 0000 [#1] SMP NOPTI' >/dev/kmsg
	echo '<0>Code: 90 90 $1 <1f> 44 00 00' >/dev/kmsg
	EOF
	runs oops
}
export ACCEL=tcg
if [[ $("$QUILT_TOOLS/lib/qemu.sh" accel "$kernel") == *multi* ]]; then
	oops 0f
	expect 125 'again with one host thread' 'an int3 that memory does not have' "${command[@]}"
	oops cc
	expect 125 'Oops: int3' 'an int3 that memory has' "${command[@]}"
	if grep -q 'again with' "$work/out"; then
		not_ok 'an int3 that memory has: the guest ran again'
	fi
fi
unset ACCEL

scenario leave <<'EOF'
busybox reboot -f
EOF
runs leave
expect 125 'without its end marker' 'a guest that goes down by itself' "${command[@]}"

scenario hang <<'EOF'
echo hanging
sleep 1000
EOF
runs hang -t $limit
expect 124 "did not finish hang in $limit s" 'a scenario that hangs' "${command[@]}"

# A guest that never gets to the scenario.
runs content -t 6 -A rdinit=/nonexistent
expect 124 'did not reach init in 6 s' 'no init' "${command[@]}"
runs content -A rdinit=/bin/true
expect 125 'Attempted to kill init' 'an init that ends' "${command[@]}"
runs content
expect 125 'Attempted to kill init' 'the same, by APPEND' env APPEND=rdinit=/bin/true "${command[@]}"
head -c 100000 /dev/urandom >"$work/noise"
runs content -k "$work/noise"
expect 125 'QEMU ended with' 'a kernel that is none' "${command[@]}"
cp "$kernel/arch/x86/boot/bzImage" "$work/mute"
dd if=/dev/zero of="$work/mute" bs=64K seek=1 conv=notrunc status=none \
	count=$(($(stat -c %s "$work/mute") / 65536))
runs content -t 6 -k "$work/mute"
rc=0
"${command[@]}" >"$work/out" 2>&1 </dev/null || rc=$?
if [ $rc -ge 124 ] && grep -q 'printed nothing\|did not reach init' "$work/out"; then
	ok 'a kernel that says nothing'
else
	not_ok "a kernel that says nothing: returned $rc"
fi
runs content -C nonsense
expect 125 'QEMU ended with' 'a model of a CPU that is none' "${command[@]}"
runs content -s 64
expect 127 'it was to have 64' 'more CPUs than the kernel takes' "${command[@]}"

# An interrupted run leaves nothing behind.
for signal in TERM KILL; do
	runs hang
	"${command[@]}" >"$work/out" 2>&1 </dev/null &
	pid=$!
	# It may take long on a busy machine, or be over already.
	for ((i = 0; i < 1200; i++)); do
		! grep -q hanging "$work/out" || break
		kill -0 $pid 2>/dev/null || break
		sleep 0.1
	done
	kill -$signal $pid 2>/dev/null || true
	wait $pid 2>/dev/null || true
	for ((i = 0; i < 300; i++)); do
		pgrep -f "qemu-system.*file:$work/console" >/dev/null || break
		sleep 0.1
	done
	if ! grep -q hanging "$work/out"; then
		not_ok "SIG$signal: the guest did not get that far"
	elif [ $i -eq 300 ]; then
		not_ok "SIG$signal: QEMU still runs after 30 s"
	else
		ok "SIG$signal: no QEMU stays behind"
	fi
done

verdict
