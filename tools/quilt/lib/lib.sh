# shellcheck shell=bash
# Shared by the scripts in tools/quilt and tools/bench: places, messages,
# missing packages, time-limited steps. Source it, do not run it.

set -euo pipefail
# The user's locale must not change sorting and messages.
export LC_ALL=C
# A python3 of pyenv takes ten times as long to start as the distribution's.
if [[ $(command -v python3) == */shims/* && -x /usr/bin/python3 ]]; then
	PATH=$(sed 's|[^:]*/shims:||g; s|:[^:]*/shims$||' <<<"$PATH")
fi

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
QUILT_TOOLS=$TOP/tools/quilt
BENCH_TOOLS=$TOP/tools/bench
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

# usage: prints the comment at the top of the script.
usage() { sed -n '2,/^$/s/^# \{0,1\}//p' "$0"; }

# results_option ARGUMENT...: of a script of tools/bench that has -o DIR and nothing
# else. Sets $results.
results_option() {
	results=$BENCH_TOOLS/results
	while [ $# -gt 0 ]; do
		case $1 in
		-o) results=${2:?}; shift ;;
		-h | --help) usage; exit 0 ;;
		*) usage >&2; exit 2 ;;
		esac
		shift
	done
}

# no_arguments ARGUMENT...: of a script that has none but --help
no_arguments() {
	case ${1:-} in
	'') ;;
	-h | --help) usage; exit 0 ;;
	*) usage >&2; exit 2 ;;
	esac
}

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

# copy_build FROM TO [TREE COPY]: copies the directory of a kernel, so that a build
# in TO has nothing to do. COPY is a clone of TREE, if TO is for that. The commands
# name the directories, and all objects depend on objtool's.
copy_build() {
	rm -rf "$2.new"
	make_dir "$(dirname "$2")"
	cp -a --reflink=auto "$1" "$2.new"
	grep -rlIZF -e "$1" -e "${3:-$1}" "$2.new" | xargs -0r sed -i "s|$1\\>|$2|g${3:+; s|$3\\>|$4|g}"
	[ $# -eq 2 ] || find "$2.new" -exec touch -h -d "@$(date +%s)" {} +
	mv "$2.new" "$2"
}

as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	else
		sudo "$@"
	fi
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

# Is $DEADLINE, in seconds since 1970, over?
no_time() { [ -n "${DEADLINE:-}" ] && [ "$(date +%s)" -ge "$DEADLINE" ]; }

# cpu_seconds: sets $cpu to what all that this shell has started, and that has
# ended, took
cpu_seconds() {
	local stat
	read -ra stat </proc/$BASHPID/stat
	cpu=$(((stat[15] + stat[16]) / $(getconf CLK_TCK)))
}

# of_today N NAME...: N of the names, others each day. The order that a day gives
# them is that of their checksums.
of_today() {
	local number=$1 today name
	today=$(date +%F)
	shift
	for name; do
		printf '%s %s\n' "$(sha256sum <<<"$today $name" | cut -c 1-16)" "$name"
	done | sort | awk -v number="$number" 'NR <= number { print $2 }'
}

# share_of_today NAME...: $SHARE percent of the names, others each day; all unless told
share_of_today() { of_today $((($# * ${SHARE:-100} + 99) / 100)) "$@"; }

# One at a time: checks run side by side.
apt_install() {
	# shellcheck disable=SC2016
	as_root flock -o "$LOGS/apt.lock" env DEBIAN_FRONTEND=noninteractive \
		sh -c 'apt-get -q update &&
			apt-get -q -y -o DPkg::Lock::Timeout=600 --no-install-recommends install "$@"' sh "$@"
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

# find_ours PATH: prints where tools/quilt has this file, or else where tools/bench has it.
find_ours() {
	local dir
	for dir in "$QUILT_TOOLS" "$BENCH_TOOLS"; do
		[ ! -e "$dir/$1" ] || { echo "$dir/$1"; return; }
	done
	return 1
}

