# SPDX-License-Identifier: GPL-2.0
"""Counts the instructions that calls of functions execute in a guest, by function.

Run by gdb, see stepping.sh. In the environment:

    VMLINUX  a program without relocation: the kernel, booted with nokaslr
    TARGET   where gdb finds the guest, which has not begun
    CALLS    functions that are called one after the other, again and again
    SKIP     calls of the first one that come before (500)

It steps through all of these functions three times, from the first instruction to the
return, and prints lines "FUNCTION|INSTRUCTIONS" of the time that took the fewest, as a
record sometimes begins a page.
"""

import bisect
import collections
import os
import re
import subprocess

import gdb

TIMES = 3
# No record takes this many.
LIMIT = 50000


def functions(path):
    """Addresses of all functions, and their names, in order."""
    lines = subprocess.run(("nm", "-n", path), check=True, text=True,
                           stdout=subprocess.PIPE).stdout.splitlines()
    found = [line.split() for line in lines if re.match(r"[0-9a-f]+ [tTwW] ", line)]
    return [int(words[0], 16) for words in found], [words[2] for words in found]


def register(name):
    return int(gdb.parse_and_eval(f"(unsigned long) ${name}"))


class Stepper:
    def __init__(self, vmlinux):
        self.addresses, self.names = functions(vmlinux)

    def name(self, pc):
        return self.names[max(bisect.bisect_right(self.addresses, pc) - 1, 0)]

    def stop(self, function):
        """A disabled breakpoint on the very first instruction"""
        address = self.addresses[self.names.index(function)]
        stop = gdb.Breakpoint(f"*{address:#x}", type=gdb.BP_HARDWARE_BREAKPOINT, internal=True)
        stop.enabled = False
        return stop

    def call(self, stop, skip):
        """{function: instructions} of the next call but SKIP"""
        stop.enabled = True
        stop.ignore_count = skip
        gdb.execute("continue", to_string=True)
        stop.enabled = False
        stack, count = register("rsp"), collections.Counter()
        while register("rsp") <= stack:
            count[self.name(register("pc"))] += 1
            if sum(count.values()) > LIMIT:
                raise gdb.GdbError(f"no return after {LIMIT} instructions")
            gdb.execute("stepi", to_string=True)
        return count


def main():
    for line in ("set pagination off", "set confirm off", "file " + os.environ["VMLINUX"],
                 "target remote " + os.environ["TARGET"]):
        gdb.execute(line, to_string=True)
    stepper = Stepper(os.environ["VMLINUX"])
    stops = [stepper.stop(name) for name in os.environ["CALLS"].split()]
    skip, best = int(os.environ.get("SKIP", "500")), None
    for _ in range(TIMES):
        total = collections.Counter()
        for stop in stops:
            total += stepper.call(stop, skip)
            skip = 0
        if best is None or sum(total.values()) < sum(best.values()):
            best = total
    for name, count in best.most_common():
        print(f"{name}|{count}")
    gdb.execute("kill", to_string=True)


main()
