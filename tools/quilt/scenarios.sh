#!/bin/bash
# Runs the guest scenarios that are no selftests, in their short form.
#
# usage: scenarios.sh [RECORDS]
#
#   export-relay   the sample module's stream beside trace_pipe_raw, record by
#                  record (RECORDS of them, 20000), and the comparison notices
#                  errors
#   tp-printk      a selftest that needs this boot parameter
#   boot-snapshot  which boot instances have a snapshot buffer
#   tracefs-storm  random operations on all files, for a minute, another seed each
#                  day
#   persistent     poll() of a persistent instance and of its backup
#   boot-process   the tracer "process", started from the kernel command line
#   boot-follow    system call events and event-follow, from there as well
#   boot-ktrace    all ktrace events, or one of them, on by the kernel command line
#   flight-recorder  the sample's coredumps of a network device that was down
#   instance-modules  the samples of instances are loaded and removed many times
#                  and leave no memory behind, and a leak is noticed
#   rds            the flight recorder of RDS: the kernel's selftest, hundreds of lost
#                  connections, and unloading at any moment
#   snapshot-proof  each record of hundreds of snapshots comes once, in order, or is
#                  reported as lost, also with hotplug and resize on four CPUs and
#                  with 256 MiB for each CPU, and the comparison notices errors
#   snapshot-raw   trace-cmd reads a snapshot that is held, and the test notices
#                  when nobody holds it
#   snapshot-stall  how long others wait for a reader of many old records
#   rtla           rtla of the kernel tree acts on a sample above the threshold and
#                  leaves nothing behind; how late it was is printed
#   ktrace-tool    the tool of the kernel tree lists, switches and follows ktrace
#                  events and leaves nothing behind, and a rest is noticed
#   clients        trace-cmd, perf and a BPF program read ktrace events, the first
#                  two debug messages, and trace-cmd the tracer of processes, as
#                  the file trace shows them, and the comparison notices errors
#   recording      trace-cmd and KernelShark's library read on the host what the demo
#                  has recorded in the guest, with the records of each topic, and
#                  another record is noticed
#   failslab       one allocation after the other fails: there is an error, nothing
#                  has changed, and a change is noticed
#   process-strace  the tracer "process" beside strace -f, call by call, and the
#                  comparison notices errors
#   process-storm  the life of each of 2000 processes is recorded once, and a missing
#                  one is noticed
#   follow-bench   set_follow_pid finds all threads of many; how long preemption is
#                  off meanwhile is printed
#   process-fault  a page comes late while the tracer reads a string of it, and the
#                  test notices a step that is left out
#   user-fault     system call events and trace_marker read pages that come late, in
#                  part or never, and a CPU can go offline meanwhile
#   ktrace-many    modules with thousands of ktrace events have each once and leave
#                  none behind; it prints the time and memory
#
# In the environment:
#   ONLY=PATTERN[,PATTERN]...  the names of those to run
#   LONG=y             ten times as many snapshots and loaded modules
#   KERNEL=KIND        another kernel than guest, see kernel.sh; it is built
#   STORM=SECONDS      how long tracefs-storm runs (60)
#   PROCESSES=N        how many processes process-storm has (2000)
#   MANY=N[,N]...      the numbers of events for ktrace-many (1000)
#   NOTICED=N          N of the runs "noticed", others each day; all unless told
#   SHARE=PERCENT      how many of the others, others each day; all unless told
#   DEADLINE=SECONDS   since 1970: a scenario that has not begun by then is skipped
#   LIMIT=SECONDS      how long a scenario may take (1800, and twice STORM)
#
# The last line is a summary.

# shellcheck source=tools/quilt/lib/lib.sh
. "$(dirname "$0")/lib/lib.sh"
# shellcheck source=tools/quilt/lib/guest-lib.sh
. "$QUILT_TOOLS/lib/guest-lib.sh"
# shellcheck source=tools/quilt/lib/scenarios-lib.sh
. "$QUILT_TOOLS/lib/scenarios-lib.sh"

case ${1:-20000} in
-h | --help) usage; exit 0 ;;
*[!0-9]*) die "not a number: $1" "see: tools/quilt/scenarios.sh --help" ;;
esac

many=${MANY:-1000} long=${LONG:+0}
kernel=${KERNEL:-guest} limit=${LIMIT:-$((1800 + 2 * ${STORM:-0}))}
boot=(-k "$OUT/$kernel")
if [ "$kernel" != guest ]; then
	"$QUILT_TOOLS/kernel.sh" "$kernel"
	# KASAN and kmemleak want room.
	boot+=(-m 4096)
fi
build_programs

passed=0 failed=0 skipped=0

# They show that a comparison sees errors.
noticed=$(of_today "${NOTICED:-100}" export-relay instance-modules snapshot-proof snapshot-raw ktrace-tool \
	clients failslab process-strace process-storm process-fault recording)
[ -z "${NOTICED:-}" ] || say "noticed today: $(xargs <<<"$noticed")"
# Those that this script runs, by the first word of their names.
mapfile -t all < <(sed -nE 's/^(\t|TCG=single )?(scenario|beside|counted) "?([a-z][a-z-]+).*/\3/p' "$0" | sort -u)
today=$(share_of_today "${all[@]}")
[ -z "${SHARE:-}" ] || say "today: $(xargs <<<"$today")"
IFS=, read -ra patterns <<<"${ONLY:-*}"

trap leave EXIT

# Most of its time it waits for TCP to try again.
beside rds "${rds_test[@]}" rds 8
for argument in "${1:-20000}" noticed; do
	scenario "export-relay $argument" -a "$compare:/usr/bin/relay-compare" export-relay "$argument"
done
instances="trace_instance=foo trace_instance=bar trace_instance=baz"
scenario flight-recorder flight-recorder
for argument in "25$long" noticed; do
	scenario "instance-modules $argument" instance-modules "$argument"
done
for argument in "200$long" noticed; do
	scenario "snapshot-proof $argument" -a "$snapshots:/usr/bin/snapshot-compare" snapshot-proof "$argument"
done
scenario "snapshot-proof disturbed" -t 1800 -s 4 -a "$snapshots:/usr/bin/snapshot-compare" snapshot-proof disturbed "50$long"
scenario "snapshot-proof large" -t 1800 -m 3072 -a "$snapshots:/usr/bin/snapshot-compare" snapshot-proof large "5$long"
for argument in 2000 noticed; do
	scenario "snapshot-raw $argument" -p trace-cmd snapshot-raw "$argument"
done
scenario snapshot-stall --icount -a "$stall:/usr/bin/snapshot-stall" snapshot-stall
scenario rtla -a "$rtla:/usr/bin/rtla" rtla
for argument in "" noticed; do
	scenario "ktrace-tool $argument" -a "$BUILD/guest/ktrace-tool/ktrace-cmd-static:/usr/bin/ktrace-cmd" \
		-A kunit.enable=1 ktrace-tool ${argument:+"$argument"}
done
for argument in 300 noticed; do
	scenario "clients $argument" "${clients[@]}" clients "$argument"
done
recording=$BUILD/guest/recording.dat
rm -f "$recording"
record() {
	"$QUILT_TOOLS/guest.sh" run -q "${boot[@]}" -t "$limit" -p trace-cmd -o "/tmp/trace.dat:$recording" \
		demo recording
}
# shellcheck disable=SC2317
another_record() {
	[ -f "$recording" ] || record || return
	"$QUILT_TOOLS/recording.sh" -n "$recording"
}
counted recording record
counted "recording noticed" another_record
scenario failslab "${failures[@]}" failslab
scenario "failslab noticed" "${failures[@]}" failslab noticed
for argument in short noticed; do
	scenario "process-strace $argument" -p make "${programs[@]}" process-strace "$argument"
done
for argument in "${PROCESSES:-2000}" noticed; do
	scenario "process-storm $argument" "${programs[@]}" process-storm "$argument"
done
guest_program process-loops -pthread
scenario follow-bench --icount -a "$program:/usr/bin/process-loops" follow-bench 1000
for argument in "" noticed; do
	scenario "process-fault $argument" "${programs[@]}" process-fault ${argument:+"$argument"}
done
guest_program user-fault -pthread
scenario user-fault -a "$program:/usr/bin/user-fault" user-fault
modules=()
for events in ${many//,/ }; do
	modules+=(-a "$BUILD/guest/ktrace_many-$kernel/ktrace_many_$events.ko:/modules/ktrace_many_$events.ko")
done
scenario ktrace-many "${modules[@]}" ktrace-many
scenario tp-printk -A tp_printk selftest ktrace/tp_printk.tc
scenario boot-follow -A 'trace_options=event-follow trace_event=raw_syscalls' boot-follow
scenario boot-process -A 'ftrace=process trace_buf_size=8M' boot-process
scenario "boot-ktrace all" -A 'trace_event=ktrace:*' boot-ktrace
scenario "boot-ktrace one" -A 'trace_event=shmem:no_inodes' boot-ktrace shmem:no_inodes
scenario boot-snapshot -A "$instances ftrace_boot_snapshot=foo ftrace_boot_snapshot=bar reactor_snapshot.instance=rv" boot-snapshot
# One host thread: several can Oops on text that is being patched (QEMU 10). An instance
# takes minutes to be made in a debug kernel whose functions are all traced.
patient=()
[ "$kernel" = guest ] || patient=(-A sysctl.kernel.hung_task_timeout_secs=1200)
TCG=single scenario tracefs-storm ${patient[0]:+"${patient[@]}"} -a "$storm:/usr/bin/tracefs-storm" tracefs-storm "${STORM:-60}" "$(date +%Y%m%d)"
scenario persistent -a "$persistent:/usr/bin/persistent" \
	-A 'reserve_mem=4M:4096:trace trace_instance=boot@trace trace_instance=copy=boot trace_instance=next alloc_snapshot=copy' persistent
collect
say "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
