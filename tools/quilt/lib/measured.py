"""Reads the results of make bench, for figures.py and plots.py. RESULTS=DIR in the
environment names others than those in tools/bench/results."""

import csv
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))
RESULTS = os.environ.get("RESULTS") or os.path.join(HERE, "../../bench/results")
KINDS = "|".join(sorted({os.path.splitext(name)[0] for name in os.listdir(RESULTS)}
                 if os.path.isdir(RESULTS) else ["bench"]))
NUMBER = r"-?[\d,]*\.?\d+"
CELL = rf"(?:{NUMBER}|-)"


def number(text):
    value = float(text.replace(",", ""))
    return int(value) if value == int(value) else value


def read_csv(name):
    path = os.path.join(RESULTS, name)
    if not os.path.exists(path):
        return {}
    with open(path, newline="") as lines:
        rows = list(csv.DictReader(lines))
    if not rows:
        return {}
    first = next(iter(rows[0]))
    return {row[first]: row for row in rows}


def read_text(name):
    """(row, column), (section, row, column), (row, side, cpus) and (section, ratio) -> number."""
    path, values, columns, section = os.path.join(RESULTS, name + ".txt"), {}, [], ""
    if not os.path.exists(path):
        return values
    with open(path) as lines:
        for line in lines:
            line = line.rstrip()
            found = re.match(r"(base|quilt)\s+(\S.*?)\s+(\d+) CPUs\s+(\d+)$", line)
            if found:
                values[found[2], found[1], found[3]] = number(found[4])
                continue
            found = re.match(rf"\s*(\S.*?)\s{{2,}}((?:{CELL}\s+)*{CELL})(?: instructions)?$", line)
            if found:
                for column, text in zip(columns or [""], found[2].split()):
                    if text != "-":
                        values[found[1], column] = values[section, found[1], column] = number(text)
                continue
            for ratio in re.finditer(rf"(\w+ / \w+) ({NUMBER})(?:, |$)", line):
                values[section, ratio[1]] = number(ratio[2])
            # The end of a sample's time, and the CPU time of a run, see rtla.txt
            found = re.match(rf"(\S+): .* late, ({NUMBER}) on average", line)
            if found:
                values[found[1], "late"] = number(found[2])
            found = re.match(rf"(\S+): ({NUMBER}) ms of CPU time in user space, ({NUMBER})", line)
            if found:
                run = 2 if (found[1], "CPU 1") in values else 1
                values[found[1], f"CPU {run}"] = number(found[2]) + number(found[3])
            # A header's words are apart by two blanks. Its first column names the section,
            # as a line does that ends with a colon.
            name, *columns = re.split(r"\s{2,}", line)
            if line.endswith(":"):
                section = line[:-1]
            elif columns and re.fullmatch(r"\w+( \w+)?", name) and name != "kind":
                section = name
    return values


def read_markdown(name):
    """(row, column) and (section, row, column) -> number. Of "3 -> 2" that is 2, and 3 has
    the column "COLUMN before", which in such a file is the number itself where it did
    not change. Of columns with one name it is the first."""
    path, values, columns, section = os.path.join(RESULTS, name + ".md"), {}, [], ""
    if not os.path.exists(path):
        return values
    with open(path) as lines:
        text = lines.read()
        for line in text.splitlines():
            if line.startswith("## "):
                section, columns = line[3:].strip(), []
            if not line.startswith("|"):
                columns = []
                continue
            row, *cells = (cell.strip() for cell in line.strip().strip("|").split("|"))
            if not columns:
                columns = [re.sub(" instr$", "", cell) for cell in cells]
                continue
            row = re.sub(r"^all \d+$", "all", row)
            for column, cell in zip(columns, cells):
                found = re.match(rf"(?:({NUMBER}) -> )?({NUMBER})(?: \(|$)", cell)
                if not found:
                    continue
                for place in (row, column), (section, row, column):
                    values.setdefault(place, number(found[2]))
                    if " -> " in text:
                        values.setdefault((*place[:-1], column + " before"), number(found[1] or found[2]))
    return values


class Results:
    def __init__(self):
        self.tables = {}

    def table(self, kind):
        if kind not in self.tables:
            self.tables[kind] = read_csv(kind + ".csv") or read_text(kind) or read_markdown(kind)
        return self.tables[kind]

    def one(self, key):
        if re.fullmatch(r"\d+", key):
            return int(key)
        kind, row, *rest = key.split(":")
        table = self.table(kind)
        if os.path.exists(os.path.join(RESULTS, kind + ".csv")):
            row, column = ":".join([row] + rest[:-1]), rest[-1] if rest else ""
            if kind == "bench" and column in ("base", "quilt"):
                column += "_instructions_median"
            text = table.get(row, {}).get(column)
            if not text:
                return None
            return round(number(text)) if "_instructions_" in column else number(text)
        # A row name may have colons, as "followed: all" has.
        for cut in range(1, len(rest) + 1):
            found = table.get((":".join([row] + rest[:cut - 1]), *rest[cut - 1:]))
            if found is not None:
                return found
        return table.get((":".join([row] + rest), ""))

    def value(self, key):
        """None if a part of it is missing."""
        first, *parts = re.split(rf" ([-+/]) (?=\d+(?: [-+/] |$)|(?:{KINDS}):)", key)
        result = self.one(first)
        for sign, part in zip(parts[::2], parts[1::2]):
            other = self.one(part)
            if result is None or other is None:
                return None
            result = {"-": result - other, "+": result + other,
                      "/": round(result / other) if other else None}[sign]
        return result
