"""Event blocks of a run file, as efg/runfile/FORMAT.md specifies them."""

import os
from copy import copy

from columns import M64, need, zigzag
from definitions import IN_BLOCK, Definitions, List
from mixing import Coder, hash_of

NODE, WORD, VALUE, ELEM, WIDE, MASK, FORM, CLASS, EVENTS, COPY, COUNTED, OLD, MEMBERS, HEADER, DEFINITION = range(1, 16)
KIND_WORD, KIND_FORM, KIND_HEADER, KIND_OLD, KIND_ELEM, KIND_VALUE = 1, 41, 42, 43, 44, 48
SCALAR, IDENT, VEC, SLOT = range(4)
RUNFILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")


class Values:
    """A sequence that was not folded."""

    def __init__(self, values, form):
        self.list, self.form = values, form

    def values(self, n, word=None):
        need(n <= len(self.list), "sequence ends early")
        return (word(v) if self.form & 2 and word else v for v in self.list[:n])


class Attribute:
    def __init__(self, word, form, tag, where, site, at):
        self.word, self.form, self.tag, self.where, self.site, self.at = word, form, tag, where, site, at
        self.last, self.elems, self.array = (0, 0, 0), (0, 0, 0), []


class Node:
    def __init__(self, header):
        self.header, self.mask, self.words, self.wides, self.forms, self.attributes = header, 0, [], [], [], []

    def content(self):
        h = hash_of(self.header, self.mask)
        for (_, token), wide in zip(self.words, self.wides):
            h = hash_of(h, token, wide)
        for form in self.forms:
            h = hash_of(h, form)
        return h

    def site(self):
        if self.words and self.words[0][0] == 1:
            return hash_of(self.header, self.words[0][1])
        return hash_of(self.header)


def common_headers():
    """Headers and the classes of their words."""
    with open(os.path.join(RUNFILE, "headers.txt")) as f:
        return [(h, classes) for h, *classes in ([int(x) for x in line.split()] for line in f)]


class Block:
    """What is known of all streams of a block so far."""

    def __init__(self, coder, forms, paths=False, by_path=False):
        self.c, self.forms, self.paths, self.by_path = coder, forms, paths, by_path
        self.known, self.by_key, self.sites, self.at_sites, self.headers, self.classes = [], {}, {}, {}, [], {}
        self.visits, self.hashes, self.values, self.after = [], [], [], {}
        self.definitions = Definitions(self)

    def begin(self, coder, paths=False, by_path=False):
        """Returns a block that begins with the headers of this one."""
        other = Block(coder, self.forms, paths, by_path)
        other.headers, other.classes = list(self.headers), dict(self.classes)
        return other

    def classes_of(self, header, given=None):
        """The classes of the words of a header's events."""
        if header not in self.classes:
            last, found = 0, [0]
            for k in range(1, header >> 24 & 0xFF):
                guesses = [hash_of(CLASS, last), hash_of(CLASS, last, k)]
                last = self.c.value(KIND_FORM, guesses, hash_of(CLASS), 0, given[k - 1] if given else 0)
                need(last < 40, "class of a word")
                found.append(last)
            self.classes[header] = found
        return self.classes[header]

    def form(self, header, k):
        letters = self.forms.get(header & 0xFFFF, "")
        return "sivl".index(letters[k - 3]) if 3 <= k < len(letters) + 3 else SCALAR


class Requests:
    def __init__(self):
        self.order, self.number, self.at = [], {}, -1

    def made(self, node, slot):
        if slot < 1 << 24:
            self.number[node, slot] = len(self.order)
            self.order.append((node, slot))

    def used(self, node, v):
        if v & 7 == 4:
            p = v >> 3
            back, slot = (p >> 7, p >> 1 & 63) if p & 1 == 0 else (p >> 25, p >> 1 & (1 << 24) - 1)
            self.at = self.number.get((node - (back >> 1 ^ -(back & 1)), slot), self.at)

    def guess(self, node, k, sure):
        if not 0 <= k < len(self.order):
            return None
        made, slot = self.order[k]
        back = zigzag(node - made)
        pair = (back << 6 | slot) << 1 if slot < 64 else (back << 24 | slot) << 1 | 1
        return (pair << 3 | 4) & M64, sure


class Stream:
    """Decodes a stream: nodes, the node of each event, and its values."""

    def __init__(self, block):
        self.b, self.c = block, block.c
        self.local, self.number_of, self.likes, self.recent = [], {}, {}, {}
        self.last_headers, self.before, self.last, self.longer = [0] * 3, [0] * 6, [0] * 4, 0
        self.match, self.matched = -1, 0
        self.tags, self.ident, self.newest, self.requests = {}, 0, 0, Requests()
        self.of_class = {}
        self.list, self.newest_path, self.places = self.list_of(), -1, [0] * 3
        n, i = self.c.number(hash_of(EVENTS)), 0
        first = len(block.visits)
        while i < n:
            copied = 0
            if self.match >= 0 and self.matched >= 16:
                copied = self.c.number(hash_of(COPY, min(self.matched.bit_length(), 10)))
                self.matched += copied
                need(copied <= n - i, "more events copied than there are")
                for _ in range(copied):
                    m = self.match
                    self.note(block.visits[m], block.hashes[m], block.values[m])
                    self.match += 1
                self.relearn(copied)
                i += copied
            if i < n:
                self.event()
                i += 1
        self.events = [(self.number_of[k], v) for k, v in zip(block.visits[first:], block.values[first:])]
        self.nodes = [block.known[k] for k in self.local]
        for _ in range(self.c.number(hash_of(COUNTED, 1))):
            at, polls = self.c.number(hash_of(COUNTED, 2)), self.c.number(hash_of(COUNTED, 3))
            node = Node(self.header())
            self.content(node)
            node.polls = polls
            self.nodes.insert(at, node)
            self.events = [(k + (k >= at), v) for k, v in self.events]

    def list_of(self):
        lists, back = self.b.definitions.lists, self.c.number(hash_of(MEMBERS, 4)) if self.b.by_path else 0
        need(back <= len(lists), "definitions of a stream")
        return lists[-back] if back else List({}, {}, [])

    def path(self, token):
        """The path of the block that a token stands for."""
        n, different = token >> 3 & ~IN_BLOCK, self.b.definitions.different
        return different[n] if self.b.by_path and token & 7 == 2 and token >> 3 & IN_BLOCK and n < len(different) else None

    def last_call(self, token):
        path = self.path(token)
        return path.site if path else token

    def place(self, node):
        if node.words and node.words[0][0] == 1:
            return hash_of(node.header, self.last_call(node.words[0][1]))
        return hash_of(node.header)

    def in_list(self, node):
        """The node with the tokens of its process's list."""
        if not self.b.by_path or not node.words or node.words[0][0] != 1:
            return node
        token = node.words[0][1]
        if token & 7 != 2 or not token >> 3 & IN_BLOCK:
            return node
        need(token >> 3 & ~IN_BLOCK in self.list.number, "call path of another list")
        node = copy(node)
        node.words = [(1, self.list.number[token >> 3 & ~IN_BLOCK] << 3 | 2)] + node.words[1:]
        return node

    def next_path(self):
        n = next((n for n in self.list.leaves if n > self.newest_path), None)
        return 0 if n is None else (self.b.definitions.number_of[self.list.paths[n].id] | IN_BLOCK) << 3 | 2

    def next_definitions(self):
        found = [n for n in self.list.others if n > self.newest][:2] if self.b.by_path else []
        if not found:
            return self.newest + 1, self.newest + 2
        return found[0], found[1] if len(found) > 1 else found[0] + 1

    def note(self, node, h, values):
        b = self.b
        b.visits.append(node)
        same = self.recent[b.known[node].header]
        same.remove(node)
        same.insert(0, node)
        b.hashes.append(h)
        b.values.append(values)
        self.last_headers = [b.known[node].header] + self.last_headers[:2]
        self.places = [b.known[node].place] + self.places[:2]
        self.before = [b.known[node].key] + self.before[:5]
        self.last = [h] + self.last[:3]
        self.longer = hash_of(self.longer >> 8, h)

    def relearn(self, copied):
        b = self.b
        for i in range(len(b.visits) - min(copied, 64), len(b.visits)):
            node, values = b.known[b.visits[i]], iter(b.values[i])
            number = self.number_of[b.visits[i]]
            for a in node.attributes:
                v = next(values)
                self.seen(node, number, a, v)
                if a.form == VEC and v & 1 == 0:
                    a.array = [next(values) for _ in range(v >> 1)]
                    for x in a.array:
                        self.seen_elem(number, a, x)

    def event(self):
        b = self.b
        guessed = b.visits[self.match] if self.match >= 0 else None
        number = self.node(guessed)
        known = self.local[number]
        node, values, h = b.known[known], [], b.known[known].key
        same = guessed == known
        expected = iter(b.values[self.match] if same else ())
        arrays = []
        for a in node.attributes:
            v = self.value(node, number, a, h, next(expected, None))
            values.append(v)
            h = hash_of(h, v)
            if a.form == VEC and v & 1 == 0:
                array = []
                for k in range(v >> 1):
                    x = self.elem(number, a, h, array, k, next(expected, None))
                    array.append(x)
                    h = hash_of(h, x)
                values += array
                arrays.append((a, array))
        alike = same and values == b.values[self.match]
        b.after[hash_of(*self.last) >> 48] = len(b.visits)
        self.note(known, h, values)
        for a, array in arrays:
            a.array = array
        if alike:
            self.match += 1
            self.matched += 1
            return
        self.match = self.match + 1 if same else -1
        self.matched = 0
        self.match = b.after.get(hash_of(*self.last) >> 48, self.match)

    def node(self, guessed):
        b, p, e = self.b, self.before, self.last
        guesses = [hash_of(NODE, n, *p[:n]) for n in (1, 2, 3, 4, 6)]
        guesses += [hash_of(NODE, 7, self.longer), hash_of(NODE, 8, e[0], e[1], e[2]), hash_of(NODE, 9, e[0])]
        guesses.append(None if guessed is None else (guessed + 1, min(self.matched, 15)))
        known = self.c.value_or(0, guesses, self.unexpected)
        need(0 < known <= len(b.known), "no such node")
        if known - 1 not in self.number_of:
            self.add(known - 1)
        return self.number_of[known - 1]

    def add(self, k):
        node = self.b.known[k]
        self.number_of[k] = len(self.local)
        self.local.append(k)
        self.recent.setdefault(node.header, []).insert(0, k)
        self.likes[node.content()] = self.likes.get(node.content(), 0) + 1
        self.b.sites[node.site()] = node
        classes = self.b.classes[node.header]
        for k, token in node.words:
            self.seen_word(token, classes[k])

    def seen_word(self, token, c):
        if token & 7 == 2 and self.b.by_path and token >> 3 & IN_BLOCK:
            self.newest_path = max(self.newest_path, self.list.number.get(token >> 3 & ~IN_BLOCK, -1))
        elif token & 7 == 2:
            self.newest = max(self.newest, token >> 3)
        last = self.of_class.get(c, (0, 0))
        if last[0] != token:
            self.of_class[c] = token, last[0]

    def unexpected(self):
        header = self.header()
        same = self.recent.get(header, [])
        guesses = [hash_of(OLD, header), hash_of(OLD, header, self.before[0])]
        if self.b.by_path:
            guesses += [hash_of(OLD, 2, header, self.places[0]), hash_of(OLD, 3, header, *self.places[:2])]
        back = self.c.value(KIND_OLD, guesses, hash_of(OLD, header), 0)
        if back > 256:
            need(back - 256 <= len(self.local), "no such node")
            known = self.local[-(back - 256)]
            need(self.b.known[known].header == header, "node with another header")
            return known + 1
        need(back <= len(same), "no such node with a header")
        if back > 0:
            return same[back - 1] + 1
        b, node = self.b, Node(header)
        self.content(node)
        node.key = hash_of(node.content(), self.likes.get(node.content(), 0))
        if node.key not in b.by_key:
            self.attributes(node)
            node.place = self.place(node)
            b.by_key[node.key] = len(b.known)
            b.known.append(node)
        self.add(b.by_key[node.key])
        return b.by_key[node.key] + 1

    def header(self):
        b, h, p = self.b, self.last_headers, self.before
        guesses = [hash_of(HEADER, n, *h[:n]) for n in (1, 2, 3)]
        guesses += [hash_of(HEADER, 4, p[0]), hash_of(HEADER, 5, p[0], p[1]), hash_of(HEADER, 6, len(self.local))]
        if b.by_path:
            guesses += [hash_of(HEADER, 6 + n, *self.places[:n]) for n in (1, 2, 3)]
        n = self.c.value(KIND_HEADER, guesses, hash_of(HEADER, h[0]), 0)
        need(n <= len(b.headers), "no such header")
        if n == 0:
            header = self.c.number(hash_of(HEADER))
            need(3 <= header >> 24 & 0xFF <= 32, "words of an event")
            if header not in b.headers:
                b.headers.append(header)
            return header
        return b.headers[n - 1]

    def content(self, node):
        h, p = node.header, self.before
        like = self.b.sites.get(hash_of(h))
        guesses = [(like.mask if like else 0, 1), hash_of(MASK, h), hash_of(MASK, p[0], h)]
        node.mask = self.c.value(KIND_FORM, guesses, hash_of(MASK), 0)
        count = h >> 24 & 0xFF
        need(node.mask >> count == 0 and node.mask & 1 == 0, "mask")
        classes = self.b.classes_of(h)
        for k in range(1, count):
            if node.mask >> k & 1 == 0:
                self.word(node, k, classes[k])
        if not h >> 19 & 1:
            for k in range(1, count):
                if node.mask >> k & 1:
                    for elems in range(2 if self.b.form(h, k) == VEC else 1):
                        form = self.c.value(KIND_FORM, [hash_of(FORM, h, k, elems)], hash_of(FORM), 0)
                        need(form & ~6 == 0, "form of values")
                        node.forms.append(form)
        self.b.sites[hash_of(h)] = node

    def word(self, node, k, c):
        h, p, at = node.header, self.before, len(node.words)
        sites = self.b.sites
        like = sites.get(node.site()) if k != 1 else None
        like = like or sites.get(hash_of(h))
        tokens = [t for _, t in node.words]
        one, two = ([0, 0] + tokens)[-1], ([0, 0] + tokens)[-2]
        last = self.of_class.get(c, (0, 0))
        first, second = self.next_definitions()
        guesses = [
            hash_of(WORD, 4, h, k), hash_of(WORD, 5, h, k, tokens[0] if tokens else 0), hash_of(WORD, 6, h, k, one),
            hash_of(WORD, 7, h, k, one, two), hash_of(WORD, 8, h, k, p[0]), hash_of(WORD, 9, h, k, p[0], p[1]),
            None, None, hash_of(WORD, 10, k, h & 0xFFFF, len(self.local)),
            (first << 3 | 2, 1), (second << 3 | 2, 1), (last[0], 1), (last[1], 1),
            hash_of(WORD, 12, c, last[0]), hash_of(WORD, 13, c, one),
        ]
        near = 0
        if like and at < len(like.words):
            near = like.words[at][1]
            guesses[6:8] = (near, 1), hash_of(WORD, 11, h, k, near)
        if self.b.by_path and k == 1 and self.next_path():
            near = self.next_path()
            guesses[9] = near, 1
        elif self.b.by_path and k > 1 and tokens and node.words[0][0] == 1:
            path = self.path(tokens[0])
            if path:
                guesses[5] = hash_of(WORD, 16, c, path.parent)
            guesses.append(hash_of(WORD, 14, h, k, self.last_call(tokens[0])))
        kind = KIND_WORD + c
        token, wide = self.c.value(kind, guesses, hash_of(WORD, c), near), 0
        if token & 7 == 7:
            wide = self.c.value(kind, [hash_of(WIDE, h, k)], hash_of(WIDE, k), 0)
        node.words.append((k, token))
        node.wides.append(wide)
        self.seen_word(token, c)

    def attributes(self, node):
        if node.header >> 19 & 1:
            return
        h, count = node.header, node.header >> 24 & 0xFF
        for k in range(1, count):
            if node.mask >> k & 1:
                where, site = hash_of(node.key, k), hash_of(node.site(), k)
                at = self.b.at_sites.setdefault(site, [0, 0])
                node.attributes.append(Attribute(k, self.b.form(h, k), self.b.classes[h][k] == 1, where, site, at))

    def tag(self, node):
        found = [token for k, token in node.words[:2] if k == 2]
        return self.tags.setdefault(found[0] if found else 0, [0, 0])

    def value(self, node, number, a, h, expected):
        x, y, z = a.last
        e = self.last
        guesses = [
            hash_of(VALUE, 1, a.where, x), hash_of(VALUE, 2, a.where, x, y), hash_of(VALUE, 3, a.where, x, y, z),
            hash_of(VALUE, 4, a.where, h), hash_of(VALUE, 5, a.where, h, e[0]), hash_of(VALUE, 6, a.site, h, e[0], e[1]),
            hash_of(VALUE, 7, a.site, a.at[0]), None if expected is None else (expected, min(self.matched, 15)),
            (2 * x - y & M64, 1), hash_of(VALUE, 8, node.header & 0xFFFF, a.word, e[0]), (a.at[0], 1), None, None, None,
        ]
        if a.form == IDENT:
            guesses[11:13] = (self.ident, 2), (2 * self.next_definitions()[0], 3)
        elif a.tag:
            last, step = self.tag(node)
            guesses[11:13] = (last, 2), (last + step & M64, 3)
        elif a.form == SCALAR:
            r = self.requests
            guesses[11:13] = r.guess(number, r.at + 1, 4), r.guess(number, len(r.order) - 1, 5)
        v = self.c.value(KIND_VALUE + 8 * a.form + min(a.word, 7), guesses, a.site, x)
        self.seen(node, number, a, v)
        return v

    def seen(self, node, number, a, v):
        a.last = (v,) + a.last[:2]
        a.at[0] = v
        if a.form == SLOT:
            self.requests.made(number, v)
        elif a.form == IDENT and v & 1 == 0:
            self.ident, self.newest = v, max(self.newest, v >> 1)
        elif a.tag:
            t = self.tag(node)
            t[:] = v, v - t[0] & M64
        elif a.form == SCALAR:
            self.requests.used(number, v)

    def elem(self, number, a, h, before, k, expected):
        x, y, z = a.elems
        e, r = self.last, self.requests
        p = before[-1] if before else 0
        guesses = [
            hash_of(ELEM, 1, a.where, x), hash_of(ELEM, 2, a.where, x, y), hash_of(ELEM, 3, a.where, x, y, z),
            hash_of(ELEM, 4, a.where, h), hash_of(ELEM, 5, a.where, k, p), hash_of(ELEM, 6, a.site, h, e[0]),
            hash_of(ELEM, 7, a.site, a.at[1]), None if expected is None else (expected, min(self.matched, 15)),
            (2 * x - y & M64, 1), (a.array[k], 3) if k < len(a.array) else None, (a.at[1], 1),
            r.guess(number, r.at + 1, 4),
            hash_of(ELEM, 8, a.where, p, a.array[k - 1]) if 0 < k <= len(a.array) else None, None,
        ]
        v = self.c.value(KIND_ELEM + min(k, 3), guesses, hash_of(ELEM, a.site), x)
        self.seen_elem(number, a, v)
        return v

    def seen_elem(self, number, a, v):
        a.elems = (v,) + a.elems[:2]
        a.at[1] = v
        self.requests.used(number, v)


class Group:
    """A group of graphs that were made from their events, or of lists of definitions."""

    def __init__(self, kind, members):
        self.kind, self.members, self.wide, self.bodies, self.lists, self.shape = kind, members, [], [], [], None
        self.definitions = []

    def add_list(self, definitions):
        self.definitions.append(definitions)
        cells = []
        for d in definitions:
            d.cells(self, cells)
        self.same([(d.kind, d.flags, len(d.words)) for d in definitions])
        self.lists.append(cells)

    def same(self, shape):
        need(self.shape in (None, shape), "records of different shapes in a group")
        self.shape = shape

    def add(self, stream):
        nodes = [Rebuilt(stream.in_list(n)) for n in stream.nodes]
        last = None
        for at, values in stream.events:
            if last is not None:
                nodes[last].step(at)
            nodes[at].take(iter(values))
            last = at
        cells = []
        for n in nodes:
            n.end()
            n.cells(self, cells)
        self.same([n.shape() for n in nodes])
        self.lists.append(cells)

    def member(self, m):
        need(m < self.members, "no such member")
        return iter(self.lists[m])

    def body(self, values, form):
        self.bodies.append(Values(values, form))
        return len(self.bodies) - 1


class Rebuilt:
    """A node with what its events say of it."""

    def __init__(self, node):
        self.n, self.to, self.edges, self.runs, self.counts = node, [], [], [], []
        self.at, self.length = None, 0
        self.attributes = [([], []) for _ in node.attributes]

    def take(self, values):
        for a, (own, elems) in zip(self.n.attributes, self.attributes):
            v = next(values)
            own.append(v)
            if a.form == VEC and v & 1 == 0:
                elems += [next(values) for _ in range(v >> 1)]

    def step(self, to):
        if to not in self.to:
            self.to.append(to)
            self.edges.append([0, 0, 0, False])
        k = self.to.index(to)
        if k != self.at:
            self.end()
            self.at = k
            self.runs.append(k)
        self.length += 1

    def end(self):
        if self.length == 0:
            return
        e = self.edges[self.at]
        e[0] += self.length
        if e[1] == 0:
            e[1:3] = self.length, 1
        elif not e[3] and e[1] == self.length:
            e[2] += 1
        else:
            e[3] = True
            self.counts.append(self.length)
        self.length = 0

    def shape(self):
        flags = 1 if self.counts else 0
        for k, a in enumerate(self.n.attributes):
            flags |= 2 << k if a.form == VEC else 0
        return self.n.header, self.n.mask, flags, self.to

    def cells(self, group, cells):
        for (_, token), wide in zip(self.n.words, self.n.wides):
            if token & 7 == 7:
                token = len(group.wide) << 3 | 7
                group.wide.append(wide)
            cells.append(token)
        if self.n.header >> 19 & 1:
            cells.append(self.n.polls)
        for weight, count, fixed, varies in self.edges:
            cells += (weight, count, fixed + 1) if varies else (weight, 0 if count == weight else count, 0)
        if self.counts:
            cells += zigzag(len(self.counts)), group.body(self.counts, 0)
        if len(self.to) > 1:
            cells += 0, group.body(self.runs, 0)
        forms = iter(self.n.forms)
        for a, (own, elems) in zip(self.n.attributes, self.attributes):
            cells += 0, group.body(own, next(forms))
            if a.form == VEC:
                cells += zigzag(len(elems)), group.body(elems, next(forms))


def trained(forms):
    """A block whose coder has learned the common headers and the examples."""
    with open(os.path.join(RUNFILE, "examples.bin"), "rb") as f:
        first = Block(Coder(f.read(), 18), forms)
    first.c.training = True
    for header, classes in common_headers():
        first.headers.append(header)
        first.classes_of(header, classes)
    first.c.training = False
    groups_of(first.begin(first.c))
    return first


def event_groups(code, forms, paths, by_path):
    """Returns the groups of an event block; forms are the letters of each procedure's words, paths: call paths
    are coded in their own way, by_path: and graphs have their numbers in the block."""
    first = trained(forms)
    return groups_of(first.begin(first.c.begin(code), paths, by_path))


def groups_of(block):
    groups = []
    for _ in range(block.c.number(hash_of(MEMBERS, 1))):
        members = block.c.number(hash_of(MEMBERS, 2))
        group = Group(block.c.flag(hash_of(MEMBERS, 3)), members)
        groups.append(group)
        for _ in range(members):
            if group.kind == 1:
                group.add(Stream(block))
            else:
                group.add_list(block.definitions.list())
    return groups
