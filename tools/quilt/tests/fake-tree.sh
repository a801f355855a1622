# shellcheck shell=bash
# Shared by the tests of tree.sh, export.sh and check.sh: a made-up kernel of a few
# files, a mirror in a directory, copies of the project, and a runner of the
# functions test_NAME. Sourced with the arguments of the test.

# shellcheck source=tools/quilt/lib/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/lib.sh"

pattern=${1:-}
case $pattern in
-*) usage; exit 0 ;;
esac

# In BUILD, which has the space that make tree requires.
make_dir "$BUILD"
work=$(mktemp -d "$BUILD/test.XXXXXX")
trap 'rm -rf "$work"' EXIT
unset BUILD TREE BASE FORCE LINUX_SRC LINUX_TARBALL LINUX_REF TOPICS
export KERNEL_MIRROR=file://$work/mirror DEBIAN_MIRROR=file:///nonexistent

# Tests must not use the repository around them.
export GIT_CEILING_DIRECTORIES=$work
git_() { git -C "$project/build/linux" -c user.name="$QUILT_NAME" -c user.email="$QUILT_EMAIL" "$@"; }
q() { "$project/tools/quilt/$1.sh" "${@:2}" >"$work/out" 2>&1; }

# Assertions end a test: they run under set -e.
fails()    { if "$@"; then echo "did not fail: $*" >>"$work/out"; return 1; fi; }
says()     { grep -qF -- "$1" "$work/out" || { echo "does not say: $1" >>"$work/out"; return 1; }; }
is()       { [ "$1" = "$2" ] || { echo "'$1' is not '$2'" >>"$work/out"; return 1; }; }
exists()   { [ -e "$1" ] || { echo "missing: $1" >>"$work/out"; return 1; }; }
is_gone()  { [ ! -e "$1" ] || { echo "still there: $1" >>"$work/out"; return 1; }; }
one_error() { is "$(grep -c '^error: ' "$work/out")" 1; }

# --- the made-up kernel -----------------------------------------------------

fake_kernel() { # DIR SUBLEVEL
	mkdir -p "$1"/{kernel/trace,include/linux,Documentation}
	printf 'VERSION = 7\nPATCHLEVEL = 3\nSUBLEVEL = %s\nEXTRAVERSION =\n' "$2" >"$1/Makefile"
	seq 1 40 | sed 's/.*/int line_&;/' >"$1/kernel/trace/trace.c"
	echo 'int trace_init(void);' >"$1/include/linux/trace.h"
	echo 'TRACING' >"$1/MAINTAINERS"
	printf '*.o\n/*\n!/debian/\n' >"$1/.gitignore"
	# A large file, so that a download can be interrupted.
	head -c 3000000 /dev/urandom >"$1/Documentation/picture.png"
}

put_on_mirror() { # DIR
	local dir=$work/mirror/v7.x
	mkdir -p "$dir"
	tar -C "$work" -cJf "$dir/linux-7.3.4.tar.xz" --transform "s|^${1##*/}|linux-7.3.4|" "${1##*/}"
	(cd "$dir" && { echo '-----BEGIN PGP SIGNED MESSAGE-----'; sha256sum ./*.xz | sed 's|\./||'; } >sha256sums.asc)
}

commit() { # SUBJECT FILE TEXT
	mkdir -p "$(dirname "$project/build/linux/$2")"
	echo "$3" >>"$project/build/linux/$2"
	git_ add "$2"
	git_ commit -q -m "$1" -m 'Somebody is in trouble.' -m 'Assisted-by: LLM'
}

# A copy of the project's scripts with a cache of its own.
new_project() {
	project=$work/$1
	mkdir -p "$project/tools/quilt"/{cover,data}
	cp -r "$QUILT_TOOLS"/*.{sh,py} "$QUILT_TOOLS/lib" "$project/tools/quilt/"
	export XDG_CACHE_HOME=$project/cache
	printf 'Subject: tracing: Two lines\nFirst: tracing: One\nDepends:\n\nThe text.\n' \
		>"$project/tools/quilt/cover/exports.txt"
}

# ... with a tree and two exported patches; made once, then copied.
exported_project() {
	local ready=$work/ready
	if [ ! -d "$ready" ]; then
		trap 'rm -rf "$ready"' EXIT
		new_project ready
		q tree
		commit 'tracing: One' kernel/trace/trace.c 'int one;'
		commit 'tracing: Two' kernel/trace/two.c 'int two;'
		q export
		trap - EXIT
	fi
	project=$work/$1
	cp -a "$ready" "$project"
	export XDG_CACHE_HOME=$project/cache
}

# Everything that export writes, as one id.
written() { (cd "$project" && find patches series base kernel -type f -exec sha256sum {} + | sort -k 2 | sha256sum); }

# The last line of a test
run_tests() {
	local name rc
	need curl:curl xz:xz-utils quilt:quilt b4:b4 patch:patch
	fake_kernel "$work/linux" 4
	put_on_mirror "$work/linux"

	passed=0 failed=0 skipped=0
	for name in $(declare -F | sed -n 's/^declare -f test_//p'); do
		[[ $name == *"$pattern"* ]] || continue
		: >"$work/out"
		rc=0
		(
			set -e
			"test_$name"
		) &
		wait $! || rc=$?
		case $rc in
		0) passed=$((passed + 1)); say "ok $((passed + failed + skipped)) $name" ;;
		77) skipped=$((skipped + 1)); say "ok $((passed + failed + skipped)) $name # SKIP needs root" ;;
		*) failed=$((failed + 1)); say "not ok $((passed + failed + skipped)) $name"; sed 's/^/# /' "$work/out" ;;
		esac
	done
	say "$passed passed, $failed failed, $skipped skipped"
	[ $failed -eq 0 ]
}
