# shellcheck shell=bash disable=SC2154
# Parts of bench.sh: the kernels and small guests in which rows are measured. Sourced
# by it.

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

	ARCH=$arch bench_module "$name"
	[ "$kind" != bench ] || measure_sizes "$2" "$tree" "$dir"

	root=$WORK/$name.root
	rm -rf "$root"
	mkdir -p "$root"/{bin,proc,sys,dev}
	cp "$busybox" "$root/bin/busybox"
	for applet in sh awk cat mount insmod rmmod poweroff reboot; do
		ln -s busybox "$root/bin/$applet"
	done
	install -m 755 "$BENCH_TOOLS/guest/init" "$root/init"
	cp "$module" "$root/"
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
		"M=$BENCH_TOOLS/sizes" "MO=$3/bench-sizes" modules ||
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
