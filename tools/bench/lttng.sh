#!/bin/bash
# Measures the cost of a record of LTTng and of ftrace with the same fields, in
# instructions. It builds the newest lttng-modules of Debian against the quilt's
# kernel for the guest, and writes lttng.txt.
#
# usage: lttng.sh [-o DIR]
#
#   -o DIR  where the result goes (tools/bench/results)

# shellcheck source=tools/quilt/lib.sh
. "$(dirname "$0")/../quilt/lib.sh"

usage() { sed -n '2,/^$/s/^# \{0,1\}//p' "$0"; }

results=$TOP/tools/bench/results
while [ $# -gt 0 ]; do
	case $1 in
	-o) results=${2:?}; shift ;;
	-h | --help) usage; exit 0 ;;
	*) usage >&2; exit 2 ;;
	esac
	shift
done

need gcc:gcc make:make dpkg-deb:dpkg strip:binutils
[ -f "$OUT/guest/arch/x86/boot/bzImage" ] ||
	die "there is no kernel for the guest" "run: tools/quilt/kernel.sh guest"
dir=$BUILD/lttng log=$LOGS/lttng.log
make_dir "$dir"
make_dir "$LOGS"
make_dir "$results"

source=$(echo "$dir"/source/usr/src/lttng-modules-*)
if [ ! -d "$source" ]; then
	opts=$(BUILD=$dir && apt_isolated sid) ||
		die "no Debian mirror is known" "DEBIAN_MIRROR=URL"
	mapfile -t opts <<<"$opts"
	say "fetching lttng-modules"
	{
		apt-get -q "${opts[@]}" -o APT::Update::Error-Mode=any update &&
			(cd "$dir" && apt-get -q "${opts[@]}" download lttng-modules-dkms) &&
			dpkg-deb -x "$dir"/lttng-modules-dkms_*.deb "$dir/source"
	} >"$log" 2>&1 || die "lttng-modules can't be fetched" "see $log"
	source=$(echo "$dir"/source/usr/src/lttng-modules-*)
fi

# Its probes for the kernel's own events are not needed, and are most of it.
sed -i 's|^obj-.*+= probes/$||' "$source/src/Kbuild"
logged "$LOGS/build-lttng.log" make -C "$source" -j"$JOBS" KERNELDIR="$OUT/guest" ||
	die "lttng-modules does not build against the guest's kernel" "see $LOGS/build-lttng.log"
logged "$LOGS/build-lttng-probe.log" make -C "$OUT/guest" "M=$TOP/tools/bench/lttng" \
	"MO=$dir/probe" "LTTNG=$source" "KBUILD_EXTRA_SYMBOLS=$source/src/Module.symvers" modules ||
	die "the probes do not build" "see $LOGS/build-lttng-probe.log"
logged "$LOGS/build-lttng-bench.log" make -C "$OUT/guest" "M=$TOP/tools/bench/module" \
	"MO=$dir/bench" modules ||
	die "the benchmark module does not build against the guest's kernel" "see $LOGS/build-lttng-bench.log"

rm -rf "$dir/modules"
make_dir "$dir/modules"
while read -r ko; do
	strip -g -o "$dir/modules/${ko##*/}" "$ko"
done < <(find "$source/src" "$dir/probe" -name '*.ko' ! -path '*/tests/*' ! -path '*/src/probes/*')

"$QUILT_TOOLS/guest.sh" run --icount -s 1 -q -t "${LIMIT:-300}" -p lttng-tools \
	-a "$dir/bench/quilt_bench.ko:/modules/quilt_bench.ko" -a "$dir/modules:/modules/lttng" \
	lttng-bench >"$dir/result" ||
	die "LTTng can't be measured" "see $LOGS/guest-lttng-bench.log"
{
	say "Instructions of a record with LTTng and with ftrace, the same fields, into a"
	say "buffer that overwrites (x86_64, one CPU, QEMU with -icount; the kernel of the"
	say "guest). ${source##*/}, $(date -u +%Y-%m-%d), tools/bench/lttng.sh."
	say
	grep ' instructions$' "$dir/result"
} >"$results/lttng.txt"
cat "$results/lttng.txt"
