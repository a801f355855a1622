#!/bin/bash
# Runs the selftests on the base, or on the base with the first topics alone.
#
# usage: side.sh base|TOPIC [ARG]...
#
#   TOPIC  with the topics up to this one, in the order of series
#   ARG    arguments of selftest.sh, as --all
#
# It builds the guest's kernel of that state in build/out/side-TOPIC, which is slow
# the first time. The last line is a summary.

# shellcheck source=tools/quilt/lib/tree-lib.sh
. "$(dirname "$0")/lib/tree-lib.sh"
# shellcheck source=tools/quilt/lib/topics-lib.sh
. "$QUILT_TOOLS/lib/topics-lib.sh"

case ${1:-} in
-h | --help) usage; exit 0 ;;
'' | -*) usage >&2; exit 2 ;;
esac
side=$1
shift

require_tree
commit=$(base_of "$TREE")
if [ "$side" != base ]; then
	topics | grep -xF -e "$side" >/dev/null || die "there is no topic $side" "there are: base $(topics | xargs)"
	n=$(list_series "$TOP" | grep -n "^$side/" | tail -n 1 | cut -d : -f 1)
	commit=$(git -C "$TREE" rev-list --reverse "$commit..HEAD" | sed -n "${n}p")
fi
dir=$BUILD/side/$side
if [ ! -e "$dir/.git" ]; then
	need_space "$BUILD" 4000 "a kernel tree and its build"
	scratch_clone "$dir" "$commit"
fi
git -C "$dir" fetch -q --no-tags "$TREE" "$commit"
git -C "$dir" checkout -q --detach --force "$commit"
export TREE=$dir
"$QUILT_TOOLS/kernel.sh" -o "side-$side" guest
exec "$QUILT_TOOLS/selftest.sh" -k "$OUT/side-$side" "$@"
