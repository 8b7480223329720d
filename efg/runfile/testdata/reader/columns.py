"""Blocks and columns of a run file, as efg/block/FORMAT.md specifies them."""

import os
import struct
import subprocess

from mixing import Coder, hash_of

M64 = (1 << 64) - 1
P1, P2, P3, P4, P5 = (
    0x9E3779B185EBCA87,
    0xC2B2AE3D27D4EB4F,
    0x165667B19E3779F9,
    0x85EBCA77C2B2AE63,
    0x27D4EB2F165667C5,
)


class Broken(Exception):
    """The file is not what FORMAT.md says."""


def need(condition, what):
    if not condition:
        raise Broken(what)


def _rotl(v, n):
    return (v << n | v >> (64 - n)) & M64


def _round(acc, lane):
    return _rotl((acc + lane * P2) & M64, 31) * P1 & M64


def xxh64(data):
    n, at = len(data), 0
    if n >= 32:
        acc = [(P1 + P2) & M64, P2, 0, -P1 & M64]
        while at + 32 <= n:
            acc = [_round(a, x) for a, x in zip(acc, struct.unpack_from("<4Q", data, at))]
            at += 32
        h = sum(_rotl(a, r) for a, r in zip(acc, (1, 7, 12, 18))) & M64
        for a in acc:
            h = ((h ^ _round(0, a)) * P1 + P4) & M64
    else:
        h = P5
    h = (h + n) & M64
    while at + 8 <= n:
        h = (_rotl(h ^ _round(0, struct.unpack_from("<Q", data, at)[0]), 27) * P1 + P4) & M64
        at += 8
    if at + 4 <= n:
        h = (_rotl(h ^ struct.unpack_from("<L", data, at)[0] * P1 & M64, 23) * P2 + P3) & M64
        at += 4
    for b in data[at:]:
        h = _rotl(h ^ b * P5 & M64, 11) * P1 & M64
    h = (h ^ h >> 33) * P2 & M64
    h = (h ^ h >> 29) * P3 & M64
    return h ^ h >> 32


def zigzag(v):
    v &= M64
    return (v << 1 ^ (M64 if v >> 63 else 0)) & M64


def unzigzag(u):
    return u >> 1 ^ -(u & 1)


def uvarint(data, at):
    v = shift = 0
    while True:
        need(at < len(data) and shift < 70, "uvarint ends early")
        b = data[at]
        at += 1
        v |= (b & 0x7F) << shift
        shift += 7
        if b < 0x80:
            need(v <= M64, "uvarint of more than 64 bits")
            return v, at


class RangeDecoder:
    def __init__(self, data):
        self.data, self.at, self.range = data, 4, 0xFFFFFFFF
        self.code = int.from_bytes((data + bytes(4))[:4], "big")

    def _normalise(self):
        while self.range < 1 << 24:
            self.range = self.range << 8 & 0xFFFFFFFF
            b = self.data[self.at] if self.at < len(self.data) else 0
            self.code = (self.code << 8 | b) & 0xFFFFFFFF
            self.at += 1

    def bit(self, models, key):
        p, n = models.get(key, (1 << 15, 0))
        bound = (self.range >> 16) * p
        rate = (1 << 17) // (2 * n + 3)
        if self.code < bound:
            bit, self.range = 0, bound
            p += ((1 << 16) - p) * rate >> 16
        else:
            bit, self.code, self.range = 1, self.code - bound, self.range - bound
            p -= p * rate >> 16
        models[key] = (min(max(p, 32), 65504), min(n + 1, 30))
        self._normalise()
        return bit

    def plain(self):
        self.range >>= 1
        bit = self.code >= self.range
        if bit:
            self.code -= self.range
        self._normalise()
        return int(bit)

    def tree(self, models, name, bits):
        at = 1
        for _ in range(bits):
            at = at << 1 | self.bit(models, (name, at))
        return at - (1 << bits)

    def value(self, models, context):
        """Returns the value and its class."""
        found = self.tree(models, ("class", context), 8)
        c = min(found, 135)
        if c < 16:
            return c, found
        n = (c - 16 >> 1) + 5
        v = 2 | c & 1
        k = min(6, n - 2)
        v = v << k | self.tree(models, ("below", c), k)
        for _ in range(n - 2 - k):
            v = v << 1 | self.plain()
        return v, found


def adaptive(data, n, encoding):
    decoder, models, values = RangeDecoder(data), {}, []
    context = a = b = history = 0
    follow = {}
    for _ in range(n):
        hit, known = 0, encoding == 5 and (a, b) in follow
        if known:
            hit = decoder.bit(models, ("hit", history))
            history = (history << 1 | hit) & 15
        if hit:
            v = follow[a, b]
        else:
            v, c = decoder.value(models, context)
            context = c if encoding == 4 else 0
        if encoding == 5:
            if (a, b) in follow or len(follow) < 1 << 20:
                follow[a, b] = v
            a, b = b, v
        values.append(v)
    need(decoder.at >= len(data), "bytes left over in a column")
    return values


class StepDecoder:
    def __init__(self, data):
        need(len(data) >= 8, "no state")
        self.data, self.at, self.x = data, 8, int.from_bytes(data[:8], "little")
        self.models = {}

    def fill(self):
        if self.x < 1 << 31:
            word = (self.data[self.at : self.at + 4] + bytes(4))[:4]
            self.x = self.x << 32 | int.from_bytes(word, "little")
            self.at += 4

    def step(self, *name):
        if name not in self.models:
            self.models[name] = [[2048 * i for i in range(16)], 0]
        model = self.models[name]
        sums, n = model
        a = self.x % (1 << 15)
        s = max(i for i in range(16) if sums[i] <= a)
        above = sums[s + 1] if s < 15 else 1 << 15
        self.x = (above - sums[s]) * (self.x >> 15) + a - sums[s]
        self.fill()
        r = min((n + 1).bit_length(), 6)
        for i in range(16):
            sums[i] += (32736 >> r if i > s else 0) - (sums[i] - 2 * i >> r)
        model[1] = min(31, n + 1)
        return s

    def bits(self, k):
        v = 0
        while k > 0:
            part = min(k, 31)
            v = v << part | self.x % (1 << part)
            self.x >>= part
            self.fill()
            k -= part
        return v

    def value(self, before):
        """Returns the value and its first step."""
        s = self.step("first", before)
        if s < 15:
            return 16 * s + self.step("second", s), s
        length = k = self.step("length")
        if length == 15:
            m = self.step("great length")
            k = min(15 + 4 * m + self.bits(2), 55)
        t = self.step("top", length)
        u = self.step("next", length, t)
        return (((256 + 16 * t + u) << k) + self.bits(k) - 16) & M64, s


def steps(data, n):
    decoder, values, before = StepDecoder(data), [], 0
    for _ in range(n):
        v, before = decoder.value(before)
        values.append(v)
    need(decoder.x == 1 << 31 and decoder.at == len(data), "bytes left over in a column")
    return values


def packed(data, n):
    low, at = uvarint(data, 0)
    need(at < len(data) and data[at] <= 64, "no width")
    width = data[at]
    data = data[at + 1 :]
    need(len(data) == (n * width + 7) // 8, "packed column of a wrong length")
    bits = int.from_bytes(data, "little")
    mask = (1 << width) - 1
    return [low + (bits >> i * width & mask) & M64 for i in range(n)]


def uvarints(data, n):
    values, at = [], 0
    for _ in range(n):
        v, at = uvarint(data, at)
        values.append(v)
    need(at == len(data), "bytes left over in a column")
    return values


def unzstd(data):
    p = subprocess.run(["zstd", "-dcq"], input=data, stdout=subprocess.PIPE)
    need(p.returncode == 0, "zstd")
    return p.stdout


def column(encoding, data, n):
    if encoding == 0:
        return uvarints(data, n)
    if encoding == 1:
        return packed(data, n)
    if encoding == 2:
        return uvarints(unzstd(data), n)
    if encoding == 6:
        return steps(data, n)
    need(encoding <= 5, "unknown encoding %d" % encoding)
    return adaptive(data, n, encoding)


BLOCK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../block")


def examples(kind):
    """The columns of each example of a kind of block."""
    found, lines = [], None
    with open(os.path.join(BLOCK, "columns.txt")) as f:
        for line in f:
            fields = line.split()
            if fields[:1] == ["block"]:
                lines = []
                if int(fields[1]) == kind:
                    found.append(lines)
                continue
            lines.append(primer() if fields == ["text"] else [int(x) for x in fields])
    return found


def primer():
    with open(os.path.join(BLOCK, "primer.txt"), "rb") as f:
        return list(f.read())


class Mixed:
    """The columns of a mixed block of a kind."""

    trained = {}

    def __init__(self, code, kind):
        if kind not in self.trained:
            self.c = Coder(b"", 15)
            self.c.training = True
            for example in examples(kind):
                self.take(example)
            self.trained[kind] = self.c
        self.c = self.trained[kind].begin(code)
        self.take([])

    def take(self, given):
        c, self.columns, last, before = self.c, [], 0, 0
        for i in range(c.number(hash_of(1), len(given))):
            column = given[i] if given else []
            guesses = [hash_of(2, 1, i, last), hash_of(2, 2, last == 0, before == 0), hash_of(2, 3, i), (last, 1)]
            n = c.value(125, guesses, hash_of(2), last, len(column))
            last, before = n, last
            text = c.flag(hash_of(4, i), int(column == primer()))
            self.columns.append([])
            if text:
                self.text(i, n, column)
            else:
                self.column(i, n, column)

    def column(self, i, n, given):
        beside = self.columns[i - 1] if i else []
        a = b = d = 0
        for k in range(n):
            near = (beside[k] + 1) & M64 if k < len(beside) else 0
            guesses = [
                hash_of(3, 1, i, a), hash_of(3, 2, i, a, b), hash_of(3, 3, i, a, b, d), hash_of(3, 4, i),
                (2 * a - b & M64, 1), hash_of(3, 5, i, near), hash_of(3, 6, i, near, a), hash_of(3, 7, a, b),
            ]
            v = self.c.value(min(i, 124), guesses, hash_of(3, 8, i), a, given[k] if given else 0)
            self.columns[i].append(v)
            a, b, d = v, a, b

    def text(self, i, n, given):
        last = (0,) * 5
        for k in range(n):
            contexts = [hash_of(5, m, *last[:m]) for m in range(6)]
            v = self.c.byte(127, contexts, given[k] if given else 0)
            self.columns[i].append(v)
            last = (v,) + last[:4]


class Block:
    """Columns of a block, taken from front to back."""

    parts = None  # bodies of the parts of long sequences, where there can be some

    def __init__(self, data, kind):
        need(10 <= len(data) <= 1 << 30, "length of a block")
        body = data[:-8]
        need(struct.unpack("<Q", data[-8:])[0] == xxh64(body), "checksum differs")
        need(body[0] & 127 == kind, "block of kind %d, not %d" % (body[0] & 127, kind))
        if body[0] & 128:
            self.columns = Mixed(body[1:], kind).columns
            self.next = [0] * len(self.columns)
            return
        count, at = uvarint(body, 1)
        need(count <= 256, "%d columns" % count)
        entries = []
        while len(entries) < count:
            head, at = uvarint(body, at)
            if head == 0:
                more, at = uvarint(body, at)
                entries += [None] * (1 + more)
                continue
            size, at = uvarint(body, at)
            entries.append((head >> 3, head & 7, size))
        need(len(entries) == count, "more empty columns than columns")
        total = sum(e[0] for e in entries if e)
        need(total <= 128 * len(body) + 4096, "more values than its size allows")
        self.columns = []
        for e in entries:
            if e is None:
                self.columns.append([])
                continue
            n, encoding, size = e
            need(size <= len(body) - at, "payload ends early")
            self.columns.append(column(encoding, body[at : at + size], n))
            at += size
        need(not any(body[at:]), "padding is not zero")
        self.next = [0] * count

    def split(self, n):
        """Returns a block of the first n columns; this one has the others, numbered from 0."""
        first = object.__new__(Block)
        first.columns, self.columns = self.columns[:n], self.columns[n:]
        first.next, self.next = self.next[:n], self.next[n:]
        return first

    def left(self, c):
        return len(self.columns[c]) - self.next[c] if c < len(self.columns) else 0

    def take(self, c):
        need(self.left(c) > 0, "column %d ends early" % c)
        self.next[c] += 1
        return self.columns[c][self.next[c] - 1]

    def all(self, c):
        return [self.take(c) for _ in range(self.left(c))]

    def bytes(self, c, n):
        need(n <= self.left(c), "column %d ends early" % c)
        values = [self.take(c) for _ in range(n)]
        need(all(v < 256 for v in values), "byte above 255")
        return bytes(values)

    def below(self, c, limit):
        v = self.take(c)
        need(v < limit, "%d in column %d" % (v, c))
        return v

    def close(self):
        need(not any(self.left(c) for c in range(len(self.columns))), "values left over")
