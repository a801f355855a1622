#!/bin/bash
# Boots the guest, x86_64, arm64 or UML, runs a scenario in it, and prints the
# result.
#
# usage: guest.sh run [OPTION]... SCENARIO [ARG]...
#        guest.sh shell [OPTION]...
#
#   -k KERNEL      build directory of the kernel (build/out/guest; build/out/guest-arm64
#                  is emulated; build/out/uml-debug needs no QEMU), or a bzImage
#   -s CPUS        number of CPUs (2; with --icount 1)
#   -C MODEL       QEMU's model of the CPU, with its properties
#   -m MIB         memory (2048; UML: 1024)
#   -t SECONDS     time limit from start to end (300; shell: none)
#   -a SRC:/DEST   put the file or directory SRC at DEST in the guest; may be
#                  given several times; DEST /scenarios/NAME makes a scenario
#   -o FILE:DEST   copy FILE of the guest to DEST when the scenario has ended; may
#                  be given several times; a few MiB, as it goes over a serial port
#   -p PACKAGE     a Debian package to add to the userland; may be given several
#                  times
#   -A 'ARGS'      words to add to the kernel command line; the last one counts
#   -L FILE        where the console log goes (build/logs/guest-SCENARIO.log)
#   -q             print the output of the scenario, not the whole console
#   --icount       a nanosecond of virtual time per instruction of any CPU: the
#                  same run takes the same time on a busy host, too
#   -K KIND        allow the kernel's messages of tools/quilt/data/splats that
#                  this kind of run has (the architecture)
#   --no-splat     do not judge the kernel's messages
#
#   ACCEL=tcg|kvm, TCG=single in the environment: see lib/qemu.sh
#   APPEND='ARGS'  the same as -A, from scripts that call others
#
# A guest that has died of a known fault of QEMU's several threads (int3) is run
# again with one.
#
# The exit code is the scenario's. 124: the time limit was reached. 125: the guest
# did not end as it should (no start, panic, no end marker), or the scenario
# passed and the kernel complained (splat.sh) or a file of -o did not come.

# shellcheck source=tools/quilt/lib/lib.sh
. "$(dirname "$0")/lib/lib.sh"
# shellcheck source=tools/quilt/lib/guest-run-lib.sh
. "$QUILT_TOOLS/lib/guest-run-lib.sh"

mode=${1:-}
case $mode in
run | shell) shift ;;
-h | --help) usage; exit 0 ;;
*) usage >&2; exit 2 ;;
esac

again=("$@")
kernel=$OUT/guest cpus='' model='' memory='' limit='' quiet='' icount='' splat=y known='' log='' append=${APPEND:+ $APPEND}
extras=() image_extras=() guest_files=() host_files=()
while [ $# -gt 0 ]; do
	case $1 in
	-k | -s | -C | -m | -t | -a | -o | -p | -A | -K | -L)
		[ $# -gt 1 ] || die "$1 needs a value" "see: tools/quilt/guest.sh --help" ;;&
	-k) kernel=$2; shift ;;
	-s) cpus=$2; shift ;;
	-C) model=$2; shift ;;
	-m) memory=$2; shift ;;
	-t) limit=$2; shift ;;
	-a) extras+=("$2"); image_extras+=(-a "$2"); shift ;;
	-o)
		[[ $2 == /?*:?* ]] || die "-o $2: not of the form /FILE:DEST" "FILE is an absolute path in the guest"
		guest_files+=("${2%%:*}")
		host_files+=("${2#*:}")
		shift
		;;
	-p) image_extras+=(-p "$2"); shift ;;
	-A) append="$append $2"; shift ;;
	-K) known=$2; shift ;;
	-L) log=$2; shift ;;
	-q) quiet=y ;;
	--icount | -icount) icount=y ;;
	--no-splat) splat='' ;;
	-h | --help) usage; exit 0 ;;
	-*) die "guest.sh: no option $1" "see: tools/quilt/guest.sh --help" ;;
	*) break ;;
	esac
	shift
done
[ -n "$cpus" ] || cpus=$([ -n "$icount" ] && echo 1 || echo 2)
for number in "$cpus" "${memory:-1}" "${limit:-1}"; do
	[[ $number =~ ^[1-9][0-9]*$ ]] ||
		die "guest.sh: '$number' is not a number above 0" "see: tools/quilt/guest.sh --help"
done

scenario=shell
if [ "$mode" = run ]; then
	[ $# -gt 0 ] || die "guest.sh: which scenario?" "there are: $(scenarios | xargs)"
	scenario=$1
	shift
	# No pipe: grep -q would end before it is all written.
	[[ $'\n'$(scenarios)$'\n' == *$'\n'"$scenario"$'\n'* ]] ||
		die "there is no scenario $scenario" "there are: $(scenarios | xargs)"
	limit=${limit:-300}
elif [ ${#guest_files[@]} -gt 0 ]; then
	die "the shell copies no files" "leave -o out, or run a scenario"
elif [ ! -t 0 ]; then
	die "the shell needs a terminal" "use: tools/quilt/guest.sh run SCENARIO"
fi

# A socket for each CPU: the firmware's MP table, all that an x86 kernel without
# ACPI has, names one CPU a socket.
emulator=QEMU arch=x86_64 cpu=x86_64 image=$kernel port=ttyS earlycon=earlycon=uart8250,io,0x3f8,115200
machine=(-smp "$cpus,sockets=$cpus,cores=1,threads=1")
if [ -d "$kernel/arch/arm64/boot" ]; then
	arch=arm64 cpu=aarch64 image=$kernel/arch/arm64/boot/Image port=ttyAMA earlycon=earlycon
	machine=(-machine virt -cpu 'max,pauth-impdef=on' -smp "$cpus")
elif [ -x "$kernel/linux" ]; then
	emulator=UML arch=um image=$kernel/linux port=tty
elif [ -d "$kernel" ]; then
	image=$kernel/arch/x86/boot/bzImage
fi
[ -f "$image" ] ||
	die "there is no kernel in $kernel" "run: make tree && tools/quilt/kernel.sh guest"

qemu='' run='' terminal='' view=''
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# Standard output is for the output of the guest.
need flock:util-linux setpriv:util-linux >&2
[ -z "$icount" ] || [ $arch != um ] || die "--icount is for QEMU" "leave it out"
[ $arch = um ] || "$QUILT_TOOLS/lib/qemu.sh" install $cpu >&2
accel=''
if [ $arch = um ]; then
	[ "$mode" = run ] || die "UML gives no shell" "run a scenario"
elif [ -n "$icount" ]; then
	accel='-accel tcg,thread=single -icount shift=0,sleep=off'
elif [ $arch = arm64 ]; then
	accel='-accel tcg,thread=multi'
else
	accel=$("$QUILT_TOOLS/lib/qemu.sh" accel "$kernel")
fi
if [ -n "$model" ]; then
	[ $arch = x86_64 ] || die "-C is for x86_64" "leave it out"
	accel+=" -cpu $model"
fi
words=$(cmdline "$@")
open_log
make_dir "$BUILD/guest"
# Files of killed runs.
find "$BUILD/guest" -maxdepth 1 \( -name 'run.*' -o -name 'image.*' \) -mmin +1440 -exec rm -rf {} +
run=$(mktemp -d "$BUILD/guest/run.XXXXXX")
"$QUILT_TOOLS/lib/image.sh" -k "$kernel" ${image_extras[0]:+"${image_extras[@]}"} "$run/image" >&2

# The guest dies with this script, even when the script is killed.
# shellcheck disable=SC2206
command=(setpriv --pdeathsig KILL qemu-system-$cpu "${machine[@]}" $accel -m "${memory:-2048}"
	-nodefaults -no-user-config -display none -no-reboot
	-kernel "$image" -initrd "$run/image" -append "$words")
ports=(-monitor none -serial "file:$log" -serial "file:$run/output")
if [ $arch = um ]; then
	read -ra ports <<<"con0=fd:0,fd:1 con1=fd:4,fd:3 $words"
	# Without seccomp= UML has one CPU.
	command=(setpriv --pdeathsig KILL "$image" "mem=${memory:-1024}M" seccomp=on "ncpus=$cpus"
		"initrd=$run/image")
fi
start=$SECONDS qemu_rc=0 late=''
: >"$run/output"
if [ "$mode" = shell ]; then
	terminal=$(stty -g)
	"${command[@]}" -chardev "stdio,id=console,mux=on,signal=off,logfile=$log" \
		-serial chardev:console -mon chardev=console \
		-serial "file:$run/output" 2>"$run/qemu" || qemu_rc=$?
	stty "$terminal"
else
	"${command[@]}" "${ports[@]}" </dev/null >>"$log" 3>>"$run/output" 4</dev/null 2>"$run/qemu" &
	qemu=$!
	if [ -n "$quiet" ]; then
		tail -n +1 -s 0.1 --pid=$qemu -f "$run/output" |
			sed -u -e '/^TQ-FILE /,/^TQ-END$/d' -e '/TQ-FILE /,/^TQ-END$/ { s/TQ-FILE .*//p; d }' \
				-e '/^TQ-EXIT [0-9]*$/d' -e 's/TQ-EXIT [0-9]*$//' &
	else
		tail -n +1 -s 0.1 --pid=$qemu -f "$log" | sed -u 's/\r$//' &
	fi
	view=$!
	while kill -0 "$qemu" 2>/dev/null; do
		if [ $((SECONDS - start)) -ge $((limit + 5)) ]; then
			kill -KILL "$qemu" 2>/dev/null || true
		elif [ $((SECONDS - start)) -ge "$limit" ]; then
			late=y
			kill -TERM "$qemu" 2>/dev/null || true
		fi
		sleep 0.1
	done
	wait "$qemu" || qemu_rc=$?
	qemu=''
	wait "$view" || true
	view=''
fi
# In place: the lock is on this file.
tr -d '\r' <"$log" >"$run/log"
cat "$run/log" >"$log"

if stale_int3; then
	say "the emulator has let the guest run an old int3: again with one host thread (log: $log.int3)" >&2
	mv "$run/log" "$log.int3"
	rm -rf "$run"
	exec {log_fd}>&-
	export TCG=single
	exec "$0" "$mode" "${again[@]}"
fi
judge
