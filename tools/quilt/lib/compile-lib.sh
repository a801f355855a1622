# shellcheck shell=bash
# Shared by the scripts that compile without booting: a full clone and a build
# directory for each architecture. Both are kept, so that make builds only what
# differs. Source it behind tree-lib.sh.

COMPILE_TREE=$BUILD/check/linux

# compile_checkout COMMIT [REPOSITORY]: which it is fetched from, as a branch
compile_checkout() {
	need gcc:gcc make:make flex:flex bison:bison bc:bc pahole:dwarves \
		/usr/include/gelf.h:libelf-dev /usr/include/openssl/opensslv.h:libssl-dev
	if [ $# -gt 1 ]; then
		[ -e "$COMPILE_TREE/.git" ] || compile_checkout "$(base_of "$TREE")"
		git -C "$COMPILE_TREE" fetch -q --no-tags "$2" "$1"
		git -C "$COMPILE_TREE" checkout -q --detach --force FETCH_HEAD
		return
	fi
	if ! git -C "$COMPILE_TREE" checkout -q --detach --force "$1" 2>/dev/null; then
		need_space "$BUILD" 3000 "a second kernel tree"
		scratch_clone "$COMPILE_TREE" "$1"
	fi
}

# compile ARCH ARGUMENT...: make in the clone, with gcc or, with LLVM=-19 in the
# environment, with that version of clang. The configuration is made anew for each
# commit, as kbuild would ask for symbols that a patch adds.
compile() {
	local arch=$1 dir=$OUT/check-$1${LLVM:-} files cc=() caret=-fno-diagnostics-show-caret gcc=gcc
	shift
	make_dir "$dir"
	mapfile -t files < <(compile_configs "$arch")
	# The last word on an option counts.
	awk '/^(# )?CONFIG_/ { name = $0; gsub(/^# |[= ].*/, "", name); line[name] = $0 }
	     END { for (name in line) print line[name] }' "${files[@]}" | sort >"$dir/fragments"
	if [ "$arch" = arm64 ] && [ -z "${LLVM:-}" ]; then
		need aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu
		gcc=aarch64-linux-gnu-gcc
		cc=(CROSS_COMPILE=aarch64-linux-gnu-)
	fi
	# Only if a cache exists: to fill one makes the first build half as slow again.
	if [ -n "${LLVM:-}" ]; then
		need "clang$LLVM:clang$LLVM" "ld.lld$LLVM:lld$LLVM" "llvm-nm$LLVM:llvm$LLVM"
		caret=-fno-caret-diagnostics
		cc=("LLVM=$LLVM" "CC=${CCACHE_DIR:+ccache }clang$LLVM")
	elif [ -n "${CCACHE_DIR:-}" ]; then
		need ccache:ccache
		cc+=("CC=ccache $gcc")
	fi
	# No object is linked, so none needs debug information. kernel-doc, which W=1
	# runs, is a check of its own.
	local make=(make -C "$COMPILE_TREE" "O=$dir" "ARCH=$arch" "${cc[@]}" LOCALVERSION= cmd_checkdoc=
		"KCFLAGS=$caret -g0" -s)
	"${make[@]}" "KCONFIG_ALLCONFIG=$dir/fragments" allnoconfig &&
		"${make[@]}" -k -j"$JOBS" W=1 "$@"
}

# compile_configs ARCH: the fragments, those of the tree as the whole quilt leaves
# them. A new option would compile everything anew at each commit, and kbuild
# ignores options that a commit does not have.
compile_configs() {
	local part parts
	case $1 in
	x86_64) parts="guest tracing kunit check" ;;
	arm64) parts="guest guest-arm64 tracing kunit check" ;;
	um) parts="uml tracing kunit" ;;
	esac
	for part in $parts; do
		echo "$QUILT_TOOLS/configs/$part.config"
	done
	echo "$TREE/tools/testing/selftests/ftrace/config"
	[ ! -f "$TREE/kernel/trace/.kunitconfig" ] || echo "$TREE/kernel/trace/.kunitconfig"
}

# warnings <LOG: one a line, without numbers, so that two trees compare. A place
# in a header counts once, however many files include it.
warnings() {
	sed "s|$COMPILE_TREE/||g; s|\(\.\./\)\+||g" |
		grep -E '(warning|error|Warning|Error):' | sort -u |
		sed 's/:[0-9]\+\(:[0-9]\+\)\?:\?/:/; s/[0-9]\+-character/N-character/' | sort || true
}

changed_code() {
	changed_files AM | grep '\.[chS]$' | grep -v '^\(tools\|scripts\|Documentation\|include\)/' || true
}

# compile_dirs: kernel/trace, its users in the tree, and the directories in which
# the quilt touches something.
compile_dirs() {
	{
		printf '%s\n' kernel/trace/ drivers/hwtracing/stm/ samples/
		changed_code | xargs -r dirname | sed 's|$|/|'
	} | sort -u | awk 'NR == 1 || index($0, last) != 1 { print; last = $0 }'
}

# compile_files: the objects of files that the quilt touches. trace.c includes
# trace_selftest.c.
compile_files() { changed_code | grep '\.[cS]$' | grep -v '/trace_selftest\.c$' | sed 's/\.[cS]$/.o/' | sort -u; }

# build_targets ARCH LOG TARGET...: compiles what there is of these in the tree
# that is checked out; the warnings in LOG.warnings. Prints what went wrong.
build_targets() {
	local arch=$1 log=$2 here=() target
	shift 2
	for target; do
		case $target in
		*/) [ ! -d "$COMPILE_TREE/$target" ] || here+=("$target") ;;
		*) ! compgen -G "$COMPILE_TREE/${target%.o}.[cS]" >/dev/null || here+=("$target") ;;
		esac
	done
	if ! logged "$log" compile "$arch" "${here[@]}" >&2 2>/dev/null; then
		grep -E '(error|Error) ?:|\*\*\*' "$log" | head -n 5
		return 1
	fi
	warnings <"$log" | sort -u >"$log.warnings"
}
