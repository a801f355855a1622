#!/bin/bash
# Tortures the topics: runs each scenario NAME-torture of the guest, for long,
# in kernels that check memory, locks, RCU and data races.
#
# usage: torture.sh [-n] [TOPIC...]
#
#   TOPIC  "export" for the scenario export-torture; all of them unless told
#   -n     do not build the kernels, take those in build/out as they are
#
# In the environment:
#   CYCLES=N         the first argument of the scenarios (10000)
#   KINDS='KIND...'  the kernels (guest-debug guest-kcsan), see kernel.sh
#   LIMIT=SECONDS    for one scenario in one kernel (600, and one for a cycle)
#
# A scenario that needs a module has it in tools/quilt/guest/modules, under its
# own name with an underscore. Programs that it needs are in tools/quilt/guest,
# and it names them in a line "# programs: NAME...". The last line counts
# scenarios and kernels.
# 10000 cycles are for a night, CYCLES=200 KINDS=guest for a minute.

# shellcheck source=tools/quilt/lib.sh
. "$(dirname "$0")/lib.sh"

usage() { sed -n '2,/^$/s/^# \{0,1\}//p' "$0"; }

topics=() kernels=y
while [ $# -gt 0 ]; do
	case $1 in
	-n) kernels='' ;;
	-h | --help) usage; exit 0 ;;
	-*) usage >&2; exit 2 ;;
	*) topics+=("$1") ;;
	esac
	shift
done

cycles=${CYCLES:-10000}
[[ $cycles =~ ^[1-9][0-9]*$ ]] || die "CYCLES=$cycles is not a number above 0" "for example: CYCLES=200"
limit=${LIMIT:-$((600 + cycles))}
read -ra kinds <<<"${KINDS:-guest-debug guest-kcsan}"

mapfile -t known < <(cd "$QUILT_TOOLS/guest/scenarios" && printf '%s\n' *-torture | sed 's/-torture$//')
[ ${#topics[@]} -gt 0 ] || topics=("${known[@]}")
for topic in "${topics[@]}"; do
	[ -f "$QUILT_TOOLS/guest/scenarios/$topic-torture" ] ||
		die "there is no torture of $topic" "there is: ${known[*]}"
done

# module_for KIND NAME: sets $module to the built one, or to nothing.
module_for() {
	local source=$QUILT_TOOLS/guest/modules/$2 dir=$BUILD/guest/$2-$1
	module=''
	[ -d "$source" ] || return 0
	make_dir "$dir"
	cp -u "$source"/* "$dir/"
	logged "$LOGS/build-$2-$1.log" make -C "$OUT/$1" M="$dir" modules ||
		die "the module $2 does not build for kernel $1" "see $LOGS/build-$2-$1.log"
	module=$dir/$2.ko
}

# programs_for SCENARIO: sets $programs to what puts them in the image.
programs_for() {
	local name names=()
	programs=()
	read -ra names < <(sed -n 's/^# programs: //p' "$QUILT_TOOLS/guest/scenarios/$1") || true
	for name in ${names[0]:+"${names[@]}"}; do
		make_dir "$BUILD/guest"
		gcc -Wall -Wextra -O2 -static -pthread -o "$BUILD/guest/$name" "$QUILT_TOOLS/guest/$name.c" ||
			die "$name does not build" "see above"
		programs+=(-a "$BUILD/guest/$name:/usr/bin/$name")
	done
}

need gcc:gcc
make_dir "$LOGS"
passed=0 failed=0
for kind in "${kinds[@]}"; do
	[ -z "$kernels" ] || "$QUILT_TOOLS/kernel.sh" "$kind"
	[ -f "$OUT/$kind/arch/x86/boot/bzImage" ] ||
		die "there is no kernel $kind" "run it without -n, or: tools/quilt/kernel.sh $kind"
	for topic in "${topics[@]}"; do
		step "torture of $topic in kernel $kind, $cycles cycles"
		module_for "$kind" "${topic}_torture"
		programs_for "$topic-torture"
		begin=$SECONDS rc=0
		log=$LOGS/torture-$topic-$kind.log
		# KASAN and kmemleak want room.
		"$QUILT_TOOLS/guest.sh" run -q -k "$OUT/$kind" -m 4096 -t "$limit" -L "$log" \
			${module:+-a "$module:/modules/${module##*/}"} \
			${programs[0]:+"${programs[@]}"} \
			"$topic-torture" "$cycles" || rc=$?
		if [ $rc -eq 0 ]; then
			passed=$((passed + 1))
			say "ok $topic $kind ($((SECONDS - begin)) s)"
		else
			failed=$((failed + 1))
			say "not ok $topic $kind ($((SECONDS - begin)) s, log: $log)"
		fi
	done
done
say "$passed passed, $failed failed"
[ $failed -eq 0 ]
