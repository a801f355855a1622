"""What the reports share: reading logs, tables and plots."""

import os
import re
import sys
from html import escape

SIDES = ("base", "quilt")
CHECK_ROW = "two instructions"

FONT = 'font-family="DejaVu Sans, Helvetica, sans-serif" font-size="12" fill="#24292f"'
COLOURS = {"base": "#9aa7b4", "quilt": "#2369b3"}
# For lines and bars that are neither base nor quilt
PALETTE = ("#2369b3", "#d1701f", "#3d8b40", "#a33b8c", "#7a5c2e", "#c23b3b", "#4b4b9b", "#1f9a9a")


def fail(what, todo):
    sys.exit(f"error: {what}\n       {todo}")


def read_info(logs):
    """The lines "key|value" of the notes, as pairs."""
    with open(os.path.join(logs, "info")) as lines:
        return [tuple(line.rstrip("\n").split("|", 1)) for line in lines]


def read_log(path):
    """Row name -> (least, median, most) per call."""
    rows, expected = {}, None
    with open(path, errors="replace") as log:
        for line in log:
            found = re.search(r"\bbench: (row|written)\|(.*)$", line.rstrip())
            if not found:
                continue
            fields = found[2].split("|")
            if found[1] == "row":
                name, unit = fields[0], fields[1]
                calls, least, median, most, expected = map(int, fields[2:])
                rows[name] = tuple(t / calls for t in (least, median, most))
                if name == CHECK_ROW and unit == "instructions" and round(rows[name][2], 1) != 2:
                    fail(f"{rows[name][2]:.2f} instructions counted where 2 were executed",
                         f"QEMU has to run with -icount shift=0, see {path}")
            # The counters go with the ring buffers, which a snapshot exchanges.
            elif int(fields[0]) != expected and "_snapshot()" not in name:
                fail(f"{name}: {fields[0]} records in the buffers, not {expected}",
                     f"see {path}")
    return rows


def instructions(times):
    if not times:
        return "-"
    spread = times[2] - times[0]
    return f"{times[1]:,.0f}" + (f" (spread {spread:.0f})" if spread >= 1 else "")


def difference(base, quilt):
    if not base or not quilt:
        return "-"
    change = round(quilt[1]) - round(base[1])
    return f"{change:+,d}" if change else "0"


def format_table(table):
    """Markdown; the first line is the head, the first column words."""
    widths = [max(len(line[i]) for line in table) for i in range(len(table[0]))]

    def format_line(line):
        cells = [line[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(line[1:], widths[1:])]
        return "| " + " | ".join(cells) + " |\n"

    return "".join([format_line(table[0]),
                    "|" + "-" * (widths[0] + 2) + "|" +
                    "|".join("-" * (w + 1) + ":" for w in widths[1:]) + "|\n"] +
                   [format_line(line) for line in table[1:]])


class Svg:
    def __init__(self):
        self.lines = []

    def text(self, x, y, words, extra=""):
        self.lines.append(f'<text x="{x:.1f}" y="{y:.1f}" {extra}>{escape(words)}</text>')

    def rect(self, x, y, width, height, colour):
        self.lines.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
                          f'height="{height:.1f}" fill="{colour}"/>')

    def line(self, x1, y1, x2, y2, colour="#8c959f", width=1):
        self.lines.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
                          f'stroke="{colour}" stroke-width="{width}"/>')

    def legend(self, x, y, series):
        """series: (words, colour); returns where the next one would be."""
        for words, colour in series:
            self.rect(x, y, 12, 12, colour)
            self.text(x + 18, y + 10, words)
            x += 18 + 7.5 * len(words) + 24
        return x

    def save(self, path, width, height):
        head = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
                f'viewBox="0 0 {width} {height}" {FONT}>',
                f'<rect width="{width}" height="{height}" fill="#ffffff"/>']
        with open(path, "w") as out:
            out.write("\n".join(head + self.lines + ["</svg>"]) + "\n")


def bar_plot(path, title, series, names, panels, notes, label=400, panel=350):
    """series: key -> (words, colour). panels: (title, {(key, name): value}, digits).
    A bar for each key beside each name, where there is a value."""
    bar, gap, margin, top = 11, 12, 24, 92
    rows = [(name, [key for key in series if any((key, name) in values
                                                  for _, values, _ in panels)])
            for name in names]
    height = top + sum(len(keys) * bar + gap for _, keys in rows) + 46
    legend = sum(18 + 7.5 * len(words) + 24 for words, _ in series.values())
    svg = Svg()
    svg.text(margin, 30, title, 'font-size="18" font-weight="bold"')
    svg.legend(margin, 46, series.values())
    for number, (words, values, digits) in enumerate(panels):
        left = margin + label + number * (panel + margin)
        most = max(values.values())
        svg.text(left, top - 10, words, 'font-weight="bold"')
        svg.line(left, top - 2, left, height - 46)
        y = top + gap / 2
        for name, keys in rows:
            if number == 0:
                svg.text(left - 10, y + len(keys) * bar / 2 + 4, name, 'text-anchor="end"')
            for key in keys:
                if (key, name) in values:
                    value = values[key, name]
                    length = max(value / most * (panel - 52), 1)
                    svg.rect(left, y, length, bar - 1, series[key][1])
                    svg.text(left + length + 5, y + bar - 2, f"{value:,.{digits}f}",
                             'font-size="10"')
                y += bar
            y += gap
    svg.text(margin, height - 16, notes, 'font-size="10" fill="#57606a"')
    svg.save(path, max(label + len(panels) * (panel + margin), legend) + 2 * margin, height)


def line_plot(path, title, panels, notes, size=(330, 230)):
    """panels: (title, words of the x axis, {name: {x: value}}). The x axis has a step
    for each x, as they double."""
    margin, left, top, columns = 24, 56, 70, 2
    width, height = size
    foot = 40 + 16 * max(len(lines) for _, _, lines in panels)
    count = (len(panels) + columns - 1) // columns
    svg = Svg()
    svg.text(margin, 30, title, 'font-size="18" font-weight="bold"')
    for number, (words, axis, lines) in enumerate(panels):
        x0 = margin + left + number % columns * (left + width + margin)
        y0 = top + number // columns * (height + foot + margin) + height
        xs = sorted({x for line in lines.values() for x in line})
        most = max(value for line in lines.values() for value in line.values()) * 1.08
        svg.text(x0, y0 - height - 8, words, 'font-weight="bold"')
        svg.line(x0, y0, x0 + width, y0)
        svg.line(x0, y0 - height, x0, y0)
        for part in (0, 0.25, 0.5, 0.75, 1):
            y = y0 - part * height / 1.08
            svg.line(x0 - 3, y, x0, y)
            svg.text(x0 - 6, y + 4, f"{part * most / 1.08:,.0f}", 'text-anchor="end" font-size="10"')
        place = {x: x0 + (i + 0.5) * width / len(xs) for i, x in enumerate(xs)}
        for x in xs:
            svg.text(place[x], y0 + 14, str(x), 'text-anchor="middle" font-size="10"')
        svg.text(x0 + width / 2, y0 + 28, axis, 'text-anchor="middle" font-size="10"')
        for i, (name, line) in enumerate(lines.items()):
            colour = PALETTE[i % len(PALETTE)]
            points = [(place[x], y0 - value / most * height) for x, value in sorted(line.items())]
            for (x1, y1), (x2, y2) in zip(points, points[1:]):
                svg.line(x1, y1, x2, y2, colour, 2)
            for x, y in points:
                svg.rect(x - 2.5, y - 2.5, 5, 5, colour)
            svg.rect(x0, y0 + 34 + 16 * i, 12, 12, colour)
            svg.text(x0 + 18, y0 + 44 + 16 * i, name, 'font-size="11"')
    end = top + count * (height + foot + margin)
    svg.text(margin, end + 10, notes, 'font-size="10" fill="#57606a"')
    svg.save(path, columns * (left + width + margin) + margin, end + 30)
