# shellcheck shell=bash
# Shared by the scripts that measure. Source it behind lib.sh; describe() and info()
# need tree-lib.sh.

# Prints the version of a tree for the notes under the table.
describe() {
	local dirty='' patches
	if [ ! -e "$1/.git" ]; then
		make -s -C "$1" kernelversion
		return
	fi
	[ -z "$(git -C "$1" status --porcelain --untracked-files=no)" ] ||
		dirty=', with changes that are not committed'
	patches=$(git -C "$1" rev-list --count --min-parents=1 HEAD)
	printf 'Linux %s%s (%s%s)\n' "$(make -s -C "$1" kernelversion)" \
		"$([ "$patches" -eq 0 ] || echo " + $patches patches")" \
		"$(git -C "$1" rev-parse --short=12 HEAD)" "$dirty"
}

# info BASE QUILT COMPILER EMULATOR COMMAND: the notes under a table, a line
# "key|value" each.
info() {
	say "machine|$(awk -F': ' '/^model name/ { print $2; exit }' /proc/cpuinfo), $(nproc) CPUs"
	say "base|$1"
	say "quilt|$2"
	say "compiler|$("$3" --version | head -n 1)"
	say "emulator|$4"
	say "date|$(date -u +%Y-%m-%d)"
	say "command|$5"
}

# lttng_modules KIND [PROBE]...: builds the newest lttng-modules of Debian for the
# kernel build/out/KIND, with these of its own probes, and the probes for the module
# quilt_bench. Sets $lttng_dir to the folder with all modules, and $lttng_version.
lttng_modules() {
	local kind=$1 dir=$BUILD/lttng log=$LOGS/lttng.log opts source ko
	shift
	need gcc:gcc make:make dpkg-deb:dpkg strip:binutils
	make_dir "$dir"
	make_dir "$LOGS"
	source=$(echo "$dir"/source/usr/src/lttng-modules-*)
	if [ ! -d "$source" ]; then
		opts=$(BUILD=$dir apt_isolated sid) ||
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
	lttng_version=${source##*/}

	dir=$dir/$kind
	make_dir "$dir"
	[ -d "$dir/source" ] || cp -r "$source" "$dir/source"
	source=$dir/source
	# All of its probes for the kernel's own events are most of it.
	# shellcheck disable=SC2016
	grep -q LTTNG_PROBES "$source/src/probes/Kbuild" ||
		echo 'obj-m := $(patsubst %,lttng-probe-%.o,$(LTTNG_PROBES))' >>"$source/src/probes/Kbuild"
	logged "$LOGS/build-lttng-$kind.log" make -C "$source" -j"$JOBS" "KERNELDIR=$OUT/$kind" \
		"LTTNG_PROBES=$*" ||
		die "lttng-modules does not build against the kernel $kind" \
		    "see $LOGS/build-lttng-$kind.log"
	logged "$LOGS/build-lttng-probe-$kind.log" make -C "$OUT/$kind" "M=$TOP/tools/bench/lttng" \
		"MO=$dir/probe" "LTTNG=$source" "KBUILD_EXTRA_SYMBOLS=$source/src/Module.symvers" \
		modules ||
		die "the probes do not build" "see $LOGS/build-lttng-probe-$kind.log"

	lttng_dir=$dir/modules
	rm -rf "$lttng_dir"
	make_dir "$lttng_dir"
	while read -r ko; do
		strip -g -o "$lttng_dir/${ko##*/}" "$ko"
	done < <(find "$source/src" "$dir/probe" -name '*.ko' ! -path '*/tests/*')
}

# bench_module KIND: sets $module to the module quilt_bench for the kernel build/out/KIND.
bench_module() {
	local dir=$BUILD/bench/module-$1
	make_dir "$dir"
	logged "$LOGS/build-bench-module-$1.log" make -C "$OUT/$1" "M=$TOP/tools/bench/module" \
		"MO=$dir" modules ||
		die "the benchmark module does not build against the kernel $1" \
		    "see $LOGS/build-bench-module-$1.log"
	module=$dir/quilt_bench.ko
}
