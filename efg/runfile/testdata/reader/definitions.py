"""Lists of definitions in an event block, as efg/runfile/FORMAT.md specifies them."""

import struct
from bisect import insort

from columns import M64, need, unzigzag, xxh64, zigzag
from mixing import hash_of

DEFINITION, VECTOR = 15, 2
KIND, KIND_COUNT, KIND_TEXT, KIND_ELEM, KIND_WIDE, KIND_WORD = 80, 81, 82, 83, 84, 85
KIND_UP, KIND_ROOT, KIND_SITE, KIND_MODULE, KIND_OFFSET = range(97, 102)
KIND_DISTANCE, KIND_FAR, KIND_PARENT = range(102, 105)
IN_BLOCK = 1 << 40
COMMUNICATOR, WINDOW, FILE, SITE, MODULE, PATH = 6, 7, 8, 9, 10, 32
(COUNT, KINDS, FLAGS, TEXT, WORD_COUNT, WORD, WORD_AFTER, WORD_AFTER_TWO, WORD_LIKE, WORD_OF_KIND, WORD_OF_LENGTH,
 WIDE, FORM, LENGTH, ELEM, ELEM_AT, ELEM_AT_AFTER, ELEM_BELOW, ELEM_BELOW_AFTER, PATH_KIND, UP, PARENT, ROOT, PATH_SITE, PATH_MODULE, OFFSET,
 PARENT_OF, SITE_HOW, DISTANCE, FAR, OWN, OWN_NODE, OWN_SLOT) = range(33)


def context(*values):
    return hash_of(DEFINITION, *values)


class Definition:
    def __init__(self, kind):
        self.kind, self.flags, self.word, self.text, self.words = kind, 0, (0, 0), 0, []
        self.form, self.elements, self.path = 0, [], None

    def content(self):
        if self.path:
            return self.path.id
        return self.kind, self.flags, self.word, self.text, self.words, self.elements

    def coding(self):
        return PATH if self.path else self.kind

    def hash(self):
        if self.path:
            return self.path.id
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


class Path:
    """A call path: its callsite, counted from 1, and number and path of what is below it."""

    def __init__(self, below, parent, root, site):
        self.below, self.parent, self.site = below, parent.id if parent else 0, site
        self.id = hash_of(self.parent, root, site)


class NoPath:
    below, parent, site, id = -1, 0, 0, 0


class List:
    """What graphs need of a list: its paths, by their numbers in the block, and what may come next."""

    def __init__(self, paths, number, definitions):
        self.paths, self.number, self.leaves, last = paths, number, [], None
        for i, path in sorted(paths.items()):
            if last is not None and path.below != last:
                self.leaves.append(last)
            last = i
        self.leaves += [last] if paths else []
        self.others = [i for i, d in enumerate(definitions) if d.kind != SITE]


class Definitions:
    """Decodes the lists of a block one after the other."""

    def __init__(self, block):
        self.b, self.all, self.of_kind, self.after, self.hash, self.text = block, [], {}, {}, 0, 0
        self.callsites, self.called = [], {}
        self.in_order, self.ranked = {}, 0
        self.different, self.number_of, self.lists = [], {}, []

    def list(self):
        self.c = self.b.c
        n = self.c.number(context(COUNT))
        self.begun, self.match, self.matched, self.kinds, self.own = len(self.all), 0, 0, [0, 0, 0], []
        self.paths, self.last_path, self.before, self.modules, self.new_module, self.offsets = {}, -1, [0, 0], {}, 0, {}
        self.request, self.number = 0, {}
        for _ in range(n):
            self.add(self.definition())
        found = self.all[self.begun :]
        self.lists.append(List(self.paths, self.number, found))
        return found

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
        if d.kind == MODULE:
            self.modules[h] = len(self.all) - self.begun
        self.all.append(d)
        self.after[both], self.hash = len(self.all), h
        self.of_kind.setdefault(d.kind, []).append(d)
        self.kinds = [d.kind] + self.kinds[:2]

    def value(self, kind, guesses, rest, near=0):
        return self.c.value(kind, guesses, rest, near)

    def definition(self):
        like = self.all[self.match] if self.match < len(self.all) else None
        guesses = [context(KINDS, *self.kinds[:n]) for n in (1, 2, 3)] + [self.likely(like, Definition.coding)]
        if self.b.paths:
            site = self.path(self.last_path).site
            guesses += [context(PATH_KIND, 1, self.hash), context(PATH_KIND, 2, self.hash, self.kinds[1]),
                        context(PATH_KIND, 3, site, self.kinds[0])]
        d = Definition(self.value(KIND, guesses, context(KINDS)))
        self.like = like if like and like.coding() == d.kind else None
        if self.b.paths and d.kind == PATH:
            return self.call_path()
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
        if not self.b.by_path:
            return self.value(KIND_ELEM, guesses, context(ELEM, d.form), a)
        return self.c.value_or(KIND_ELEM, guesses, lambda: self.spelled_element(d.form, a))

    def spelled_element(self, form, near):
        if not self.c.flag(context(OWN, form)):
            return self.value(KIND_ELEM, [], context(ELEM, form), near)
        self.request = self.request + unzigzag(self.c.number(context(OWN_NODE))) & M64
        slot = self.c.number(context(OWN_SLOT))
        pair = (self.request << 6 | slot) << 1 if slot < 64 else (self.request << 24 | slot) << 1 | 1
        return (pair << 3 | 4) & M64

    def path(self, number):
        return self.paths.get(number, NoPath)

    def call_path(self):
        """A definition of a call path."""
        below, up, sibling = self.place()
        root = 0
        if below < 0:
            root = self.value(KIND_ROOT, [context(ROOT)], context(ROOT))
            need(root == 0 or root & 7 == 1, "where a path begins")
        site = self.callsite(below, up, sibling)
        d = Definition(SITE)
        module, offset = self.callsites[site - 1]
        need(module in self.modules, "module of a path")
        d.flags, d.path = 1, Path(below, self.paths.get(below), root, site)
        d.words = [(self.modules[module] << 3 | 2, 0), (zigzag(offset) << 3, 0)] + ([(below << 3 | 2, 0)] if below >= 0 else [(root, 0)] if root else [])
        self.last_path, self.before = len(self.all) - self.begun, [d.path.id, self.before[0]]
        self.paths[self.last_path] = d.path
        if d.path.id not in self.number_of:
            self.number_of[d.path.id] = len(self.different)
            self.different.append(d.path)
        self.number[self.number_of[d.path.id]] = self.last_path
        self.called[self.path(below).site] = site
        self.own.append(None)
        return d

    def place(self):
        """Below which path a path is, how far above the last one that is, and what that calls there."""
        last = self.path(self.last_path)
        above = self.path(last.below)
        further = self.path(above.below)
        guesses = [context(UP, 1, last.site), context(UP, 2, last.site, above.site),
                   context(UP, 3, last.site, above.site, further.site),
                   context(UP, 4, self.before[0]), context(UP, 5, *self.before), None]
        chain = [self.last_path]
        while chain[-1] >= 0 and len(chain) < 1024:
            chain.append(self.path(chain[-1]).below)
        if self.like:
            found = [i for i, n in enumerate(chain) if self.path(n).id == self.like.path.parent]
            guesses[5] = (found[0] + 1, min(self.matched, 15)) if found else None
        up = self.value(KIND_UP, guesses, context(UP))
        if up == 0:
            return self.parent() if self.b.by_path else self.listed_parent(), 0, 0
        need(up <= len(chain), "path above all calls")
        return chain[up - 1], up, self.path(chain[up - 2]).site if up > 1 else 0

    def listed_parent(self):
        below = self.c.number(context(PARENT))
        need(below in self.paths, "path below no path")
        return below

    def parent(self):
        last = self.path(self.last_path)
        guesses = [context(PARENT_OF, 1, last.id), context(PARENT_OF, 2, last.site),
                   context(PARENT_OF, 3, last.site, self.path(last.below).site), self.likely(self.like, lambda d: d.path.parent)]
        found = self.c.value_or(KIND_PARENT, guesses, lambda: self.paths[self.listed_parent()].id)
        need(self.number_of.get(found) in self.number, "path below one of another list")
        return self.number[self.number_of[found]]

    def site_near(self, parent, sibling, guesses):
        near, how = sibling or self.called.get(parent, 0), 0 if sibling else 1
        how = how if near else 2

        def spelled():
            if near:
                d = unzigzag(self.value(KIND_DISTANCE, [], context(DISTANCE, how)))
                if d:
                    module, offset = self.callsites[near - 1]
                    order = self.in_order.get(module, [])
                    need((offset, near) in order and 0 <= order.index((offset, near)) + d < len(order), "callsite after another")
                    return order[order.index((offset, near)) + d][1]
            return self.value(KIND_FAR, [], context(FAR, how))

        return self.c.value_or(KIND_SITE, guesses + [context(SITE_HOW, how)], spelled)

    def callsite(self, below, up, sibling):
        parent = self.path(below)
        above = self.path(parent.below).site
        guesses = [
            context(PATH_SITE, 1, parent.id, sibling), context(PATH_SITE, 2, parent.site, sibling), context(PATH_SITE, 3, parent.site),
            context(PATH_SITE, 4, sibling), context(PATH_SITE, 5, parent.site, above, sibling),
            context(PATH_SITE, 6, self.before[0], up), context(PATH_SITE, 7, self.path(self.last_path).site, up),
            (self.like.path.site, min(self.matched, 15)) if self.like else None,
        ]
        if self.b.by_path:
            site = self.site_near(parent.site, sibling, guesses)
        else:
            site = self.value(KIND_SITE, guesses, context(PATH_SITE))
        need(site <= len(self.callsites), "callsite of a path")
        if site == 0:
            self.callsites.append(self.new_callsite(parent.site, sibling))
            site = len(self.callsites)
            if self.ranked < 1 << 14:
                module, offset = self.callsites[-1]
                insort(self.in_order.setdefault(module, []), (offset, site))
                self.ranked += 1
        return site

    def new_callsite(self, parent, sibling):
        guesses = [(self.new_module, 1), context(PATH_MODULE)]
        n = self.new_module = self.value(KIND_MODULE, guesses, context(PATH_MODULE), self.new_module)
        need(n < len(self.all) - self.begun, "module of a callsite")
        module = self.all[self.begun + n].hash()
        need(self.modules.get(module) == n, "module of a callsite")
        near, how = self.offsets.get(module, 0), 0
        for i, site in ((2, self.called.get(parent, 0)), (1, sibling)):
            if site and self.callsites[site - 1][0] == module:
                near, how = self.callsites[site - 1][1], i
        offset = self.value(KIND_OFFSET, [None], context(OFFSET, how), near)
        need(offset < 1 << 60, "offset in a module")
        self.offsets[module] = offset
        return module, offset
