"""Prints what is in a run file, down to the words of every event.

usage: read.py SCHEMA FILE

This reader shares no code with the one in Go and does what efg/runfile/FORMAT.md says: it
proves that the page says enough. (Event blocks were read here before the page had them.) SCHEMA has one line for each procedure: its number and a
letter for each word from 3 on, s(calar), i(dent), v(ector) or l for a slot.
"""

import struct
import sys

from columns import M64, Block, need, unzigzag, xxh64
from events import event_groups
from groups import Body, Group, Predictions, Words, calls, definitions, derived, graph, start
from statistics_block import statistics, visits_of
from statistics_code import coded_statistics

META, STRINGS, SITES, GROUPS, STATISTICS, INDEX, PART, TRACE, EVENTS, TIMES, INDEX_TABLES, COUNTERS, STATISTICS_CODE, VALUES = range(1, 15)
SITE, MODULE = 9, 10


class File:
    def __init__(self, data, forms):
        self.data, self.forms = data, forms
        need(data[:8] == b"\x89EFG\r\n\x1a\n", "not a run file")
        self.version, features = struct.unpack("<LL", data[8:16])
        need((self.version == 2) == (features == 0) and self.version in (2, 3) and features & ~1048545 == 0, "version or features")
        self.in_call = features & 1
        self.timed = features >> 5 & 1
        self.early = features >> 6 & 1
        self.paths = features >> 10 & 1
        self.by_path = self.paths & features >> 13
        self.counted = features >> 11 & 1
        self.nested = features >> 15 & 1
        self.shared = features >> 12 & 1
        self.short = features >> 16 & 1
        self.ended = features >> 18 & 1
        need(data[-8:] == b"EFG.END\n", "truncated")
        at, length = self.trailer(features)
        self.tables = None
        if data[at] & 127 == INDEX_TABLES:
            self.index = Block(data[at : at + length], INDEX_TABLES)
            self.tables = self.index.split(7)
        else:
            self.index = Block(data[at : at + length], INDEX)
        self.blocks, offset = [], 16
        for kind in self.index.all(1):
            size = self.index.take(2)
            self.blocks.append((kind, data[offset : offset + size]))
            offset += size
        need(offset == at, "blocks do not end at the index")
        parts = [Block(d, PART) for k, d in self.blocks if k == PART]
        self.parts = [Body(b, 0) for b in parts]
        for b in parts:
            b.close()
        self.strings = self.lines() if self.tables else self.read_strings(self.one(STRINGS))
        self.read_index()

    def trailer(self, features):
        """Offset and length of the index."""
        data = self.data
        if features & 256:
            length, checksum = struct.unpack("<LL", data[-16:-8])
            need(checksum == xxh64(data[:16] + data[-16:-12]) & 0xFFFFFFFF, "checksum of the trailer")
            need(length <= len(data) - 32, "index out of place")
            return len(data) - 16 - length, length
        at, length, checksum = struct.unpack("<QQQ", data[-32:-8])
        need(checksum == xxh64(data[-32:-16]), "checksum of the trailer")
        need(16 <= at and at + length == len(data) - 32, "index out of place")
        return at, length

    def lines(self):
        """The strings in the columns before the index."""
        strings, line, escaped = [], b"", False
        for b in self.tables.bytes(0, self.tables.left(0)):
            if b == 0x1B and not escaped:
                escaped = True
            elif b == 10 and not escaped:
                strings.append(line)
                line = b""
            else:
                line, escaped = line + bytes([b]), False
        need(line == b"" and not escaped, "the last string does not end")
        return strings

    def one(self, kind):
        found = [Block(d, kind) for k, d in self.blocks if k == kind]
        need(len(found) == 1, "not one block of kind %d" % kind)
        return found[0]

    def read_strings(self, block):
        strings, last = [], b""
        while block.left(0):
            shared = block.below(0, len(last) + 1)
            last = last[:shared] + block.bytes(2, block.take(1))
            strings.append(last)
        block.close()
        return strings

    def property(self, i, n):
        body = Body(self.index, 15 + 6 * i)
        return list(body.values(n))

    def read_index(self):
        ix = self.index
        processes, streams, self.exact = ix.take(0), ix.take(0), ix.take(0)
        self.worlds = [(w, ix.take(4), unzigzag(ix.take(5))) for w in ix.all(3)]
        self.groups = []
        for kind, data in self.blocks:
            if kind == EVENTS:
                need(struct.unpack("<Q", data[-8:])[0] == xxh64(data[:-8]) and data[0] == EVENTS, "events block")
                new = event_groups(data[1:-8], self.forms, self.paths, self.by_path)
                need(len(new) == ix.take(6), "number of groups")
                self.groups += new
            if kind == GROUPS:
                block, known = Block(data, GROUPS), Predictions()
                block.parts = self.parts
                new = [Group(block, known) for _ in range(block.left(0)) if block.left(0)]
                block.close()
                need(len(new) == ix.take(6), "number of groups")
                self.groups += new
        ix.all(7), ix.all(8), ix.all(9)
        self.times, first = [], 0
        for kind, data in self.blocks:
            if kind in (STATISTICS, STATISTICS_CODE):
                first += ix.take(10)
                self.times.append((first, ix.take(11), data if kind == STATISTICS else coded_statistics(data, self.shared, self.short)))
        self.counters = [data for kind, data in self.blocks if kind == COUNTERS]
        need(len(self.counters) == (len(self.times) if self.counted else 0), "number of blocks of counters")
        self.traces, first = [], 0
        for kind, data in self.blocks:
            if kind in (TRACE, TIMES, VALUES):
                first += ix.take(12)
                self.traces.append((first, ix.take(13), data))
        self.hashes = ix.all(14)
        self.processes = list(zip(*(self.property(i, processes) for i in range(11))))
        self.streams = list(zip(*(self.property(11 + i, streams) for i in range(7 + self.in_call + self.early))))
        at = 18 + self.in_call + self.early
        if self.timed:
            self.anchors = [anchors(p, v) for p, v in zip(self.processes, zip(*(self.property(at + i, processes) for i in range(8))))]
            at += 8
        self.gone = self.property(at, processes) if self.ended else [0] * processes
        need(all(ns < 1 << 61 for ns in self.gone), "time at which a process was gone")
        ix.close()

    def members(self):
        """Yields each process with its definitions' and its streams' members."""
        seen, at, ordinal = [0] * len(self.groups), 0, []

        def next_of(group):
            seen[group] += 1
            return group, seen[group] - 1

        for p in self.processes:
            own = []
            for k, s in enumerate(self.streams[at : at + p[9]]):
                pending = next_of(s[7] - 1) if self.in_call and s[7] else None
                own.append((next_of(s[5]), s, at + k, pending))
            at += p[9]
            yield p, next_of(p[8]), own
        need(at == len(self.streams), "streams without a process")

    def callsites(self):
        """Modules and offsets of the callsites in event blocks."""
        found = set()
        for group in self.groups:
            for cells in getattr(group, "definitions", []):
                for d in cells:
                    if d.kind == SITE and len(d.words) in (2, 3) and d.words[0][0] & 7 == 2 and d.words[1][0] & 7 == 0:
                        n = d.words[0][0] >> 3
                        if n < len(cells) and cells[n].kind == MODULE and cells[n].flags & 2:
                            found.add((self.strings[cells[n].text], unzigzag(d.words[1][0] >> 3) & M64))
        return sorted(found)

    def sites_of_index(self):
        block, offset, known = self.tables, 0, iter(self.callsites())
        while block.left(2):
            module, at, word = block.take(2), 0, None
            if module == 0:
                path, word = b"", block.take(4)
            elif module == 1:
                path, at = next(known)
            else:
                offset = offset + unzigzag(block.take(3)) & M64
                path, at = self.strings[module - 2], offset
            if word is None:
                word = derived(SITE, [derived(MODULE, [], path), at], b"")
            stored, name = block.take(5), path.split(b"\0")[0].rsplit(b"/", 1)[-1]
            place = self.strings[stored - 1] if stored else b"%s+0x%x" % (name, at)
            yield word, place, self.strings[block.take(6)]
        block.all(1)
        block.close()

    def sites(self):
        if self.tables:
            yield from self.sites_of_index()
            return
        block, offset = self.one(SITES), 0
        while block.left(0):
            module = block.take(0)
            if module:
                offset = offset + unzigzag(block.take(1)) & M64
                owner = derived(MODULE, [], self.strings[module - 1])
                word = derived(SITE, [owner, offset], b"")
            else:
                word = block.take(2)
            yield word, self.strings[block.take(3)], self.strings[block.take(4)]
        block.close()


def anchors(process, stored):
    """Returns the two anchors of a process: tick, monotonic clock, time of day, width."""
    tick, mono, real, width, ticks, passed, real2, width2 = stored
    behind = unzigzag(process[10])
    if tick == 0:
        return None
    first = (tick, mono, mono + behind + unzigzag(real), width)
    tick, mono = tick + ticks & M64, mono + passed & M64
    return first, (tick, mono, mono + behind + unzigzag(real2), width2)


def walk(nodes, events, forms):
    """Yields the node and the words of each event."""
    for n, visited in zip(nodes, visits_of(nodes)):
        n.open(visited)
    at = start(nodes)
    for i in range(events):
        if i > 0:
            at = nodes[at].step()
        yield at, nodes[at].event(forms.get(nodes[at].words[0] & 0xFFFF, ""))


class Walk:
    """What a node needs while it is walked through."""

    def __init__(self, node, group):
        self.n, self.group = node, group
        self.words, self.to, self.edges, self.polls = node.words, node.to, node.edges, node.polls

    def sequence(self, ref, expected=0, word=None):
        length, body = ref
        if body is None:
            return iter(())
        return self.group.bodies[body].values(expected + length, word)

    def open(self, visits):
        n = self.n
        self.counts = self.sequence(n.counts)
        fixed = sum(f for _, _, f in n.edges)
        self.runs = self.sequence(n.runs, fixed + n.counts[0])
        self.left, self.cur, self.used = 0, 0, [0] * len(n.to)
        if len(n.to) == 1:
            self.left = n.edges[0][0]
        self.attributes = []
        for k in range(1, 32):
            if n.mask >> k & 1 and n.attributes:
                values, elems = n.attributes[len(self.attributes)]
                self.attributes.append(
                    (k, self.sequence(values, visits, n.word), self.sequence(elems, 0, n.word))
                )

    def step(self):
        if self.left == 0:
            need(len(self.to) > 1, "more steps than the edge's weight")
            self.cur = next(self.runs)
            _, count, fixed = self.edges[self.cur]
            self.left = count if self.used[self.cur] < fixed else next(self.counts)
            self.used[self.cur] += 1
            need(self.left > 0, "empty branch run")
        self.left -= 1
        return self.to[self.cur]

    def event(self, forms):
        words = list(self.words)
        for k, values, elems in self.attributes:
            v = next(values)
            form = forms[k - 3] if 3 <= k < len(forms) + 3 else "s"
            if form in "iv" and v & 1:
                v = 1 << 63 | v >> 1
            elif form == "i":
                v = self.n.word.definitions[v >> 1][1]
            elif form == "v":
                content = [next(elems) for _ in range(v >> 1)]
                v = derived(None, content, b"")
            words[k] = v
        return words


def hexes(words):
    return " ".join("%x" % w for w in words)


def show(f, forms, out):
    for word, place, function in sorted(f.sites()):
        out.write("site %x %r %r\n" % (word, place.decode(), function.decode()))
    for i, (p, defs, streams) in enumerate(f.members()):
        world, rank, size, pid, host, mpi, command, start = p[:8]
        rank, size = unzigzag(rank), unzigzag(size)
        base = sum(w[1] for w in f.worlds[:world])
        out.write(
            "process %d of %d in %d: pid %d, start %d, %r %r %r\n"
            % (rank + base if rank >= 0 else rank, size, f.worlds[world][0], unzigzag(pid), unzigzag(start),
               f.strings[host].decode(), f.strings[mpi].decode(), f.strings[command].decode())
        )
        found = definitions(f.groups[defs[0]], defs[1], f.strings, rank, size)
        if f.timed and f.anchors[i]:
            out.write("anchors %r\n" % (f.anchors[i],))
        if f.gone[i]:
            out.write("gone after %d ns\n" % f.gone[i])
        for kind, word, words, data in found:
            out.write("definition %d %x [%s] %s\n" % (kind, word, hexes(words), data.hex()))
        graphs = [graph(f.groups[group], member, found, s[0], rank, size) for (group, member), s, _, _ in streams]
        times = list(statistics(f, i, graphs, found))
        states, counted = counters(f, i)
        if states:
            out.write("counters %s\n" % " ".join(map(str, states)))
        for j, ((group, member), s, number, pending) in enumerate(streams):
            out.write("thread %d: end %d, %d events, %d dropped, %d words\n" % s[:5])
            if f.exact:
                out.write("hash %x\n" % f.hashes[number])
            nodes = graphs[j]
            if pending:
                entered = list(calls(f.groups[pending[0]], pending[1], found, s[0], len(nodes), rank, size))
                need(len(entered) == 1 or f.nested, "calls inside a call in progress")
                for since, words in entered:
                    out.write("in call since %d: %s\n" % (since, hexes(words)))
            events = []
            for node, words in walk([Walk(n, f.groups[group]) for n in nodes], s[2], forms):
                events.append(node)
                out.write(hexes(words) + "\n")
            show_trace(f, number, nodes, events[: timed_events(f, number)], out)
            show_times([t[1:] for t in times if t[0] == j], out)
            show_counters(counted[j] if counted else [], out)


def bin_values(parts):
    values, low = [], 0
    while low < 1 << 62:
        values.append(low + low * parts // 10000)
        low = values[-1] + values[-1] * parts // (10000 - parts) + 1
    return values


def code(block, column):
    stored = block.take(column)
    return (stored - 1, 0) if stored else (block.take(6), unzigzag(block.take(7)))


def interval_of(of, values, parts):
    v, fine = values[of[0]], of[1]
    return v + fine * max(1, min(100 * parts, v * parts // 10000) // 4)


def numbered(number, error, bound, known):
    """Returns the interval with a number. known are those from 0 on, which grow here."""
    if error == 0:
        return number
    while known[-1] * error // 10000 < 2 * bound:
        known.append(known[-1] + 1 + min(known[-1] * error // 10000, 2 * bound))
    last = len(known) - 1
    return known[number] if number <= last else known[last] + (number - last) * (1 + 2 * bound)


class Times:
    """The intervals in a block of kind TIMES, in ticks."""

    gap = 5

    def head(self, block):
        self.error, self.bound, begin, now = (block.take(c) for c in (1, 2, 3, 4))
        self.known = [0]
        return begin, now

    def pass_over(self, block, nodes, events, early):
        for _ in range(nodes if early else 0):
            block.take(8)
        for _ in range(events):
            self.interval(block, 5), self.interval(block, 6)

    def early_visits(self, block):
        return block.take(8)

    def node(self, block, events):
        gaps = [self.interval(block, 5) for _ in range(events)]
        durations = [self.interval(block, 6) for _ in range(events)]
        return zip(gaps, durations, self.values(block, events))

    def values(self, block, events):
        return [[]] * events

    def interval(self, block, column):
        stored = block.take(column)
        return numbered(stored - 1, self.error, self.bound, self.known) if stored else block.take(7)


class Values(Times):
    """The intervals in a block of kind VALUES, and what the counters counted."""

    def head(self, block):
        self.counters = block.take(9)
        return super().head(block)

    def pass_over(self, block, nodes, events, early):
        super().pass_over(block, nodes, events, early)
        self.values(block, events)

    def values(self, block, events):
        columns = [[self.value(block, 10 + 2 * c) for _ in range(events)] for c in range(self.counters)]
        return [[column[i] for column in columns] for i in range(events)]

    def value(self, block, column):
        stored = block.take(column)
        return "%d/%d" % (block.take(column + 1), stored - 1) if stored else "-"


class Trace:
    """The intervals in a block of kind TRACE, in ns."""

    gap = 4

    def head(self, block):
        self.parts, begin, now = (block.take(c) for c in (1, 2, 3))
        self.values = bin_values(self.parts)
        return begin, now

    def pass_over(self, block, nodes, events, early):
        for _ in range(events):
            code(block, 4), code(block, 5)

    def node(self, block, events):
        codes = [(code(block, 4), code(block, 5)) for _ in range(events)]
        return iter([[interval_of(c, self.values, self.parts) for c in pair] + [[]] for pair in codes])


def untimed(f, number):
    return f.streams[number][7 + f.in_call] if f.early else 0


def timed_events(f, number):
    return f.streams[number][2] - untimed(f, number)


def show_trace(f, number, nodes, events, out):
    """Shows start and end of each of the events, the first ones of a stream, if it has times."""
    order = sorted(range(len(nodes)), key=lambda n: (nodes[n].words[0], nodes[n].words[1], n))
    for first, count, data in f.traces:
        if not first <= number < first + count:
            continue
        kind = data[0] & 127 if data[0] & 128 else data[0]
        block, form = Block(data, kind), {TIMES: Times, VALUES: Values, TRACE: Trace}[kind]()
        for at in range(first, number):
            stored = block.take(0)
            if stored:
                form.head(block)
                form.pass_over(block, stored - 1, timed_events(f, at), untimed(f, at) > 0)
        if block.take(0) == 0:
            return
        begin, now = form.head(block)
        part = events[: len(events) if count > 1 else block.left(form.gap)]
        events = events[len(part) :]
        early = kind != TRACE and not events and untimed(f, number) > 0 and (count > 1 or block.left(8))
        intervals = {}
        for n in order:
            if early:
                need(form.early_visits(block) == part.count(n), "visits of a node")
            intervals[n] = form.node(block, part.count(n))
        for n in part:
            gap, duration, values = next(intervals[n])
            start = now + gap
            now = start + duration
            out.write(" ".join(["%d to %d" % (begin + start, begin + now)] + values) + "\n")


def tally_bin(v):
    return min((v & M64).bit_length(), 47)


def tally(block, column, events, form):
    """Returns sum, minimum, maximum and bins."""
    low = block.take(column)
    bins = [0] * 48
    if form == 1:
        high, total = block.take(column + 1), block.take(column + 2)
        return total, low, high, [block.take(column + 3) for _ in range(48)]
    if events == 1:
        bins[tally_bin(low)] = 1
        return low, low, low, bins
    high = low + block.take(column + 1) & M64
    first, last, left = tally_bin(low), tally_bin(high), events
    for i in range(first, last):
        bins[i] = block.take(column + 3)
        left -= bins[i]
    bins[last] = left & 0xFFFFFFFF
    if first == last:
        typical = low + high + (events - 2) * (low + (high - low) // 2)
    else:
        typical = low + high + sum((n - (i in (first, last))) * (i if i < 2 else 3 << i - 2) for i, n in enumerate(bins) if first <= i <= last)
    return unzigzag(block.take(column + 2)) + typical & M64, low, high, bins


def counters(f, process):
    """Returns the states of a process's counters, and for each of its streams what was counted."""
    for (first, count, _), data in zip(f.times, f.counters):
        if not first <= process < first + count:
            continue
        block = Block(data, COUNTERS)
        number = block.take(0)
        for at in range(first, process + 1):
            states = [block.below(0, 8) for _ in range(number)]
            streams = [stream_counters(block, states) for _ in range(f.processes[at][9])]
        return states, streams
    return [], []


def stream_counters(block, states):
    found = []
    if not any(s & 1 for s in states):
        return found
    nodes = block.take(1)
    for c, state in enumerate(states):
        at, events = 2 + 10 * c, 0
        for node in range(nodes if state & 1 else 0):
            events = events + unzigzag(block.take(at)) & M64
            if events:
                form = block.below(at + 1, 2)
                found.append((node, c, events, tally(block, at + 2, events, form), tally(block, at + 6, events, form)))
    return sorted(found)


def show_counters(counted, out):
    for node, c, events, *tallies in counted:
        out.write("counter %d of node %d: %d" % (c, node, events))
        for total, low, high, bins in tallies:
            out.write("; %d %d %d %s" % (total, low, high, " ".join(map(str, bins))))
        out.write("\n")


def show_times(times, out):
    for node, (events, intervals) in times:
        out.write("times of node %d: %d" % (node, events))
        for total, low, high, bins in intervals:
            out.write("; %d %d %d %s" % (total, low, high, " ".join(map(str, bins))))
        out.write("\n")


def main():
    """Shows files. Standard input has the forms of each procedure's words, an empty line, and the name of a file in each
    line. A line "." follows what is shown of each."""
    forms = {}
    for line in iter(sys.stdin.readline, "\n"):
        number, _, letters = line.rstrip("\n").partition(" ")
        forms[int(number)] = letters
    for path in sys.stdin:
        with open(path.rstrip("\n"), "rb") as file:
            show(File(file.read(), forms), forms, sys.stdout)
        print(".", flush=True)


main()
