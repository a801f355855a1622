# shellcheck shell=bash
# Shared by the scripts that run KUnit. Source it behind lib.sh.

# kunit_i386 DIR FILTER LIMIT: runs KUnit on the i386 kernel in DIR; its log goes to
# standard output. kunit.py would take a /dev/kvm, which may hang a guest.
kunit_i386() {
	"$QUILT_TOOLS/lib/qemu.sh" install i386 >&2
	timeout "$3" qemu-system-i386 -nodefaults -no-reboot -display none -serial stdio \
		-accel tcg -m 1024 -kernel "$1/arch/x86/boot/bzImage" \
		-append "kunit.filter_glob=$2 kunit.enable=1 console=ttyS0 kunit_shutdown=reboot" \
		2>&1 </dev/null
}

# kconfig_add RUN: adds the options of configs/RUN.config to $options, as kunit.py
# takes them. The run uml is what kunit.py does for anybody.
kconfig_add() {
	local opt config=$QUILT_TOOLS/configs/$1.config
	{ [ "$1" != uml ] && [ -f "$config" ]; } || return 0
	while read -r opt; do
		options+=(--kconfig_add "$opt")
	done < <(grep '^CONFIG' "$config")
}

# skips CONSOLE: the cases that were skipped, as SUITE.CASE
skips() {
	sed -E 's/^\[ *[0-9.]+\] //; s/\r$//' "$1" |
		awk '/^    # Subtest: / { suite = $3 } /^    ok [0-9]+ .* # SKIP/ { print suite "." $3 }' | sort -u
}

# A case that begins to skip proves nothing any more, and its verdict is still ok.
judge_skips() { # RUN CONSOLE
	local new like=$1
	# A corner takes options away, so its runs may skip more.
	[[ -f $2 && $1 != corner-* ]] || return 0
	# kunit.py makes the same configuration for them as for UML.
	case $1 in
	arm64 | s390 | i386 | riscv) like=uml ;;
	esac
	new=$(skips "$2" | comm -23 - <(sed -nE "s/^($1|$like) //p" "$QUILT_TOOLS/data/skips" | sort -u))
	[ -z "$new" ] || problem "$1" "skips what tools/quilt/data/skips does not list: ${new//$'\n'/ }" "$2"
}
