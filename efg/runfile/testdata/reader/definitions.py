"""Lists of definitions in an event block, as efg/runfile/FORMAT.md specifies them."""

import struct

from columns import M64, need, unzigzag, xxh64, zigzag
from mixing import hash_of

DEFINITION, VECTOR = 15, 2
KIND, KIND_COUNT, KIND_TEXT, KIND_ELEM, KIND_WIDE, KIND_WORD = 80, 81, 82, 83, 84, 85
COMMUNICATOR, WINDOW, FILE = 6, 7, 8
(COUNT, KINDS, FLAGS, TEXT, WORD_COUNT, WORD, WORD_AFTER, WORD_AFTER_TWO, WORD_LIKE, WORD_OF_KIND, WORD_OF_LENGTH,
 WIDE, FORM, LENGTH, ELEM, ELEM_AT, ELEM_AT_AFTER, ELEM_BELOW, ELEM_BELOW_AFTER) = range(19)


def context(*values):
    return hash_of(DEFINITION, *values)


class Definition:
    def __init__(self, kind):
        self.kind, self.flags, self.word, self.text, self.words = kind, 0, (0, 0), 0, []
        self.form, self.elements = 0, []

    def content(self):
        return self.kind, self.flags, self.word, self.text, self.words, self.elements

    def hash(self):
        h = hash_of(self.kind, self.flags, self.text, *self.word)
        for token, wide in self.words:
            h = hash_of(h, token, wide)
        for v in self.elements:
            h = hash_of(h, v)
        return h

    def token(self, k):
        """Token of word k, 0 its own; None: there is none."""
        if k == 0:
            return None if self.flags & 1 else self.word[0]
        return self.words[k - 1][0] if k <= len(self.words) else None

    def cells(self, group, cells):
        if not self.flags & 1:
            cells.append(self.cell(group, self.word))
        if self.flags & 2:
            cells.append(self.text)
        if self.kind == VECTOR:
            cells += zigzag(len(self.elements)), group.body(self.elements, self.form)
        cells += [self.cell(group, w) for w in self.words]

    def cell(self, group, word):
        token, wide = word
        if token & 7 != 7:
            return token
        group.wide.append(wide)
        return len(group.wide) - 1 << 3 | 7


class Definitions:
    """Decodes the lists of a block one after the other."""

    def __init__(self, block):
        self.b, self.all, self.of_kind, self.after, self.hash, self.text = block, [], {}, {}, 0, 0

    def list(self):
        self.c = self.b.c
        n = self.c.number(context(COUNT))
        self.begun, self.match, self.matched, self.kinds, self.own = len(self.all), 0, 0, [0, 0, 0], []
        for _ in range(n):
            self.add(self.definition())
        return self.all[self.begun :]

    def add(self, d):
        h = d.hash()
        both = hash_of(h, self.hash)
        like = self.all[self.match] if self.match < len(self.all) else None
        if like and like.content() == d.content():
            self.matched += 1
            self.match += 1
        elif both in self.after:
            self.matched, self.match = 0, self.after[both]
        else:
            self.matched = 0
            self.match += 1
        self.all.append(d)
        self.after[both], self.hash = len(self.all), h
        self.of_kind.setdefault(d.kind, []).append(d)
        self.kinds = [d.kind] + self.kinds[:2]

    def value(self, kind, guesses, rest, near=0):
        return self.c.value(kind, guesses, rest, near)

    def definition(self):
        like = self.all[self.match] if self.match < len(self.all) else None
        guesses = [context(KINDS, *self.kinds[:n]) for n in (1, 2, 3)] + [self.likely(like, lambda d: d.kind)]
        d = Definition(self.value(KIND, guesses, context(KINDS)))
        self.like = like if like and like.kind == d.kind else None
        before = self.of_kind.get(d.kind, [])
        self.last, self.further = ([None, None] + before)[-1], ([None, None] + before)[-2]
        last = self.last.flags if self.last else 0
        d.flags = self.value(KIND_COUNT, [context(FLAGS, d.kind), context(FLAGS, d.kind, last)], context(FLAGS))
        if d.flags & 2:
            guesses = [(self.text + 1, 1), self.likely(self.like, lambda d: d.text)]
            d.text = self.text = self.value(KIND_TEXT, guesses, context(TEXT), self.text)
        if d.kind == VECTOR:
            self.elements(d)
        n = self.count(lambda d: len(d.words), context(WORD_COUNT, d.kind))
        for k in range(n):
            d.words.append(self.word(d, k + 1, n))
        if not d.flags & 1:
            d.word = self.word(d, 0, 0)
        self.own.append(None if d.flags & 1 else self.word_of(*d.word) or None)
        return d

    def word_of(self, token, wide):
        """The word that a token stands for; None if that is not known."""
        v = token >> 3
        if token & 7 == 0:
            return unzigzag(v) & M64
        if token & 7 == 1:
            return 1 << 63 | v
        if token & 7 == 2:
            return self.own[v] if v < len(self.own) else None
        return wide if token & 7 == 7 else None

    def family(self, d):
        """Guesses the word of a communicator, window or file."""
        words = [self.word_of(*w) for w in d.words]
        if d.kind not in (COMMUNICATOR, WINDOW, FILE) or None in words:
            return None
        if d.kind == COMMUNICATOR:
            words.append(0)
        return (xxh64(struct.pack("<%dQ" % len(words), *words)) << 24) & (1 << 62) - 1, 4

    def likely(self, like, of):
        return (of(like), min(self.matched, 15)) if like else None

    def count(self, of, c):
        guesses = [c, self.likely(self.like, of), (of(self.last), 1) if self.last else None]
        return self.value(KIND_COUNT, guesses, c)

    def word(self, d, k, count):
        p = [t for t, _ in reversed(d.words[-2:] if k else [])] + [0, 0]
        i, own = min(k, 15), len(self.all) - self.begun
        near = self.last.token(k) if self.last else None
        further = self.further.token(k) if self.further else None
        like = self.like.token(k) if self.like else None
        one = near or 0
        guesses = [
            context(WORD, d.kind, i), context(WORD_AFTER, d.kind, i, p[0]), context(WORD_AFTER_TWO, d.kind, i, p[0], p[1]),
            None if like is None else (like, min(self.matched, 15)), None if near is None else (near, 1),
            None if near is None or further is None else (2 * near - further & M64, 1),
            (own - 1 << 3 | 2, 1) if own else None, context(WORD_LIKE, d.kind, i, one), (p[0] + 16 & M64, 1),
            (2 * p[0] - p[1] & M64, 1) if k >= 3 else None, context(WORD_OF_KIND, d.kind, p[0]),
            context(WORD_OF_LENGTH, d.kind, i, count),
        ]
        token = self.value(KIND_WORD + min(d.kind, 11), guesses, context(WORD, d.kind, min(i, 7)), one)
        if token & 7 != 7:
            return token, 0
        guesses = [context(WIDE, d.kind, i), self.family(d) if k == 0 else None]
        return token, self.value(KIND_WIDE, guesses, context(WIDE))

    def elements(self, d):
        d.form = self.value(KIND_COUNT, [context(FORM)], context(FORM))
        need(d.form & ~6 == 0, "form of elements")
        for k in range(self.count(lambda d: len(d.elements), context(LENGTH))):
            d.elements.append(self.element(d, k))

    def element(self, d, k):
        a, b, c = (d.elements[:-4:-1] + [0, 0, 0])[:3]
        like = self.like.elements if self.like else []
        last = self.last.elements if self.last else []
        guesses = [
            context(ELEM, d.form, a), context(ELEM, d.form, a, b), context(ELEM, d.form, a, b, c), (2 * a - b & M64, 1),
            (like[k], min(self.matched, 15)) if k < len(like) else None, None, (a, 1),
            context(ELEM_AT, d.form, k), context(ELEM_AT_AFTER, d.form, k, a), None, None, None,
        ]
        if k < len(last):
            guesses[5] = last[k], 1
            guesses[9:11] = context(ELEM_BELOW, d.form, last[k]), context(ELEM_BELOW_AFTER, d.form, last[k], a)
            if k > 0:
                guesses[11] = a + last[k] - last[k - 1] & M64, 1
        return self.value(KIND_ELEM, guesses, context(ELEM, d.form), a)
