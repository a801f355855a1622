# shellcheck shell=bash disable=SC2153
# Shared by the scripts that measure. Source it behind lib.sh; all but lttng_modules()
# and bench_module() need tree-lib.sh.

# shellcheck source=tools/quilt/lib/apt-lib.sh
. "$QUILT_TOOLS/lib/apt-lib.sh"
# shellcheck source=tools/quilt/lib/guest-lib.sh
. "$QUILT_TOOLS/lib/guest-lib.sh"

# bench_options ARGUMENT...: of a script that has set $WORK, and $rounds if it has -r.
# Sets $results and $build_kernels.
bench_options() {
	results=$BENCH_TOOLS/results build_kernels=y
	while [ $# -gt 0 ]; do
		case $1 in
		-n) build_kernels='' ;;
		-r) [ -n "${rounds+set}" ] || { usage >&2; exit 2; }
			rounds=${2:-}
			shift ;;
		-o) results=${2:-}; shift ;;
		-h | --help) usage; exit 0 ;;
		*) usage >&2; exit 2 ;;
		esac
		shift || break
	done
	[[ ${rounds-1} =~ ^[0-9]+$ && -n $results ]] || { usage >&2; exit 2; }
}

# bench_begin: empty directories, and the two trees.
bench_begin() {
	need gcc:gcc make:make python3:python3
	make_dir "$WORK"
	make_dir "$results"
	find "$WORK" -maxdepth 1 -type f -delete
	[ -f "$TREE/Makefile" ] || die "no kernel tree in $TREE" "run: make tree"
	make_base_tree
}

# bench_kernel_name SIDE KIND: sets $kernel to the name of this kernel of base or quilt,
# and $tree to its source.
bench_kernel_name() {
	kernel=$2 tree=$TREE
	[ "$1" = quilt ] || kernel=$2-base tree=$BASE_TREE
}

# bench_kernel SIDE KIND: sets the same, and builds it, unless -n says not to.
bench_kernel() {
	bench_kernel_name "$1" "$2"
	[ -z "$build_kernels" ] || TREE=$tree "$QUILT_TOOLS/kernel.sh" -o "$kernel" "$2"
}

# bench_report NAME QEMU OPTIONS [NOTE]...: writes the notes, and has NAME-report make
# tables and plots of the logs.
bench_report() {
	local name=$1
	{
		info "$(describe "$BASE_TREE")" "$(describe "$TREE")" "${CROSS:-}gcc" \
			"$("$2" --version | head -n 1), $3" "make bench-$name"
		[ $# -eq 3 ] || printf '%s\n' "${@:4}"
	} >"$WORK/info"
	"$BENCH_TOOLS/lib/$name-report" "$WORK" "$results"
}

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
	logged "$LOGS/build-lttng-probe-$kind.log" make -C "$OUT/$kind" "M=$BENCH_TOOLS/lttng" \
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
	logged "$LOGS/build-bench-module-$1.log" make -C "$OUT/$1" "M=$BENCH_TOOLS/module" \
		"MO=$dir" modules ||
		die "the benchmark module does not build against the kernel $1" \
		    "see $LOGS/build-bench-module-$1.log"
	module=$dir/quilt_bench.ko
}
