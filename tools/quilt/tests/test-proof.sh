#!/bin/bash
# Tests of proof.sh with cells of its own: the cells that run and run again, and the
# results.
#
# usage: test-proof.sh

# shellcheck source=tools/quilt/tests/lib.sh
. "$(dirname "$0")/lib.sh"

export PROOF_CELLS=$work/cells PROOF_RESULTS=$work/results/proof.md TREE=$work/tree BUILD=$work
cat >"$PROOF_CELLS" <<EOF
# Seven that end differently

good  1 sample true
moves 1 -      $work/moves
bad   1 -      $work/bad
other 1 sample echo ok
again 1 sample true
worse 1 -      $work/worse
boots 1 guest true
EOF
printf '#!/bin/sh\necho "error: see %s/build/log"\nexit 1\n' "$TOP" >"$work/bad"
printf '#!/bin/sh\nprintf "error: try again\\nnot ok second\\nnot ok third\\n"\nexit 1\n' >"$work/worse"
printf '#!/bin/sh\ngit -C "%s" -c user.name=a -c user.email=a@b commit -q --amend -a -m more\n' "$TREE" >"$work/moves"
chmod +x "$work/bad" "$work/worse" "$work/moves"
git init -q "$TREE"
commit() { git -C "$TREE" -c user.name=a -c user.email=a@b commit -q --allow-empty -m "$1"; }
echo one >"$TREE/file"
git -C "$TREE" add file
commit one

proof() { "$QUILT_TOOLS/proof.sh" "$@" >"$work/out" 2>&1; }
rows() { grep -c '^| [a-z]* | 2' "$PROOF_RESULTS"; }
check() { # NAME CONDITION...
	if "${@:2}"; then ok "$1"; else not_ok "$1"; fi
}
ends_with() { [ "$(tail -n 1 "$work/out")" = "$1" ]; }

proof good other
check 'two cells' ends_with '2 passed, 0 failed, 0 skipped'
check 'two rows' [ "$(rows)" -eq 2 ]
proof good other again
check 'only what has not passed' ends_with '1 passed, 0 failed, 2 skipped'
proof bad && rc=0 || rc=$?
check 'the exit code' [ "$rc" -eq 1 ]
check 'one that fails' ends_with '0 passed, 1 failed, 0 skipped'
check 'its verdict' grep -q '^| bad | .* | not ok: error: see build/log |' "$PROOF_RESULTS"
proof bad && rc=0 || rc=$?
check 'runs again' ends_with '0 passed, 1 failed, 0 skipped'
check 'and has one row' [ "$(rows)" -eq 4 ]
proof worse && rc=0 || rc=$?
check 'the first thing that is not ok' grep -q '^| worse | .* | not ok: not ok second |' "$PROOF_RESULTS"
# The tree has no kernel.
proof boots && rc=0 || rc=$?
check 'no kernel to boot' ends_with '0 passed, 1 failed, 0 skipped'
check 'says so' grep -q "^| boots | .* | not ok: the guest's kernel does not build |" "$PROOF_RESULTS"
proof -a good
check 'one that has passed, again' ends_with '1 passed, 0 failed, 0 skipped'
echo two >"$TREE/file"
git -C "$TREE" add file
commit two
proof good
check 'another tree' ends_with '1 passed, 0 failed, 0 skipped'
echo three >"$TREE/file"
proof moves && rc=0 || rc=$?
check 'a tree that changes meanwhile' grep -q '^| moves | .* | not ok: the tree has changed meanwhile |' "$PROOF_RESULTS"
sed -i '/^| moves /d' "$PROOF_RESULTS" "$PROOF_CELLS"
sed -i '/^moves /d' "$PROOF_CELLS"
proof -a good
cp "$PROOF_RESULTS" "$work/before"
proof -n 2 -s 1
check 'a sample of two' ends_with '2 passed, 0 failed, 0 skipped'
check 'leaves no results' cmp -s "$PROOF_RESULTS" "$work/before"
proof -l
check 'lists all cells' [ "$(grep -c '^| ' "$work/out")" -eq 6 ]
# Other and again ran with the tree of before, bad, worse and boots failed.
check 'counts them' ends_with "this tree is $(git -C "$TREE" rev-parse --short=12 'HEAD^{tree}'): \
1 passed with it, 2 with an older one, 3 failed, 0 never run"
check 'a cell that never ran' [ "$(sed -i '/^| bad /d' "$PROOF_RESULTS"; proof -l; grep -c '^| bad | never |' "$work/out")" -eq 1 ]

verdict
