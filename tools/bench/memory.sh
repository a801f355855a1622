#!/bin/bash
# Measures the memory that an event of TRACE_EVENT, DEFINE_EVENT and ktrace takes
# at run time, without BPF (the kernel of the benchmark) and with BPF (that of the
# guest), and writes memory.txt.
#
# usage: memory.sh [-o DIR]
#
#   -o DIR  where the result goes (tools/bench/results)

# shellcheck source=tools/quilt/lib/lib.sh
. "$(dirname "$0")/../quilt/lib/lib.sh"

results_option "$@"

kinds=(trace_event define_event ktrace_event)
make_dir "$results"
make_dir "$BUILD/bench"

# measure KIND WHAT: the lines for the kernel build/out/KIND
measure() {
	local dir=$BUILD/bench/memory-$1 log=$LOGS/build-bench-memory-$1.log modules=() kind
	[ -f "$OUT/$1/arch/x86/boot/bzImage" ] ||
		die "there is no kernel in $OUT/$1" "run: tools/quilt/kernel.sh $1"
	make_dir "$dir"
	logged "$log" make -C "$OUT/$1" "M=$BENCH_TOOLS/memory" "MO=$dir" modules >&2 ||
		die "the modules do not build against the kernel $1" "see $log"
	for kind in "${kinds[@]}"; do
		strip -g -o "$dir/$kind.stripped" "$dir/${kind}_1000.ko"
		modules+=(-a "$dir/$kind.stripped:/modules/${kind}_1000.ko")
	done
	"$QUILT_TOOLS/guest.sh" run -q -s 1 -t "${LIMIT:-600}" -k "$OUT/$1" \
		-L "$LOGS/guest-event-memory-$1.log" "${modules[@]}" event-memory 1000 \
		>"$BUILD/bench/memory-$1.txt" ||
		die "the memory of events can't be measured" "see $LOGS/guest-event-memory-$1.log"
	say
	say "$2:"
	say
	sed -n '/^kind/,/^ktrace_event/p' "$BUILD/bench/memory-$1.txt"
	awk '$1 == "ktrace_event" { ktrace = $5 } $1 == "trace_event" { trace = $5 }
	     $1 == "define_event" { define = $5 }
	     END { printf "\nktrace / trace_event %.2f, ktrace / define_event %.2f\n",
		ktrace / trace, ktrace / define }' "$BUILD/bench/memory-$1.txt"
}

need gcc:gcc make:make strip:binutils
{
	say "Bytes of memory for an event with an int and a u64 at one place, from modules"
	say "with 1,000 events: the module, slabs and per-CPU memory when it is loaded, and"
	say "the slabs that come when all formats are read and when the events are on"
	say "(x86_64, QEMU). The kernel without BPF has no sysctl: its slabs have cached"
	say "objects, too."
	say "$(date -u +%Y-%m-%d), tools/bench/memory.sh."
	measure bench "Without BPF"
	measure guest "With CONFIG_BPF_EVENTS"
} >"$BUILD/bench/memory.txt"
cp "$BUILD/bench/memory.txt" "$results/memory.txt"
cat "$results/memory.txt"
