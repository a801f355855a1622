#!/usr/bin/env python3
"""Makes mutants of the kernel code that the quilt adds.

usage: mutate.py list TREE BASE [-n N] [-s SEED] [-t TOPIC]... [-r RESULTS] <TOPICS
       mutate.py known TREE BASE RESULTS <TOPICS
       mutate.py apply TREE

TOPICS has a line "TOPIC<tab>SUBJECT" for each patch. list prints N mutants (20),
a line each, as "ID<tab>TOPIC<tab>FILE<tab>LINE<tab>KIND<tab>OLD<tab>NEW", as evenly
from the topics as possible, in an order that SEED gives. Those that RESULTS has come
first. known prints the rows of RESULTS whose mutant TREE still has, with the
line where it is now. apply changes the line of a mutant in TREE, and reads its line
of list from standard input.
"""

import argparse
import collections
import hashlib
import re
import subprocess
import sys

CODE = ("kernel", "include", "drivers", "net", "lib")
ERRNO = re.compile(r"-E[A-Z]{3,}\b")
CALL = re.compile(r"^\t+(?:\(void\))?[a-z_][\w>.-]*\([^;{}]*\);$")
LOCKS = re.compile(r"guard|lock|rcu_|_get\b|_put\b|preempt|irq_|refcount|barrier|smp_"
                   r"|synchronize|WRITE_ONCE|cancel|flush|wake|complete")
# The last line at the left says in which function, or macro, a line is.
FUNCTION = re.compile(r"[A-Za-z_](?!.*:$)|#define ")
SKIP = re.compile(r"^\s*(?:#|\*|/\*|//|EXPORT_|MODULE_|DEFINE_|DECLARE_|TRACE_|extern "
                  r"|case |default:|BUILD_BUG|static_assert|lockdep_assert|KUNIT_)|WARN_ON"
                  r"|__printf\(|likely\(0\)")
STRING = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)+\'|/\*.*?\*/|/\*.*|<[\w/.]+\.h>')

# kind, what, by what: each place on a line is a mutant
SWAPS = [
    ("comparison", r"(?<![=!<>])==(?!=)", "!="),
    ("comparison", r"!=(?!=)", "=="),
    ("boundary", r"(?<![<\-])<(?![<=])(?=\s)", "<="),
    ("boundary", r"(?<![>\-])>(?![>=])(?=\s)", ">="),
    ("boundary", r"(?<!<)<=", "<"),
    ("boundary", r"(?<!>)>=", ">"),
    ("condition", r"&&", "||"),
    ("condition", r"\|\|", "&&"),
    ("constant", r"\btrue\b", "false"),
    ("constant", r"\bfalse\b", "true"),
    ("constant", r"(?<![\w.\"-])0(?![\w.x\]])", "1"),
    ("constant", r"(?<![\w.\"])1(?![\w.])", "2"),
    ("arithmetic", r"(?<=[\w)\]]) \+ (?=[\w(])", " - "),
    ("arithmetic", r"(?<=[\w)\]]) - (?=[\w(])", " + "),
    ("arithmetic", r"(?<=[\w)\]])\+\+", "--"),
    ("arithmetic", r"\+=", "-="),
    ("arithmetic", r"(?<=[\w)\]]) & (?=[\w(~])", " | "),
    ("condition", r"(?<=[(&|]\s)!(?=[a-z_(])|(?<=\()!(?=[a-z_(])", ""),
]


def mutants_of(line):
    """Yields (kind, mutated line)."""
    if SKIP.search(line) or not line.strip():
        return
    # No mutant is in a string or a comment: these are blanked for the search.
    seen = STRING.sub(lambda m: "\0" * len(m.group()), line)
    for kind, what, by in SWAPS:
        for m in re.finditer(what, seen):
            yield kind, line[:m.start()] + by + line[m.end():]
    for m in ERRNO.finditer(seen):
        yield "errno", line[:m.start()] + ("-EIO" if m.group() != "-EIO" else "-EPERM") + line[m.end():]
    if CALL.match(seen) and not re.match(r"\s+(?:return|sizeof|if|while|for)\b", seen):
        tabs = line[:len(line) - len(line.lstrip("\t"))]
        yield "lock" if LOCKS.search(line) else "call", tabs + ";"
    m = re.match(r"^(\t+(?:\} else )?if )\((.*)\)( \{)?$", line)
    if m and m.group(2).count("(") == m.group(2).count(")"):
        yield "condition", f"{m.group(1)}(!({m.group(2)})){m.group(3) or ''}"
    m = re.match(r"^(\t+)return (?!0;|-E|NULL;|true;|false;|ret;)(.*);$", line)
    if m and "ERR_PTR" not in line:
        yield "return", f"{m.group(1)}return 0;"
    for m in re.finditer(r"\b(\w+)\(([\w>.-]+), ([\w>.-]+)\)", seen):
        if m.group(1) not in ("if", "while", "for") and m.group(2) != m.group(3):
            yield "arguments", f"{line[:m.start(2)]}{m.group(3)}, {m.group(2)}{line[m.end(3):]}"


def git(tree, *args):
    return subprocess.run(("git", "-C", tree, *args), check=True, text=True,
                          capture_output=True, errors="replace").stdout


def added_lines(tree, base):
    """Yields (file, number, text, subject of the patch that has it, function)."""
    files = [f for f in git(tree, "diff", "--name-only", "--diff-filter=AM", base, "HEAD",
                            "--", *CODE).split("\n")
             if re.search(r"\.[ch]$", f) and "/tests/" not in f and "_kunit" not in f]
    subjects = dict(entry.split("\t", 1) for entry in
                    git(tree, "log", "--format=%H%x09%s", f"{base}..HEAD").splitlines())
    for name in files:
        commit = number = None
        function = ""
        for entry in git(tree, "blame", "-s", "-p", f"{base}..HEAD", "--", name).splitlines():
            m = re.match(r"([0-9a-f]{40}) \d+ (\d+)", entry)
            if m:
                commit, number = m.group(1), int(m.group(2))
            elif entry.startswith("\t"):
                if FUNCTION.match(entry[1:]):
                    function = entry[1:]
                if commit in subjects:
                    yield name, number, entry[1:], subjects[commit], function


def shown(text):
    """A macro has tabs within its lines, too, and a mutant is a line with tabs."""
    return re.sub(r"\t+", " ", text.strip())


def all_mutants(tree, base):
    """Yields (id, topic, file, number, kind, line, mutated line). The number is not
    part of the id: what a patch adds to other functions changes no mutant."""
    topic_of = dict(reversed(entry.rstrip("\n").split("\t", 1)) for entry in sys.stdin)
    seen = collections.Counter()
    comment = False
    for name, number, text, subject, function in added_lines(tree, base):
        if subject not in topic_of:
            sys.exit(f"no topic has the patch: {subject}")
        # A comment of several lines
        if comment:
            comment = "*/" not in text
            continue
        if "/*" in text and "*/" not in text:
            comment = True
            continue
        topic = topic_of[subject]
        for kind, new in mutants_of(text):
            key = f"{name} {function} {text} {kind} {new}"
            seen[key] += 1
            ident = hashlib.sha1(f"{key} {seen[key]}".encode()).hexdigest()[:10]
            yield ident, topic, name, number, kind, text, new


def rows_of(results):
    """The rows of results by their ids."""
    with open(results, encoding="utf-8") as f:
        return {row.split("\t", 1)[0]: row.rstrip("\n").split("\t") for row in f}


def list_mutants(args):
    known = rows_of(args.results) if args.results else {}
    topics = {}
    for mutant in all_mutants(args.tree, args.base):
        ident, topic = mutant[:2]
        if not args.topic or topic in args.topic:
            order = hashlib.sha1(f"{args.seed} {ident}".encode()).hexdigest()
            topics.setdefault(topic, []).append((ident not in known, order, mutant))
    for mutants in topics.values():
        mutants.sort()
    # One of each topic in turn
    chosen = []
    while len(chosen) < args.number and any(topics.values()):
        for topic in sorted(topics):
            if topics[topic] and len(chosen) < args.number:
                chosen.append(topics[topic].pop(0)[2])
    for ident, topic, name, number, kind, text, new in chosen:
        print(ident, topic, name, number, kind, shown(text), shown(new), sep="\t")


def known_mutants(args):
    rows = rows_of(args.results)
    for ident, topic, name, number, *_ in all_mutants(args.tree, args.base):
        if ident in rows:
            print(ident, topic, name, number, *rows[ident][4:], sep="\t")


def apply_mutant(args):
    _, _, name, number, kind, old, new = sys.stdin.readline().rstrip("\n").split("\t")
    path = f"{args.tree}/{name}"
    with open(path, encoding="utf-8") as f:
        lines = f.read().split("\n")
    line = lines[int(number) - 1]
    mutated = [text for its_kind, text in mutants_of(line)
               if (its_kind, shown(line), shown(text)) == (kind, old, new)]
    if not mutated:
        sys.exit(f"{name}:{number} is another line")
    lines[int(number) - 1] = mutated[0]
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("list")
    command.add_argument("tree")
    command.add_argument("base")
    command.add_argument("-n", dest="number", type=int, default=20)
    command.add_argument("-s", dest="seed", default="1")
    command.add_argument("-t", dest="topic", action="append")
    command.add_argument("-r", dest="results")
    command.set_defaults(run=list_mutants)
    command = commands.add_parser("known")
    command.add_argument("tree")
    command.add_argument("base")
    command.add_argument("results")
    command.set_defaults(run=known_mutants)
    command = commands.add_parser("apply")
    command.add_argument("tree")
    command.set_defaults(run=apply_mutant)
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()
