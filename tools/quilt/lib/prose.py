#!/usr/bin/env python3
"""Counts headless sentences for check.sh.

usage: prose.py sentences MAX-PERCENT FILE...

It counts the sentences that open with a clause without a verb of its
own, "What is left is freed." Of patches, it reads the changelog and the added
comments and documents; of other files, the comments, or all of a text. It
fails and lists them when there are more than MAX-PERCENT in one of the groups
of files.
"""

import sys

sys.dont_write_bytecode = True
from paragraphs import Paragraphs, document, reader  # noqa: E402


def patch_texts(path):
    """The texts of a patch mail, as (group, name, reader, lines)."""
    with open(path, errors='replace') as file:
        lines = file.read().splitlines()
    where = '/'.join(path.split('/')[-2:])
    body = lines.index('') if '' in lines else len(lines)
    end = lines.index('---') if '---' in lines else len(lines)
    yield 'changelogs', where, document, [(l, True) for l in lines[body:end]]
    name, hunk = None, []

    def texts():
        read = reader(name, '') if name else None
        if hunk and read:
            yield 'comments and documents of patches', f'{where}: {name}', read, hunk

    for line in lines[end:]:
        if line.startswith(('diff --git ', '@@ ', '-- ')):
            yield from texts()
            hunk = []
            if line.startswith('diff'):
                name = line.split(' b/')[-1]
        elif line.startswith('+++ ') or line.startswith('--- '):
            continue
        elif line.startswith(('+', ' ')):
            hunk.append((line[1:], line[0] == '+'))
    yield from texts()


def sentences(percent, files):
    groups = {}
    for path in files:
        if path.endswith('.patch'):
            texts = list(patch_texts(path))
        else:
            try:
                with open(path) as file:
                    lines = file.read().splitlines()
            except (OSError, UnicodeDecodeError):
                continue
            read = reader(path, lines[0] if lines else '')
            texts = [('texts of the project', path, read, [(l, True) for l in lines])] if read else []
        for group, name, read, lines in texts:
            paragraphs = Paragraphs(name)
            read(lines, paragraphs)
            paragraphs.end()
            count, found = groups.get(group, (0, []))
            groups[group] = (count + paragraphs.count, found + paragraphs.found)
    bad = 0
    for group, (count, found) in sorted(groups.items()):
        if len(found) * 100 > percent * count:
            print(*found, sep='\n')
            print(f'{group}: {len(found)} of {count} sentences open without a subject')
            bad += 1
        else:
            print(f'note: {group}: {len(found)} of {count}')
    return bad


def main():
    if len(sys.argv) > 3 and sys.argv[1] == 'sentences':
        return 1 if sentences(float(sys.argv[2]), sys.argv[3:]) else 0
    print(__doc__.strip())
    return 2


if __name__ == '__main__':
    sys.exit(main())
