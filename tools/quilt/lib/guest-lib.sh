# shellcheck shell=bash
# Builds programs and modules for the guest. Source it behind lib.sh.

# guest_program NAME [FLAG]...: sets $program to a static build of
# guest/programs/NAME.c, or of all files of a folder NAME; CROSS=PREFIX is the compiler's.
guest_program() {
	local name=$1 source sources
	shift
	source=$(find_ours "guest/programs/$name.c" || find_ours "guest/programs/$name") ||
		die "there is no program $name" "see guest/programs"
	sources=("$source")
	[ -f "$source" ] || sources=("$source"/*.c)
	need gcc:gcc
	make_dir "$BUILD/guest"
	program=$BUILD/guest/${CROSS:-}$name
	"${CROSS:-}gcc" -Wall -Wextra -O2 -static "$@" -o "$program" "${sources[@]}" ||
		die "$name does not build" "see above"
}

# guest_rds TREE: sets $rds_test, the arguments of guest.sh for the kernel tree's own
# test of the flight recorder of RDS and its program, static.
guest_rds() {
	local dir=$BUILD/guest/selftest-rds source=$1/tools/testing/selftests/net/rds
	need gcc:gcc
	make_dir "$dir"
	gcc -Wall -Wextra -O2 -static -o "$dir/rds_traffic" "$source/rds_traffic.c" ||
		die "rds_traffic of $1 does not build" "see above"
	cp -u "$source/recorder.sh" "$dir/"
	rds_test=(-a "$dir:/selftest-rds" -a "$dir/rds_traffic:/usr/bin/rds_traffic")
}

# guest_rtla TREE: sets $program to a static build of the kernel tree's rtla.
guest_rtla() {
	local dir
	need flex:flex bison:bison pkg-config:pkgconf \
		/usr/include/tracefs/tracefs.h:libtracefs-dev \
		/usr/include/traceevent/event-parse.h:libtraceevent-dev
	dir=$BUILD/guest/rtla-$(readlink -f "$1" | sha256sum | cut -c 1-12)
	make_dir "$dir"
	logged "$LOGS/build-rtla.log" make -C "$1/tools/tracing/rtla" "O=$dir" static ||
		die "tools/tracing/rtla of $1 does not build" "see $LOGS/build-rtla.log"
	program=$dir/rtla-static
}

# guest_module KIND NAME: sets $module to guest/modules/NAME, built for the kernel
# build/out/KIND, or to nothing if there is no such module.
guest_module() {
	local source dir=$BUILD/guest/$2-$1
	module=''
	source=$(find_ours "guest/modules/$2") || return 0
	make_dir "$dir"
	cp -u "$source"/* "$QUILT_TOOLS"/guest/modules/*.h "$dir/"
	logged "$LOGS/build-$2-$1.log" make -C "$OUT/$1" M="$dir" modules ||
		die "the module $2 does not build for kernel $1" "see $LOGS/build-$2-$1.log"
	module=$dir/$2.ko
}
