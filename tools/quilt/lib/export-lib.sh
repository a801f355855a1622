# shellcheck shell=bash disable=SC2154
# What export.sh writes: the mails of a topic, series, base, the shown files. Sourced
# by it. $base and $head are commits of the tree, $new is the directory, $bare the
# repository of bare_clone(), $version and $upstream are those of the base.

# A commit's ids, subject and problems that would spoil a patch.
check_commit() {
	local id=$1 author parents body who=" of ${1:0:12} ($2)"
	{ read -r author; read -r parents; body=$(cat); } < <(git -C "$TREE" show -s --format='%an <%ae>%n%P%n%B' "$id")
	[ "$author" = "$QUILT_NAME <$QUILT_EMAIL>" ] ||
		die "the author$who is not $QUILT_NAME <$QUILT_EMAIL>" \
		    "git -C $tree_name rebase base --exec 'git commit --amend --no-edit --reset-author'"
	[[ $parents != *' '* ]] ||
		die "a merge: ${id:0:12} ($2)" "make it linear: git -C $tree_name rebase base"
	case $2 in
	fixup!* | squash!* | amend!*)
		die "the subject$who" "git -C $tree_name rebase -i --autosquash base" ;;
	*[![:print:]]*)
		die "the subject$who is not plain ASCII" "git -C $tree_name rebase -i base, and reword it" ;;
	esac
	[[ $'\n'${body,,} != *$'\n'signed-off-by:* ]] ||
		die "the message$who has a Signed-off-by, which is for the person who sends it" \
		    "git -C $tree_name rebase -i base, and reword it"
	[[ $'\n'$body == *$'\nAssisted-by: '* ]] ||
		die "the message$who has no Assisted-by line" \
		    "git -C $tree_name rebase -i base, and reword it"
}

header() { sed -n "/^$/q; s/^$1: *//p" "$2"; }

# A repository with the tree's objects and without its settings, which could
# change a patch. Versions of git differ in the rule for function names in hunk
# headers, so it is set here.
bare_clone() {
	git init -q --bare --template= "$1"
	mkdir -p "$1/info"
	git -C "$TREE" rev-parse --path-format=absolute --git-path objects >"$1/objects/info/alternates"
	echo '*.[ch] diff=cpp' >"$1/info/attributes"
	git -C "$1" config diff.cpp.xfuncname '!^[ \t]*[A-Za-z_][A-Za-z_0-9]*:[[:space:]]*($|/[/*])
^((::[[:space:]]*)?[A-Za-z_].*)$'
}

# write_depends TOPIC: may name the topics that are written by now.
write_depends() {
	local name cover=$COVERS/$1.txt
	for name in $(header Depends "$cover" | tr ',' ' '); do
		[ -f "$new/patches/$name/depends" ] ||
			die "${cover#"$TOP/"}: Depends: names $name, which is no topic before $1" \
			    "correct that line, or move the commits: git -C $tree_name rebase -i base"
		echo "$name"
	done >"$new/depends"
	mkdir -p "$new/patches/$1"
	mv "$new/depends" "$new/patches/$1/depends"
}

# Prints the lines that git format-patch --base writes at the end of a cover
# letter. They do not name commit 0 of the tree, as no other tree has it. The id
# of upstream's commit is in no tarball; they name it when the file base has it.
base_block() { # TOPIC
	local needed
	echo
	echo "For Linux $version (tag v$version)"
	[ -z "$upstream" ] || echo "base-commit: $upstream"
	for needed in $(needed_topics "$1" "$new"); do
		topic_patches "$needed" "$new" | xargs -d '\n' cat |
			git patch-id --stable | sed 's/^\([0-9a-f]*\) .*/prerequisite-patch-id: \1/'
	done
}

# The id of upstream's commit, from LINUX_SRC, or as the project has it.
upstream_commit() {
	[ -n "${LINUX_SRC:-}" ] &&
		git -C "$LINUX_SRC" rev-parse -q --verify "v$version^{commit}" 2>/dev/null && return
	[ "$(pinned_version)" != "$version" ] || [ ! -f "$BASE_FILE" ] ||
		sed -n 's/^commit \([0-9a-f]\{40\}\)$/\1/p' "$BASE_FILE"
}

message_id() { echo "<$1-$2-of-$3.$QUILT_NAME@$domain>"; }

write_topic() { # TOPIC FROM TO
	local topic=$1 range=$2..$3 cover=$COVERS/$1.txt dir=$new/patches/$1 count n patch
	count=$(git -C "$TREE" rev-list --count "$range")
	write_depends "$topic"
	git -C "$bare" format-patch -q -n --zero-commit --no-signature --abbrev=12 --no-renames \
		-o "$dir" "$range"
	n=0
	for patch in "$dir"/*.patch; do
		n=$((n + 1))
		# Some versions of b4 die on a folded header.
		sed -i ':fold; 1,/^$/{N; s/\n / /; tfold; P; D}' "$patch"
		sed -i "1a Message-ID: $(message_id "$topic" $n "$count")\n\
In-Reply-To: $(message_id "$topic" 0 "$count")\n\
References: $(message_id "$topic" 0 "$count")" "$patch"
		echo "$topic/${patch##*/}"
	done >"$new/names"

	{
		echo "From $(printf '%040d' 0) Mon Sep 17 00:00:00 2001"
		echo "Message-ID: $(message_id "$topic" 0 "$count")"
		echo "From: $QUILT_NAME <$QUILT_EMAIL>"
		git -C "$bare" log --reverse --format='Date: %aD' "$range" | sed -n 1p
		echo "Subject: [PATCH 0/$count] $(header Subject "$cover")"
		printf '%s\n' 'MIME-Version: 1.0' 'Content-Type: text/plain; charset=UTF-8' \
			'Content-Transfer-Encoding: 8bit' ''
		"$QUILT_TOOLS/figures.py" fill "$cover" 2>/dev/null | sed '1,/^$/d'
		echo
		git -C "$bare" shortlog -w72,2,4 "$range"
		git -C "$bare" diff --stat=72 --summary --no-renames "$2" "$3"
		base_block "$topic"
	} >"$dir/0000-cover-letter.patch"

	{
		echo "# $topic: $(header Subject "$cover")"
		cat "$new/names"
	} >>"$new/series"
	size_row "$topic" "$count" "$2" "$3" >>"$new/sizes"
}

# size_row TOPIC COUNT FROM TO: its row in patches/README.md
size_row() {
	local needs
	needs=$(tr '\n' ' ' <"$new/patches/$1/depends")
	git -C "$bare" diff --numstat --no-renames "$3" "$4" | awk -F '\t' -v row="| [$1]($1) | $(header Subject "$COVERS/$1.txt") | ${needs% } | $2 |" '
		{ kind = "code" }
		$3 ~ /^Documentation\// { kind = "documents" }
		$3 ~ /^(samples|tools)\// { kind = "samples" }
		$3 ~ /(^|\/)(tests|testing)\/|kunit/ { kind = "tests" }
		{ added[kind] += $1; removed[kind] += $2 }
		function lines(kind) { return " +" added[kind] + 0 " -" removed[kind] + 0 " |" }
		END { print row lines("code") lines("samples") lines("documents") lines("tests") }'
}

# write_readme: prints the topics, and how much there is to read of each.
write_readme() {
	echo "# The patches"
	echo
	echo "For Linux $version, a directory for each topic, with its cover letter in 0000-cover-letter.patch. A topic applies"
	echo "behind the topics that it depends on. \`../README.md\` says how to take one."
	[ ! -f "$new/patches/FIXES.md" ] || echo "\`FIXES.md\` lists the fixes by their effects."
	echo
	echo "| topic | subject | depends on | patches | code | samples and tools | documents | tests |"
	echo "|---|---|---|---|---|---|---|---|"
	cat "$new/sizes"
}

write_patches() {
	local id subject topic='' from='' prev=$base cover first
	declare -A first_of=()

	for cover in "$COVERS"/*.txt; do
		[ -f "$cover" ] || die "no cover letter in tools/quilt/cover" "write one: see export.sh --help"
		first=$(header First "$cover")
		{ [ -n "$first" ] && [ -n "$(header Subject "$cover")" ]; } ||
			die "${cover#"$TOP/"} has no Subject: or no First: line" "see export.sh --help"
		sed '/^$/q' "$cover" | grep '^Depends:' >/dev/null ||
			die "${cover#"$TOP/"} has no Depends: line" \
			    "add one with the names of the topics that it stands on, or empty"
		first_of[$first]=$(basename "$cover" .txt)
	done

	: >"$new/series"
	while IFS=$'\t' read -r id subject; do
		check_commit "$id" "$subject"
		if [ -n "${first_of[$subject]:-}" ]; then
			[ -z "$topic" ] || write_topic "$topic" "$from" "$prev"
			topic=${first_of[$subject]} from=$prev
			first_of[$subject]=''
		fi
		[ -n "$topic" ] ||
			die "no topic starts with the commit ${id:0:12} ($subject)" \
			    "write its subject as First: into a tools/quilt/cover/TOPIC.txt"
		prev=$id
	done < <(git -C "$TREE" log --reverse --format='%H%x09%s' "$base..$head")
	[ -z "$topic" ] || write_topic "$topic" "$from" "$prev"
	for first in "${!first_of[@]}"; do
		[ -z "${first_of[$first]}" ] ||
			die "no commit has the subject '$first'" \
			    "correct First: in tools/quilt/cover/${first_of[$first]}.txt"
	done
	rm -f "$new/names"
	if [ -f "$QUILT_TOOLS/data/fix-effects" ]; then
		# shellcheck disable=SC2086 # a list
		python3 "$QUILT_TOOLS/lib/fixes.py" "$new/patches" $FIXES_TOPICS >"$new/patches/FIXES.md" ||
			die "the list of fixes can't be made" "correct tools/quilt/data/fix-effects"
	fi
	write_readme >"$new/patches/README.md"
	rm -f "$new/sizes"
}

# Every path that a patch touches, with its blob in the base.
write_base() {
	local path id
	echo "version $version"
	[ -z "$upstream" ] || echo "commit $upstream"
	git -C "$TREE" log --no-renames --name-only --format= "$base..$head" | sort -u |
		while read -r path; do
			if id=$(git -C "$TREE" rev-parse -q --verify "$base:$path"); then
				echo "blob $id $path"
			else
				echo "none $path"
			fi
		done
}

# The files that the quilt adds, as the last patch leaves them.
write_shown() {
	local files file
	mapfile -t files < <(git -C "$TREE" diff --name-only --no-renames --diff-filter=A "$base" "$head")
	mkdir -p "$new/shown"
	for file in "${files[@]}"; do
		case $file in
		tools/quilt/* | tools/bench/* | patches/* | build/* | .ci/*) ;;
		*/*) continue ;;
		esac
		die "the quilt adds $file, which is a place of the project's own" "give it another name"
	done
	[ ${#files[@]} -eq 0 ] ||
		git -C "$TREE" -c tar.umask=0022 archive "$head" -- "${files[@]}" |
			tar -x -m -C "$new/shown"
}
