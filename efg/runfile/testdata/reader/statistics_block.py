"""Statistics of nodes, as efg/runfile/FORMAT.md specifies them."""

from columns import M64, Block, need, unzigzag
from groups import counted, derived, start

SITE, STATISTICS = 9, 5
SINGLE, WHOLE = 1, 3


def statistics(f, process, graphs, words):
    """Yields the numbers of streams and nodes of a process, and their times; graphs has the nodes of each stream."""
    for first, count, data in f.times:
        if not first <= process < first + count:
            continue
        streams = iter(data if isinstance(data, list) else in_columns(f, first, process, data))
        for p in range(first, process + 1):
            for s in range(f.processes[p][9]):
                nodes, groups, found, shares = next(streams)
                if p == process:
                    if groups:
                        found = divided(found, shares, graphs[s], words)
                    yield from ((s, node, times) for node, times in enumerate(found) if times)
        return


def in_columns(f, first, process, data):
    """Yields nodes, groups, statistics and shares of the streams of a block."""
    block = Block(data, STATISTICS)
    for p in range(first, process + 1):
        for _ in range(f.processes[p][9]):
            nodes = block.take(9)
            groups = block.take(10) if f.shared else 0
            need(groups == 0 or groups < nodes, "shared statistics")
            found, events = [], 0
            for _ in range(groups or nodes):
                times = node_times(block, events)
                events = times[0] if times else events
                found.append(times and (events, [interval(x, events) for x in times[1]]))
            shares = [[unzigzag(block.take(11 + i)) for _ in range(groups and nodes - groups)] for i in range(2)]
            yield nodes, groups, found, shares


def divided(found, shares, nodes, words):
    """The times of each node, of those of groups of nodes."""
    visits = visits_of(nodes)
    groups = sharing(nodes, words)
    need(len(groups) == len(found), "groups of nodes")
    result = [None] * len(nodes)
    for group, times in zip(groups, found):
        if len(group) == 1:
            result[group[0]] = times
        else:
            need(times and times[0] == sum(visits[k] for k in group) and all(visits[k] for k in group), "events of a group")
            for k in group:
                result[k] = visits[k], []
    for i, values in enumerate(shares):
        several = [(g, t) for g, t in zip(groups, found) if len(g) > 1]
        unit, values = max((sum(t[1][i][0] for _, t in several) & M64) >> 10, 1), iter(values)
        for group, (n, times) in several:
            total, low, high, bins = times[i]
            need(n * low <= total <= n * high and sum(bins) == n, "shared statistics")
            bins = list(bins)
            for k in group:
                c, own, before, taken = visits[k], [], 0, 0
                for b in range(32):
                    before += bins[b]
                    upto = (before * c + n // 2) // n
                    own.append(upto - taken)
                    taken = upto
                bins = [b - o for b, o in zip(bins, own)]
                x = total
                if k != group[-1]:
                    x = total * c // n + next(values) * unit
                    x = min(max(x, c * low, total - (n - c) * high), c * high, total - (n - c) * low)
                result[k][1].append((x, low, high, own))
                total, n = total - x, n - c
    return result


def visits_of(nodes):
    visits = [n.polls if counted(n.words[0]) else 0 for n in nodes]
    if start(nodes) is not None:
        visits[start(nodes)] += 1
    for n in nodes:
        for to, (weight, _, _) in zip(n.to, n.edges):
            visits[to] += weight
    return visits


def sharing(nodes, words):
    """The nodes that share statistics."""
    callsites = {word: derived(SITE, list(w[:2]), b"") for kind, word, w, _ in words if kind == SITE and len(w) == 3}
    alike = [(n.mask, n.words[0], callsites.get(n.words[1], n.words[1]), *n.words[2:]) for n in nodes]
    kinds = {}
    for a in alike:
        kinds.setdefault(a[1:4], set()).add(a)
    groups = {}
    for i, a in enumerate(alike):
        groups.setdefault(a[1:4] if len(kinds[a[1:4]]) > 16 else a, []).append(i)
    return list(groups.values())


def bin_column(left):
    return 5 + (left >= 4) + (left >= 16) + (left >= 128)


def node_times(block, before):
    form = block.below(0, 4)
    if form == 0:
        return None
    events, intervals = before + unzigzag(block.take(1)) & M64, []
    for _ in range(2):
        low = block.take(3)
        if form == SINGLE:
            intervals.append((form, 0, low, 0, []))
            continue
        total, high = block.take(2), block.take(4)
        bins, left = [], events
        if form == WHOLE:
            bins = [block.take(8) for _ in range(32)]
        else:
            for _ in range(bin_of(low), bin_of(low + high)):
                bins.append(block.take(bin_column(left)))
                left = left - bins[-1] & M64
        intervals.append((form, total, low, high, bins))
    return events, intervals


def bin_of(ns):
    return min((ns & M64 | 8).bit_length() - 4, 31)


def interval(stored, events):
    """Returns sum, minimum, maximum and bins."""
    form, total, low, high, given = stored
    if form == WHOLE:
        return total, low, high, given
    bins = [0] * 32
    if form == SINGLE:
        bins[bin_of(low)] = 1
        return low, low, low, bins
    high += low
    for i, c in enumerate(given):
        bins[bin_of(low) + i] = c
    bins[bin_of(high)] = events - sum(given) & 0xFFFFFFFF
    high &= M64
    return unzigzag(total) + typical_sum(events, low, high, bins) & M64, low, high, bins


def typical_sum(events, low, high, bins):
    lo, hi = bin_of(low), bin_of(high)
    if lo == hi:
        return low + high + (events - 2) * (low + ((high - low & M64) >> 1)) & M64
    return low + high + sum((c - (i in (lo, hi))) * (3 << i + 2) for i, c in enumerate(bins) if lo <= i <= hi) & M64
