/* The times of each event, as they were measured: internal/segment/FORMAT.md, "Times". What
 * the run file keeps of them is decided when the recording is sealed. */
#include "core_fast.h"

#include <string.h>

enum { PAIR_MAX = 17, CHUNK_MAX = 4096 };

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
    t->end = t->at + c->cap - PAIR_MAX;
    return 0;
}

static seg_times *new_times(seg_node_stats *st)
{
    seg_times *t = efg_alloc(sizeof *t, SEG_REF_UNIT);
    if (t == NULL)
        return NULL;
    t->at = 1;                  /* beyond the end, 0, of no chunk */
    efg_publish_barrier();
    st->times = efg_ref(t);
    return t;
}

static inline unsigned bytes_of(uint64_t v) { return (71 - (unsigned)__builtin_clzll(v | 1)) / 8; }

int trace_event(graph *g, const seg_node *p, const efg_stream *e)
{
    seg_node_stats *st = node_stats(p);
    seg_times *t = st->times != 0 ? efg_ptr(st->times) : new_times(st);
    if (unlikely(t == NULL || (t->at > t->end && next_chunk(t) != 0)))
        return -1;
    /* The stream's clock does not go back, whatever the machine's does. */
    uint64_t start = e->t0 < g->clock ? g->clock : e->t0;
    uint64_t end = e->t1 < start ? start : e->t1;
    uint64_t gap = start - g->clock, dur = end - start;
    g->clock = end;
    unsigned n = bytes_of(gap), k = bytes_of(dur);
    uint8_t *at = (uint8_t *)(uintptr_t)t->at;
    *at++ = (uint8_t)(n | k << 4);
    memcpy(at, &gap, sizeof gap);       /* the next value overwrites the bytes that are 0 */
    memcpy(at + n, &dur, sizeof dur);
    t->at = (uint64_t)(uintptr_t)(at + n + k);
    return 0;
}
