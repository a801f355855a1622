"""The code of an object file as objdump prints it, for ktrace-off.py: instructions, where
each goes on, and its jump labels of ktrace() lines."""

import collections
import re
import subprocess

# struct ktrace_site of 64 bits
SITE_SIZE = 64
ENTRY_SIZE = 16

JUMP = re.compile(r"^(jmp|b)$")
BRANCH = re.compile(r"^(j[a-z]+|b\.[a-z]+|cbn?z|tbn?z|loop)$")
END = re.compile(r"^(ret|retq|ud2|br|eret|brk)$")
CALLS = ("call", "bl", "blr")
# The names of what the compiler makes of a function
VARIANT = re.compile(r"(\.(constprop|isra|part|cold|\d+))+$")


class Insn:
    def __init__(self, section, addr, text):
        self.section, self.addr = section, addr
        words = text.split(None, 1)
        self.op, self.args = words[0], words[1] if len(words) > 1 else ""
        self.text, self.relocs, self.next = text, [], []

    def key(self):
        return self.section, self.addr


def run(*args):
    return subprocess.run(args, check=True, capture_output=True, text=True).stdout


def sections_and_relocs(objdump, path):
    """Relocations of data sections: {section: {offset: (symbol, addend)}}"""
    relocs, section = collections.defaultdict(dict), None
    for line in run(objdump, "-r", path).splitlines():
        m = re.match(r"RELOCATION RECORDS FOR \[(.*)\]", line)
        if m:
            section = m[1]
        m = re.match(r"([0-9a-f]+) +R_\S+ +(\S+?)([+-]0x[0-9a-f]+)?$", line)
        if m:
            relocs[section][int(m[1], 16)] = (m[2], int(m[3] or "0", 16))
    return relocs


def symbols(objdump, path):
    """{name: (section, address)}, and the functions as [section, start, end, name]"""
    names, funcs = {}, []
    for line in run(objdump, "-t", path).splitlines():
        m = re.match(r"([0-9a-f]+) (.{7}) (\S+)\s+([0-9a-f]+) (?:\.hidden )?(\S+)$", line)
        if not m:
            continue
        addr, flags, section, size, name = int(m[1], 16), m[2], m[3], int(m[4], 16), m[5]
        names[name] = (section, addr)
        if flags[-1] == "F" and size:
            funcs.append((section, addr, addr + size, name))
    return names, funcs


class Code:
    def __init__(self, objdump, path):
        self.names, self.funcs = symbols(objdump, path)
        self.relocs = sections_and_relocs(objdump, path)
        self.insns, section = {}, None
        last = None
        for line in run(objdump, "-dr", "--no-show-raw-insn", path).splitlines():
            m = re.match(r"Disassembly of section (.*):", line)
            if m:
                section, last = m[1], None
                continue
            m = re.match(r"\s+([0-9a-f]+): (R_\S+)\s+(\S+?)([+-]0x[0-9a-f]+)?$", line)
            if m and last:
                last.relocs.append((m[2], m[3], int(m[4] or "0", 16)))
                continue
            m = re.match(r"\s*([0-9a-f]+):\s+(\S.*)$", line)
            if m:
                text = re.sub(r"\s*(#|//).*", "", m[2]).strip()
                insn = Insn(section, int(m[1], 16), text)
                if last:
                    last.following = insn
                insn.following = None
                self.insns[insn.key()] = last = insn
        self.link()

    def place(self, symbol, addend):
        section, addr = self.names.get(symbol, (symbol, 0))
        return section, addr + addend

    def target(self, insn):
        for kind, symbol, addend in insn.relocs:
            # x86 counts from the end of the four bytes.
            return self.place(symbol, addend + (4 if kind.startswith("R_X86") else 0))
        m = re.search(r"(?:^|[ ,])([0-9a-f]+)(?: <|$)", insn.args)
        return (insn.section, int(m[1], 16)) if m else None

    def link(self):
        """Fill in where each instruction goes on."""
        for insn in self.insns.values():
            jumps = JUMP.match(insn.op) or BRANCH.match(insn.op)
            if jumps and "*" not in insn.args:
                target = self.insns.get(self.target(insn))
                if target:
                    insn.next.append(target)
            if not (JUMP.match(insn.op) or END.match(insn.op)) and insn.following:
                insn.next.append(insn.following)

    def jump_labels(self):
        """(instruction, target, site) of each entry in __jump_table of a site"""
        table = self.relocs["__jump_table"]
        for at in sorted(table):
            if at % ENTRY_SIZE:
                continue
            section, key = self.place(*table[at + 8])
            if section != "__ktrace_sites":
                continue
            code, target = self.place(*table[at]), self.place(*table[at + 4])
            # Relative to the entry's own words, which PC-relative relocations hide.
            yield self.insns[code], self.insns[target], (key & ~3) // SITE_SIZE, key & ~3

    def sites(self):
        return {at // SITE_SIZE for at in self.relocs["__ktrace_sites"]}

    def function(self, insn):
        for section, start, end, name in self.funcs:
            if section == insn.section and start <= insn.addr < end:
                return VARIANT.sub("", name)
        return "?"

    def callers(self, name):
        """{function: number of calls}"""
        places = {(section, start) for section, start, _, func in self.funcs
                  if VARIANT.sub("", func) == name}
        return collections.Counter(self.function(insn) for insn in self.insns.values()
                                   if insn.op in CALLS and self.target(insn) in places)

    def body(self, name):
        """The instructions of a function and of its part that is unlikely."""
        return [self.insns[key] for key in self.insns
                for section, start, end, func in self.funcs
                if key[0] == section and start <= key[1] < end and
                VARIANT.sub("", func) == name]

    def behind(self, target, before):
        """What only runs behind a jump label: all ways to it come from there."""
        seen, todo = {target}, [target]
        while todo:
            for following in todo.pop().next:
                if following not in seen:
                    seen.add(following)
                    todo.append(following)
        changed = True
        while changed:
            changed = False
            for insn in list(seen):
                if insn is not target and any(p not in seen for p in before[insn]):
                    seen.discard(insn)
                    changed = True
        return seen
