#!/bin/bash
# Builds all that is needed, and boots a guest that shows every topic live.
#
# usage: demo.sh
#
# Makes the tree, builds the guest's kernel and the demo's module, boots them
# under QEMU and runs the scenario tools/quilt/guest/scenarios/demo there.

# shellcheck source=tools/quilt/lib.sh
. "$(dirname "$0")/lib.sh"

usage() { sed -n '2,/^$/s/^# \{0,1\}//p' "$0"; }
case ${1:-} in
'') ;;
-h | --help) usage; exit 0 ;;
*) usage >&2; exit 2 ;;
esac

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

step "booting the guest"
"$QUILT_TOOLS/guest.sh" run -q -t 300 -a "$module/export_demo.ko:/modules/export_demo.ko" \
	"${rds_test[@]}" demo
step "done in $((SECONDS - start)) s; make shell gives you the same guest"
