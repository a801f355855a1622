# shellcheck shell=bash disable=SC2154
# Parts of guest.sh: its logs, its end, the command line of the kernel, files that the
# guest sends, the verdict. Sourced by it.

# The scenarios that there are, with those of -a
scenarios() {
	local spec
	find "$QUILT_TOOLS/guest/scenarios" "$BENCH_TOOLS/guest/scenarios" -type f ! -name README.md -printf '%f\n' | sort
	for spec in ${extras[0]:+"${extras[@]}"}; do
		case $spec in
		*:/scenarios/*) echo "${spec##*:/scenarios/}" ;;
		esac
	done
}

# failure CODE WHAT: one line, the end of the log, and where the rest is.
failure() {
	printf 'error: %s\n' "$2" >&2
	if [ -s "$log" ]; then
		tail -n 8 "$log" | sed 's/^/    | /' >&2
	fi
	sed -n -e '/terminating on signal/d' -e 's/^/    | /p' "$run/qemu" >&2
	printf '       console log: %s\n' "$log" >&2
	exit "$1"
}

# Several guests may run at a time; each has its log for itself.
open_log() {
	local n
	make_dir "$LOGS"
	if [ -n "$log" ]; then
		make_dir "$(dirname "$log")"
		exec {log_fd}>>"$log"
		flock -n "$log_fd" || die "another guest writes $log" "name another file with -L"
	else
		for ((n = 1; ; n++)); do
			log=$LOGS/guest-$scenario$([ $n -eq 1 ] || echo "-$n").log
			exec {log_fd}>>"$log"
			! flock -n "$log_fd" || break
			exec {log_fd}>&-
		done
	fi
	: >"$log"
}

# shellcheck disable=SC2317
cleanup() {
	local rc=$?
	trap '' INT TERM
	if [ -n "$qemu" ]; then
		kill -KILL "$qemu" 2>/dev/null || true
		wait "$qemu" 2>/dev/null || true
	fi
	[ -z "$view" ] || wait "$view" 2>/dev/null || true
	[ -z "$terminal" ] || stty "$terminal"
	[ -z "$run" ] || rm -rf "$run"
	exit "$rc"
}

# Encodes all but letters, digits and the like as %XX, which init decodes.
encode() {
	local text=$1 i c
	for ((i = 0; i < ${#text}; i++)); do
		c=${text:i:1}
		case $c in
		[A-Za-z0-9_./:=+-]) printf '%s' "$c" ;;
		*) printf '%%%02X' "'$c" ;;
		esac
	done
}

# take_files: the files that the guest has sent with its output. Each is checked by
# its length and checksum, which are part of gzip's format.
take_files() {
	local i dest
	for i in "${!guest_files[@]}"; do
		dest=${host_files[i]}
		make_dir "$(dirname "$dest")"
		awk -v start="TQ-FILE $i" '$0 == "TQ-END" { on = 0 } on
			substr($0, length($0) - length(start) + 1) == start { on = 1 }' "$run/output" |
			base64 -d 2>/dev/null | gzip -dc >"$dest.part" 2>/dev/null || {
			rm -f "$dest.part"
			printf 'error: the guest did not send %s, console log: %s\n' "${guest_files[i]}" "$log" >&2
			return 1
		}
		mv "$dest.part" "$dest"
	done
}

cmdline() {
	local words="console=${port}0 panic=-1 oops=panic kunit.autorun=0 tq.cpus=$cpus" sep='' arg size
	if [ "$mode" = shell ]; then
		size=$(stty size)
		words+=" loglevel=5 tq.term=${TERM:-linux} tq.rows=${size% *} tq.cols=${size#* }"
	else
		# A kernel that dies early says so.
		[ "$arch" = um ] || words+=" $earlycon"
		# The limit of a debug kernel is that of KUnit, until KUnit has ended.
		[ "$arch" = um ] || words+=" sysctl.kernel.hung_task_timeout_secs=120"
		words+=" tq.run=$scenario"
		[ $# -eq 0 ] || words+=" tq.args="
		for arg in "$@"; do
			words+=$sep$(encode "$arg")
			sep=,
		done
		sep=''
		[ ${#guest_files[@]} -eq 0 ] || words+=" tq.files="
		for arg in ${guest_files[0]:+"${guest_files[@]}"}; do
			words+=$sep$(encode "$arg")
			sep=,
		done
	fi
	case $accel in
	'') ;;
	*icount*) [ "$arch" = arm64 ] || words+=" tsc=reliable tsc_early_khz=1000000" ;;
	*tcg*) [ "$arch" = arm64 ] || words+=" $("$QUILT_TOOLS/lib/qemu.sh" clock)" ;;
	esac
	words+=$append
	[ ${#words} -lt 2048 ] ||
		die "the kernel command line gets too long (${#words} of 2047)" \
		    "give the scenario fewer arguments, or put them into a file: -a FILE:/DEST"
	printf '%s' "$words"
}

# stale_int3: the guest died of an int3 that its memory does not have. Text patching
# has taken it away, and one of several host threads of TCG had translated it just
# before. (The byte before the one in <> is where the trap was.)
stale_int3() {
	[[ $accel == *thread=multi* ]] || return 1
	awk '/Oops: int3/ { oops = 1 }
		oops && / Code: / || oops && /^Code: / {
			stale = !/ cc <[0-9a-f][0-9a-f]>/
			exit
		}
		END { exit !stale }' "$log"
}

# judge: ends the script with the code of the guest, or says why there is none.
judge() {
	local rc stage panic splats
	rc=$(tail -n 1 "$run/output" | sed -n 's/.*TQ-EXIT \([0-9][0-9]*\)$/\1/p')
	if [ -z "$rc" ]; then
		stage="did not reach init"
		! grep -aq 'Run /init as init process' "$log" || stage="did not finish $scenario"
		panic=$(grep -am 1 -o 'Kernel panic - .*' "$log" || true)
		if [ -n "$panic" ]; then
			failure 125 "the guest $stage: $panic"
		elif [ -n "$late" ]; then
			failure 124 "the guest $stage in $limit s"
		elif [ "$qemu_rc" -ne 0 ]; then
			failure 125 "$emulator ended with $qemu_rc, the guest $stage"
		elif [ ! -s "$log" ]; then
			failure 125 "the guest printed nothing: is $image a kernel?"
		fi
		failure 125 "the guest ended without its end marker: it $stage"
	fi
	[ -z "$late" ] || failure 124 "the guest ran $scenario (exit code $rc) and did not go down in $limit s"
	if [ -n "$splat" ] && ! splats=$("$QUILT_TOOLS/lib/splat.sh" -k "${known:-${arch/#um/uml-debug}}" "$log"); then
		printf '%s\n' "$splats" >&2
		printf 'error: the kernel complained during %s (exit code %d), console log: %s\n' \
			"$scenario" "$rc" "$log" >&2
		# Repeat the reason: people read the end of a log.
		printf '%s\n' "$splats" | grep -v '^    |' | sed 's/^[^:]*:/       /' >&2
		[ "$rc" -ne 0 ] || rc=125
	elif [ "$rc" -ne 0 ]; then
		printf 'error: scenario %s: exit code %d, console log: %s\n' "$scenario" "$rc" "$log" >&2
	fi
	take_files || [ "$rc" -ne 0 ] || rc=125
	exit "$rc"
}
