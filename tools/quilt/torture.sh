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
#   LIMIT=SECONDS    for one scenario in one kernel (1800, and 30 for a cycle)
#   OPERATIONS=WORDS for failslab, see failnth.c (all operations)
#   DEADLINE=SECONDS since 1970: a torture that has not begun by then is skipped
#
# The topic failslab is the scenario of that name: it has each allocation fail
# once, and then looks for leaks. Only guest-debug can find leaks.
#
# A scenario that needs a module has it in tools/quilt/guest/modules, under its
# own name with an underscore. Programs that it needs are in
# tools/quilt/guest/programs, and it names them in a line "# programs: NAME...".
# The last line is a summary. 10000 cycles take a night, CYCLES=200
# KINDS=guest takes a minute.

# shellcheck source=tools/quilt/lib/tree-lib.sh
. "$(dirname "$0")/lib/tree-lib.sh"
# shellcheck source=tools/quilt/lib/guest-lib.sh
. "$QUILT_TOOLS/lib/guest-lib.sh"

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
limit=${LIMIT:-$((1800 + 30 * cycles))}
read -ra kinds <<<"${KINDS:-guest-debug guest-kcsan}"

mapfile -t known < <(cd "$QUILT_TOOLS/guest/scenarios" && printf '%s\n' *-torture | sed 's/-torture$//'
	echo failslab)
[ ${#topics[@]} -gt 0 ] || topics=("${known[@]}")
for topic in "${topics[@]}"; do
	grep -qxF -e "$topic" < <(printf '%s\n' "${known[@]}") ||
		die "there is no torture of $topic" "there is: ${known[*]}"
done

# Sets $extras and $arguments, the options and arguments of guest.sh.
prepare() {
	local kind=$1 topic=$2 name names=()
	extras=() arguments=("$topic-torture" "$cycles")
	if [ "$topic" = failslab ]; then
		guest_program failnth
		guest_module "$kind" export_demo
		extras=(-a "$program:/usr/bin/failnth" -A trace_buf_size=8k -K failslab)
		read -ra arguments <<<"failslab all ${OPERATIONS:-}"
	else
		guest_module "$kind" "${topic}_torture"
		read -ra names < <(sed -n 's/^# programs: //p' "$QUILT_TOOLS/guest/scenarios/$topic-torture") || true
		for name in ${names[0]:+"${names[@]}"}; do
			guest_program "$name" -pthread
			extras+=(-a "$program:/usr/bin/$name")
		done
	fi
	[ -z "$module" ] || extras+=(-a "$module:/modules/${module##*/}")
}

# defined COMMIT: names of functions in its code of tracing, and of some macros
defined() {
	git -C "$TREE" grep -hE '^[a-zA-Z_].*\(' "$1" -- kernel/trace kernel/tracepoint.c \
		drivers/hwtracing/stm lib/dynamic_debug.c | sed -n 's/^[^(]*\b\([a-zA-Z_][a-zA-Z0-9_]*\)(.*/\1/p' | sort -u
}

# names FILE...: of the functions in object files
names() { nm "$@" | sed -n 's/^[0-9a-f]* [tT] \([^.]*\).*/\1/p' | sort -u; }

# tracing_only KIND <LOG: see races.sh
tracing_only() {
	local dir=$OUT/$1/kernel/trace list modules
	list=$(mktemp)
	# Not each torture has a module.
	mapfile -t modules < <(compgen -G "$BUILD/guest/*-$1/*.o")
	{
		comm -13 <(defined "$(base_of "$TREE")") <(defined HEAD) | sed 's/^/own /'
		names "$dir"/trace_{export_core,events_syscall,follow*,instance,ktrace*,process*,snapshot*}.o \
			${modules[0]:+"${modules[@]}"} | sed 's/^/added /'
		names "$dir"/*.o "$OUT/$1"/kernel/tracepoint.o "$OUT/$1"/drivers/hwtracing/stm/*.o |
			sed 's/^/tracing /'
	} >"$list"
	"$QUILT_TOOLS/lib/races.sh" "$list"
	rm -f "$list"
}

need gcc:gcc nm:binutils
make_dir "$LOGS"
passed=0 failed=0 skipped=0
for kind in "${kinds[@]}"; do
	[ -z "$kernels" ] || "$QUILT_TOOLS/kernel.sh" "$kind"
	[ -f "$OUT/$kind/arch/x86/boot/bzImage" ] ||
		die "there is no kernel $kind" "run it without -n, or: tools/quilt/kernel.sh $kind"
	for topic in "${topics[@]}"; do
		if no_time; then
			skipped=$((skipped + 1))
			say "skipped torture of $topic: no time is left"
			continue
		fi
		# Its short form is a scenario of make test.
		if [ "$topic" = failslab ] && ! grep -qx CONFIG_DEBUG_KMEMLEAK=y "$OUT/$kind/.config"; then
			say "failslab: not in kernel $kind, which sees no leaks"
			continue
		fi
		step "torture of $topic in kernel $kind, $cycles cycles"
		prepare "$kind" "$topic"
		begin=$SECONDS rc=0
		log=$LOGS/torture-$topic-$kind.log
		# Grace periods are long in an emulated kernel that
		# checks everything, and most operations here wait for some.
		[ "$kind" = guest ] || extras+=(-A rcupdate.rcu_expedited=1)
		# It patches code all the time. With a host thread per CPU two
		# runs ended in an int3 Oops on both CPUs, at a place where the
		# memory had no int3 any more: QEMU drops its translation before
		# it writes the byte, and another thread can translate the old
		# byte in between.
		threads=multi
		[ "$kind-$topic" != guest-ktrace ] || threads=single
		# KASAN and kmemleak want room.
		races=''
		if grep -qx CONFIG_KCSAN=y "$OUT/$kind/.config"; then
			races=y
			extras+=(--no-splat)
		fi
		TCG=${TCG:-$threads} "$QUILT_TOOLS/guest.sh" run -q -k "$OUT/$kind" -m 4096 -t "$limit" -L "$log" \
			${extras[0]:+"${extras[@]}"} "${arguments[@]}" || rc=$?
		if [ -n "$races" ]; then
			tracing_only "$kind" <"$log" >"$log.tracing"
			"$QUILT_TOOLS/lib/splat.sh" -k x86_64 "$log.tracing" || rc=125
		fi
		if [ $rc -eq 0 ]; then
			passed=$((passed + 1))
			say "ok $topic $kind ($((SECONDS - begin)) s)"
		else
			failed=$((failed + 1))
			say "not ok $topic $kind ($((SECONDS - begin)) s, log: $log)"
		fi
	done
done
say "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
