/* The private half of a folded sequence (core_seq.c), and its most frequent case,
 * inline for the slots of objects that are created and freed in a loop. */
#ifndef EFG_CORE_SEQ_H
#define EFG_CORE_SEQ_H

#include "core_internal.h"

enum { SEQ_DELTA = 1 };

typedef struct level {
    uint32_t asleep;        /* symbols still to let through without looking at them */
    uint32_t window;        /* symbols in ring; 0: level not active */
    uint64_t pos;           /* symbols seen */
    uint64_t *v;            /* ring of values */
    uint32_t *k;            /* ring of kinds; NULL at level 0 */
    uint32_t *last;         /* 2*window entries: pos (low bits) of the last pair with this hash */
    uint32_t handed;        /* symbols passed on */
    uint32_t since_grown;   /* number of these since the window last grew */
    int32_t credit;         /* below 0: repeats do not pay, fall asleep */
    uint32_t nap;           /* symbols to let through the next time it sleeps */
} level;

struct seq {
    uint8_t *at, *end;      /* where the next byte of code is written, and the limit */
    uint64_t prev;          /* last value, for differences */
    level lv[SEG_SEQ_LEVELS];
    seg_chunk *tail;        /* chunk being filled */
};

static inline seq *seq_priv(const seg_seq *s) { return (seq *)(uintptr_t)s->priv; }

/* What the sequence stores for v. */
static inline uint64_t seq_step(const seg_seq *s, const seq *q, uint64_t v)
{
    uint64_t diff = v - q->prev;
    return s->flags & SEQ_DELTA ? diff << 1 ^ (uint64_t)((int64_t)diff >> 63) : v;
}

/* Appends v if the running repeat expects it, otherwise does nothing and returns
 * false. */
static inline bool seq_repeats(seg_seq *s, uint64_t v)
{
    seq *q = seq_priv(s);
    level *l = &q->lv[0];
    seg_seq_state *st = &s->state[s->sel];
    uint64_t x = seq_step(s, q, v);
    uint32_t d = st->d[0];
    if (unlikely(d == 0 || l->v[(uint32_t)(l->pos - d) & (l->window - 1)] != x))
        return false;
    q->prev = v;
    l->v[(uint32_t)l->pos & (l->window - 1)] = x;
    l->pos++;
    st->m[0]++;
    efg_publish_barrier();
    st->n++;
    return true;
}

#endif
