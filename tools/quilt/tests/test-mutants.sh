#!/bin/bash
# Tests of mutate.py: the mutants of a made-up file, and their changes.
#
# usage: test-mutants.sh
#
# One "ok" or "not ok" line a test; the last line is a summary.

# shellcheck source=tools/quilt/tests/lib.sh
. "$(dirname "$0")/lib.sh"

mutate=$QUILT_TOOLS/lib/mutate.py tree=$work/tree
git_() { git -C "$tree" -c user.name=a -c user.email=a@example.org "$@"; }

git init -q "$tree"
mkdir "$tree/kernel"
printf 'int old(int a)\n{\n\treturn a == 1;\n}\n' >"$tree/kernel/a.c"
git_ add .
git_ commit -q -m base
git_ tag base
cat >>"$tree/kernel/a.c" <<'END'

/* if (a == b) in a comment */
#define FOUR 4
int new(int a, int b)
{
	if (a < b && b)
		return -EINVAL;
	pr_info("a == 0\n");
	mutex_lock(&lock);
	call(a, b);
}
#define TABS(a)			\
	call(a & 1, 2)			\
END
git_ commit -q -a -m 'Add new()'
printf 'int other;\n' >"$tree/kernel/b.c"
git_ add .
git_ commit -q -m 'Add other'

list() { printf 'one\tAdd new()\ntwo\tAdd other\n' | python3 "$mutate" list "$tree" base -n 100 "$@"; }
list | cut -f 4- | sort >"$work/got"
sort >"$work/want" <<'END'
10	boundary	if (a < b && b)	if (a <= b && b)
10	condition	if (a < b && b)	if (!(a < b && b))
10	condition	if (a < b && b)	if (a < b || b)
11	errno	return -EINVAL;	return -EIO;
12	call	pr_info("a == 0\n");	;
13	lock	mutex_lock(&lock);	;
14	arguments	call(a, b);	call(b, a);
14	call	call(a, b);	;
17	arithmetic	call(a & 1, 2) \	call(a | 1, 2) \
17	constant	call(a & 1, 2) \	call(a & 2, 2) \
END
if cmp -s "$work/want" "$work/got"; then
	ok "added lines alone, and no comments and strings"
else
	not_ok "other mutants: $(diff "$work/want" "$work/got")"
fi

some() { list -n 3 -s "$1" | sort; }
if [ "$(some 7)" != "$(some 8)" ] && [ "$(some 7)" = "$(some 7)" ]; then
	ok "a seed has mutants of its own"
else
	not_ok "a seed has mutants of its own"
fi

list -t two >"$work/got"
if [ ! -s "$work/got" ]; then
	ok "a topic has its own alone"
else
	not_ok "mutants of another topic: $(cat "$work/got")"
fi

# The results of two, of which one is of a line that is no more.
list | grep -P '\t(errno|lock)\t' | sed 's/$/\tkilled\t1/' >"$work/results"
sed -i 's/^\(.*\t\)13\(\t.*\)$/\199\2/' "$work/results"
printf '0123456789\tone\tkernel/a.c\t13\tlock\tgone();\t;\tkilled\t1\n' >>"$work/results"
known() { printf 'one\tAdd new()\ntwo\tAdd other\n' | python3 "$mutate" known "$tree" base "$work/results"; }
if [ "$(known | cut -f 4-)" = "$(printf '%s\n' $'11\terrno\treturn -EINVAL;\treturn -EIO;\tkilled\t1' \
	$'13\tlock\tmutex_lock(&lock);\t;\tkilled\t1')" ]; then
	ok "results are those of the lines that are there"
else
	not_ok "results are those of the lines that are there: $(known)"
fi
first_two() { list -n 2 -s "$1" -r "$work/results" | cut -f 5 | sort | xargs; }
if [ "$(first_two 1)" = 'errno lock' ] && [ "$(first_two 2)" = 'errno lock' ]; then
	ok "with results, these come first"
else
	not_ok "with results, these come first: $(first_two 1), $(first_two 2)"
fi

cp "$tree/kernel/a.c" "$work/a.c"
list | cut -f 1 | sort >"$work/before"
sed -i '4a int above(int a, int b)\n{\n\tif (a < b \&\& b)\n\t\treturn -EINVAL;\n}' "$tree/kernel/a.c"
git_ commit -q -a --amend -m 'Add new()' && list | cut -f 1 | sort >"$work/after"
if [ "$(comm -12 "$work/before" "$work/after" | wc -l)" -eq "$(wc -l <"$work/before")" ] &&
   [ "$(wc -l <"$work/after")" -eq $(($(wc -l <"$work/before") + 4)) ]; then
	ok "the same lines in a function above change no id"
else
	not_ok "the same lines in a function above change no id: $(diff "$work/before" "$work/after")"
fi
printf 'one\tAdd other\n' >"$work/topics"
if python3 "$mutate" known "$tree" base "$work/results" <"$work/topics" >"$work/out" 2>&1; then
	not_ok "a patch without a topic is an error"
else
	ok "a patch without a topic is an error"
fi
cp "$work/a.c" "$tree/kernel/a.c"
git_ commit -q -a --amend -m 'Add new()'

list | grep -P '\terrno\t' >"$work/one"
python3 "$mutate" apply "$tree" <"$work/one"
if [ "$(git_ diff -U0 | grep -c '^[+-]')" = 4 ] && git_ diff | grep -q "^+$(printf '\t\t')return -EIO;"; then
	ok "one line is changed"
else
	not_ok "one line is changed: $(git_ diff)"
fi

git_ checkout -q -f
list | grep -P '\tarithmetic\t' >"$work/tabs"
python3 "$mutate" apply "$tree" <"$work/tabs"
if git_ diff | grep -q "^+$(printf '\t')call(a | 1, 2)$(printf '\t\t\t')"; then
	ok "a line with tabs keeps them"
else
	not_ok "a line with tabs keeps them: $(git_ diff)"
fi
python3 "$mutate" apply "$tree" <"$work/one"

if python3 "$mutate" apply "$tree" <"$work/one" 2>"$work/said"; then
	not_ok "a line that is another one was changed"
else
	ok "a line that is another one is refused"
fi

verdict
