#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Compares the fast paths of two builds of the same objects.

usage: fastpath.py [-v] [-d] [-k KEY]... [-f FUNCTION]... [-l LIST] BASE_DIR QUILT_DIR

The fast path of a function is the way from its first instruction to its end on
which no conditional jump and no static branch is taken: compilers put what is
unlikely behind the jumps. It may not have more instructions than in BASE_DIR,
but for the NOPs of static branches, in the functions

    -k  that have a static branch with KEY on it, and
    -f  that are named

-l names a file with a line "FUNCTION WAS NOW" for each of some functions: they
have just these numbers of instructions. With -d, which is for another compiler
than that of the file, the difference is no larger than there. FUNCTION stands for
FUNCTION.isra.0 and the like, too.

-v shows all of these functions. The exit code is 1 when a path has grown or differs
from the list, or when a key or a function was not found.
"""

import argparse
import os
import re
import subprocess
import sys


def objdump(*args):
    return subprocess.run(("objdump",) + args, check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


def static_branches(path):
    """Where the code has static branches: {(section, offset): key}."""
    sites, site = {}, None
    # An entry is 16 bytes long: where, where to, and at 8 the key.
    for line in objdump("-r", "-j", "__jump_table", path).splitlines():
        m = re.match(r"([0-9a-f]+) R_\S+\s+([^\s+]+)(?:\+0x([0-9a-f]+))?$", line)
        if m and int(m[1], 16) % 16 == 0:
            site = (m[2], int(m[3] or "0", 16))
        elif m and int(m[1], 16) % 16 == 8:
            sites[site] = m[2]
    return sites


def functions(path):
    """{name: [[offset, mnemonic, operands, key of a static branch]]}"""
    sites = static_branches(path)
    found, body, section = {}, None, ""
    for line in objdump("-dr", "--no-show-raw-insn", path).splitlines():
        m = re.match(r"Disassembly of section (\S+):", line)
        if m:
            section = m[1]
            continue
        m = re.match(r"[0-9a-f]+ <([^>]+)>:", line)
        if m:
            body = []
            found.setdefault(m[1], body)
            continue
        if re.match(r"\s*[0-9a-f]+: R_", line):
            if body:
                # The target is in the relocation, not in the instruction.
                body[-1][2] = "relocated"
            continue
        m = re.match(r"\s*([0-9a-f]+):\s+(\S+)\s*(.*)", line)
        if m and body is not None and section.startswith(".text"):
            offset = int(m[1], 16)
            body.append([offset, m[2], m[3], sites.get((section, offset))])
    return found


def fast_path(name, found):
    """(number of instructions, keys of the static branches) on the way."""
    body = found[name]
    index = {insn[0]: i for i, insn in enumerate(body)}
    seen, i, count, keys = set(), 0, 0, []
    while i < len(body) and i not in seen:
        seen.add(i)
        _, mnemonic, operands, key = body[i]
        i += 1
        if key:
            keys.append(key)
            continue
        if mnemonic.startswith("nop") or operands == "%ax,%ax":
            continue
        count += 1
        if mnemonic.startswith("ret"):
            break
        if mnemonic.startswith("jmp"):
            target = re.match(r"([0-9a-f]+) <([^>+]+)", operands)
            # A compiler splits functions: what follows is the rest.
            if target and target[2].startswith(name + ".part."):
                rest = fast_path(target[2], found)
                return count - 1 + rest[0], keys + rest[1]
            if not target or int(target[1], 16) not in index:
                break
            i = index[int(target[1], 16)]
    return count, keys


def read_list(path):
    """{function: (was, now)}"""
    listed = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            words = line.split("#")[0].split()
            if words:
                listed[words[0]] = (int(words[1]), int(words[2]))
    return listed


def by_stem(found):
    """Functions without what a compiler puts behind their names."""
    return {re.sub(r"\.(isra|constprop)\.\d+$", "", name): name
            for name in sorted(found, reverse=True) if found[name]}


def compare_listed(listed, old, new, differences):
    """(functions that were found, what is wrong)"""
    stems, now_stems, seen, wrong = by_stem(old), by_stem(new), set(), []
    for name in sorted(set(listed) & set(stems) & set(now_stems)):
        was, now = fast_path(stems[name], old)[0], fast_path(now_stems[name], new)[0]
        want_was, want_now = listed[name]
        seen.add(name)
        if differences:
            good = now - was <= want_now - want_was
        else:
            good = (was, now) == (want_was, want_now)
        if not good:
            wrong.append(f"{name}: {was} -> {now} instructions, "
                         f"listed are {want_was} -> {want_now}")
    return seen, wrong


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("-v", action="store_true")
    parser.add_argument("-k", action="append", default=[])
    parser.add_argument("-f", action="append", default=[])
    parser.add_argument("-d", action="store_true")
    parser.add_argument("-l")
    parser.add_argument("base")
    parser.add_argument("quilt")
    args = parser.parse_args()
    listed = read_list(args.l) if args.l else {}
    missing, bad = set(args.k) | set(args.f) | set(listed), False
    for top, _, names in os.walk(args.base):
        for name in sorted(names):
            base = os.path.join(top, name)
            quilt = os.path.join(args.quilt, os.path.relpath(base, args.base))
            if not name.endswith(".o") or not os.path.exists(quilt):
                continue
            old, new = functions(base), functions(quilt)
            seen, wrong = compare_listed(listed, old, new, args.d)
            missing -= seen
            bad |= bool(wrong)
            for line in wrong:
                print(f"{name}: {line}")
            for function, body in old.items():
                if not body or not new.get(function):
                    continue
                was, now = fast_path(function, old), fast_path(function, new)
                mine = set(args.k) & set(now[1])
                missing -= mine
                stem = re.sub(r"\.(isra|constprop)\.\d+$", "", function)
                if stem in listed or not (mine or function in args.f):
                    continue
                missing -= {function}
                grew = now[0] > was[0]
                bad |= grew
                if grew or args.v:
                    print(f"{name}: {function}: {was[0]} -> {now[0]} instructions, "
                          f"{len(was[1])} -> {len(now[1])} static branches")
    for name in sorted(missing):
        print(f"{name}: not found in any function that both have")
    return 1 if bad or missing else 0


if __name__ == "__main__":
    sys.exit(main())
