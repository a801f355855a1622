"""Finds the sentences of comments and documents, for prose.py."""

import os
import re

HEADLESS = re.compile(r'(Who|What|Whoever|Whatever|Whom|Whose)\b(?!\'|:)')
UNDERLINE = re.compile(r'([=~^"-])\1{2,}$')
TAG = re.compile(r'^(@[\w.]+(?:\(\))?|Context|Return|Returns|Note|NOTE|TODO):\s*')


class Paragraphs:
    """Collects lines, and counts the sentences of which the first line is new."""

    def __init__(self, name):
        self.name = name
        self.lines = []
        self.count = 0
        self.found = []

    def end(self):
        text = ''
        begins = []
        for line, new in self.lines:
            begins.append((len(text), new))
            text += line + ' '
        self.lines = []
        at = 0
        for sentence in re.split(r'(?<=[.!?:;])\s+(?=["\'(`]*[A-Z@])', text):
            start = text.index(sentence, at)
            at = start + len(sentence)
            new = [n for b, n in begins if b <= start][-1:] or [False]
            sentence = sentence.strip()
            if not new[0] or not re.search(r'[A-Za-z]{2}', sentence):
                continue
            self.count += 1
            if HEADLESS.match(sentence) and not sentence.endswith('?'):
                self.found.append(f'{self.name}: {sentence[:100]}')

    def add(self, line, new=True):
        line = line.strip()
        item = re.match(r'(?:[-*+]|\d+[.)])\s+', line)
        tag = TAG.match(line)
        if not line or item or tag:
            self.end()
        if item:
            line = line[item.end():]
        elif tag:
            line = line[tag.end():]
        if line:
            self.lines.append((line, new))


def c_comments(lines, paragraphs):
    """Comments of C; @lines may be a hunk that begins in a comment."""
    inside = False
    for line, new in lines:
        text = line.strip()
        if inside or re.match(r'\*(\s|$)', text):
            end = text.endswith('*/')
            paragraphs.add(re.sub(r'^\*(?!/)\s?|\s*\*/$|^\*/$', '', text), new)
            inside = not end
            if end:
                paragraphs.end()
            continue
        comment = re.search(r'(?:^|\s)/\*+\s?(.*)$', line)
        if not comment:
            paragraphs.end()
            line_comment = re.match(r'//\s+(?!SPDX)(.*)', text)
            if line_comment:
                paragraphs.add(line_comment.group(1), new)
            continue
        paragraphs.end()
        inside = '*/' not in comment.group(1)
        paragraphs.add(comment.group(1).split('*/')[0], new)
        if not inside:
            paragraphs.end()


def hash_comments(lines, paragraphs):
    for line, new in lines:
        comment = re.match(r'\s*#(?!!)\s?(.*)', line)
        if comment:
            paragraphs.add(comment.group(1), new)
        else:
            paragraphs.end()


def kconfig_help(lines, paragraphs):
    for line, new in lines:
        paragraphs.add(line if line.startswith('\t  ') else '', new)


def document(lines, paragraphs):
    literal = None
    for number, (line, new) in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        if line.startswith('```'):
            literal = None if literal == 'fence' else 'fence'
            paragraphs.end()
            continue
        if literal == 'fence':
            continue
        if literal is not None and line.strip() and indent <= literal:
            literal = None
        if literal is not None:
            continue
        # A heading needs no verb.
        below = lines[number + 1][0] if number + 1 < len(lines) else ''
        if line.startswith('#') or UNDERLINE.match(below) or UNDERLINE.match(line):
            paragraphs.end()
            continue
        # Each cell of a table is a text of its own.
        cells = [c for c in line.split('|') if c.strip()] if '|' in line else []
        if cells:
            for cell in cells:
                paragraphs.end()
                paragraphs.add(cell, new)
            paragraphs.end()
        else:
            paragraphs.add(line, new)
        if line.rstrip().endswith('::'):
            literal = indent


def reader(name, first):
    base = os.path.basename(name)
    if name.endswith(('.c', '.h', '.S', '.tbl')):
        return c_comments
    if name.endswith(('.rst', '.md', '.txt')):
        return document
    if base.startswith('Kconfig'):
        return kconfig_help
    if name.endswith(('.sh', '.py', '.tc', '.config', '.awk')) or \
       base.startswith('Makefile') or first.startswith('#'):
        return hash_comments
    return None
