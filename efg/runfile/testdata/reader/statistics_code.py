"""Statistics as a code, as efg/runfile/FORMAT.md specifies it."""

import os
import struct

from columns import M64, need, unzigzag, xxh64, zigzag
from mixing import Coder, hash_of
from statistics_block import SINGLE, WHOLE, bin_of, typical_sum

NUMBER, REST, ROUND, LIKE, FORM, COUNT, TIME, BIN, MOST, SHARE = range(1, 11)
MIN, ONE, MAX, SUM, BINS, MOSTLY = range(6)
FINE, COARSE, ROUGH = 3, 2, 1


def context(*values):
    return hash_of(*(v & M64 for v in values))


def shift_of(grid, v):
    return max(v.bit_length() - 1 - grid, 0)


def cell_of(grid, v):
    shift = shift_of(grid, v)
    return (shift << grid) + (v >> shift)


def least_in(grid, cell):
    need(0 <= cell <= cell_of(grid, M64), "cell %d" % cell)
    shift = max((cell >> grid) - 1, 0)
    return cell - (shift << grid) << shift


def divided(a, b):
    """The quotient, rounded towards 0."""
    return a // b if a >= 0 else -(-a // b)


class Average:
    """In sixteenths."""

    def __init__(self, other=None):
        self.value = other.value if other else 0

    def toward(self, v, before):
        self.value += divided(v * 16 - self.value, before + 1)

    def nearest(self):
        return self.value + 8 >> 4


class Trail:
    def __init__(self, root, like=None):
        self.root, self.form, self.count = root, 0, 0
        self.intervals = [Seen(), Seen()]
        if like:
            self.root, self.form, self.count = like.root, like.form, like.count
            self.intervals = [Seen(v) for v in like.intervals]


class Seen:
    def __init__(self, like=None):
        self.times = list(like.times) if like else [0] * 4
        self.level = [Average(like and like.level[i]) for i in range(4)]
        self.spread = [Average(like and like.spread[i]) for i in range(4)]
        self.drift = list(like.drift) if like else [0] * 4
        self.bins = list(like.bins) if like else [0] * 32

    def note(self, what, level, d):
        self.level[what].toward(level, self.times[what])
        self.spread[what].toward(cell_of(COARSE, zigzag(d)), min(self.times[what], 3))
        self.times[what] = min(self.times[what] + 1, 7)
        self.drift[what] = 0 if d < -1 else 2 if d > 1 else 1


class Statistics:
    """The statistics of the streams of a block: of each nodes, groups, a list of statistics, and shares."""

    def __init__(self, coder, shared, short):
        self.c, self.shared, self.short = coder, shared, short
        self.byte = coder.short if short else coder.byte
        self.trails, self.usual = [], [[Average() for _ in range(4)] for _ in range(2)]
        self.streams = [self.stream() for _ in range(self.number(0))]

    def number(self, what):
        return self.c.number(context(NUMBER, what))

    def stream(self):
        nodes = self.number(1)
        groups = self.number(2) if self.shared else 0
        self.rounding = self.number(3)
        need((groups == 0 or groups < nodes) and self.rounding <= 64, "a stream's statistics")
        self.last, expected, before, found = Trail(0), 1, 0, []
        for _ in range(groups or nodes):
            need(self.c.used < len(self.c.code) + 16, "the code ends early")
            before = self.c.value(12, [context(LIKE, 1, before), context(LIKE, 2)], context(LIKE, 3), before)
            like = before + expected & M64
            need(like <= len(self.trails), "statistics like others that are not there")
            if like:
                expected = like + 1
            at = Trail(len(self.trails), self.trails[like - 1] if like else None)
            self.trails.append(at)
            found.append(self.node(at))
            self.last = at
        shares = [[unzigzag(self.spread(15, [context(SHARE, i)])) for _ in range(groups and nodes - groups)] for i in range(2)]
        return nodes, groups, found, shares

    def node(self, at):
        form = self.c.value(13, [context(FORM, 1, at.form), context(FORM, 2, self.last.form)], context(FORM, 3), 0)
        need(form < 4, "form")
        at.form = form + 1
        if form == 0:
            return None
        n = self.last.count
        at.count = self.c.value(14, [context(COUNT, 1, at.count), context(COUNT, 2, at.root), context(COUNT, 3, n), (at.count, 1), (n, 1)],
                                context(COUNT, 4), n)
        return at.count, [self.interval(at, i, at.count, form) for i in range(2)]

    def interval(self, at, i, n, form):
        if form == WHOLE:
            total, low, high = (self.number(4) for _ in range(3))
            return total, low, high, [self.number(5) & 0xFFFFFFFF for _ in range(32)]
        bins = [0] * 32
        if form == SINGLE:
            low = self.time(at, i, ONE, 1, 0)
            bins[bin_of(low)] = 1
            return low, low, low, bins
        low = self.time(at, i, MIN, n, 0)
        high = self.time(at, i, MAX, n, cell_of(FINE, low))
        need(low <= high and n > 1, "minimum and maximum")
        self.bins(at, i, n, bins, bin_of(low), bin_of(high))
        return self.time(at, i, SUM, n, cell_of(FINE, typical_sum(n, low, high, bins))), low, high, bins

    def bins(self, at, i, n, bins, low, high):
        seen = at.intervals[i]
        if low == high:
            bins[low] = n & 0xFFFFFFFF
            return
        likely, most = -1, -1
        for b in range(low, high + 1):
            if seen.bins[b] > (seen.bins[likely] if likely >= 0 else 0):
                likely = b
        contexts = [context(MOST, 1, i, likely - low, high - low), context(MOST, 2, i, high - low), context(MOST, 3, i, likely - low)]
        most = low + self.byte(i * 6 + MOSTLY, contexts)
        need(most <= high, "the bin with most events")
        total = sum(seen.bins[low : high + 1])
        weights = {b: 16 * seen.bins[b] + (total + 64 >> min(2 * abs(b - most), 5)) + 1 for b in range(low, high + 1)}
        rest, left, before, grid = sum(weights.values()), n, 0, ROUGH if self.rounding else COARSE
        size = min(n.bit_length(), 12)
        for b in range(low, high + 1):
            if b == most:
                continue
            expected = cell_of(grid, left * weights[b] // rest)
            x, end = expected * 2 + i, (b == low) + 2 * (b == high)
            contexts = [
                context(BIN, grid, 1, x, end),
                context(BIN, grid, 2, x, int(seen.times[MIN] > 1), size),
                context(BIN, grid, 3, x, end, before),
                context(BIN, grid, 4, b - most, size, end),
                context(BIN, grid, 5, at.root, i, b),
            ]
            before = self.difference(i, BINS, contexts[0:4:3] if self.short else contexts)
            c = self.in_cell(grid, expected + before, i, BINS)
            need(c <= left, "events in a bin")
            bins[b] = c
            left -= c
            rest -= weights[b]
        bins[most] = left & 0xFFFFFFFF
        seen.bins = [min(a + b, 1 << 40) for a, b in zip(seen.bins, bins)]

    def time(self, at, i, what, n, base):
        seen, usual = at.intervals[i], self.usual[i][what]
        expected = usual.nearest() + base
        if seen.times[what]:
            expected = seen.level[what].nearest() + (base if what == SUM else 0)
        known, spread, f, size = min(seen.times[what], 3), seen.spread[what].value >> 4, i * 6 + what, min(n.bit_length(), 12)
        contexts = [
            context(TIME, 1, f, known, spread),
            context(TIME, 2, f, min(known, 1), size),
            context(TIME, 3, f, at.root),
            context(TIME, 4, f, known, spread, self.last.intervals[i].drift[what]),
            context(TIME, 5, f),
        ]
        d = self.difference(i, what, contexts[3:] if self.short else contexts)
        cell = expected + d
        seen.note(what, cell - (base if what == SUM else 0), d)
        usual.toward(cell - base, 3)
        return self.in_cell(FINE, cell, i, what)

    def difference(self, i, what, contexts):
        return unzigzag(self.spread(i * 6 + what, contexts))

    def spread(self, kind, contexts):
        x = least_in(COARSE, self.byte(kind, contexts))
        return self.rest(x, shift_of(COARSE, x), 0)

    def in_cell(self, grid, cell, i, what):
        x = least_in(grid, cell)
        shift = shift_of(grid, x)
        known = 0
        if self.rounding:
            known = min(shift, self.rounding - 1) if what in (ONE, SUM) else shift
        if known and self.c.flag(context(ROUND, i, what)):
            return self.rest(x, shift, known) | ((1 << known) - 1 if what == MAX else 0)
        return self.rest(x, shift, 0)

    def rest(self, x, begin, end):
        plain = max(begin - end - 1, 0) if self.short else 0
        for b in range(begin - 1, end + plain - 1, -1):
            x |= self.c.flag(context(REST, min(begin - b, 4))) << b
        return x | self.c.plain(plain) << end


RUNFILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")


def coded_statistics(data, shared, short):
    """Returns nodes, groups, statistics and shares of the streams of a block."""
    need(struct.unpack("<Q", data[-8:])[0] == xxh64(data[:-8]) and data[0] == 13, "statistics block")
    return Statistics(trained(short).begin(data[1:-8]), shared, short).streams


def trained(short):
    """A coder that has learned the examples."""
    name, bits = ("statistics_short.bin", 13) if short else ("statistics.bin", 15)
    with open(os.path.join(RUNFILE, name), "rb") as f:
        c = Coder(f.read(), bits)
    for _ in range(c.number(context(NUMBER, 6))):
        Statistics(c, 0, short)
    return c
