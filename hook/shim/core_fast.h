/* The path of an expected event: inline, for its only caller. */
#ifndef EFG_CORE_FAST_H
#define EFG_CORE_FAST_H

#include "core_internal.h"

/* Reports whether the words belong to the node, ignoring demoted ones. */
static inline bool matches_masked(const seg_node *p, const uint64_t *w, unsigned n)
{
    const uint64_t *s = node_words(p);
    uint32_t mask = p->mask;
    for (unsigned i = 0; i < n; i++)
        if (w[i] != s[i] && !(mask >> i & 1))
            return false;
    return true;
}

/* Reports whether the words belong to the node. */
static inline bool matches(const seg_node *p, const uint64_t *w, unsigned n)
{
    const uint64_t *s = node_words(p);
    if (p->live != n || w[1] != s[1])   /* the callsite distinguishes most nodes */
        return false;
    uint64_t d = (w[0] ^ s[0]) | (w[2] ^ s[2]);
    /* Word by word, because wider loads would wait for the stores just made. One
     * jump to the last word, and down from there. */
#define WORD(i) case (i) + 1: d |= w[i] ^ s[i]; __attribute__((fallthrough))
    switch (n) {
    WORD(31); WORD(30); WORD(29); WORD(28); WORD(27); WORD(26); WORD(25); WORD(24); WORD(23); WORD(22);
    WORD(21); WORD(20); WORD(19); WORD(18); WORD(17); WORD(16); WORD(15); WORD(14); WORD(13); WORD(12);
    WORD(11); WORD(10); WORD(9);  WORD(8);  WORD(7);  WORD(6);  WORD(5);  WORD(4);  WORD(3);
    default: break;
    }
#undef WORD
    return d == 0 || (p->mask != 0 && matches_masked(p, w, n));
}

/* One step of a stream's rolling hash (efg.Roll). */
static inline uint64_t graph_roll(uint64_t h, uint64_t v)
{
    return ((h << 5 | h >> 59) ^ v) * 0x9E3779B185EBCA87ull;
}

/* Publishes the event at p as the stream's last one. */
static inline void publish(graph *g, seg_node *p, uint64_t hash)
{
    uint64_t n = g->s->events + 1;
    g->s->pub[n & 1].hash = g->hash = hash;
    g->s->pub[n & 1].node = efg_ref(p);
    efg_publish_barrier();
    g->s->events = n;
    g->cur = p;
}

/* Publishes it with its times, if they are recorded. -1 when out of space. */
static inline int graph_publish(graph *g, const efg_stream *e, seg_node *p, uint64_t hash)
{
    if (unlikely(g->at != 0))
        return trace_publish(g, e, p, hash);
    publish(g, p, hash);
    return 0;
}

static inline int graph_add(graph *g, efg_stream *e)
{
    seg_node *from = g->cur;
    if (unlikely(from == NULL || from->pred == 0))
        return graph_turn(g, e);
    seg_node *p = efg_ptr(from->pred);
    if (unlikely(!matches(p, e->w, EFG_NWORDS(e->w[0]))))
        return graph_turn(g, e);
    from->run++;
    if (p->mask != 0)
        return graph_add_masked(g, p, e);
    return graph_publish(g, e, p, graph_roll(g->hash, p->hash));
}

/* The bin of a time, in ticks, below efg_bins.last. Written so that compilers need one bit scan,
 * one comparison and one subtraction with borrow. */
static inline unsigned bin_of(uint64_t ticks)
{
    unsigned octave = 63 ^ (unsigned)__builtin_clzll(ticks | efg_bins.low);
    return octave + 1 - (ticks < efg_bins.edge[octave]) - efg_bins.first;
}

/* Counts times, in ticks, that are in bins i and k. -1: there will soon be no space to count
 * more. */
static inline int times_count(seg_node_stats *t, uint64_t dur, uint64_t gap, unsigned i, unsigned k)
{
    t->dur_sum += dur;
    t->gap_sum += gap;
    if (unlikely(dur < t->dur_min))
        t->dur_min = dur;
    if (unlikely(dur > t->dur_max))
        t->dur_max = dur;
    if (unlikely(gap < t->gap_min))
        t->gap_min = gap;
    if (unlikely(gap > t->gap_max))
        t->gap_max = gap;
    uint8_t n = (uint8_t)(t->low[i] + 1), m = (uint8_t)(t->low[k] + 1);
    if (unlikely((n & 127) == 0 || (m & 127) == 0))
        return times_carry(t, i, k);
    t->low[i] = n;
    t->low[k] = m;
    t->count++;
    return 0;
}

/* Counts the times of the newest event, at p, in ticks. -1 as above. */
static inline int graph_times(const seg_node *p, uint64_t dur, uint64_t gap)
{
    if (unlikely((dur | gap) >= efg_bins.is_long))
        return times_long(node_stats(p), dur, gap);
    return times_count(node_stats(p), dur, gap, bin_of(dur), SEG_BINS + bin_of(gap));
}

#endif
