# SPDX-License-Identifier: Apache-2.0
"""The places of the sources where tests/mutants/run makes a mistake, and which ones."""
import glob, hashlib, os, re
from collections import defaultdict

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SOURCES = ['agents/*.cpp', 'agents/*/*.cpp', 'bus/wire/node.cpp', 'sim/check/checker.cpp', 'sim/check/client_history.cpp', 'sim/check/changes.cpp',
           'sim/check/durable*.cpp', 'sim/check/growth.cpp', 'sim/check/ledger_view.cpp', 'sim/world/world_check.cpp']
# Text for people, and mistakes that are planted already: nothing is promised of the first.
NOT = re.compile(r'_test\.cpp$|agents/(explain/describe|explain/explain|message|check_journal)\.cpp$')
KEYWORDS = {'return', 'const', 'auto', 'using', 'namespace', 'struct', 'class', 'case', 'break', 'continue', 'static',
            'else', 'for', 'while', 'if', 'do', 'template', 'throw', 'goto', 'typedef', 'public', 'private', 'enum',
            'default', 'switch', 'inline', 'constexpr', 'friend', 'extern', 'explicit', 'delete', 'new', 'static_assert'}
COMPARE = {' < ': ' <= ', ' <= ': ' < ', ' > ': ' >= ', ' >= ': ' > ', ' == ': ' != ', ' != ': ' == '}
ARITHMETIC = {' + 1': ' + 2', ' - 1': ' - 2', ' + ': ' - ', ' - ': ' + ', ' * 2': ' * 3'}


def masked(text):
    """Comments, strings and character constants as blanks; as long as `text`."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<![0-9a-zA-Z])\'(?:\\.|[^\'\\\n])*\'', re.S)
    return pattern.sub(lambda m: re.sub(r'[^\n]', ' ', m.group()), text)


def closing(text, at):
    pairs, depth = {'(': ')', '{': '}', '[': ']'}, 0
    for i in range(at, len(text)):
        if text[i] in '([{':
            depth += 1
        elif text[i] in ')]}':
            depth -= 1
            if depth == 0:
                return i
    return -1


def code_blocks(text):
    """For each position whether statements stand there, and the start of the present statement."""
    stack, start, spans = [], 0, []
    i = 0
    while i < len(text):
        c = text[i]
        if c == '{':
            before = text[start:i]
            if re.search(r'\b(struct|class|enum|union|namespace)\b[^;(){}]*$', before):
                kind = 'type'
            elif re.search(r'(\)|\b(const|noexcept|override|else|do|try|mutable)|->\s*[\w:<>*& ]+|\[[^\]]*\])\s*$', before):
                kind = 'code'
            elif before.strip() == '':
                kind = 'code' if stack and stack[-1] == 'code' else 'type'
            else:
                kind = 'list'
            if kind == 'list':
                end = closing(text, i)
                i = end + 1 if end > 0 else i + 1
                continue
            stack.append(kind)
            start = i + 1
        elif c == '}':
            if stack:
                stack.pop()
            start = i + 1
        elif c == '(':
            end = closing(text, i)
            head = text[start:i].strip()
            if end < 0:
                i += 1
                continue
            inner_code = '{' in text[i:end]
            if re.search(r'\b(if|while|switch|for)$', head) or (head.endswith('constexpr')):
                i = end + 1
                # what follows is a statement of its own
                rest = text[i:i + 200].lstrip()
                if not rest.startswith('{'):
                    start = i
                continue
            if not inner_code:
                i = end + 1
                continue
            i = end + 1
            continue
        elif c == ';':
            if stack and stack[-1] == 'code':
                spans.append((start, i))
            start = i + 1
        elif c == ':' and text[i - 1] != ':' and text[i + 1:i + 2] != ':' and re.match(
                r'\s*(case\b[^?]*|default)$', text[start:i]):
            start = i + 1
        i += 1
    return spans


def top_level(text, word):
    depth, found = 0, []
    for i, c in enumerate(text):
        if c in '([{':
            depth += 1
        elif c in ')]}':
            depth -= 1
        elif depth == 0 and text.startswith(word, i):
            found.append(i)
    return found


def variants(source, mask):
    """Changed copies of one expression: (operator, text)."""
    out = []
    for table, name in ((COMPARE, 'compare'), (ARITHMETIC, 'arithmetic')):
        for old, new in table.items():
            at = mask.find(old)
            while at >= 0:
                # a template's bracket is not an operator; a longer entry of the table comes first
                longer = any(k != old and len(k) > len(old) and mask.startswith(k, at) for k in table)
                text_sum = name == 'arithmetic' and ('"' in source or 'string' in source)
                if not longer and not text_sum:
                    out.append((name + old.strip() + '>' + new.strip(), source[:at] + new + source[at + len(old):]))
                at = mask.find(old, at + 1)
    ands, ors = top_level(mask, ' && '), top_level(mask, ' || ')
    if ands and not ors:
        at = ands[0]
        out.append(('and>or', source[:at] + ' || ' + source[at + 4:]))
    if ors and not ands:
        at = ors[0]
        out.append(('or>and', source[:at] + ' && ' + source[at + 4:]))
    return out


class Mutant:
    def __init__(self, path, line, operator, text, change):
        self.path, self.line, self.operator = path, line, operator
        self.text = ' '.join(text.split())[:160]
        self.change = ' '.join(change.split())[:160]
        self.number, self.nth = 0, 1

    @property
    def key(self):
        """Holds while other places of the file change. Equal places are told apart by their order: ` #2`."""
        return f'{self.path}|{self.operator}|{self.text}' + (f' #{self.nth}' if self.nth > 1 else '')

    def crosses(self, other):
        """Of two places of one file that lie within one another one can be changed in a build."""
        return self.first < other.last and other.first < self.last and (
            (self.first, self.last, self.kind) != (other.first, other.last, other.kind))

    def rank(self, seed):
        return hashlib.sha256(f'{seed}|{self.key}'.encode()).digest()


def places_in(path, text):
    """(first, last, kind, [(operator, changed text)]): where, and what may become of it."""
    mask, places = masked(text), []
    for m in re.finditer(r'\bif \(', mask):
        if mask[m.start() - 10:m.start()].endswith('constexpr '):
            continue
        open_at = m.end() - 1
        end = closing(mask, open_at)
        if end < 0 or '{' in mask[open_at:end]:
            continue
        first = open_at + 1
        semicolons = top_level(mask[first:end], ';')
        if semicolons:
            first += semicolons[-1] + 1
        condition, cmask = text[first:end], mask[first:end]
        if re.search(r'(?<![=!<>])=(?!=)', cmask) or 'STARLING_' in condition or 'planted(' in condition:
            continue
        what = [('negate', f'!({condition})'), ('never', f'({condition}) && false')] + variants(condition, cmask)
        places.append((first, end, 'condition', what))
    for start, end in code_blocks(mask):
        raw = mask[start:end]
        first = start + len(raw) - len(raw.lstrip())
        statement, smask = text[first:end], mask[first:end]
        word = re.match(r'[\w:]+', smask)
        head = word.group() if word else ''
        if 'STARLING_' in statement or 'planted(' in statement or '#' in smask:
            continue
        if head == 'return':
            expression, emask = statement[6:], smask[6:]
            if '{' in emask or '[' in emask or not emask.strip():
                continue
            if what := variants(expression, emask):
                places.append((first + 6, end, 'value', what))
            continue
        m = re.match(r'(?:const\s+)?(?:bool|auto|Duration|Instant|std::size_t|std::uint\d+_t|double|int)\s+\w+\s*=\s*',
                     smask)
        if m:
            expression, emask = statement[m.end():], smask[m.end():]
            if '{' in emask or '[' in emask or ',' in ''.join(emask[i] for i in top_level(emask, ',')):
                continue
            if what := variants(expression, emask):
                places.append((first + m.end(), end, 'value', what))
            continue
        if head in KEYWORDS or not statement.strip():
            continue
        if re.match(r'[\w:<>,\s*&]+[\s*&]\s*[\w]+\s*(=|$|\(|\{|,)', smask) and not re.match(r'[\w:.\->\[\]()]+\s*[-+*/|^&]?=', smask):
            continue  # a declaration
        if re.search(r'[)\w\]]$', smask.rstrip()) or smask.rstrip().endswith('}'):
            places.append((first, end + 1, 'statement', [('drop', '')]))
    return places


def all_mutants(only=''):
    """All that can be made, and the sources' texts."""
    files = sorted(p for s in SOURCES for p in glob.glob(os.path.join(ROOT, s)) if not NOT.search(p))
    made, texts = [], {}
    for file in files:
        path = os.path.relpath(file, ROOT)
        if only and not re.search(only, path):
            continue
        texts[path] = open(file).read()
        for first, last, kind, what in places_in(path, texts[path]):
            line = texts[path].count('\n', 0, first) + 1
            for operator, change in what:
                m = Mutant(path, line, operator, texts[path][first:last], change)
                m.first, m.last, m.kind, m.raw = first, last, kind, change
                made.append(m)
    equal = defaultdict(int)
    for m in sorted(made, key=lambda m: m.first):
        equal[m.key] += 1
        m.nth = equal[m.key]
    return made, texts


def draw(made, cores, checker, seed):
    """The chosen ones. Who is chosen stays so while others come and go."""
    chosen, left = defaultdict(list), {False: cores or len(made), True: checker or len(made)}
    for m in sorted(made, key=lambda m: m.rank(seed)):
        of_checker = m.path.startswith('sim/')
        if left[of_checker] and not any(m.crosses(other) for other in chosen[m.path]):
            left[of_checker] -= 1
            chosen[m.path].append(m)
    return numbered(m for group in chosen.values() for m in group)


def numbered(mutants):
    chosen = sorted(mutants, key=lambda m: (m.path, m.first, m.operator))
    for number, m in enumerate(chosen, 1):
        m.number = number
    return chosen


def changed(text, mutants):
    by_place = defaultdict(list)
    for m in mutants:
        by_place[(m.first, m.last, m.kind)].append(m)
    result, at = [], 0
    for (first, last, kind), group in sorted(by_place.items()):
        result.append(text[at:first])
        original = text[first:last]
        if kind == 'statement':
            result.append('{ if (!::starling::mutants::on(%d)) %s }' % (group[0].number, original))
        else:
            whole = ''
            for m in group:
                flat = ' '.join(re.sub(r'//[^\n]*', '', m.raw).split())
                expression = f'static_cast<bool>({flat})' if kind == 'condition' else f'({flat})'
                whole += f'::starling::mutants::on({m.number}) ? {expression} : '
            kept = f'static_cast<bool>({original})' if kind == 'condition' else f'({original})'
            result.append(f' ({whole}{kept})' if kind == 'value' else whole + kept)
        at = last
    result.append(text[at:])
    return '#include "tests/mutants/mutant.h"\n#line 1\n' + ''.join(result)
