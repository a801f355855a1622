#!/usr/bin/env python3
"""Puts measured numbers into cover letters and documents, from the results of
make bench. No number is typed by hand, so no two places disagree.

usage: figures.py value KEY       print a number
       figures.py fill FILE       print FILE with its placeholders filled in
       figures.py missing FILE... print the placeholders that have no result, and
                                  fail if there are any
       figures.py typed COVER...  print the rows of tables that end with a number
                                  that was typed, and that the file
                                  figures-typed does not list; fail for any
       figures.py docs [-w] TREE  print the numbers in documents of TREE that differ
                                  from the results, and fail for any; -w corrects
                                  them

A placeholder is {KEY}, or {KEY|WIDTH} to align the number to the right:

  {bench:ROW:COLUMN}       bench.csv; "base" and "quilt" are the columns
                           base_instructions_median and quilt_instructions_median
  {sizes:KIND:SIDE}        sizes.csv, SIDE is base or quilt
  {NAME:ROW:COLUMN}        NAME.csv, or a table of NAME.txt: process, snapshot, lttng
  {snapshot:ROW:SIDE:CPUS} its lines "SIDE ROW CPUS CPUs NUMBER"
  {NAME:SECTION:ROW:COLUMN} a table of NAME.md, or NAME:ROW:COLUMN of the first one with
                           that row: steps. Of "3 -> 2" it is 2, and 3 is the column
                           "COLUMN before".

A key can be a calculation from left to right: {KEY - KEY / 3}. A file's text in
braces that has no colon is no placeholder. figures-docs has a line
"FILE; REGEX; KEY..." for each number in documents: a group of the regex for each
key. RESULTS=DIR names other results, and NUMBERS=any prints "?" for a number
that is not there.
"""

import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "lib"))
from measured import Results  # noqa: E402

PLACEHOLDER = re.compile(r"\{([a-z0-9-]+:[^{}|]+)(?:\|(\d+))?\}")
# An indented row whose last column is a number
TABLE_ROW = re.compile(r"^ +\S.*?  +(?:[\d,.]+ +)*[\d,.]*\d$")


def show(value):
    return f"{value:,}"


def fill(text, results, missing):
    def replace(found):
        value = results.value(found[1])
        if value is None:
            missing.append(found[0])
        return ("?" if value is None else show(value)).rjust(int(found[2] or 0))
    return PLACEHOLDER.sub(replace, text)


def listed(name):
    with open(os.path.join(HERE, "data", name)) as lines:
        return [line.rstrip("\n") for line in lines if line.strip() and not line.startswith("#")]


def read(path):
    with open(path) as file:
        return file.read()


def report_missing(missing):
    for placeholder in dict.fromkeys(missing):
        print(f"no result for {placeholder}", file=sys.stderr)
    return bool(missing)


def typed(covers):
    known, bad = set(listed("figures-typed")), False
    for path in covers:
        topic = os.path.splitext(os.path.basename(path))[0]
        for line in read(path).split("\n"):
            if TABLE_ROW.match(line) and not PLACEHOLDER.search(line):
                row = f"{topic}: {re.split(r'  +', line.strip())[0]}"
                if row not in known:
                    print(row)
                    bad = True
    return bad


def docs(tree, write, results):
    missing, bad, texts = [], False, {}
    for line in listed("figures-docs"):
        name, pattern, *keys = (part.strip() for part in line.split(";"))
        path = os.path.join(tree, name)
        if name not in texts:
            texts[name] = read(path)
        found = re.search(pattern, texts[name], re.M)
        if not found or len(found.groups()) != len(keys):
            print(f"{name}: nothing matches {pattern}")
            bad = True
            continue
        # From the right, as a correction moves what is behind it.
        for group in range(len(keys), 0, -1):
            value = results.value(keys[group - 1])
            if value is None:
                missing.append("{" + keys[group - 1] + "}")
                continue
            old = found[group]
            new = show(value).rjust(len(old))
            if old.strip() == new.strip():
                continue
            if write:
                texts[name] = (texts[name][:found.start(group)] + new +
                               texts[name][found.end(group):])
            else:
                print(f"{name}: {old.strip()} is {show(value)} in the results ({keys[group - 1]})")
                bad = True
    if write:
        for name, text in texts.items():
            if text != read(os.path.join(tree, name)):
                with open(os.path.join(tree, name), "w") as file:
                    file.write(text)
    return report_missing(missing) or bad


def main():
    args, results, missing = sys.argv[1:], Results(), []
    if args in (["-h"], ["--help"]):
        print(__doc__.strip())
        return 0
    command, args = (args[0], args[1:]) if args else ("", [])
    if command == "value" and len(args) == 1:
        value = results.value(args[0])
        if value is None:
            missing.append("{" + args[0] + "}")
        print("?" if value is None else show(value))
    elif command == "fill" and len(args) == 1:
        sys.stdout.write(fill(read(args[0]), results, missing))
    elif command == "missing":
        for path in args:
            fill(read(path), results, missing)
        return report_missing(missing)
    elif command == "typed":
        return typed(args)
    elif command == "docs" and args[-1:] and args[:-1] in ([], ["-w"]):
        return docs(args[-1], len(args) == 2, results)
    else:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    return report_missing(missing) and os.environ.get("NUMBERS") != "any"


if __name__ == "__main__":
    sys.exit(int(main()))
