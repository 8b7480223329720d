/* Folded sequences: 64-bit values compressed as they are appended, in constant
 * amortised time and a bounded window. efg/seq/FORMAT.md has the code and an
 * example; efg/seq/writer.go is the same algorithm in Go, with the same bytes.
 *
 * A level matches its input against its own past at one distance d. While the
 * input repeats, only a counter m grows. When it stops repeating, the level
 * passes "m symbols from distance d back" and then the symbol that broke the
 * match to the level above, for which these are symbols again: nested loops fold.
 * What leaves the highest active level becomes code bytes.
 *
 * A level at which nothing repeats falls asleep for a while, longer each time,
 * and the levels above with it: symbols go directly to the code, and the past is
 * forgotten.
 *
 * A reader may read at any moment. The state (bytes of code, pending matches)
 * exists twice; a change that is more than one store is prepared in the other
 * copy and published by switching Sel. Turns goes up before a preparation starts,
 * so a reader knows that what it copied was not overwritten meanwhile. Code bytes
 * are only ever appended. */
#include "core_seq.h"
#include "xxh64.h"

#include <stdlib.h>
#include <string.h>

enum {
    SEQ_MIN_REPEAT = 3,     /* shorter matches are passed on as literals */
    SEQ_ACTIVATE = 8,       /* symbols a level passes on before there is one above */
    SEQ_FIRST_WINDOW = 8,
    SEQ_CREDIT = 2,         /* windows of literals before a level falls asleep */
    SEQ_LONGEST_NAP = 32,   /* windows */
    SEQ_CHUNK_MAX = 4096
};

static const uint32_t max_window[SEG_SEQ_LEVELS] = {256, 64, 64};

typedef struct symbol {
    uint64_t v;             /* literal: the value; repeat: length */
    uint32_t k;             /* 0: literal; otherwise distance << 2 | level + 1 */
} symbol;

/* ---- code bytes ---- */

static int next_chunk(seg_seq *s, seq *q)
{
    uint32_t total = q->tail == NULL ? 32 : (q->tail->cap + (uint32_t)sizeof(seg_chunk)) * 2;
    if (total > SEQ_CHUNK_MAX)
        total = SEQ_CHUNK_MAX;
    seg_chunk *c = efg_alloc(total, SEG_REF_UNIT);
    if (c == NULL)
        return -1;
    c->cap = total - (uint32_t)sizeof(seg_chunk);
    efg_publish_barrier();
    if (q->tail == NULL)
        s->first = efg_ref(c);
    else
        q->tail->next = efg_ref(c);
    q->tail = c;
    q->at = (uint8_t *)(c + 1);
    q->end = q->at + c->cap;
    return 0;
}

static inline int put_byte(seg_seq *s, seq *q, seg_seq_state *st, uint8_t b)
{
    if (unlikely(q->at == q->end) && next_chunk(s, q) != 0)
        return -1;
    *q->at++ = b;
    st->nbytes++;
    return 0;
}

static int put_varint(seg_seq *s, seq *q, seg_seq_state *st, uint64_t x)
{
    for (; x >= 0x80; x >>= 7)
        if (put_byte(s, q, st, (uint8_t)(x | 0x80)) != 0)
            return -1;
    return put_byte(s, q, st, (uint8_t)x);
}

/* A literal below 2^12, if there is room for two bytes; returns its size. For
 * unpredictable values it is also unpredictable whether they take one byte or
 * two: both are stored, and one or two counted. */
static inline unsigned put_short(uint8_t *to, unsigned v)
{
    unsigned x = v << 2, two = x > 0x7f;
    to[0] = (uint8_t)(x | two << 7);
    to[1] = (uint8_t)(x >> 7);
    return 1 + two;
}

static inline int put_literal(seg_seq *s, seq *q, seg_seq_state *st, uint64_t v)
{
    if (likely(v >> 12 == 0 && q->end - q->at >= 2)) {
        unsigned size = put_short(q->at, (unsigned)v);
        q->at += size;
        st->nbytes += size;
        return 0;
    }
    if (v >> 61 == 0)
        return put_varint(s, q, st, v << 2);
    return put_byte(s, q, st, 3) != 0 ? -1 : put_varint(s, q, st, v);
}

static int put_symbol(seg_seq *s, seq *q, seg_seq_state *st, symbol y)
{
    if (y.k != 0)
        return put_varint(s, q, st, y.k) != 0 ? -1 : put_varint(s, q, st, y.v);
    return put_literal(s, q, st, y.v);
}

/* ---- levels ---- */

static int level_alloc(level *l, uint32_t window, bool kinds)
{
    uint64_t *v = malloc(window * sizeof *v);
    uint32_t *k = kinds ? malloc(window * sizeof *k) : NULL;
    uint32_t *last = calloc(2 * (size_t)window, sizeof *last);
    if (v == NULL || last == NULL || (kinds && k == NULL)) {
        free(v), free(k), free(last);
        return -1;
    }
    l->window = window;
    l->credit = (int32_t)window * SEQ_CREDIT;
    l->v = v, l->k = k, l->last = last;
    return 0;
}

static inline symbol at(const level *l, uint64_t pos)
{
    uint32_t i = (uint32_t)pos & (l->window - 1);
    return (symbol){l->v[i], l->k != NULL ? l->k[i] : 0};
}

static inline bool same(symbol a, symbol b) { return a.v == b.v && a.k == b.k; }

static inline void remember(level *l, symbol y)
{
    uint32_t i = (uint32_t)l->pos & (l->window - 1);
    l->v[i] = y.v;
    if (l->k != NULL)
        l->k[i] = y.k;
    l->pos++;
}

static inline uint32_t *pair_slot(const level *l, symbol a, symbol b)
{
    uint64_t h = (a.v * XXP1 + a.k) * XXP2 + b.v * XXP1 + b.k;
    h = (h ^ h >> 32) * XXP2;
    return &l->last[(uint32_t)(h >> 40) & (2 * l->window - 1)];
}

/* Enters the pair that ends at position pos. */
static void index_pair(level *l, uint64_t pos)
{
    *pair_slot(l, at(l, pos - 1), at(l, pos)) = (uint32_t)pos;
}

/* Enters the pair of the two newest symbols. Returns the distance to where it
 * occurred last, or 0. */
static inline uint32_t find_distance(level *l)
{
    uint64_t pos = l->pos - 1;
    symbol a = at(l, pos - 1), b = at(l, pos);
    uint32_t *slot = pair_slot(l, a, b), d = (uint32_t)pos - *slot;
    *slot = (uint32_t)pos;
    if (d == 0 || d >= l->window - 1 || d >= pos)
        return 0;
    return same(at(l, pos - d), b) && same(at(l, pos - d - 1), a) ? d : 0;
}

static int grow_window(level *l)
{
    level n = *l;
    if (level_alloc(&n, l->window * 2, l->k != NULL) != 0)
        return -1;
    uint64_t from = l->pos > l->window ? l->pos - l->window : 0;
    for (uint64_t p = from; p < l->pos; p++) {
        n.pos = p;
        remember(&n, at(l, p));
    }
    for (uint64_t p = from + 1; p < l->pos; p++)
        index_pair(&n, p);
    n.since_grown = 0;
    free(l->v), free(l->k), free(l->last);
    *l = n;
    return 0;
}

static int level_push(seg_seq *s, seq *q, seg_seq_state *st, int n, symbol y);

/* Passes a symbol of level n-1 on: to level n if it is active, otherwise to the
 * code. */
static int hand_on(seg_seq *s, seq *q, seg_seq_state *st, int n, symbol y)
{
    level *below = &q->lv[n - 1];
    if (n < SEG_SEQ_LEVELS && q->lv[n].window == 0 && below->handed >= SEQ_ACTIVATE
        && level_alloc(&q->lv[n], SEQ_FIRST_WINDOW, true) != 0)
        return -1;
    below->handed++;
    below->since_grown++;
    if (n < SEG_SEQ_LEVELS && q->lv[n].window != 0)
        return level_push(s, q, st, n, y);
    return put_symbol(s, q, st, y);
}

/* A repeat of m symbols keeps a level awake. */
static void earn(level *l, uint64_t m)
{
    int64_t full = (int64_t)l->window * SEQ_CREDIT;
    int64_t credit = l->credit + (m < l->window ? (int64_t)m : l->window);
    l->credit = (int32_t)(credit < full ? credit : full);
    if (m >= l->window)
        l->nap = 0;
}

/* Ends the running match of level n. */
static int end_match(seg_seq *s, seq *q, seg_seq_state *st, int n)
{
    level *l = &q->lv[n];
    uint64_t m = st->m[n];
    uint32_t d = st->d[n];
    st->m[n] = 0;
    if (m >= SEQ_MIN_REPEAT) {
        uint64_t span = m < d ? m : d;
        for (uint64_t p = l->pos - span; p < l->pos; p++)
            index_pair(l, p);
        earn(l, m);
        return hand_on(s, q, st, n + 1, (symbol){m, d << 2 | (uint32_t)(n + 1)});
    }
    for (uint64_t p = l->pos - m; p < l->pos; p++) {
        index_pair(l, p);
        if (hand_on(s, q, st, n + 1, at(l, p)) != 0)
            return -1;
    }
    return 0;
}

static void forget(level *l, seg_seq_state *st, int n)
{
    l->pos = 0;
    st->d[n] = 0;
    memset(l->last, 0, 2 * (size_t)l->window * sizeof *l->last);
}

/* Repeats have not paid at level n lately: let symbols through without looking at
 * them for a while, twice as long as last time, then start afresh. */
static int fall_asleep(seg_seq *s, seq *q, seg_seq_state *st, int n)
{
    level *l = &q->lv[n];
    uint32_t longest = l->window * SEQ_LONGEST_NAP;
    l->nap = l->nap == 0 ? l->window : l->nap * 2 < longest ? l->nap * 2 : longest;
    l->asleep = l->nap;
    l->credit = (int32_t)l->window * SEQ_CREDIT;
    forget(l, st, n);
    for (int up = n + 1; up < SEG_SEQ_LEVELS && q->lv[up].window != 0; up++) {
        if (end_match(s, q, st, up) != 0)
            return -1;
        forget(&q->lv[up], st, up);
    }
    return 0;
}

static int level_push(seg_seq *s, seq *q, seg_seq_state *st, int n, symbol y)
{
    level *l = &q->lv[n];
    if (l->asleep != 0) {
        l->asleep--;
        return put_symbol(s, q, st, y);
    }
    uint32_t d = st->d[n];
    if (d != 0 && same(at(l, l->pos - d), y)) {
        remember(l, y);
        st->m[n]++;
        return 0;
    }
    if (end_match(s, q, st, n) != 0 || hand_on(s, q, st, n + 1, y) != 0)
        return -1;
    remember(l, y);
    if (l->pos >= 2 && (d = find_distance(l)) != 0)
        st->d[n] = d;
    if (l->since_grown >= l->window && l->window < max_window[n])
        return grow_window(l);
    return --l->credit < 0 ? fall_asleep(s, q, st, n) : 0;
}

/* ---- interface ---- */

seg_seq *seq_new(bool delta)
{
    seg_seq *s = efg_alloc(sizeof *s, 64);
    if (s == NULL)
        return NULL;
    seq *q = calloc(1, sizeof *q);
    if (q == NULL || level_alloc(&q->lv[0], SEQ_FIRST_WINDOW, false) != 0) {
        free(q);
        return NULL;
    }
    s->flags = delta ? SEQ_DELTA : 0;
    s->priv = (uint64_t)(uintptr_t)q;
    return s;
}

static int push_awake(seg_seq *s, seq *q, uint64_t x)
{
    seg_seq_state *next = &s->state[s->sel ^ 1];
    s->turns++;
    efg_publish_barrier();
    *next = s->state[s->sel];
    if (level_push(s, q, next, 0, (symbol){x, 0}) != 0)
        return -1;
    next->n++;
    efg_publish_barrier();
    s->sel ^= 1;
    return 0;
}

/* Whole symbols beyond the values that N counts do no harm. */
static int push_asleep(seg_seq *s, seq *q, uint64_t x)
{
    seg_seq_state *st = &s->state[s->sel], grown = {.nbytes = st->nbytes};
    if (put_literal(s, q, &grown, x) != 0)
        return -1;
    efg_publish_barrier();
    st->nbytes = grown.nbytes;
    efg_publish_barrier();
    st->n++;
    return 0;
}

static __attribute__((noinline)) int push_other(seg_seq *s, uint64_t v)
{
    seq *q = seq_priv(s);
    bool asleep = q->lv[0].asleep != 0;
    if (!asleep && seq_repeats(s, v))
        return 0;
    uint64_t x = seq_step(s, q, v);
    q->prev = v;
    if (!asleep)
        return push_awake(s, q, x);
    q->lv[0].asleep--;
    return push_asleep(s, q, x);
}

/* The most frequent unexpected value is one that fits into two bytes, in a
 * sequence that is asleep: no repeat is running. */
int seq_push(seg_seq *s, uint64_t v)
{
    seq *q = seq_priv(s);
    uint64_t x = seq_step(s, q, v);
    if (q->lv[0].asleep == 0 || x >> 12 != 0 || q->end - q->at < 2)
        return push_other(s, v);
    seg_seq_state *st = &s->state[s->sel];
    q->lv[0].asleep--;
    q->prev = v;
    unsigned size = put_short(q->at, (unsigned)x);
    q->at += size;
    efg_publish_barrier();
    st->nbytes += size;
    efg_publish_barrier();
    st->n++;
    return 0;
}

void seq_fetch(const seg_seq *s, uint64_t v)
{
    const seq *q = seq_priv(s);
    const level *l = &q->lv[0];
    if (l->asleep != 0)
        __builtin_prefetch(q->at, 1);
    else if (l->pos > 0)
        __builtin_prefetch(pair_slot(l, at(l, l->pos - 1), (symbol){v, 0}), 1);
}

bool seq_predict(const seg_seq *s, uint64_t *v)
{
    const seg_seq_state *st = &s->state[s->sel];
    uint32_t d = st->d[0];
    if (d == 0 || st->m[0] == 0 || s->flags & SEQ_DELTA)
        return false;
    const level *l = &seq_priv(s)->lv[0];
    *v = l->v[(uint32_t)(l->pos - d) & (l->window - 1)];
    return true;
}
