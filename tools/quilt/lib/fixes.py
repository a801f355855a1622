#!/usr/bin/env python3
"""Prints patches/FIXES.md: the fixes, those with the worst effects first.

usage: fixes.py PATCHES TOPIC...

PATCHES is the directory of the patches. fix-effects has the effect of each fix, and
proofs/TOPIC its tests. It is an error if a fix has no effect there, or an effect no fix.
"""

import glob
import os
import re
import sys

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../data")
FIRST = ("memory", "hang")


def read(path):
    with open(path) as file:
        return file.read()


def effects():
    """The effects with their explanations, in order, and subject -> effect."""
    texts, of = {}, {}
    path = os.path.join(DATA, "fix-effects")
    for line in read(path).split("\n") if os.path.exists(path) else ():
        name, _, text = line.partition("\t")
        if line.startswith("= "):
            texts[name[2:]] = text
        elif text and not line.startswith("#"):
            of[text] = name
    return texts, of


def tests(topic):
    """subject -> its proofs, as "kunit SUITE.CASE" """
    found, subject = {}, None
    path = os.path.join(DATA, "proofs", topic)
    for line in read(path).split("\n") if os.path.exists(path) else ():
        if line.startswith("fix "):
            subject = line[4:].strip()
            found[subject] = []
        elif line.startswith("\t") and subject:
            found[subject].append(line.split())
    return found


def show_tests(proofs):
    shown = []
    for kind, what, *_ in proofs:
        shown.append("none" if kind == "reading" else f"`{what}`" if kind != "scenario" else f"scenario `{what}`")
    return ", ".join(shown)


def fix(path):
    """subject, stable and needs of a patch"""
    message = read(path).split("\n---\n")[0]
    subject = re.search(r"^Subject: \[PATCH[^]]*\] (.*)$", message, re.M)[1]
    stable = re.search(r"^Cc: stable@\S+(?: # (\S+))?$", message, re.M)
    text = re.sub(r"\s+", " ", message)
    needs = re.findall(r'Needs patch "(.*?)"(?:[ .,]|$)', text)
    return subject, (stable[1] or "yes") if stable else "no", needs


def main():
    if len(sys.argv) < 3 or sys.argv[1].startswith("-"):
        print(__doc__.strip())
        return 0 if sys.argv[1:] in (["-h"], ["--help"]) else 2
    patches, topics = sys.argv[1], sys.argv[2:]
    texts, of = effects()
    rows, numbers, bad = {effect: [] for effect in texts}, {}, False
    for topic in topics:
        proofs = tests(topic)
        for path in sorted(glob.glob(os.path.join(patches, topic, "*.patch"))):
            name = os.path.relpath(path, patches)
            if "/0000-" in path:
                continue
            subject, stable, needs = fix(path)
            numbers[subject] = f"{topic}/{os.path.basename(path)[:4]}"
            if subject not in proofs:
                continue
            if of.get(subject) not in rows:
                print(f"fix-effects has no effect of: {subject}", file=sys.stderr)
                bad = True
                continue
            rows[of.pop(subject)].append((name, subject, stable, needs, show_tests(proofs[subject])))
    for name, _, _, needs, _ in (row for part in rows.values() for row in part):
        for need in needs:
            if need not in numbers:
                print(f"{name} needs a patch that is not there: {need}", file=sys.stderr)
                bad = True
    for subject in of:
        print(f"fix-effects: no fix has the subject: {subject}", file=sys.stderr)
        bad = True
    if bad:
        return 1
    count = sum(map(len, rows.values()))
    first = [row for effect in FIRST for row in rows.get(effect, [])
             if row[2] != "no" and row[4] != "none" and not row[3]]
    print(f"""# The fixes by effect

{count} patches fix a bug. {sum(not row[3] for part in rows.values() for row in part)} of them apply to the base alone, and the others behind those that "needs" names.
"stable" has the first release that the changelog names, or "yes"; a changelog says why it is "no". The tests fail on
the base and pass with the fixes, see `tools/quilt/results/prove.md`.

{len(first)} fixes need no other patch, are for stable, have a test, and are about crashes or hangs. Read these first:
""")
    for name, subject, *_ in first:
        print(f"- [{name[:name.index('/') + 5]}]({name}) {subject}")
    for effect, part in rows.items():
        what = "bug" if len(part) == 1 else "bugs"
        print(f"\n## {effect}\n\n{len(part)} {what}: {texts[effect]}.\n")
        print("| patch | subject | stable | needs | test |\n|---|---|---|---|---|")
        for name, subject, stable, needs, test in part:
            needed = ", ".join(numbers[need] for need in needs)
            subject = subject.replace("|", r"\|")
            print(f"| [{name[:name.index('/') + 5]}]({name}) | {subject} | {stable} | {needed} | {test} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
