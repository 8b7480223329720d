/* The times of each event, quantised. The clock that a reader makes of the codes
 * is known here; an interval's error makes up for it where it would be off by
 * more than the bound. efg/FORMAT.md, "Times", states what holds;
 * efg/timequantizer.go is the same in Go, to the bit. */
#include "core_fast.h"

#include <stdlib.h>
#include <string.h>

enum { ERROR_UNIT = 10000, BIN2 = 240, BIN3 = 248, FINE = 249, CHUNK_MAX = 4096 };

static const uint64_t max_interval = (uint64_t)1 << 62;

static uint64_t parts;          /* relative error of an interval, of ERROR_UNIT */
static int64_t bound;           /* of the clock's error */
static uint64_t *low, *value;   /* of each bin; an entry more of low */
static uint16_t *near;          /* by an interval's leading bits: the first bin it could be in */
static unsigned near_bits;      /* of them, after the first */

static inline uint64_t share(uint64_t ns)
{
    return ns / ERROR_UNIT * parts + ns % ERROR_UNIT * parts / ERROR_UNIT;
}

/* The first interval that is not in the bin with this value. */
static uint64_t after(uint64_t v)
{
    uint64_t rest = ERROR_UNIT - parts;
    return v + v / rest * parts + v % rest * parts / rest + 1;
}

static unsigned count_bins(void)
{
    unsigned n = 0;
    for (uint64_t at = 0; at < max_interval; at = after(at + share(at)))
        n++;
    return n;
}

/* Place in near of an interval: which bit leads it, and the near_bits after that. */
static inline unsigned near_place(uint64_t ns)
{
    unsigned shift = 63 - near_bits - (unsigned)__builtin_clzll(ns | (uint64_t)1 << near_bits);
    return (shift << near_bits) + (unsigned)(ns >> shift);
}

static void fill_near(void)
{
    unsigned bin = 0;
    for (unsigned shift = 0; shift < 62 - near_bits; shift++)
        for (uint64_t m = shift == 0 ? 0 : (uint64_t)1 << near_bits; m >> near_bits < 2; m++) {
            while (m << shift >= low[bin + 1])
                bin++;
            near[near_place(m << shift)] = (uint16_t)bin;
        }
}

int trace_open(uint32_t error)
{
    parts = error;
    bound = (int64_t)share(1000000);
    unsigned n = count_bins();
    for (near_bits = 3; (uint64_t)parts << near_bits < ERROR_UNIT; near_bits++)
        ;
    low = malloc((n + 1) * sizeof *low);
    value = malloc(n * sizeof *value);
    near = calloc((size_t)(64 - near_bits) << near_bits, sizeof *near);
    if (low == NULL || value == NULL || near == NULL)
        return -1;
    uint64_t at = 0;
    for (unsigned i = 0; i < n; i++) {
        low[i] = at;
        value[i] = at + share(at);
        at = after(value[i]);
    }
    low[n] = ~(uint64_t)0;
    fill_near();
    return 0;
}

static inline unsigned bin_at(uint64_t ns)
{
    unsigned bin = near[near_place(ns)];
    while (ns >= low[bin + 1])
        bin++;
    return bin;
}

/* ---- codes ---- */

static int next_chunk(seg_times *t)
{
    seg_chunk *tail = (seg_chunk *)(uintptr_t)t->tail;
    uint32_t total = tail == NULL ? 32 : (tail->cap + (uint32_t)sizeof *tail) * 2;
    if (total > CHUNK_MAX)
        total = CHUNK_MAX;
    seg_chunk *c = efg_alloc(total, SEG_REF_UNIT);
    if (c == NULL)
        return -1;
    c->cap = total - (uint32_t)sizeof *c;
    efg_publish_barrier();
    if (tail == NULL)
        t->first = efg_ref(c);
    else
        tail->next = efg_ref(c);
    t->tail = (uint64_t)(uintptr_t)c;
    t->at = (uint64_t)(uintptr_t)(c + 1);
    t->end = t->at + c->cap;
    return 0;
}

static int put(seg_times *t, uint64_t byte)
{
    if (t->at == t->end && next_chunk(t) != 0)
        return -1;
    *(uint8_t *)(uintptr_t)t->at++ = (uint8_t)byte;
    return 0;
}

static int put_bin(seg_times *t, unsigned bin)
{
    if (bin < BIN2)
        return put(t, bin);
    if (bin >= BIN2 + ((BIN3 - BIN2) << 8))
        return put(t, BIN3) | put(t, bin) | put(t, bin >> 8);
    return put(t, BIN2 + ((bin - BIN2) >> 8)) | put(t, bin - BIN2);
}

static int put_fine(seg_times *t, unsigned bin, int64_t fine)
{
    uint64_t z = (uint64_t)fine << 1 ^ (uint64_t)(fine >> 63);
    int err = put(t, FINE) | put_bin(t, bin);
    for (; z >= 0x80; z >>= 7)
        err |= put(t, z | 0x80);
    return err | put(t, z);
}

static inline int64_t off(int64_t d) { return d < 0 ? -d : d; }

/* a/b, rounded to the nearest; b > 0. */
static int64_t round_div(int64_t a, int64_t b)
{
    return a < 0 ? -((-a + b / 2) / b) : (a + b / 2) / b;
}

/* How many of its units an interval needs more than its bin's value, so that it
 * makes up for the clock's error, as far as its own may go. */
static int64_t fine_part(uint64_t ns, unsigned bin, int64_t ahead, int64_t *unit)
{
    int64_t may = (int64_t)share(ns), wide = (int64_t)share(value[bin]);
    int64_t by = (int64_t)(value[bin] - ns), want = -ahead;
    *unit = (wide < bound ? wide : bound) / 4;
    if (*unit == 0)
        *unit = 1;
    want = want < -may ? -may : want > may ? may : want;
    int64_t fine = round_div(want - by, *unit);
    while (off(by + fine * *unit) > may)
        fine += fine > 0 ? -1 : 1;
    return fine;
}

/* Writes an interval; changes by how much the clock of codes is ahead. */
static int put_interval(seg_times *t, uint64_t ns, int64_t *ahead)
{
    if (ns >= max_interval)
        ns = max_interval - 1;
    unsigned bin = bin_at(ns);
    int64_t then = *ahead + (int64_t)(value[bin] - ns), fine = 0, unit = 0;
    if (off(then) > bound)
        fine = fine_part(ns, bin, *ahead, &unit);
    *ahead = then + fine * unit;
    return fine != 0 ? put_fine(t, bin, fine) : put_bin(t, bin);
}

/* ---- events ---- */

static seg_times *new_times(seg_node_stats *st)
{
    seg_times *t = efg_alloc(sizeof *t, SEG_REF_UNIT);
    if (t == NULL)
        return NULL;
    efg_publish_barrier();
    st->times = efg_ref(t);
    return t;
}

int trace_event(graph *g, const seg_node *p, const efg_stream *e)
{
    seg_node_stats *st = node_stats(p);
    seg_times *t = st->times != 0 ? efg_ptr(st->times) : new_times(st);
    if (t == NULL)
        return -1;
    /* As one clock: rounding does not add up. It does not go back. */
    uint64_t first = g->s->first_tick;
    uint64_t start = (int64_t)(e->t0 - first) < 0 ? 0 : efg_ticks_to_ns(e->t0 - first);
    start = start < g->clock ? g->clock : start;
    uint64_t end = e->t1 - e->t0 > max_interval ? start : efg_ticks_to_ns(e->t1 - first);
    uint64_t gap = start - g->clock, dur = end < start ? 0 : end - start;
    g->clock = start + dur;
    g->gap = gap;
    g->dur = dur;
    unsigned i = bin_at(gap), k = bin_at(dur);
    int64_t then = g->ahead + (int64_t)(value[i] - gap), last = then + (int64_t)(value[k] - dur);
    if (likely(off(then) <= bound && off(last) <= bound && i < BIN2 && k < BIN2
               && t->end - t->at >= 2)) {
        uint8_t *at = (uint8_t *)(uintptr_t)t->at;
        at[0] = (uint8_t)i;
        at[1] = (uint8_t)k;
        t->at += 2;
        g->ahead = last;
        return 0;
    }
    return put_interval(t, gap, &g->ahead) | put_interval(t, dur, &g->ahead);
}
