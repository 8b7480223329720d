"""Sequences and groups of a run file, as efg/runfile/FORMAT.md specifies them."""

import struct

from columns import M64, need, unzigzag, xxh64

REACH = (4096, 256, 256)
IDENT = (1 << 62) - 1
VEC, SITE, MODULE, COMM, REGION = 2, 9, 10, 6, 11


class Body:
    """A sequence without its length."""

    def __init__(self, block, first):
        self.form = block.below(first, 8)
        self.symbols, self.parts = [], None
        while True:
            kind = block.below(first + 1, 9)
            if kind == 4:
                break
            if kind == 8:
                need(not self.symbols and block.parts is not None, "parts out of place")
                lengths = [block.take(first + 5) for _ in range(block.take(first + 4))]
                at = block.take(first + 2)
                block.take(first + 2), block.take(first + 2)
                need(at + len(lengths) <= len(block.parts) and all(lengths), "parts")
                self.parts = list(zip(lengths, block.parts[at:]))
                break
            if kind == 0:
                self.symbols.append((None, block.take(first + 2 + (self.form & 1)), 0))
                continue
            level = kind - 1 if kind < 4 else kind - 5
            distance = block.below(first + 4, REACH[level])
            need(distance > 0, "distance 0")
            length = block.take(first + 5) if kind < 4 else None
            need(length is None or 0 < length < 1 << 63, "length of a repeat")
            self.symbols.append((level, distance, length))
            if length is None:
                break

    def unfold(self):
        """Yields values, differences still, as long as there are some."""
        stream = iter(self.symbols)
        for level in (2, 1, 0):
            stream = _level(stream, level)
        return (y[1] for y in stream)

    def values(self, n, word=None):
        """Yields n values; word turns tokens into words."""
        if self.parts is not None:
            for length, part in self.parts:
                for v in part.values(min(length, n)):
                    yield word(v) if self.form & 2 and word else v
                n -= min(length, n)
            need(n == 0, "sequence ends early")
            return
        last, values = 0, self.unfold()
        for _ in range(n):
            v = next(values, None)
            need(v is not None, "sequence ends early")
            if self.form & 1:
                last = v = last + unzigzag(v) & M64
            yield word(v) if self.form & 2 and word else v


def _level(symbols, level):
    done = []
    for y in symbols:
        if y[0] != level:
            need(level > 0 or y[0] is None, "repeat of a level that is none")
            done.append(y)
            yield y
            continue
        _, distance, length = y
        need(distance <= len(done), "repeat before the start")
        while length is None or length > 0:
            y = done[-distance]
            done.append(y)
            if len(done) > 2 * REACH[0]:
                del done[: REACH[0]]
            yield y
            length = None if length is None else length - 1


class Predictions:
    def __init__(self):
        self.words, self.masks, self.headers, self.bodies = {}, {}, [], []
        self.site = self.weight = self.text = 0


class Group:
    def __init__(self, block, predictions):
        self.block, self.known = block, predictions
        head = block.take(0)
        self.kind, self.members = head & 3, head >> 2
        need(self.members > 0, "group without members")
        count = block.take(1)
        shape = (self.definition_shape, self.node_shape, self.marks_shape, self.call_shape)[self.kind]
        self.shape = [shape(i, count) for i in range(count)]
        self.wide = [block.take(22) for _ in range(block.take(21))]
        self.bodies, self.cells = [], []
        if self.kind == 2:
            self.number(15)
            self.sequence(14, 99)
            self.sequence(14, 99)
        cells = (self.definition_cells, self.node_cells, self.marks_cells, self.call_cells)[self.kind]
        for item in self.shape:
            cells(item)

    # Shapes.

    def header(self):
        b, known = self.block, self.known
        n = b.below(2, len(known.headers) + 1)
        if n == 0:
            known.headers.append(b.take(3))
        return known.headers[n - 1]

    def node_shape(self, i, count):
        b, known = self.block, self.known
        header = self.header()
        mask = known.masks[header] = b.take(4) ^ known.masks.get(header, 0)
        words = header >> 24 & 0xFF
        need(3 <= words <= 32 and mask & 1 == 0 and mask >> words == 0, "form of a node")
        flags = b.take(5)
        to = [i + 1 + unzigzag(b.take(7)) for _ in range(b.take(6))]
        need(all(0 <= t < count for t in to), "edge to no node")
        need(not counted(header) or flags == 0 and not to, "edges from counted polls")
        return header, mask, flags, to

    def call_shape(self, i, count):
        header = self.header()
        need(count <= 32 and 3 <= header >> 24 & 0xFF <= 32 and not counted(header), "form of a call")
        return header

    def definition_shape(self, i, count):
        head, words = self.block.take(8), self.block.take(9)
        need(head >> 2 <= REGION, "kind of a definition")
        return head >> 2, head & 3, words

    def marks_shape(self, i, count):
        return self.block.take(105)

    # Cells. A cell is ("=", value) or ("*", list of the members' values).

    def varies(self):
        return self.members > 1 and self.block.below(10, 2) == 1

    def member_values(self):
        return ("*", list(Body(self.block, 93).values(self.members)))

    def number(self, column):
        if self.varies():
            self.cells.append(self.member_values())
            return
        v = self.block.take(column)
        if column == 11:
            v = self.known.weight = self.known.weight + unzigzag(v) & M64
        self.cells.append(("=", v))

    def text(self):
        if self.varies():
            self.cells.append(self.member_values())
            return
        self.known.text += unzigzag(self.block.take(16))
        self.cells.append(("=", self.known.text))

    def sequence(self, length, role):
        self.number(length)
        if self.varies():
            for _ in range(self.block.take(19)):
                self.add_body(role)
            self.cells.append(self.member_values())
            return
        back = self.block.below(17, len(self.bodies) + 1)
        if back == 0:
            self.add_body(role)
            back = 1
        self.cells.append(("=", len(self.bodies) - back))

    def add_body(self, role):
        known = self.known.bodies
        back = self.block.below(18, len(known) + 1)
        if back == 0:
            known.append(Body(self.block, role))
            back = 1
        self.bodies.append(known[-back])

    def token(self, of, index, column):
        if self.varies():
            self.block.take(20)
            self.cells.append(self.member_values())
            return
        known = self.known
        site = known.site if self.kind and index > 1 else 0
        guess = known.words.get((of, site, index), known.words.get((of, 0, index), 0))
        c = self.block.take(column)
        t = c >> 1
        if c & 1 == 0:
            t = ((guess >> 3) + unzigzag(c >> 1)) << 3 & M64 | guess & 7
        known.words[of, site, index] = known.words[of, 0, index] = t
        if self.kind and index == 1:
            known.site = t
        self.cells.append(("=", t))

    def node_cells(self, node):
        header, mask, flags, to = node
        for k in range(1, header >> 24 & 0xFF):
            if mask >> k & 1 == 0:
                self.token(header, k, 31 + k)
        if counted(header):
            self.number(11)
            return
        for _ in to:
            for column in (11, 12, 13):
                self.number(column)
        if flags & 1:
            self.sequence(15, 69)
        if len(to) > 1:
            self.sequence(14, 63)
        for k in range(bin(mask).count("1")):
            self.sequence(14, 75)
            if flags >> k + 1 & 1:
                self.sequence(15, 81)

    def definition_cells(self, definition):
        kind, flags, words = definition
        if not flags & 1:
            self.token(kind, 0, 23)
        if flags & 2:
            self.text()
        if kind == VEC:
            self.sequence(15, 87)
        for k in range(1, words + 1):
            self.token(kind, k, 23 + min(k, 7))

    def call_cells(self, header):
        self.number(12)
        for k in range(1, header >> 24 & 0xFF):
            self.token(header, k, 31 + k)

    def marks_cells(self, checkpoints):
        runs, elems = checkpoints >> 6, checkpoints & 63
        for _ in range(1 + (1 if runs else 0) + runs + elems):
            self.sequence(14, 99)

    def member(self, m):
        need(m < self.members, "no such member")
        return iter([c[1] if c[0] == "=" else c[1][m] for c in self.cells])


class Words:
    """What tokens stand for at one place."""

    def __init__(self, group, definitions, thread=0, node=0, rank=0, size=0):
        self.group, self.definitions = group, definitions
        self.thread, self.node, self.rank, self.size = thread, node, rank, size

    def definition(self, n):
        return self.definitions[n][1] if n < len(self.definitions) else 0

    def __call__(self, t):
        v, kind = t >> 3, t & 7
        if kind == 0:
            return unzigzag(v) & M64
        if kind == 1:
            return 1 << 63 | v
        if kind == 2:
            return self.definition(v)
        if kind == 5:
            r = self.rank + unzigzag(v)
            return r - self.size if r >= self.size else r + self.size if r < 0 else r
        if kind == 6:
            return 1 << 62 | v >> 46 << 50 | (v >> 20 & (1 << 26) - 1) << 24 | v & (1 << 20) - 1
        if kind == 7:
            need(v < len(self.group.wide), "no such wide word")
            return self.group.wide[v]
        a, s = (v >> 7, v >> 1 & 63) if v & 1 == 0 else (v >> 25, v >> 1 & (1 << 24) - 1)
        if kind == 3:
            return self.definition(a) >> 24 << 24 | s
        return 1 << 62 | self.thread << 50 | (self.node - unzigzag(a)) << 24 | s


def derived(kind, words, data):
    if kind == MODULE:
        path, _, build = data.partition(b"\0")
        return xxh64(build or path[path.rfind(b"/") + 1 :]) & IDENT
    return xxh64(struct.pack("<%dQ" % len(words), *words) + data) & IDENT


def definitions(group, m, strings, rank, size):
    """Returns member m of a group: lists of kind, word, words, data."""
    need(group.kind == 0, "a graph in place of definitions")
    cells, found = group.member(m), []
    word = Words(group, found, rank=rank, size=size)
    for kind, flags, count in group.shape:
        own = None if flags & 1 else word(next(cells))
        data = strings[next(cells)] if flags & 2 else b""
        if kind == VEC:
            n = unzigzag(next(cells))
            words = list(group.bodies[next(cells)].values(n, word))
        else:
            words = [word(next(cells)) for _ in range(count)]
        found.append((kind, derived(kind, words, data) if own is None else own, words, data))
    return found


def signed(w):
    return w - (1 << 64) if w >> 63 else w


def place_among(ranges, rank):
    before = 0
    for k in range(0, len(ranges) - 2, 3):
        first, count, stride = (signed(w) for w in ranges[k : k + 3])
        at = rank - first
        if stride and at % stride == 0 and 0 <= at // stride < count:
            return before + at // stride
        if stride == 0 and at == 0 and count == 1:
            return before
        before += count
    return -1


def communicators(found, rank):
    known = {}
    for kind, word, words, _ in found:
        if kind == COMM and len(words) >= 4 and words[3] == len(words) - 4:
            known[word] = (place_among(words[4:], rank), words[2])
    return known


class Node:
    pass


def graph(group, m, found, thread, rank, size):
    """Returns the nodes of member m of a group."""
    need(group.kind == 1, "definitions in place of a graph")
    cells, nodes, known = group.member(m), [], communicators(found, rank)
    for i, (header, mask, flags, to) in enumerate(group.shape):
        n = Node()
        word = Words(group, found, thread, i)
        n.words, n.mask, n.to, n.word = [header], mask, to, word
        for k in range(1, header >> 24 & 0xFF):
            n.words.append(0 if mask >> k & 1 else word(next(cells)))
            if k == 2:
                word.rank, word.size = rank, size
                if not mask & 4:
                    word.rank, word.size = known.get(n.words[2] >> 24 << 24, (rank, size))
        n.polls = next(cells) if counted(header) else 0
        n.edges = [edge(next(cells), next(cells), next(cells)) for _ in to]
        n.counts = (unzigzag(next(cells)), next(cells)) if flags & 1 else (0, None)
        n.runs = (unzigzag(next(cells)), next(cells)) if len(to) > 1 else (0, None)
        n.attributes = []
        for k in range(0 if counted(header) else bin(mask).count("1")):
            values = (unzigzag(next(cells)), next(cells))
            elems = (unzigzag(next(cells)), next(cells)) if flags >> k + 1 & 1 else (0, None)
            n.attributes.append((values, elems))
        nodes.append(n)
    return nodes


def calls(group, m, found, thread, nodes, rank, size):
    """Yields since and words of member m of a group, a call in progress and those inside it."""
    need(group.kind == 3 and group.shape, "a group of another kind in place of a call")
    cells, known = group.member(m), communicators(found, rank)
    for header in group.shape:
        since, words = next(cells), [header]
        word = Words(group, found, thread, nodes)
        for k in range(1, header >> 24 & 0xFF):
            words.append(word(next(cells)))
            if k == 2:
                word.rank, word.size = known.get(words[2] >> 24 << 24, (rank, size))
        yield since, words


def counted(header):
    """Are the polls of such a node only counted?"""
    return header >> 19 & 1 == 1


def start(nodes):
    """Returns the number of the node of the first event, None if there is none."""
    return next((i for i, n in enumerate(nodes) if not counted(n.words[0])), None)


def edge(weight, count, fixed):
    """Returns weight, Count, Fixed."""
    if fixed > 0:
        return weight, count, fixed - 1
    if count > 0:
        need(weight % count == 0, "a count that does not divide its weight")
        return weight, count, weight // count
    return weight, weight, 1
