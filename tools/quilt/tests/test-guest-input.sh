#!/bin/bash
# Tests of guest.sh: UML, arguments that are wrong, and a machine without what it needs.
#
# usage: test-guest-input.sh
#
#   KERNEL=DIR in the environment: another kernel than build/out/guest
#
# One "ok" or "not ok" line a test; the last line is a summary.

# shellcheck source=tools/quilt/tests/guest-kernel.sh
. "$(dirname "$0")/guest-kernel.sh"

scenario content </dev/null

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

verdict
