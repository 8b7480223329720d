"""The coder of guessed values, as efg/mix/FORMAT.md specifies it."""

M64 = (1 << 64) - 1
M32 = (1 << 32) - 1

EXPERTS = 16
EVENS, LIKELY = 1 << 31, 7 << 29
NUMBERS = 126
FIRST_WEIGHTS = 0, 18000, 22000, 26000, 30000
KNOTS = (
    1, 2, 3, 5, 8, 13, 22, 36, 60, 98, 162, 267, 439, 720, 1179, 1921, 3108, 4971, 7812, 11955, 17625, 24743,
    32768, 40793, 47911, 53581, 57724, 60565, 62428, 63615, 64357, 64816, 65097, 65269, 65374, 65438, 65476,
    65500, 65514, 65523, 65528, 65531, 65533, 65534, 65535,
)


def squash(x):
    x = min(max(x, -2816), 2815) + 2816
    low, high = KNOTS[x // 128], KNOTS[x // 128 + 1]
    return min(max(low + (high - low) * (x % 128) // 128, 1), 65535)


def _logits():
    table, x = [], -2816
    for i in range(4096):
        while x < 2815 and squash(x) < i * 16 + 8:
            x += 1
        table.append(x)
    return table


LOGITS = _logits()


def hash_of(*values):
    h = 0x9E3779B97F4A7C15
    for v in values:
        h = (h ^ v) * 0xBF58476D1CE4E5B9 & M64
        h ^= h >> 29
    h = h * 0x94D049BB133111EB & M64
    return (h ^ h >> 32) | 1


def updated(chance, bit):
    n, p = chance & 1023, chance >> 10
    step = ((1 << 22) - 1 - p if bit else -p) * 2
    p += step // (2 * n + 3) if step >= 0 else -(-step // (2 * n + 3))
    return p << 10 | min(n + 1, 60)


class Coder:
    """Decodes what an encoder with a table of 1 << table_bits contexts made."""

    def __init__(self, code, table_bits):
        self.code, self.used, self.training = code, 0, False
        self.low, self.high, self.at = 0, M32, 0
        for _ in range(4):
            self.at = self.at << 8 | self._next()
        self.shift = 64 - table_bits
        self.spell_shift = 64 - min(table_bits + 1, 18)
        self.table, self.trust, self.spell, self.mixers, self.past, self.weights = {}, {}, {}, {}, {}, {}

    def _next(self):
        self.used += 1
        return self.code[self.used - 1] if self.used <= len(self.code) else 0

    def bit(self, p, b=0):
        if self.training:
            return b
        split = self.low + ((self.high - self.low) * p >> 16)
        b = int(self.at <= split)
        if b:
            self.high = split
        else:
            self.low = split + 1
        while (self.low ^ self.high) >> 24 == 0:
            self.low = self.low << 8 & M32
            self.high = self.high << 8 & M32 | 255
            self.at = self.at << 8 & M32 | self._next()
        return b

    def value(self, kind, guesses, rest, near, v=0):
        return self.value_or(kind, guesses, lambda: self.spelled(kind, guesses, rest, near, v), v)

    def value_or(self, kind, guesses, spell, v=0):
        """Guesses are None, (value, sure) or a context."""
        weights = self.mixers.setdefault(kind, [(1 << 16) * 7 // 20] * (EXPERTS + 1))
        past = self.past.setdefault(kind, [0] * EXPERTS)
        inputs, trusts, said, votes = [0] * EXPERTS, {}, {}, {}
        for i, g in enumerate(guesses):
            if isinstance(g, int):
                slot = self.table.get(g >> self.shift)
                g = (slot[1], slot[2]) if slot and slot[0] == g & M32 >> 4 << 4 else None
            if g is None:
                continue
            trusts[i] = key = (kind, i, g[1], past[i] & 7)
            inputs[i] = LOGITS[self.trust.get(key, LIKELY if g[1] > 1 else EVENS) >> 20]
            said[i] = g[0]
            votes[g[0]] = votes.get(g[0], 0) + weights[i] * inputs[i]
        found = False
        for _ in range(min(4, len(votes))):
            best = max(votes, key=lambda c: votes[c])
            del votes[best]
            mixed = [inputs[i] if said.get(i) == best else -(max(inputs[i], 0) // 2) for i in range(EXPERTS)] + [64]
            p = squash(sum(w * x for w, x in zip(weights, mixed)) >> 16)
            hit = self.bit(p, int(v == best))
            for i, x in enumerate(mixed):
                weights[i] += ((hit << 16) - p) * x * 5 + (1 << 15) >> 16
            if hit:
                found, v = True, best
                break
        if not found:
            v = spell()
        for i, g in enumerate(guesses):
            if i in trusts:
                right = int(said[i] == v)
                key = trusts[i]
                self.trust[key] = updated(self.trust.get(key, LIKELY if key[2] > 1 else EVENS), right)
                past[i] = past[i] << 1 & 255 | right
            if isinstance(g, int):
                self.learn(g, v)
        return v

    def learn(self, context, v):
        mark, at = context & M32 >> 4 << 4, context >> self.shift
        slot = self.table.get(at)
        if slot is None or slot[0] != mark:
            sure = 1
        elif slot[1] == v:
            sure = min(slot[2] + 1, 15)
        elif slot[2] > 3:
            sure = 2
        else:
            sure = 1
        self.table[at] = (mark, v, sure)

    def spelled(self, kind, guesses, context, near, v=0):
        contexts = [hash_of(context), hash_of(1, kind)] + [g for g in guesses if isinstance(g, int)][:2]
        d = v - near & M64
        given = (d << 1 ^ -(d >> 63)) & M64
        if self.modelled(kind, contexts, 0, int(given.bit_length() < v.bit_length())):
            z = self.number_in(kind, contexts, 3 << 32, given)
            return near + (z >> 1 ^ -(z & 1)) & M64
        return self.number_in(kind, contexts, 1 << 32, v)

    def number(self, context, v=0):
        return self.number_in(NUMBERS, [context], 1 << 32, v)

    def number_in(self, kind, contexts, salt, given=0):
        length = min(self.tree(kind, contexts, salt, 7, given.bit_length()), 64)
        if length < 2:
            return length
        below = given & (1 << length - 1) - 1
        return 1 << length - 1 | self.tree(kind, contexts, salt + (length << 40), length - 1, below)

    def flag(self, context, b=0):
        return self.modelled(NUMBERS, [context], 0, b)

    def byte(self, kind, contexts, v=0):
        return self.tree(kind, contexts, 0, 8, v)

    def short(self, kind, contexts, v=0):
        """A byte that takes four bits if it is below 15."""
        first = self.tree(kind, contexts, 0, 4, min(v, 15))
        return self.tree(kind, contexts, 256, 8, v) if first == 15 else first

    def plain(self, n, v=0):
        """Bits that are as often 0 as 1."""
        for i in range(n - 1, -1, -1):
            v |= self.bit(1 << 15, v >> i & 1) << i
        return v

    def tree(self, kind, contexts, salt, n, v=0):
        node = 1
        for i in range(n - 1, -1, -1):
            node = node << 1 | self.modelled(kind, contexts, salt + node, v >> i & 1)
        return node - (1 << n)

    def modelled(self, kind, contexts, node, b=0):
        weights = self.weights.setdefault(kind, [list(FIRST_WEIGHTS) for _ in range(8)])
        node = node * 0x9E3779B97F4A7C15 & M64
        used, total = [], 0
        for i, c in enumerate(contexts):
            at = ((c + node & M64) * 0xD6E8FEB86659FD93 & M64) >> self.spell_shift
            chance = self.spell.get(at, EVENS)
            n = chance & 1023
            level, x = n if n < 2 else 2 if n < 4 else 3 if n < 10 else 4, LOGITS[chance >> 20]
            used.append((at, chance, level, x))
            total += weights[i][level] * x
        p = min(max(squash(total >> 16), 32), 65536 - 32)
        b = self.bit(p, b)
        for i, (at, chance, level, x) in enumerate(used):
            weights[i][level] += ((b << 16) - p) * x * 5 + (1 << 15) >> 16
            self.spell[at] = updated(self.spell.get(at, EVENS), b)
        return b

    def begin(self, code):
        """Returns a decoder of this code that begins with what this one has learned."""
        other = Coder(code, 64 - self.shift)
        other.table, other.trust, other.spell = dict(self.table), settled(self.trust), settled(self.spell)
        other.mixers = {k: list(w) for k, w in self.mixers.items()}
        other.past = {k: list(h) for k, h in self.past.items()}
        other.weights = {k: [list(w) for w in m] for k, m in self.weights.items()}
        return other


def settled(chances):
    return {k: c >> 10 << 10 | min(c & 1023, 4) for k, c in chances.items()}
