#!/usr/bin/env python3
"""Is a ktrace() line one NOP while it is off?

usage: ktrace-off.py OBJDUMP WITH.o WITHOUT.o

WITH.o and WITHOUT.o are of one source file, with and without its lines. For each
line there has to be a jump label, a NOP is where it says, and each function with
lines does no more than without them: as many calls, branches, accesses to memory
and calculations, apart from what is behind the jump labels. Copies between
registers, the stack and padding do not count, as the compiler assigns registers
anew. In a large function it also joins and splits paths anew: but for calls, one
instruction of 50 may come of that. WITHOUT.o has a jump label for each line, too,
with a call that has no arguments behind it, so that functions are inlined alike.

Prints a line for each object, and what is wrong. The exit code is 1 then.
"""

import collections
import re
import sys

sys.dont_write_bytecode = True
from objcode import BRANCH, CALLS, END, JUMP, SITE_SIZE, Code  # noqa: E402

# The key in struct ktrace_site
SITE_KEY = 32

NOP = re.compile(r"^(nop|nopl|nopw|xchg +%ax,%ax|data16|cs nop|int3|endbr64|bti|hint)")
COPY = re.compile(r"^(mov[a-z]*|push|pop|lea|stp|ldp|xchg|cltq|cqto|sxtw|uxtw|leave|adrp)$")
STACK = re.compile(r"%rsp|\[sp|\[x29|\bsp\b")


def work(insns):
    """What the instructions do, without what register allocation changes"""
    done = collections.Counter()
    for insn in insns:
        if NOP.match(insn.text) or JUMP.match(insn.op):
            continue
        memory = ("(" in insn.args or "[" in insn.args or "%gs:" in insn.args)
        if STACK.search(insn.args) or insn.op == "lea" or (COPY.match(insn.op) and not memory):
            continue
        if BRANCH.match(insn.op) or END.match(insn.op):
            done["branch or end"] += 1
        elif insn.op in CALLS:
            done["call"] += 1
        elif memory:
            done["access to memory"] += 1
        else:
            done["calculation"] += 1
    return done


def check(objdump, path, without):
    on, off = Code(objdump, path), Code(objdump, without)
    errors, functions, labels = [], collections.defaultdict(list), 0
    seen = set()
    for insn, target, site, key in on.jump_labels():
        labels += 1
        seen.add(site)
        name = on.function(insn)
        if key % SITE_SIZE != SITE_KEY:
            errors.append(f"{name}: the key is not where this script looks for it")
        if not NOP.match(insn.text) or insn.op in ("int3", "endbr64"):
            errors.append(f"{name}: {insn.text} is no NOP")
        functions[name].append(target)
    for site in sorted(on.sites() - seen):
        errors.append(f"site {site} has no jump label")
    if not labels:
        errors.append("there is no ktrace() line")
    if list(off.jump_labels()):
        errors.append(f"{without} has lines")

    before = collections.defaultdict(list)
    for insn in on.insns.values():
        for following in insn.next:
            before[following].append(insn)
    behind = set()
    for target in (t for targets in functions.values() for t in targets):
        behind |= on.behind(target, before)
    for name in functions:
        group, spared, alike = {name}, 0, True
        if not off.body(name):
            # A function that is inlined where it has no arguments for a line
            callers = on.callers(name)
            group |= set(callers)
            spared = sum(callers.values())
            alike = False
        main = work(i for f in group for i in on.body(f) if i not in behind)
        plain = work(i for f in group for i in off.body(f))
        for what in sorted(main):
            if what == "calculation" and not alike:
                # A function that is inlined knows more of its arguments.
                continue
            more = main[what] - plain[what]
            slack = spared if what in ("call", "branch or end") else 0
            if what != "call":
                slack += main[what] // 50
            if more > slack:
                errors.append(f"{name}: {more} more of: {what} ({main[what]}, {plain[what]} without)")
    return labels, len(seen), len(functions), errors


def main():
    if len(sys.argv) != 4:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    labels, sites, functions, errors = check(*sys.argv[1:])
    for error in errors:
        print(f"    {error}")
    print(f"{'not ok' if errors else 'ok'} {sites} lines, {labels} jump labels, {functions} functions")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
