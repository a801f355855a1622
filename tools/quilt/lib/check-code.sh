# shellcheck shell=bash disable=SC2154
# The checks of check.sh that read or compile all of the code. Sourced by it.

kernel_doc() { # DIR FILE...
	local dir=$1
	shift
	[ $# -gt 0 ] || return 0
	cd "$dir" || return
	{ python3 "$TREE/scripts/kernel-doc" -none "$@" 2>&1 || true; } |
		sed 's/:[0-9]\+/:/g' | sort
}

check_kernel-doc() {
	local old=$WORK/kernel-doc files modified
	need python3:python3
	mapfile -t files < <(changed_files AM | grep '\.[ch]$')
	mapfile -t modified < <(changed_files M | grep '\.[ch]$')
	[ ${#files[@]} -gt 0 ] || return 0
	rm -rf "$old"
	mkdir -p "$old"
	[ ${#modified[@]} -eq 0 ] || git -C "$TREE" archive "$base" -- "${modified[@]}" | tar -x -C "$old"
	kernel_doc "$old" "${modified[@]}" >"$WORK/kernel-doc.base"
	kernel_doc "$TREE" "${files[@]}" | comm -13 "$WORK/kernel-doc.base" - >"$WORK/kernel-doc.new"
	rm -rf "$old"
	[ -s "$WORK/kernel-doc.new" ] || return 0
	cat "$WORK/kernel-doc.new"
	echo "amend the commit in $tree_name, and make export"
	return 1
}

# The fixes and fastpath change the cost of all records, and their cover letters say
# how much. The features behind them may cost a NOP while they are off.
before_features() {
	local n
	n=$(list_series "$TOP" | grep -n '^fastpath/' | tail -n 1 | cut -d : -f 1)
	[ -n "$n" ] || { echo "$base"; return; }
	git -C "$TREE" rev-list --reverse "$base..$head" | sed -n "${n}p"
}

# compile_sides [ARGUMENT...]: compiles all changed files of the base, of the tree
# before the features and of the quilt. The objects go to $WORK/objects/, the
# messages to $log.COMMIT.
compile_sides() {
	local touched objects commit file rc middle arguments dir=$OUT/check-x86_64${LLVM:-}
	middle=$(before_features)
	mapfile -t touched < <(compile_files)
	rm -rf "$WORK/objects"
	for commit in $(printf '%s\n' "$base" "$middle" "$head" | uniq); do
		compile_checkout "$commit"
		objects=()
		# Nobody reads the warnings of the tree before the features.
		arguments=("$@")
		[ "$commit" != "$middle" ] || [ "$commit" = "$base" ] || arguments=()
		for file in "${touched[@]}"; do
			[ ! -f "$COMPILE_TREE/${file%.o}.c" ] || objects+=("$file")
			# make does not repeat the warnings of an object that is there.
			rm -f "$dir/$file"
		done
		rc=0
		[ ${#objects[@]} -eq 0 ] ||
			compile x86_64 "${arguments[@]}" "${objects[@]}" >"$log.${commit:0:12}" 2>&1 || rc=$?
		[ $rc -eq 0 ] || {
			grep -E 'error:|Error|\*\*\*' "$log.${commit:0:12}" | head -n 10
			echo "$(git -C "$TREE" log -1 --format=%s "$commit") does not build, see $log.${commit:0:12}"
			return 1
		}
		for file in "${objects[@]}"; do
			install -D -m 644 "$dir/$file" "$WORK/objects/$commit/$file"
		done
	done
	echo "$head${LLVM:-}" >"$WORK/objects/stamp"
}

check_warnings() {
	local commit file place line log=$LOGS/check-warnings sparse=()
	if file=$("$QUILT_TOOLS/lib/sparse.sh"); then
		sparse=(C=2 "CHECK=$file")
	else
		echo "note: without sparse, none that understands this kernel was found"
	fi
	compile_sides "${sparse[@]}" || return 1
	for commit in "$base" "$head"; do
		warnings <"$log.${commit:0:12}" >"$WORK/warnings.$commit"
	done
	comm -13 "$WORK/warnings.$base" "$WORK/warnings.$commit" >"$WORK/warnings.new"
	# sparse stops early in a file, so another one's complaint about a line
	# that the base has too can come to light. That is not the quilt's.
	while read -r place; do
		file=${place%%:*} line=${place#*:}
		if git -C "$TREE" cat-file -e "$base:$file" 2>/dev/null &&
		   grep -qxF -e "$(git -C "$TREE" show "HEAD:$file" | sed -n "${line%%:*}p")" \
			<(git -C "$TREE" show "$base:$file"); then
			continue
		fi
		echo "$place"
	done < <(sed "s|$COMPILE_TREE/||g; s|\(\.\./\)\+||g" "$log.${commit:0:12}" |
		grep -E ':[0-9]+(:[0-9]+)?: (warning|error|Warning|Error):' | sort -u |
		while read -r place; do
			! grep -qxF -e "$(echo "$place" | warnings)" "$WORK/warnings.new" || echo "$place"
		done) >"$WORK/warnings.mine"
	[ -s "$WORK/warnings.mine" ] || return 0
	cat "$WORK/warnings.mine"
	echo "amend the commit in $tree_name, and make export"
	return 1
}

check_fastpath() {
	local log=$LOGS/check-fastpath list=$QUILT_TOOLS/data/fastpath-functions differences=()
	need python3:python3 objdump:binutils
	[ "$(cat "$WORK/objects/stamp" 2>/dev/null)" = "$head${LLVM:-}" ] || compile_sides || return 1
	if ! grep -qx "# compiler gcc $(gcc -dumpfullversion)" "$list"; then
		echo "note: another compiler than that of tools/quilt/data/fastpath-functions: differences alone are compared"
		differences=(-d)
	fi
	if ! "$BENCH_TOOLS/lib/hot-functions" -o "$WORK/objects/$base" "$WORK/objects/$head"; then
		echo "find out why, tools/bench/hot-functions.sh has a table of each function"
		return 1
	fi
	"$QUILT_TOOLS/lib/fastpath.py" "${differences[@]}" -k trace_export_keys -l "$list" \
		"$WORK/objects/$(before_features)" "$WORK/objects/$head" && return
	echo "look at the disassembly, objdump -dr build/check/objects/*/..., and write what is right into tools/quilt/data/fastpath-functions"
	return 1
}
