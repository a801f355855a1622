#!/bin/bash
# Measures what a trace record costs on the base and on the quilt, side by
# side: instructions on x86_64 (QEMU's TCG, counted exactly), nanoseconds on
# User-mode Linux. Writes bench.csv, bench.md, sizes.csv and a plot for each topic,
# which plots.py draws again without measuring. The cost of processes
# under the tracer "process", strace and others goes to process.txt, of reading a
# snapshot to snapshot.txt, of a record of LTTng to lttng.txt, and the delay with
# which rtla acts on a sample to rtla.txt.
#
# usage: bench.sh [-n] [-r ROUNDS] [-o DIR]
#
#   -n        measure the kernels that are there, do not build
#   -r ROUNDS how often the two UML kernels take turns (10)
#   -o DIR    where the results go (tools/bench/results)
#   TREE=DIR and BASE_TREE=DIR in the environment: other source trees than
#             build/linux (the quilt) and build/base (made when missing)
#   LIMIT=SECONDS in the environment: how long one guest may run (300)
#
# A row is a line of bench_rows[] in tools/bench/module/quilt_bench.c. The objects
# of tools/bench/sizes show how much memory an event takes.

# shellcheck source=tools/quilt/tree-lib.sh
. "$(dirname "$0")/../quilt/tree-lib.sh"
# shellcheck source=tools/bench/bench-lib.sh
. "$(dirname "$0")/bench-lib.sh"

BENCH=$TOP/tools/bench
WORK=$BUILD/bench
# A run takes seconds: this is for a guest that hangs, on a busy machine.
LIMIT=${LIMIT:-300}

rounds=10 results=$BENCH/results build_kernels=y
while [ $# -gt 0 ]; do
	case $1 in
	-n) build_kernels='' ;;
	-r) rounds=${2:-}; shift ;;
	-o) results=${2:-}; shift ;;
	-h | --help) usage; exit 0 ;;
	*) usage >&2; exit 2 ;;
	esac
	shift || break
done
[[ $rounds =~ ^[1-9][0-9]*$ && -n $results ]] || { usage >&2; exit 2; }

# build KIND SIDE TREE: kernel in build/out/KIND (quilt) or KIND-base, the
# module built out of tree against it, and an initramfs with the module.
build() {
	local kind=$1 tree=$3 name=$1 arch=x86_64 dir root source applet
	[ "$2" = quilt ] || name=$kind-base
	[ "$kind" = bench ] || arch=um
	dir=$OUT/$name

	if [ -n "$build_kernels" ]; then
		rm -f "$dir/bench-source"
		source=$(describe "$tree")
		TREE=$tree "$QUILT_TOOLS/kernel.sh" -o "$name" "$kind"
		[ "$source" = "$(describe "$tree")" ] ||
			die "$tree has changed while it was built" "run the same command again"
		say "$source" >"$dir/bench-source"
	fi
	[ -f "$dir/bench-source" ] || die "no kernel in $dir" "run it without -n"

	make_dir "$dir/bench-module"
	logged "$LOGS/build-$name-module.log" make -C "$dir" "ARCH=$arch" \
		"M=$BENCH/module" "MO=$dir/bench-module" modules ||
		die "the benchmark module does not build against $name" \
		    "see $LOGS/build-$name-module.log"

	[ "$kind" != bench ] || measure_sizes "$2" "$tree" "$dir"

	root=$WORK/$name.root
	rm -rf "$root"
	mkdir -p "$root"/{bin,proc,sys,dev}
	cp "$busybox" "$root/bin/busybox"
	for applet in sh awk cat mount insmod rmmod poweroff reboot; do
		ln -s busybox "$root/bin/$applet"
	done
	install -m 755 "$BENCH/init" "$root/init"
	cp "$dir/bench-module/quilt_bench.ko" "$root/"
	(cd "$root" && find . | sort | cpio -o -H newc --quiet) >"$WORK/$name.cpio"
	rm -rf "$root"
}

# measure_sizes SIDE TREE DIR: bytes of text and data of one additional event or site,
# from objects with 1 and with 101 of them.
measure_sizes() {
	local kinds="trace_event define_event trace_printk" kind
	[ ! -f "$2/include/linux/ktrace.h" ] || kinds+=" ktrace_event ktrace_site"
	rm -rf "$3/bench-sizes"
	make_dir "$3/bench-sizes"
	logged "$LOGS/build-$1-sizes.log" make -C "$3" ARCH=x86_64 "KINDS=$kinds" \
		"M=$BENCH/sizes" "MO=$3/bench-sizes" modules ||
		die "the objects that are measured do not build" "see $LOGS/build-$1-sizes.log"
	for kind in $kinds; do
		size "$3/bench-sizes/${kind}_1.o" "$3/bench-sizes/${kind}_101.o" |
			awk -v kind="$kind" 'NR > 1 { bytes[NR] = $1 + $2 }
				END { printf "%s|%.0f\n", kind, (bytes[3] - bytes[2]) / 100 }'
	done >"$WORK/$1-sizes"
}

# run LOG CMD...: a guest counts only when it has come to its end marker; one
# that panics leaves with exit code 0 too.
run() {
	local log=$1
	shift
	timeout -k 5 "$LIMIT" "$@" </dev/null >"$log" 2>&1 || true
	if ! grep -q 'bench: end after' "$log"; then
		tail -n 15 "$log" >&2
		die "the guest did not come to its end (it has $LIMIT s)" "see $log"
	fi
	if grep -E 'bench: error|WARNING: |BUG: |Oops|rcu.*stall' "$log" >&2; then
		die "the guest reports trouble, its numbers are worth nothing" "see $log"
	fi
}

# One CPU, and a virtual clock that ticks once for each instruction. The CPU
# model is named, so that every QEMU runs the same code of the guest.
run_x86_64() {
	local name=bench
	[ "$1" = quilt ] || name=bench-base
	run "$WORK/$1-x86_64-1.log" qemu-system-x86_64 \
		-accel tcg -icount shift=0,sleep=off -cpu qemu64 -smp 1 -m 1024 \
		-nodefaults -display none -monitor none -serial stdio -no-reboot \
		-kernel "$OUT/$name/arch/x86/boot/bzImage" -initrd "$WORK/$name.cpio" \
		-append "console=ttyS0 panic=-1 nokaslr tsc=reliable trace_clock=local"
}

# The rows with interrupts on, of more CPUs: run_snapshots SIDE CPUS
run_snapshots() {
	local name=bench
	[ "$1" = quilt ] || name=bench-base
	run "$WORK/$1-snapshots-$2.log" qemu-system-x86_64 \
		-accel tcg,thread=single -icount shift=0,sleep=off -cpu qemu64 \
		-smp "$2,sockets=$2,cores=1,threads=1" -m 1024 \
		-nodefaults -display none -monitor none -serial stdio -no-reboot \
		-kernel "$OUT/$name/arch/x86/boot/bzImage" -initrd "$WORK/$name.cpio" \
		-append "console=ttyS0 panic=-1 nokaslr tsc=reliable trace_clock=local only=interrupts"
}

# The median of each row: snapshot_rows SIDE CPUS
snapshot_rows() {
	tr -d '\r' <"$WORK/$1-snapshots-$2.log" |
		awk -F'|' -v side="$1" -v cpus="$2" '/bench: row/ {
			sub(/.*, interrupts on(, )?/, "", $2)
			printf "%-8s %-32s %2d CPUs %6d\n", side, $2 == "" ? "nobody waits" : $2, cpus, $6 }'
}

# Short batches, many of them: some pass without the host's interruptions.
run_um() {
	local name=bench-uml
	[ "$1" = quilt ] || name=bench-uml-base
	run "$WORK/$1-um-$2.log" "$OUT/$name/linux" mem=1024M "initrd=$WORK/$name.cpio" \
		con=null con0=null,fd:1 panic=-1 calls=10000 batches=100
}

start=$SECONDS
need gcc:gcc make:make size:binutils python3:python3 cpio:cpio git:git /bin/busybox:busybox-static \
	rsvg-convert:librsvg2-bin /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf:fonts-dejavu-core
"$QUILT_TOOLS/qemu.sh" install
busybox=/bin/busybox
if ldd "$busybox" >/dev/null 2>&1; then
	die "$busybox is not static" "apt-get install busybox-static"
fi
make_dir "$WORK"
make_dir "$results"
rm -f "$WORK"/*.log

[ -f "$TREE/Makefile" ] || die "no kernel tree in $TREE" "run: make tree"
make_base_tree
for kind in bench bench-uml; do
	build $kind base "$BASE_TREE"
	build $kind quilt "$TREE"
done
[ -z "$build_kernels" ] || "$QUILT_TOOLS/kernel.sh" guest
for side in '' -base; do
	cmp -s "$OUT/bench$side/bench-source" "$OUT/bench-uml$side/bench-source" ||
		die "the tree has changed between the builds for x86_64 and UML" \
		    "run it again, without -n"
done
built=$SECONDS

step "measuring: instructions on x86_64, nanoseconds on UML in $rounds rounds (logs: $WORK)"
for side in base quilt; do
	say "    x86_64 $side"
	run_x86_64 $side
done
for ((i = 1; i <= rounds; i++)); do
	say "    UML round $i of $rounds"
	for side in base quilt; do
		run_um $side "$i"
	done
done

say "    processes under tracers"
guest_program process-loops -pthread
"$QUILT_TOOLS/guest.sh" run --icount -q -t $((LIMIT * 5)) -p linux-perf -p trace-cmd \
	-a "$program:/usr/bin/process-loops" process-bench >"$WORK/process" ||
	die "what processes cost under tracers can't be measured" "see $LOGS/guest-process-bench.log"
"$QUILT_TOOLS/guest.sh" run --icount -q -t $((LIMIT * 5)) -m 3072 \
	-a "$program:/usr/bin/process-loops" follow-bench >"$WORK/walks" ||
	die "the walks over all tasks can't be measured" "see $LOGS/guest-follow-bench.log"
{
	say "Instructions of a system call, of a new process and of tar under tracers,"
	say "all that runs meanwhile included (x86_64, one CPU, QEMU with -icount)."
	say "Linux of the quilt, $(date -u +%Y-%m-%d), make bench."
	say
	sed -n '/getppid/,/^untraced again/p' "$WORK/process"
	say
	say "Microseconds, which are thousands of instructions."
	say
	sed -n '/longest time/,$p' "$WORK/walks" | sed '$d'
} >"$results/process.txt"

say "    taking a snapshot"
for cpus in 1 2 4 8; do
	for side in base quilt; do
		run_snapshots $side $cpus
	done
done
say "    reading a snapshot"
"$QUILT_TOOLS/guest.sh" run --icount -q -t $((LIMIT * 2)) \
	-a "$BUILD/guest/process-loops:/usr/bin/process-loops" snapshot-bench >"$WORK/snapshot" ||
	die "reading a snapshot can't be measured" "see $LOGS/guest-snapshot-bench.log"
{
	say "Instructions of reading a snapshot of 10,000 markers as text, for a record and"
	say "for all, by the size of the buffer of each CPU (x86_64, one CPU, QEMU with"
	say "-icount). Linux of the quilt, $(date -u +%Y-%m-%d), make bench."
	say
	cat "$WORK/snapshot"
	say
	say "Instructions of tracing_snapshot() with interrupts on, with the handlers of what"
	say "it queues, by the number of CPUs (the median of 1001 calls)."
	say
	for cpus in 1 2 4 8; do
		for side in base quilt; do
			snapshot_rows $side $cpus
		done
	done
} >"$results/snapshot.txt"

say "    LTTng"
LIMIT=$((LIMIT * 2)) "$BENCH/lttng.sh" -o "$results" >/dev/null

say "    rtla"
guest_rtla "$TREE"
rtla=(-a "$program:/usr/bin/rtla")
guest_rtla "$BASE_TREE"
rtla+=(-a "$program:/usr/bin/rtla-base")
"$QUILT_TOOLS/guest.sh" run -q -t $((LIMIT * 4)) "${rtla[@]}" rtla 20 >"$WORK/rtla" ||
	die "how late rtla is can't be measured" "see $LOGS/guest-rtla.log"
{
	say "From a timerlat sample above the threshold to the action of rtla, of the"
	say "quilt and of the base, on a kernel of the quilt (x86_64, two CPUs, QEMU)."
	say "$(date -u +%Y-%m-%d), make bench."
	say
	sed -n '/^rtla/p' "$WORK/rtla"
} >"$results/rtla.txt"

info "$(cat "$OUT/bench-base/bench-source")" "$(cat "$OUT/bench/bench-source")" gcc \
	"$(qemu-system-x86_64 --version | head -n 1), -icount shift=0,sleep=off, -cpu qemu64" \
	"make bench" >"$WORK/info"
"$BENCH/report" "$WORK" "$results"
say "built in $((built - start)) s, measured in $((SECONDS - built)) s"
