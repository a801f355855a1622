#!/usr/bin/env python3
"""Draws a bar plot for each topic from the files in tools/bench/results, as SVG,
and as PNG where rsvg-convert is installed. It needs no measurement.

usage: plots.py RESULTS

It writes plot-TOPIC.svg and plot-TOPIC.png to RESULTS. A row without a number is
left out, and so is a topic without any.
"""

import math
import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "lib"), os.path.join(HERE, "../quilt/lib")]
from reportlib import Svg  # noqa: E402

COLOURS = ("#9aa7b4", "#2369b3", "#c2571a", "#3d8a5f", "#7a4fa3")
BAR, GAP, LABEL, WIDTH, MARGIN, CHARACTER = 13, 12, 300, 420, 24, 6.7
U64 = "TRACE_EVENT two u64"


def both(label, row):
    """A row of bench.csv, base and quilt."""
    return label, [f"bench:{row}:base", f"bench:{row}:quilt"]


def process(column, *rows):
    return [(row, [f"process:{row}:{column}"]) for row in rows]


# topic: (title, panels); a panel: (title, series, rows, logarithmic); a row: (label,
# keys of figures.py, one for each series)
SIDES = ("Linux 7.3.4", "with the quilt")
CPUS = ("1", "2", "4", "8")
TOPICS = {
    "fastpath": ("fastpath: what a record costs", [
        ("instructions for a record (x86_64)", SIDES, [
            both("ring_buffer_write(), 24 bytes", "ring_buffer_write() 24 bytes"),
            both("TRACE_EVENT, two u64", U64),
            both("TRACE_EVENT, int and string", "TRACE_EVENT int + string"),
            both("trace_puts()", "trace_puts()"),
            both("trace_printk(), two u64", "trace_printk() two u64"),
            both("trace_array_printk(), two u64", "trace_array_printk() two u64, in an instance"),
            both("function tracer", "function tracer"),
            both("function graph, entry and return", "function graph tracer, entry + return"),
        ], False)]),
    "exports": ("exports: what a consumer beside the ring buffer costs", [
        ("instructions for an event with two u64 (x86_64)", SIDES, [
            both("no export", U64),
            both("one export", U64 + ", 1 exporter"),
            both("4 exports", U64 + ", 4 exporters"),
            both("16 exports", U64 + ", 16 exporters"),
            both("one that wants the context", U64 + ", 1 exporter with context"),
            both("in an instance, one export on it", U64 + ", in an instance, 1 exporter on it"),
            both("in an instance, one on another", U64 + ", in an instance, 1 exporter on another"),
        ], False)]),
    "snapshot": ("snapshot: what taking and reading one costs", [
        ("instructions for taking one, by the number of CPUs", [f"{n} CPUs" for n in CPUS], [
            (label, [f"snapshot:{row}:{side}:{n}" for n in CPUS])
            for label, row, side in (
                ("Linux 7.3.4", "nobody waits", "base"),
                ("with the quilt", "nobody waits", "quilt"),
                ("snapshot_pipe was opened", "snapshot_pipe was opened", "quilt"),
                ("a task waits in snapshot_pipe", "a task in snapshot_pipe", "quilt"),
                ("a task waits in trace_pipe", "a task in trace_pipe", "quilt"))
        ], False),
        ("instructions for a record that is read as text", ("snapshot", "snapshot_pipe"), [
            (f"{size} for each CPU", [f"snapshot:{file}, {size}:for one" for file in ("snapshot", "snapshot_pipe")])
            for size in ("1 MiB", "16 MiB")], False)]),
    "ktrace": ("ktrace: an event in one line", [
        ("instructions for a record (x86_64)", ("two u64", "int and string"), [
            (label, [f"bench:{row} two u64:quilt", f"bench:{row} int + string:quilt"])
            for label, row in (("ktrace()", "ktrace()"), ("TRACE_EVENT()", "TRACE_EVENT"),
                               ("trace_printk()", "trace_printk()"))], False),
        ("bytes of text and data for an event", ("int and u64",), [
            (label, [f"sizes:{kind}:quilt"]) for label, kind in (
                ("ktrace()", "ktrace_event"), ("ktrace(), one more site", "ktrace_site"),
                ("TRACE_EVENT()", "trace_event"), ("DEFINE_EVENT()", "define_event"),
                ("trace_printk()", "trace_printk"))], False)]),
    "dyndbg": ("dyndbg: what a debug message costs", [
        ("instructions for a pr_debug() with two u64 (x86_64)", SIDES, [
            both("off", "pr_debug() off"),
            both("printed", "pr_debug() two u64, printed"),
            both("recorded", "pr_debug() two u64, recorded")], False)]),
    "follow": ("follow: who pays for system call events", [
        ("instructions for a getppid() (x86_64)", ("",), process(
            "getppid()", "untraced", "raw_syscalls of another, pid filter",
            "raw_syscalls of another, followed", "raw_syscalls of all",
            "raw_syscalls of this, followed", "raw_syscalls of this, pid filter"), False),
        ("longest time with preemption off, thousands of instructions", ("8000 threads",), process(
            "us", "event for all tasks, on", "event for all tasks, off", "set_event_pid, event on",
            "set_event_pid, event off", "set_follow_pid",
            "set_follow_comm, 256 names", "set_follow_uid"), False)]),
    "process": ("process: beside other tracers", [
        (f"instructions for {what} (x86_64, logarithmic)", ("without mitigations", "with mitigations"), [
            (row, [f"{results}:{row}:{column}" for results in ("process", "mitigations")]) for row in (
                "untraced", "another is followed", "followed: lifecycle, signals", "followed: all",
                "raw_syscalls of all", "followed: all, trace-cmd record",
                "trace-cmd record -e raw_syscalls", "trace-cmd record -e syscalls",
                "BPF program, compiled", "followed: all, with a reader", "perf trace", "strace -f")], True)
        for what, column in (("a getppid()", "getppid()"), ("fork and exec", "fork+exec"))]),
}


class Plot(Svg):
    def names(self, y, series):
        x = MARGIN + LABEL
        for name, colour in zip(series, COLOURS if len(series) > 1 else COLOURS[1:]):
            if name:
                self.rect(x, y - 10, 11, 11, colour)
                self.text(x + 16, y, name)
                x += 16 + CHARACTER * len(name) + 20

    def panel(self, top, title, series, rows, logarithmic):
        """The y of its end."""
        self.text(MARGIN + LABEL, top, title, 'font-weight="bold"')
        self.names(top + 19, series)
        y = top + (30 if any(series) else 12) + GAP / 2
        begin = y
        colours = COLOURS if len(series) > 1 else COLOURS[1:]
        numbers = [value for _, values in rows for value in values if value]
        # A logarithmic axis begins below the least value.
        least = 10 ** math.floor(math.log10(min(numbers))) / 2 if logarithmic else 0
        most = max(numbers)
        for label, values in rows:
            drawn = [(v, c) for v, c in zip(values, colours) if v is not None]
            self.text(MARGIN + LABEL - 10, y + len(drawn) * BAR / 2 + 4, label, 'text-anchor="end"')
            for value, colour in drawn:
                part = (math.log(max(value, least) / least) / math.log(most / least)
                        if logarithmic else value / most)
                length = part * (WIDTH - 80)
                self.rect(MARGIN + LABEL, y, max(length, 1), BAR - 1, colour)
                self.text(MARGIN + LABEL + length + 5, y + BAR - 3, f"{value:,}", 'font-size="10"')
                y += BAR
            y += GAP
        self.lines.append(f'<line x1="{MARGIN + LABEL}" y1="{begin - 4:.1f}" x2="{MARGIN + LABEL}" '
                          f'y2="{y - GAP + 4:.1f}" stroke="#8c959f"/>')
        return y


def draw(topic, results, value):
    title, panels = TOPICS[topic]
    plot, y = Plot(), 66
    plot.text(MARGIN, 30, title, 'font-size="18" font-weight="bold"')
    for name, series, rows, logarithmic in panels:
        rows = [(label, [value(key) for key in keys]) for label, keys in rows]
        rows = [(label, values) for label, values in rows if any(v is not None for v in values)]
        if rows:
            y = plot.panel(y, name, series, rows, logarithmic) + 26
    path = os.path.join(results, f"plot-{topic}")
    if y == 66:
        print(f"no numbers for the plot of {topic}")
        return
    plot.text(MARGIN, y, "QEMU counts the instructions; make bench measures them", 'font-size="10" fill="#57606a"')
    plot.save(path + ".svg", LABEL + WIDTH + 2 * MARGIN, round(y + 16))
    if shutil.which("rsvg-convert"):
        subprocess.run(["rsvg-convert", "-o", path + ".png", path + ".svg"], check=True)


def main():
    if sys.argv[1:] in (["-h"], ["--help"]):
        print(__doc__.strip())
        return 0
    if len(sys.argv) != 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    # measured.py looks the results up when it is loaded.
    os.environ["RESULTS"] = sys.argv[1]
    from measured import Results
    results = Results()
    if not shutil.which("rsvg-convert"):
        print("warning: no PNG without rsvg-convert (Debian's package librsvg2-bin)", file=sys.stderr)
    for topic in TOPICS:
        draw(topic, sys.argv[1], results.value)
    return 0


sys.exit(main())
