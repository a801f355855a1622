#!/bin/bash
# Shows that the tests of the fixes can fail: builds the unpatched base with
# nothing but the patch that adds a topic's KUnit suite, on UML with two CPUs
# and sanitizers, and boots it once for each case.
#
# usage: prove.sh [TOPIC...]
#
# tools/quilt/proofs/TOPIC says which patch is applied to the base as a whole
# (the first one with tests brings their Kconfig), from which other patch the
# test files are added, which suite, and what each case does on the base; and
# "test FILE" is a selftest of the quilt, which is run on a base for the guest.
# A case that does something else is a failure. A kernel that hangs or panics
# counts as "fails".

# shellcheck source=tools/quilt/tree-lib.sh
. "$(dirname "$0")/tree-lib.sh"

case ${1:-} in
-h | --help) usage; exit 0 ;;
esac

commit_of() { # SUBJECT
	local commit
	commit=$(git -C "$TREE" log --format='%H %s' base..HEAD |
		awk -v s="$1" '{ id = $1; sub(/^[^ ]+ /, ""); if ($0 == s) print id }')
	[ -n "$commit" ] || die "the tree has no commit \"$1\"" "correct tools/quilt/proofs/$topic"
	echo "$commit"
}

# verdict NAME GOT WANT, for what $log tells
verdict() {
	if [ "$2" = "$3" ]; then
		passed=$((passed + 1))
		printf 'ok - %s %s on the base\n' "$1" "$2"
	else
		failed=$((failed + 1))
		printf 'not ok - %s %s on the base, the proof says it %s (log: %s)\n' "$@" "$log"
	fi
}

topics=("$@")
[ $# -gt 0 ] || mapfile -t topics < <(ls "$QUILT_TOOLS/proofs")
passed=0 failed=0

# The KUnit cases that $proof names.
prove_suite() {
	local subject added suite commit tree=$BUILD/prove args=() opt file name want
	subject=$(sed -n 's/^patch //p' "$proof")
	added=$(sed -n 's/^add //p' "$proof")
	suite=$(sed -n 's/^suite //p' "$proof")
	[ -n "$suite" ] || return 0
	commit=$(commit_of "$subject")

	step "$topic: the base with \"$subject\""
	scratch_clone "$tree" "$(base_of "$TREE")"
	git -C "$tree" cherry-pick "$commit" >"$LOGS/prove.log" 2>&1 ||
		die "the tests do not apply to the base" "see $LOGS/prove.log"
	if [ -n "$added" ]; then
		commit=$(commit_of "$added")
		while read -r file; do
			git -C "$TREE" show "$commit:$file" >"$tree/$file"
			[ "${file%.c}" = "$file" ] ||
				echo "obj-y += $(basename "$file" .c).o" >>"$tree/kernel/trace/tests/Makefile"
		done < <(git -C "$TREE" show --format= --name-only --diff-filter=A "$commit" -- kernel/trace/tests)
	fi
	while read -r opt; do
		args+=(--kconfig_add "$opt")
	done < <(grep '^CONFIG' "$QUILT_TOOLS/configs/uml-debug.config")
	make_dir "$OUT/prove"
	(cd "$tree" && logged "$LOGS/build-prove.log" tools/testing/kunit/kunit.py build \
		--build_dir "$OUT/prove" --kunitconfig kernel/trace --jobs "$JOBS" "${args[@]}") ||
		die "the base with the tests does not build" "see $LOGS/build-prove.log"

	while read -r name want; do
		case $name in '#'* | patch | add | suite | test | '') continue ;; esac
		log=$LOGS/prove-$name.log got=fails
		timeout -s KILL 60 "$OUT/prove/linux" seccomp=on ncpus=2 mem=1G console=tty \
			kunit_shutdown=halt kunit.filter_glob="$suite.$name" >"$log" 2>&1 </dev/null || true
		! grep -aqE "^ *ok [0-9]+ $name\$" "$log" || got=passes
		verdict "$name" "$got" "$want"
	done <"$proof"
	rm -rf "$tree"
}

# The selftests that $proof names.
prove_tests() {
	local file want tests=()
	mapfile -t tests < <(sed -n 's/^test //p' "$proof")
	[ ${#tests[@]} -gt 0 ] || return 0

	step "$topic: selftests on the base"
	make_base_tree
	TREE=$BASE_TREE "$QUILT_TOOLS/kernel.sh" -o guest-base guest
	for file in "${tests[@]}"; do
		read -r file want <<<"$file"
		log=$LOGS/prove-${file//\//-}.log got=fails
		! SELFTESTS_TREE=$TREE "$QUILT_TOOLS/guest.sh" run -q -t 300 -k "$OUT/guest-base" \
			selftest "$file" >"$log" 2>&1 </dev/null || got=passes
		# A guest that does not come to the test, or can't run it, shows nothing.
		if ! grep -q '^\[1\] ' "$log" || grep -q '^UNSUPPORTED' "$log"; then
			got='shows nothing'
		fi
		verdict "$file" "$got" "$want"
	done
}

for topic in "${topics[@]}"; do
	proof=$QUILT_TOOLS/proofs/$topic
	[ -f "$proof" ] || die "no proof for topic $topic" "see the names in tools/quilt/proofs"
	require_tree
	prove_suite
	prove_tests
done
say "$passed passed, $failed failed"
[ $failed -eq 0 ]
