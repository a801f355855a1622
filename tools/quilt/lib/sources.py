#!/usr/bin/env python3
"""Compares texts with the sources of the kernel for check.sh.

usage: sources.py architecture DOCUMENT TREE PROJECT
       sources.py files TREE BASE HEAD

architecture: every file that the pictures of DOCUMENT name exists in the git
tree TREE or in PROJECT, and defines the functions that are named with it.

files: prints the names of the files in tracefs that the sources of commit HEAD
create, and those of BASE do not. A name that is no string stands for the names in
the file's tables.
"""

import os
import re
import subprocess
import sys

# --- architecture -----------------------------------------------------------

FILE = re.compile(r'(?<![\w/.])((?:[\w.-]+/)*[\w.-]+\.(?:c|h|S|sh|py|rst))\b')
FUNCTION = re.compile(r'\b([A-Za-z_]\w*)\(\)')


def source(name, tree, project):
    """The text of a file that a picture names; None if there is none."""
    path = name if '/' in name else 'kernel/trace/' + name
    shown = subprocess.run(['git', '-C', tree, 'show', 'HEAD:' + path],
                           capture_output=True, check=False)
    if shown.returncode == 0:
        return shown.stdout.decode(errors='replace')
    try:
        with open(os.path.join(project, name), errors='replace') as file:
            return file.read()
    except OSError:
        return None


def defines(text, function):
    """A definition begins in the first column, and does not end there."""
    begin = re.compile(r'^(?:[A-Za-z_#][^;=]*[\s*])?%s\(' % re.escape(function))
    lines = text.splitlines()
    for i, line in enumerate(lines):
        if not begin.match(line):
            continue
        if line.startswith('#'):
            return True
        for rest in lines[i:i + 12]:
            if rest.endswith(';'):
                break
            if rest.startswith('{') or rest.endswith('{') or rest.endswith('}'):
                return True
    return False


def architecture(document, tree, project):
    bad = named = 0
    picture = False
    texts = {}
    current = []
    with open(document) as file:
        lines = file.read().splitlines()
    for number, line in enumerate(lines, 1):
        if line.startswith('```'):
            picture = not picture
            current = []
            continue
        if not picture:
            continue
        files = FILE.findall(line)
        current = files or current
        for name in files:
            if name not in texts:
                texts[name] = source(name, tree, project)
                if texts[name] is None:
                    print(f'line {number}: there is no file {name}')
                    bad += 1
        for function in FUNCTION.findall(line):
            named += 1
            if not current:
                print(f'line {number}: no file is named for {function}()')
                bad += 1
            elif all(texts[name] is None for name in current):
                continue
            elif not any(defines(texts[name] or '', function) for name in current):
                print(f'line {number}: {", ".join(current)} does not define {function}()')
                bad += 1
    if not named:
        print(f'{document} names no function')
        bad += 1
    print(f'note: {len(texts)} files, {named} functions')
    return bad


# --- files ------------------------------------------------------------------

CREATE = re.compile(r'\b(?:trace|tracefs)_create_(cpu_)?file\(\s*(?:"(\w+)"|[\w.\[\]>-]+name,)')
NAME = re.compile(r'\.name\s*=\s*"(\w+)"|^\t\{ "(\w+)"', re.M)


def created(tree, commit):
    names = set()
    found = subprocess.run(['git', '-C', tree, 'grep', '-lE', r'trace(fs)?_create_(cpu_)?file\(', commit,
                            '--', 'kernel', 'drivers', 'net', 'lib'],
                           capture_output=True, text=True, check=False)
    for path in found.stdout.split():
        text = subprocess.run(['git', '-C', tree, 'show', path],
                              capture_output=True, check=True).stdout.decode(errors='replace')
        for cpu, name in CREATE.findall(text):
            where = 'per_cpu/cpu0/' if cpu else ''
            names |= {where + n for n in ([name] if name else (a or b for a, b in NAME.findall(text)))}
    return names


def files(tree, base, head):
    print(*sorted(created(tree, head) - created(tree, base)), sep='\n')


def main():
    if len(sys.argv) == 5 and sys.argv[1] == 'architecture':
        return 1 if architecture(*sys.argv[2:]) else 0
    if len(sys.argv) == 5 and sys.argv[1] == 'files':
        files(*sys.argv[2:])
        return 0
    print(__doc__.strip())
    return 2


if __name__ == '__main__':
    sys.exit(main())
