# shellcheck shell=bash disable=SC2154
# Parts of scenarios.sh: it counts, and builds what the scenarios need. Sourced by it.

wanted() { # NAME
	local pattern
	if [[ $1 == *' noticed' ]]; then
		grep -qxF -e "${1% *}" <<<"$noticed" || return 1
	elif [ -n "${SHARE:-}" ]; then
		grep -qxF -e "${1%% *}" <<<"$today" || return 1
	fi
	for pattern in "${patterns[@]}"; do
		# shellcheck disable=SC2053
		[[ $1 != $pattern ]] || return 0
	done
	return 1
}

# counted NAME COMMAND...
counted() {
	local name=$1 begin=$SECONDS before cpu
	shift
	wanted "$name" || return 0
	if no_time; then
		skipped=$((skipped + 1))
		say "skipped $name: no time is left"
		return 0
	fi
	cpu_seconds
	before=$cpu
	if "$@"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		say "not ok $name"
	fi
	cpu_seconds
	say "    $name: $((SECONDS - begin)) s ($((cpu - before)) of CPU)"
}

# scenario NAME ARGUMENT...: of guest.sh run, the scenario is among them
scenario() { counted "$1" "$QUILT_TOOLS/guest.sh" run -q "${boot[@]}" -t "$limit" "${@:2}"; }

# beside NAME ARGUMENT...: as scenario, but next to the ones that follow, for one
# that waits for most of its time
pids=()
beside() {
	local name=$1
	shift
	wanted "$name" || return 0
	"$QUILT_TOOLS/guest.sh" run -q "${boot[@]}" -t $((2 * limit)) "$@" >"$LOGS/scenario-$name.log" 2>&1 &
	pids+=("$! $name")
}

# collect: prints and counts those beside
collect() {
	local entry name
	for entry in "${pids[@]}"; do
		name=${entry#* }
		if wait "${entry%% *}"; then
			passed=$((passed + 1))
			cat "$LOGS/scenario-$name.log"
		else
			failed=$((failed + 1))
			cat "$LOGS/scenario-$name.log"
			say "not ok $name"
		fi
	done
	pids=()
}

leave() {
	local entry
	for entry in "${pids[@]}"; do
		kill "${entry%% *}" 2>/dev/null || true
	done
}

# build_programs: sets $compare, $snapshots, $stall, $persistent, $storm and $rtla to a
# program each, and $clients, $failures, $programs and $rds_test to options of guest.sh.
build_programs() {
	need make:make pkg-config:pkgconf '/usr/include/tracefs/tracefs.h:libtracefs-dev' \
		'/usr/include/traceevent/event-parse.h:libtraceevent-dev'
	guest_program relay-compare
	compare=$program
	guest_program snapshot-compare -pthread
	snapshots=$program
	guest_program snapshot-stall -pthread
	stall=$program
	guest_program persistent
	persistent=$program
	guest_program tracefs-storm
	storm=$program
	guest_program ktrace-bpf
	clients=(-p trace-cmd -p linux-perf -a "$program:/usr/bin/ktrace-bpf")
	guest_module "$kernel" ktrace_clients
	clients+=(-a "$module:/modules/ktrace_clients.ko")
	guest_program failnth
	failures=(-A trace_buf_size=8k -K failslab -a "$program:/usr/bin/failnth")
	guest_module "$kernel" export_demo
	failures+=(-a "$module:/modules/export_demo.ko")
	make_dir "$LOGS"
	make_dir "$BUILD/guest/ktrace-tool"
	# Static: the guest's libraries are not the host's.
	logged "$LOGS/ktrace-tool.log" make -C "$TREE/tools/tracing/ktrace" \
		"O=$BUILD/guest/ktrace-tool" static ||
		die "tools/tracing/ktrace does not build" "see $LOGS/ktrace-tool.log"
	guest_rtla "$TREE"
	rtla=$program
	guest_rds "$TREE"
	programs=()
	for name in process-compare process-fault process-jobs process-storm; do
		guest_program $name -pthread
		programs+=(-a "$program:/usr/bin/$name")
	done
	# No library: the compiler for 64 bits can do it.
	gcc -Wall -Wextra -O1 -m32 -static -nostdlib -ffreestanding -fno-pic -no-pie \
		-fno-stack-protector -fcf-protection=none -o "$BUILD/guest/process-jobs32" \
		"$QUILT_TOOLS/guest/programs/process-jobs32.c" ||
		die "process-jobs32 does not build" "see above"
	programs+=(-a "$BUILD/guest/process-jobs32:/usr/bin/process-jobs32")
	need musl-gcc:musl-tools
	musl-gcc -Wall -Wextra -O2 -static -o "$BUILD/guest/process-musl" "$QUILT_TOOLS/guest/programs/process-musl.c" ||
		die "process-musl does not build" "see above"
	programs+=(-a "$BUILD/guest/process-musl:/usr/bin/process-musl")

	make_dir "$BUILD/guest/ktrace_many-$kernel"
	cp -u "$QUILT_TOOLS"/guest/modules/ktrace_many/* "$BUILD/guest/ktrace_many-$kernel/"
	logged "$LOGS/build-ktrace_many.log" make -C "$OUT/$kernel" M="$BUILD/guest/ktrace_many-$kernel" \
		MANY="${many//,/ }" modules ||
		die "the modules with many ktrace events do not build" "see $LOGS/build-ktrace_many.log"
}
