#!/bin/bash
# Lists the patches of a topic, with those of the topics that it depends on
# before them, for git am:
#
#   tools/quilt/patches.sh snapshot | xargs git -C LINUX am
#
# usage: patches.sh [-t] [TOPIC...]
#
#   -t       the names of the topics alone
#   (none)   all topics

# shellcheck source=tools/quilt/lib/tree-lib.sh
. "$(dirname "$0")/lib/tree-lib.sh"
# shellcheck source=tools/quilt/lib/topics-lib.sh
. "$QUILT_TOOLS/lib/topics-lib.sh"

names=''
case ${1:-} in
-t) names=y; shift ;;
-h | --help) usage; exit 0 ;;
-*) usage >&2; exit 2 ;;
esac

mapfile -t all < <(topics)
[ $# -gt 0 ] || set -- "${all[@]}"
wanted=' '
for topic; do
	require_topic "$topic"
	wanted+="$(needed_topics "$topic" | tr '\n' ' ')$topic "
done
for topic in "${all[@]}"; do
	[[ $wanted == *" $topic "* ]] || continue
	if [ -n "$names" ]; then
		echo "$topic"
	else
		topic_patches "$topic"
	fi
done
