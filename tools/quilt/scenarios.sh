#!/bin/bash
# Runs the guest scenarios that prove something and are no selftests, in their
# short form.
#
# usage: scenarios.sh [RECORDS]
#
#   export-relay   the sample module's stream beside trace_pipe_raw, record by
#                  record (RECORDS of them, 20000), and that the comparison
#                  notices what is wrong
#   tp-printk      a selftest that needs this boot parameter
#   boot-snapshot  which boot instances have a snapshot buffer
#   boot-process   the tracer "process", started from the kernel command line
#   flight-recorder  the sample's coredumps of a network device that was down
#   snapshot-proof  each record of a thousand snapshots once, in order, or said
#                  to be lost, and that the comparison notices what is wrong
#   rtla           rtla of the kernel tree acts on a sample above the threshold and
#                  leaves nothing behind; how late it was is printed
#   ktrace-tool    the tool of the kernel tree lists, switches and follows ktrace
#                  events and leaves nothing behind, and that this is noticed
#   clients        what trace-cmd, perf and a BPF program read of ktrace events,
#                  and trace-cmd of the tracer of processes, beside the file
#                  trace, and that the comparison notices what is wrong
#   failslab       one allocation after the other fails: an error, and nothing
#                  has changed, and that it is noticed if something has
#   process-strace  the tracer "process" beside strace -f, call by call, and that
#                  the comparison notices what is wrong
#   process-storm  the life of each of 2000 processes once, and that it is noticed
#                  when it is not
#   process-fault  a page comes late while the tracer reads a string of it, and that
#                  the test notices what is not done
#   ktrace-many    modules with 1,000, 3,000 and 10,000 ktrace events: all there,
#                  each once, and gone in the end; what that takes is printed
#
# The last line counts.

# shellcheck source=tools/quilt/lib.sh
. "$(dirname "$0")/lib.sh"

case ${1:-20000} in
-h | --help) sed -n '2,/^$/s/^# \{0,1\}//p' "$0"; exit 0 ;;
*[!0-9]*) die "not a number: $1" "see: tools/quilt/scenarios.sh --help" ;;
esac

need make:make pkg-config:pkgconf '/usr/include/tracefs/tracefs.h:libtracefs-dev' \
	'/usr/include/traceevent/event-parse.h:libtraceevent-dev'
guest_program relay-compare
compare=$program
guest_program snapshot-compare -pthread
snapshots=$program
guest_program ktrace-bpf
clients=(-p trace-cmd -p linux-perf -a "$program:/usr/bin/ktrace-bpf")
guest_module guest ktrace_clients
clients+=(-a "$module:/modules/ktrace_clients.ko")
guest_program failnth
failures=(-A trace_buf_size=8k -K failslab -a "$program:/usr/bin/failnth")
guest_module guest export_demo
failures+=(-a "$module:/modules/export_demo.ko")
make_dir "$LOGS"
make_dir "$BUILD/guest/ktrace-tool"
# Static: the guest's libraries are not the host's.
logged "$LOGS/ktrace-tool.log" make -C "$TREE/tools/tracing/ktrace" \
	"O=$BUILD/guest/ktrace-tool" static ||
	die "tools/tracing/ktrace does not build" "see $LOGS/ktrace-tool.log"
guest_rtla "$TREE"
rtla=$program
programs=()
for name in process-compare process-fault process-jobs process-storm; do
	guest_program $name -pthread
	programs+=(-a "$program:/usr/bin/$name")
done
# No library: the compiler for 64 bits can do it.
gcc -Wall -Wextra -O1 -m32 -static -nostdlib -ffreestanding -fno-pic -no-pie \
	-fno-stack-protector -fcf-protection=none -o "$BUILD/guest/process-jobs32" \
	"$QUILT_TOOLS/guest/process-jobs32.c" ||
	die "process-jobs32 does not build" "see above"
programs+=(-a "$BUILD/guest/process-jobs32:/usr/bin/process-jobs32")

make_dir "$BUILD/guest/ktrace_many"
cp -u "$QUILT_TOOLS"/guest/modules/ktrace_many/* "$BUILD/guest/ktrace_many/"
logged "$LOGS/build-ktrace_many.log" make -C "$OUT/guest" M="$BUILD/guest/ktrace_many" modules ||
	die "the modules with many ktrace events do not build" "see $LOGS/build-ktrace_many.log"

passed=0 failed=0

# scenario NAME ARGUMENT...: of guest.sh run, the scenario is among them
scenario() {
	local name=$1
	shift
	if "$QUILT_TOOLS/guest.sh" run -q -t 600 "$@"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		say "not ok $name"
	fi
}

for argument in "${1:-20000}" noticed; do
	scenario "export-relay $argument" -a "$compare:/usr/bin/relay-compare" export-relay "$argument"
done
instances="trace_instance=foo trace_instance=bar trace_instance=baz"
scenario flight-recorder flight-recorder
for argument in 1000 noticed; do
	scenario "snapshot-proof $argument" -a "$snapshots:/usr/bin/snapshot-compare" snapshot-proof "$argument"
done
scenario rtla -a "$rtla:/usr/bin/rtla" rtla
for argument in "" noticed; do
	scenario "ktrace-tool $argument" -a "$BUILD/guest/ktrace-tool/ktrace-static:/usr/bin/ktrace" \
		-A kunit.enable=1 ktrace-tool ${argument:+"$argument"}
done
for argument in 300 noticed; do
	scenario "clients $argument" "${clients[@]}" clients "$argument"
done
scenario failslab "${failures[@]}" failslab
scenario "failslab noticed" "${failures[@]}" failslab noticed
for argument in short noticed; do
	scenario "process-strace $argument" "${programs[@]}" process-strace "$argument"
done
for argument in 2000 noticed; do
	scenario "process-storm $argument" "${programs[@]}" process-storm "$argument"
done
for argument in "" noticed; do
	scenario "process-fault $argument" "${programs[@]}" process-fault ${argument:+"$argument"}
done
many=()
for module in "$BUILD"/guest/ktrace_many/*.ko; do
	many+=(-a "$module:/modules/${module##*/}")
done
scenario ktrace-many "${many[@]}" ktrace-many
scenario tp-printk -A tp_printk selftest ktrace/tp_printk.tc
scenario boot-process -A 'ftrace=process trace_buf_size=8M' boot-process
scenario boot-snapshot -A "$instances ftrace_boot_snapshot=foo ftrace_boot_snapshot=bar" boot-snapshot
say "$passed passed, $failed failed"
[ $failed -eq 0 ]
