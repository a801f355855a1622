#!/bin/bash
# Tests of guest.sh with a real kernel: success and every way to fail.
#
# usage: test-guest.sh
#
#   KERNEL=DIR in the environment: another kernel than build/out/guest
#
# One "ok" or "not ok" line a test; the last line counts.

# shellcheck source=tools/quilt/tests/lib.sh
. "$(dirname "$0")/lib.sh"

kernel=${KERNEL:-$OUT/guest}
[ -f "$kernel/arch/x86/boot/bzImage" ] ||
	die "there is no kernel in $kernel" "run: make tree && tools/quilt/kernel.sh guest"

guest=$QUILT_TOOLS/guest.sh

# expect CODE TEXT WHAT CMD...: returns CODE and prints a line with TEXT.
expect() {
	local want=$1 text=$2 what=$3 rc=0
	shift 3
	"$@" >"$work/out" 2>&1 </dev/null || rc=$?
	if [ $rc -ne "$want" ]; then
		not_ok "$what: returned $rc, not $want"
	elif ! grep -qF -e "$text" "$work/out"; then
		not_ok "$what: did not say '$text'"
	else
		ok "$what"
	fi
}

# scenario NAME: the script is standard input.
scenario() {
	{ echo '#!/bin/sh'; cat; } >"$work/$1"
	chmod +x "$work/$1"
}

# runs SCENARIO [OPTION]...: command line of a made-up scenario.
runs() {
	local name=$1
	shift
	command=("$guest" run -q -k "$kernel" -t 240 -L "$work/console"
		-a "$work/$name:/scenarios/$name" "$@" "$name")
}

# Scenarios that pass.
expect 0 'CPUs, up after' 'a scenario of the project' \
	"$guest" run -q -k "$kernel" -t 240 -L "$work/console" true

scenario content <<'EOF'
echo "on $(nproc) CPUs"
for arg; do printf '<%s>\n' "$arg"; done
EOF
runs content -s 3
expect 0 'on 3 CPUs' 'exit code 0, and as many CPUs as asked for' "${command[@]}"
args=(plain 'two words' 'a,b%20c' "q\"u'o\$HOME" '' 'tab	x' '\n')
runs content
expect 0 '<plain>' 'a scenario with arguments' "${command[@]}" "${args[@]}"
if [ "$(grep '^<' "$work/out")" = "$(printf '<%s>\n' "${args[@]}")" ]; then
	ok 'arguments arrive as they were given'
else
	not_ok 'arguments arrive as they were given'
fi

echo 'from the host' >"$work/file"
scenario reader <<'EOF'
cat /data/sub/file /lib/added
EOF
runs reader -a "$work/file:/data/sub/file" -a "$work/file:/lib/added"
expect 0 'from the host' 'files of the host' "${command[@]}"

scenario long <<'EOF'
seq 20000
printf 'no newline'
EOF
runs long
expect 0 'no newline' 'much output' "${command[@]}"
if [ "$(head -n 20000 "$work/out")" = "$(seq 20000)" ]; then
	ok 'much output: nothing is lost'
else
	not_ok 'much output: nothing is lost'
fi

scenario daemon <<'EOF'
sleep 1000 &
echo left a daemon
EOF
runs daemon
expect 0 'left a daemon' 'a scenario that leaves a daemon behind' "${command[@]}"

scenario writer <<'EOF'
seq 100000 >/tmp/numbers
head -c 100000 /bin/busybox >/tmp/bytes
printf 'no newline'
EOF
runs writer -o "/tmp/numbers:$work/numbers" -o "/tmp/bytes:$work/bytes"
expect 0 'no newline' 'files of the guest' "${command[@]}"
if cmp -s "$work/numbers" <(seq 100000) && [ "$(stat -c %s "$work/bytes")" -eq 100000 ]; then
	ok 'files of the guest arrive whole'
else
	not_ok 'files of the guest arrive whole'
fi
if grep -q 'TQ-' "$work/out"; then
	not_ok 'files of the guest are not printed'
else
	ok 'files of the guest are not printed'
fi
runs writer -o "/tmp/nothing:$work/nothing"
expect 125 'did not send /tmp/nothing' 'a file that the guest does not have' "${command[@]}"

runs content --icount
expect 0 'on 1 CPUs' '--icount' "${command[@]}"

"$guest" run -q -k "$kernel" -t 240 true >"$work/other" 2>&1 &
runs content
expect 0 'on 2 CPUs' 'two guests side by side, one' "${command[@]}"
rc=0
wait $! || rc=$?
cp "$work/other" "$work/out"
if [ $rc -eq 0 ]; then
	ok 'two guests side by side, the other'
else
	not_ok 'two guests side by side, the other'
fi

# A scenario that fails, a kernel that complains, a guest that dies.
scenario three <<'EOF'
echo not content
exit 3
EOF
runs three
expect 3 'exit code 3' 'exit code 3' "${command[@]}"

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

scenario leave <<'EOF'
busybox reboot -f
EOF
runs leave
expect 125 'without its end marker' 'a guest that goes down by itself' "${command[@]}"

scenario hang <<'EOF'
echo hanging
sleep 1000
EOF
runs hang -t 25
expect 124 'did not finish hang in 25 s' 'a scenario that hangs' "${command[@]}"

# A guest that never gets to the scenario.
runs content -t 6 -A rdinit=/nonexistent
expect 124 'did not reach init in 6 s' 'no init' "${command[@]}"
runs content -A rdinit=/bin/true
expect 125 'Attempted to kill init' 'an init that ends' "${command[@]}"
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

# UML: the console is standard output, the scenario's output goes to the third.
mkdir "$work/um"
cat >"$work/um/linux" <<'EOF'
#!/bin/sh
echo 'Run /init as init process'
for word; do
	case $word in
	initrd=*) [ -s "${word#*=}" ] || exit 9 ;;
	*=hang) exec sleep 1000 ;;
	tq.files=*)
		{ printf 'text without its end'; echo 'TQ-FILE 0'; seq 1000 | gzip | base64; echo TQ-END; } >&3 ;;
	esac
done
echo "UML has $*" >&3
echo 'TQ-EXIT 4' >&3
EOF
chmod +x "$work/um/linux"
runs content -k "$work/um" -s 3 -A 'some=*'
expect 4 'ncpus=3' 'UML' "${command[@]}"
expect 4 'tq.run=content some=*' 'UML gets the command line' "${command[@]}"
runs content -k "$work/um" -o "/tmp/numbers:$work/from-um"
expect 4 'text without its end' 'UML sends a file' "${command[@]}"
if cmp -s "$work/from-um" <(seq 1000) && ! grep -q H4sI "$work/out"; then
	ok 'the file arrives, and is not printed'
else
	not_ok 'the file arrives, and is not printed'
fi
runs content -k "$work/um" -o "/tmp/one:$work/one" -o "/tmp/two:$work/two"
expect 4 'did not send /tmp/two' 'UML sends one file of two' "${command[@]}"
runs content -k "$work/um" -t 3 -A some=hang
expect 124 'did not finish content in 3 s' 'a UML that hangs' "${command[@]}"
runs content -k "$work/um" --icount
expect 1 'is for QEMU' 'UML with --icount' "${command[@]}"
runs content -k "$work/um" -C qemu64
expect 1 'is for x86_64' 'UML with a model of a CPU' "${command[@]}"

# Bad input, a bad machine.
expect 1 'there is no kernel in /nonexistent' 'no kernel' "$guest" run -k /nonexistent true
expect 1 'there is no scenario nonsense' 'no such scenario' "$guest" run -k "$kernel" nonsense
expect 1 'which scenario?' 'no scenario' "$guest" run -k "$kernel"
expect 1 'no option --nonsense' 'no such option' "$guest" run --nonsense true
expect 1 'needs a value' 'an option without its value' "$guest" run -s
expect 1 "'many' is not a number" 'a number that is none' "$guest" run -s many true
expect 1 'there is no /nonexistent' 'a file that is not there' \
	"$guest" run -q -k "$kernel" -L "$work/console" -a /nonexistent:/x true
expect 1 'not of the form' 'a file of the guest without a place' "$guest" run -k "$kernel" -o /tmp/file true
expect 1 'not of the form' 'a file without a place' \
	"$guest" run -q -k "$kernel" -L "$work/console" -a /etc/passwd true
expect 1 'command line gets too long' 'too many arguments' \
	"$guest" run -q -k "$kernel" -L "$work/console" true "$(seq 1000)"
expect 1 'no such accelerator' 'no such accelerator' \
	env ACCEL=nonsense "$guest" run -q -k "$kernel" -L "$work/console" true
expect 1 'needs a terminal' 'a shell without a terminal' "$guest" shell -k "$kernel"
expect 1 "can't write to" 'a build directory that is none' \
	env BUILD=/proc/nonexistent "$guest" run -q -k "$kernel" true

expect 1 "can't be fetched" 'a package that there is not' \
	"$guest" run -q -k "$kernel" -L "$work/console" -p tracing-quilt-no-such true

mkdir "$work/bin"
for dir in /usr/sbin /usr/bin /sbin /bin; do
	cp -s "$dir"/* "$work/bin/" 2>/dev/null || true
done
rm -f "$work"/bin/qemu-* "$work/bin/apt-get"
expect 1 'missing: qemu-system-x86_64' 'no QEMU, and none to install' \
	env PATH="$work/bin" "$guest" run -q -k "$kernel" true

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
