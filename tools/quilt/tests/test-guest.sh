#!/bin/bash
# Tests of guest.sh with a real kernel: scenarios that pass.
#
# usage: test-guest.sh
#
#   KERNEL=DIR in the environment: another kernel than build/out/guest
#
# One "ok" or "not ok" line a test; the last line is a summary.

# shellcheck source=tools/quilt/tests/guest-kernel.sh
. "$(dirname "$0")/guest-kernel.sh"

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

verdict
