# shellcheck shell=bash
# Shared by the scripts in tools/quilt and tools/bench: places, messages,
# missing packages, time-limited steps. Source it, do not run it.

set -euo pipefail
# The user's locale must not change sorting and messages.
export LC_ALL=C

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
QUILT_TOOLS=$TOP/tools/quilt
BUILD=${BUILD:-$TOP/build}
TREE=${TREE:-$BUILD/linux}
OUT=$BUILD/out
LOGS=$BUILD/logs
CACHE=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/tracing-quilt
JOBS=${JOBS:-$(nproc)}

# One identity and one date for everything that is generated: the same input
# gives the same commit and tree ids on every machine.
QUILT_NAME=tracing-quilt
QUILT_EMAIL=maintainers@users.noreply.a-seed-52fe946d.example

say()  { printf '%s\n' "$*"; }
step() { printf '\033[1m==> %s\033[0m\n' "$*"; }
warn() { printf 'warning: %s\n' "$*" >&2; }
# The first argument is the error, the others are advice.
die() {
	printf 'error: %s\n' "$1" >&2
	shift
	[ $# -eq 0 ] || printf '       %s\n' "$@" >&2
	exit 1
}

# Directories are made here, so that an unwritable place is reported once.
make_dir() {
	{ mkdir -p "$1" 2>/dev/null && [ -w "$1" ]; } ||
		die "can't write to $1" \
		    "make it writable, or choose another place with BUILD=DIR or XDG_CACHE_HOME=DIR"
}

# need_space DIR MIB WHAT: fails before the work, and not in the middle. The trees
# of tests of scripts are small: SMALL_TREE says so.
need_space() {
	local free
	[ -z "${SMALL_TREE:-}" ] || return 0
	free=$(df -Pm "$1" | awk 'NR == 2 { print $4 }')
	[ "$free" -ge "$2" ] ||
		die "$3 needs $2 MiB in $1, $free MiB are free" \
		    "free some space, or choose another place with BUILD=DIR or XDG_CACHE_HOME=DIR"
}

as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	else
		sudo "$@"
	fi
}

# kunit_i386 DIR FILTER LIMIT: runs KUnit on the i386 kernel in DIR; its log goes to
# standard output. kunit.py would take a /dev/kvm, which may hang a guest.
kunit_i386() {
	"$QUILT_TOOLS/qemu.sh" install i386 >&2
	timeout "$3" qemu-system-i386 -nodefaults -no-reboot -display none -serial stdio \
		-accel tcg -m 1024 -kernel "$1/arch/x86/boot/bzImage" \
		-append "kunit.filter_glob=$2 kunit.enable=1 console=ttyS0 kunit_shutdown=reboot" \
		2>&1 </dev/null
}

# need CMD:PACKAGE...: commands (or files, with a slash) and the Debian
# packages that bring them. Installs on Debian and Ubuntu, lists elsewhere.
need() {
	local spec what pkgs=() cmds=()

	for spec in "$@"; do
		what=${spec%%:*}
		case $what in
		*/*) compgen -G "$what" >/dev/null && continue ;;
		*) command -v "$what" >/dev/null && continue ;;
		esac
		cmds+=("$what")
		pkgs+=("${spec#*:}")
	done
	[ ${#pkgs[@]} -gt 0 ] || return 0

	command -v apt-get >/dev/null ||
		die "missing: ${cmds[*]}" \
		    "install them with your distribution's package manager (Debian calls the packages: ${pkgs[*]})"
	if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
		die "missing: ${cmds[*]}" \
		    "as root: apt-get install ${pkgs[*]}"
	fi
	say "installing ${pkgs[*]}"
	make_dir "$LOGS"
	if ! apt_install "${pkgs[@]}" >"$LOGS/apt.log" 2>&1; then
		tail -n 5 "$LOGS/apt.log" >&2
		die "apt-get could not install: ${pkgs[*]}" \
		    "see $LOGS/apt.log; install them by hand and run the same command again"
	fi
}

# One at a time: checks run side by side.
apt_install() {
	# shellcheck disable=SC2016
	as_root flock -o "$LOGS/apt.lock" env DEBIAN_FRONTEND=noninteractive \
		sh -c 'apt-get -q update && apt-get -q -y --no-install-recommends install "$@"' sh "$@"
}

# logged LOG CMD...: output to LOG. Prints a line every half minute, to show progress,
# and the end of the log when the command fails.
logged() {
	local log=$1 pid start=$SECONDS next=30 rc=0 traps
	shift
	make_dir "$(dirname "$log")"
	"$@" >"$log" 2>&1 </dev/null &
	pid=$!
	# A background job does not hear Ctrl-C.
	traps=$(trap -p INT TERM)
	trap 'kill "$pid" 2>/dev/null; exit 130' INT TERM
	while kill -0 "$pid" 2>/dev/null; do
		# Do not delay short steps by a whole second.
		sleep $((SECONDS - start < 3 ? 0 : 1)).1
		if [ $((SECONDS - start)) -ge $next ]; then
			next=$((next + 30))
			printf '    %3ds  %s\n' $((SECONDS - start)) \
				"$(tail -n 1 "$log" | cut -c 1-60)"
		fi
	done
	wait "$pid" || rc=$?
	trap - INT TERM
	eval "$traps"
	if [ $rc -ne 0 ]; then
		tail -n 20 "$log" >&2
		printf 'error: failed after %d s, log: %s\n' \
			$((SECONDS - start)) "$log" >&2
	fi
	return $rc
}

# guest_program NAME [FLAG]...: sets $program to a static build of
# tools/quilt/guest/NAME.c; CROSS=PREFIX is the compiler's.
guest_program() {
	local name=$1
	shift
	need gcc:gcc
	make_dir "$BUILD/guest"
	program=$BUILD/guest/${CROSS:-}$name
	"${CROSS:-}gcc" -Wall -Wextra -O2 -static "$@" -o "$program" "$QUILT_TOOLS/guest/$name.c" ||
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

# guest_module KIND NAME: sets $module to tools/quilt/guest/modules/NAME, built
# for the kernel build/out/KIND, or to nothing if there is no such module.
guest_module() {
	local source=$QUILT_TOOLS/guest/modules/$2 dir=$BUILD/guest/$2-$1
	module=''
	[ -d "$source" ] || return 0
	make_dir "$dir"
	cp -u "$source"/* "$QUILT_TOOLS"/guest/modules/*.h "$dir/"
	logged "$LOGS/build-$2-$1.log" make -C "$OUT/$1" M="$dir" modules ||
		die "the module $2 does not build for kernel $1" "see $LOGS/build-$2-$1.log"
	module=$dir/$2.ko
}

# apt_isolated SUITE...: prints options for apt-get, one a line, to use the host's
# mirror with other suites, and lists and a cache of its own. The host does not
# change.
apt_isolated() {
	local dir=$BUILD/apt src uri key suite
	make_dir "$dir/lists/partial"
	make_dir "$dir/cache/archives/partial"
	src=$(debian_source) || return 1
	uri=${src%% *}
	key=${src#* }
	: >"$dir/sources.list"
	for suite in "$@"; do
		printf 'deb [signed-by=%s] %s %s main\n' "$key" "$uri" "$suite" \
			>>"$dir/sources.list"
	done
	printf '%s\n' -o "Dir::Etc::SourceList=$dir/sources.list" \
		-o Dir::Etc::SourceParts=/dev/null \
		-o "Dir::State::Lists=$dir/lists" \
		-o "Dir::Cache=$dir/cache" \
		-o "APT::Sandbox::User=$(id -un)" \
		-o Acquire::Retries=2
}

# The mirror that this host already uses, and the key it is signed with:
# "URI KEYRING". Ubuntu has no Debian mirror: DEBIAN_MIRROR names one.
debian_source() {
	local uri key=/usr/share/keyrings/debian-archive-keyring.gpg
	# shellcheck disable=SC2016
	uri=${DEBIAN_MIRROR:-$(apt-get indextargets --format '$(SITE) $(ORIGIN)' 2>/dev/null |
		awk '$2 == "Debian" && $1 !~ /security/ { print $1; exit }')}
	[ -n "$uri" ] || return 1
	printf '%s %s\n' "$uri" "$key"
}
