#!/bin/bash
# Builds Debian packages of the base and the quilt, for a real machine.
#
# usage: deb.sh [-c CONFIG] [-m LSMOD] [-e FRAGMENT]
#
#   -c CONFIG    the configuration to start from (the running kernel's)
#   -m LSMOD     drop the modules that are not in this output of lsmod; "-" takes
#                the running kernel's
#   -e FRAGMENT  one more fragment on top
#   TREE=DIR in the environment: another source tree than build/linux
#
# The packages are in build/deb. tools/quilt/configs/deb.config is added to the
# configuration; what an option of it needs has to be there, or it is named.

# shellcheck source=tools/quilt/lib/lib.sh
. "$(dirname "$0")/lib/lib.sh"

config='' lsmod='' extra=()
while [ $# -gt 0 ]; do
	case $1 in
	-c) config=${2:-}; shift ;;
	-m) lsmod=${2:-}; shift ;;
	-e) extra+=("${2:-}"); shift ;;
	-h | --help) usage; exit 0 ;;
	*) usage >&2; exit 2 ;;
	esac
	shift || break
done

dir=$BUILD/deb
work=$dir/linux
fragment=$QUILT_TOOLS/configs/deb.config
log=$LOGS/deb.log

# The configuration of the running kernel, where it can be had
running_config() {
	local file
	if [ -r /proc/config.gz ]; then
		zcat /proc/config.gz
		return
	fi
	file=/boot/config-$(uname -r)
	[ -r "$file" ] ||
		die "the running kernel does not tell its configuration" \
		    "name one: make deb CONFIG=FILE"
	cat "$file"
}

# lost: the options of the fragments that Kconfig did not take; an empty string says
# that an option is not wanted
lost() {
	cat "$fragment" "${extra[@]}" | grep '^CONFIG_' | grep -v '=""$' | sort |
		comm -23 - <(sort "$work/.config")
}

for file in ${config:+"$config"} "${extra[@]}"; do
	[ -r "$file" ] || die "can't read $file" "name a configuration of Linux: make deb CONFIG=FILE"
done
[ -f "$TREE/Makefile" ] || die "no kernel tree in $TREE" "run: make tree"
need gcc:gcc make:make flex:flex bison:bison bc:bc pahole:dwarves cpio:cpio rsync:rsync \
	kmod:kmod dh_testdir:debhelper dpkg-buildpackage:dpkg-dev zstd:zstd \
	/usr/include/gelf.h:libelf-dev '/usr/include/elfutils/libdw.h:libdw-dev' \
	'/usr/include/openssl/opensslv.h:libssl-dev'
make_dir "$work"
make_dir "$LOGS"
need_space "$work" 8000 "a kernel package"

if [ -n "$config" ]; then
	cat "$config"
else
	running_config
fi >"$work/.config.new"
mv "$work/.config.new" "$work/.config"
make=(make -C "$TREE" "O=$work" LOCALVERSION=)

step "configuring (log: $LOGS/deb-config.log)"
{
	if [ -n "$lsmod" ]; then
		[ "$lsmod" = - ] || export LSMOD=$lsmod
		# It asks about options that the configuration does not know.
		yes '' 2>/dev/null | "${make[@]}" localmodconfig
	fi
	"$TREE/scripts/kconfig/merge_config.sh" -m -O "$work" "$work/.config" "$fragment" "${extra[@]}"
	"${make[@]}" olddefconfig
} >"$LOGS/deb-config.log" 2>&1 ||
	die "the configuration can't be made" "see $LOGS/deb-config.log"
missing=$(lost)
[ -z "$missing" ] ||
	die "the configuration lacks what these options need: ${missing//$'\n'/ }" \
	    "look for a dependency that is off in ${config:-the running kernel}, and add it with FRAGMENT=FILE"

step "building packages (log: $log)"
rm -f "$dir"/*.deb "$dir"/*.buildinfo "$dir"/*.changes
# Debug information stays in the build directory.
DEB_BUILD_PROFILES=${DEB_BUILD_PROFILES:-pkg.linux-upstream.nokerneldbg} \
	logged "$log" "${make[@]}" -j"$JOBS" bindeb-pkg ||
	die "the packages do not build" "see $log"
packages=("$dir"/linux-image-*.deb)
[ -f "${packages[0]}" ] || die "no package came out" "see $log"
say "packages:"
printf '  %s\n' "$dir"/*.deb
say "install: apt install ${packages[0]}"
