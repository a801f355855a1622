#!/usr/bin/env python3
"""Draws what kshark-read prints of a recording of the demo: a row for each task
with its system calls, forks, execs and ends, and what ktrace and dynamic debug
recorded there, up to the snapshot.

usage: timeline.py TITLE <RECORDS >SVG
"""

import sys
from html import escape

KINDS = (("system call", "#9fc1e6"), ("fork, exec, exit, signal", "#2369b3"),
         ("ktrace", "#c2571a"), ("dynamic debug", "#3d8a5f"))
ROW, LEFT, WIDTH, TOP = 26, 110, 760, 92


def kind_of(event):
    if event.startswith("ktrace_"):
        return 2
    if event.startswith("dyndbg"):
        return 3
    return 1 if event.split("/")[-1].startswith("process_") else None


def read(lines):
    """Bars (pid, kind, begin, end), names of tasks, and the time of the snapshot."""
    bars, tasks, entered, snapshot = [], {}, {}, None
    for line in lines:
        time, _, task, pid, event, text = line.rstrip("\n").split("\t", 5)
        time, name = int(time), event.split("/")[-1]
        if "this snapshot ends here" in text:
            snapshot = time
        kind = kind_of(event)
        if kind is None:
            continue
        # The name after the last exec
        tasks[pid] = task
        if name == "process_sys_enter":
            entered[pid] = time
        elif name == "process_sys_exit":
            bars.append((pid, 0, entered.pop(pid, time), time))
        else:
            bars.append((pid, kind, time, time))
    return bars, tasks, snapshot


def main():
    if len(sys.argv) != 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__.strip())
        return 2
    bars, tasks, snapshot = read(sys.stdin)
    if not bars or snapshot is None:
        print("error: no records of the demo", file=sys.stderr)
        return 1
    begin = min(bar[2] for bar in bars)
    scale = WIDTH / (snapshot - begin)
    height = TOP + len(tasks) * ROW + 56
    out = []

    def text(x, y, words, extra=""):
        out.append(f'<text x="{x:.1f}" y="{y:.1f}" {extra}>{escape(words)}</text>')

    text(20, 30, sys.argv[1], 'font-size="17" font-weight="bold"')
    x = 20
    for name, colour in KINDS:
        out.append(f'<rect x="{x}" y="48" width="12" height="12" fill="{colour}"/>')
        text(x + 17, 58, name)
        x += 40 + 7 * len(name)
    rows = {pid: TOP + i * ROW for i, pid in enumerate(tasks)}
    for pid, y in rows.items():
        text(LEFT - 8, y + 12, f"{tasks[pid]}-{pid}", 'text-anchor="end"')
        out.append(f'<line x1="{LEFT}" y1="{y + 8}" x2="{LEFT + WIDTH}" y2="{y + 8}" stroke="#d8dee4"/>')
    # The long bars of system calls are below the marks.
    for pid, kind, first, last in sorted(bars, key=lambda bar: bar[1]):
        out.append(f'<rect x="{LEFT + (first - begin) * scale:.1f}" y="{rows[pid]}" '
                   f'width="{max((last - first) * scale, 2):.1f}" height="16" fill="{KINDS[kind][1]}"/>')
    end = TOP + len(tasks) * ROW
    out.append(f'<line x1="{LEFT + WIDTH}" y1="{TOP - 14}" x2="{LEFT + WIDTH}" y2="{end}" stroke="#b3263c" stroke-width="2"/>')
    text(LEFT + WIDTH - 5, TOP - 6, "snapshot", 'text-anchor="end" fill="#b3263c"')
    for part in range(5):
        text(LEFT + WIDTH * part / 4, end + 18, f"{(snapshot - begin) / 1e6 * part / 4:.1f} ms",
             'text-anchor="middle" fill="#57606a"')
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 40}" height="{height}" '
          f'viewBox="0 0 {LEFT + WIDTH + 40} {height}" font-family="DejaVu Sans, Helvetica, sans-serif" '
          'font-size="12" fill="#24292f">')
    print(f'<rect width="{LEFT + WIDTH + 40}" height="{height}" fill="#ffffff"/>')
    print("\n".join(out) + "\n</svg>")
    return 0


sys.exit(main())
