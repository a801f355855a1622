#!/bin/bash
# Builds all that is needed, and boots a guest that shows every topic live.
#
# usage: demo.sh
#
# Makes the tree, builds the guest's kernel and the demo's module, boots them
# under QEMU and runs the scenario tools/quilt/guest/scenarios/demo there. It ends
# with a table, and leaves a recording in build/demo/trace.dat.

# shellcheck source=tools/quilt/lib/lib.sh
. "$(dirname "$0")/lib/lib.sh"
# shellcheck source=tools/quilt/lib/guest-lib.sh
. "$QUILT_TOOLS/lib/guest-lib.sh"

no_arguments "$@"

start=$SECONDS
step "the kernel tree"
"$QUILT_TOOLS/tree.sh" --keep
"$QUILT_TOOLS/kernel.sh" guest

module=$BUILD/guest/export_demo
make_dir "$module"
cp -u "$QUILT_TOOLS"/guest/modules/export_demo/* "$module/"
logged "$LOGS/build-export_demo.log" make -C "$OUT/guest" M="$module" modules ||
	die "the demo's module does not build" "see $LOGS/build-export_demo.log"
guest_rds "$TREE"

# The rows of the table that no guest can show in a minute.
need python3:python3
results=$QUILT_TOOLS/results/prove.md
facts=("$(NUMBERS=any "$QUILT_TOOLS/figures.py" value 'bench:TRACE_EVENT two u64:base')"
	"$(NUMBERS=any "$QUILT_TOOLS/figures.py" value 'bench:TRACE_EVENT two u64:quilt')"
	"$(grep -c '^fixes.*-Fix-' "$TOP/series")" "$(grep -c '| fails' "$results")")

step "booting the guest"
"$QUILT_TOOLS/guest.sh" run -q -t 300 -p trace-cmd -a "$module/export_demo.ko:/modules/export_demo.ko" \
	"${rds_test[@]}" -o "/tmp/trace.dat:$BUILD/demo/trace.dat" demo "${facts[@]}"
say
say "The recording is ${BUILD#"$PWD/"}/demo/trace.dat. To read it: trace-cmd report -i FILE, or kernelshark FILE"
step "done in $((SECONDS - start)) s; make shell gives you the same guest"
