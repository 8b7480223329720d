/* The times of each event, as they were measured: internal/segment/FORMAT.md, "Times". What
 * the run file keeps of them is decided when the recording is sealed. */
#include "core_fast.h"

#include <stdatomic.h>
#include <string.h>

enum { PAIR_MAX = 17, CHUNK_MIN = 64, CHUNK_FIRST = 1024, CHUNK_MAX = 1 << 16 };

/* With what the counters counted: the pair of times, which counters have values, and a pair of each. */
enum { VALUED_MAX = PAIR_MAX + 1 + EFG_MAX_COUNTERS * PAIR_MAX, VALUED_CHUNK_MIN = 192 };

_Static_assert(VALUED_CHUNK_MIN >= VALUED_MAX + sizeof(seg_chunk), "a record fits into each chunk");

static bool valued;     /* counters' values are recorded */

/* Bytes that the chunks of all streams may still take. */
static _Atomic uint64_t budget;

void trace_budget(uint64_t bytes) { budget = bytes != 0 ? bytes : UINT64_MAX; }

void trace_values(void) { valued = true; }

/* Takes up to so many bytes from the budget, in whole units; 0: too little is left, of it or of
 * the space that all other things that are recorded need, too. */
static uint32_t spend(uint32_t bytes)
{
    uint64_t left = atomic_load(&budget), take;
    if (efg_header->time_budget != 0 && efg_space_low())
        return 0;
    do {
        take = (left < bytes ? left : bytes) / SEG_REF_UNIT * SEG_REF_UNIT;
        if (take < (valued ? VALUED_CHUNK_MIN : CHUNK_MIN))
            return 0;
    } while (!atomic_compare_exchange_weak(&budget, &left, left - take));
    return (uint32_t)take;
}

/* The stream's later events have no times. The number of those that have is stored while all
 * events that are published have some: it holds whenever the process is killed. */
static void end_trace(graph *g)
{
    g->s->times_end = g->s->events + 1;
    g->at = 0;
}

static int next_chunk(graph *g)
{
    seg_chunk *tail = g->chunk;
    uint32_t total = tail == NULL ? CHUNK_FIRST : (tail->cap + (uint32_t)sizeof *tail) * 2;
    total = spend(total < CHUNK_MAX ? total : CHUNK_MAX);
    if (total == 0) {
        end_trace(g);
        return 0;
    }
    seg_chunk *c = efg_alloc(total, SEG_REF_UNIT);
    if (c == NULL)
        return -1;
    c->cap = total - (uint32_t)sizeof *c;
    efg_publish_barrier();
    if (tail == NULL)
        g->s->times = efg_ref(c);
    else
        tail->next = efg_ref(c);
    g->chunk = c;
    g->at = (uintptr_t)(c + 1);
    g->at_end = valued ? 0 : g->at + c->cap - PAIR_MAX;  /* 0: no event takes the path without values */
    return 1;
}

static bool has_room(const graph *g)
{
    if (!valued)
        return g->at <= g->at_end;
    return g->chunk != NULL && g->at + VALUED_MAX <= (uintptr_t)(g->chunk + 1) + g->chunk->cap;
}

/* Number of bytes of an integer, minus 1. */
static inline unsigned more_bytes(uint64_t v) { return (63 ^ (unsigned)__builtin_clzll(v | 1)) >> 3; }

/* Adds a pair of what was before a call and what was in it, for which there is room. */
static inline void add_pair(graph *g, uint64_t gap, uint64_t dur)
{
    unsigned n = more_bytes(gap), k = more_bytes(dur);
    uint8_t *at = (uint8_t *)g->at;
    at[0] = (uint8_t)(0x11 + n + 16 * k);
    memcpy(at + 1, &gap, sizeof gap);   /* the next value overwrites the bytes that are 0 */
    memcpy(at + 2 + n, &dur, sizeof dur);
    g->at = (uintptr_t)(at + 3 + n + k);
}

/* Adds what the counters counted, for which there is room. Calls inside others have none. */
static void add_values(graph *g, const efg_counters *c)
{
    uint64_t before[EFG_MAX_COUNTERS], call[EFG_MAX_COUNTERS];
    unsigned has = counters_values(c, before, call);
    *(uint8_t *)g->at = (uint8_t)has;
    g->at++;
    for (; has != 0; has &= has - 1) {
        unsigned i = (unsigned)__builtin_ctz(has);
        add_pair(g, before[i], call[i]);
    }
}

/* When there are values, or perhaps no room, or the machine's clock went back, which the stream's does not. */
static __attribute__((noinline)) int publish_rare(graph *g, const efg_stream *e, seg_node *p, uint64_t hash)
{
    int room = has_room(g) ? 1 : next_chunk(g);
    if (room < 0)
        return -1;
    if (room > 0) {
        uint64_t start = e->t0 < g->clock ? g->clock : e->t0;
        uint64_t end = e->t1 < start ? start : e->t1;
        add_pair(g, start - g->clock, end - start);
        g->clock = end;
        if (valued)
            add_values(g, e->counters);
    }
    publish(g, p, hash);
    return 0;
}

int trace_publish(graph *g, const efg_stream *e, seg_node *p, uint64_t hash)
{
    uint64_t gap = e->t0 - g->clock, dur = e->t1 - e->t0;
    if (unlikely(g->at > g->at_end || (int64_t)(gap | dur) < 0))
        return publish_rare(g, e, p, hash);
    g->clock = e->t1;
    add_pair(g, gap, dur);
    publish(g, p, hash);
    return 0;
}
