/* Demoted words: the values of a node's attribute streams, and the slots of new
 * objects, which are always demoted. */
#include "core_fast.h"
#include "core_node.h"
#include "core_seq.h"

#include <string.h>

bool efg_slots_shared;

static const efg_vecref *vec_of(const efg_stream *e, unsigned word)
{
    for (uint32_t i = 0; i < e->nvec; i++)
        if (e->vec[i].word == word)
            return &e->vec[i];
    return NULL;
}

static inline uint64_t id_of_first_slot(const graph *g, const seg_node *p)
{
    return EFG_ID_BIT | (uint64_t)g->s->thread << 50 | (uint64_t)p->index << 24;
}

/* What the private half of a node with demoted words says about them. */
static int remember_demoted(const graph *g, seg_node *p, uint64_t header, bool scalars)
{
    node_priv *q = priv_of(p);
    unsigned slot = slot_of(header);
    if (q == NULL)
        return -1;
    if (p->mask == (uint32_t)1 << slot) {
        q->slot_only = slot;
        q->slot_ids = id_of_first_slot(g, p);
        q->slot_values = efg_ptr(((seg_attr *)efg_ptr(p->attrs))->values);
        return 0;
    }
    q->demoted = true;
    q->scalars = scalars && !(p->mask >> slot & 1);
    return 0;
}

int graph_make_attrs(const graph *g, seg_node *p, uint64_t header)
{
    unsigned count = (unsigned)__builtin_popcount(p->mask);
    bool scalars = true;
    if (count == 0)
        return 0;
    seg_attr *a = efg_alloc(count * sizeof *a, SEG_REF_UNIT);
    if (a == NULL)
        return -1;
    p->attrs = efg_ref(a);
    for (uint32_t m = p->mask; m != 0; m &= m - 1, a++) {
        enum efg_word_kind kind = kind_of(header, (unsigned)__builtin_ctz(m));
        seg_seq *values = seq_new(true), *elems = NULL;
        if (values == NULL || (kind == EFG_W_VEC && (elems = seq_new(true)) == NULL))
            return -1;
        a->values = efg_ref(values);
        a->elems = kind == EFG_W_VEC ? efg_ref(elems) : 0;
        scalars &= kind != EFG_W_VEC && kind != EFG_W_IDENT;
    }
    return remember_demoted(g, p, header, scalars);
}

static int grow_slots(efg_slots *s)
{
    uint32_t n = s->words == 0 ? 1 : 2 * s->words;
    uint64_t *used = n <= 1 << 18 ? realloc(s->used, n * sizeof *used) : NULL;
    if (used == NULL)
        return -1;
    memset(used + s->words, 0, (n - s->words) * sizeof *used);
    s->used = used;
    s->words = n;
    return 0;
}

/* The lowest free slot, which must exist; it is taken. */
static inline uint64_t lowest_slot(efg_slots *s)
{
    uint32_t k = s->full;
    uint64_t used = s->used[k], slot = (uint64_t)k * 64 + (uint64_t)__builtin_ctzll(~used);
    s->used[k] = used |= used + 1;
    while (unlikely(used == ~(uint64_t)0)) {
        s->full = ++k;
        used = k < s->words ? s->used[k] : 0;
    }
    return slot;
}

/* Takes the lowest free slot of p; EFG_ABSENT: no memory. */
static uint64_t take_slot(graph *g, seg_node *p, efg_slots **slots)
{
    node_priv *q = priv_of(p);
    if (q == NULL)
        return EFG_ABSENT;
    *slots = &q->slots;
    slots_lock(g);
    bool any = q->slots.full < q->slots.words || grow_slots(&q->slots) == 0;
    uint64_t slot = any ? lowest_slot(&q->slots) : EFG_ABSENT;
    slots_unlock(g);
    return slot;
}

void graph_slot_free(graph *g, uint64_t id)
{
    uint32_t node = (uint32_t)(id >> 24) & ((1 << 26) - 1), slot = (uint32_t)id & 0xffffff;
    slots_lock(g);
    if (node < __atomic_load_n(&g->nnodes, __ATOMIC_ACQUIRE)) {
        node_priv *q = (node_priv *)(uintptr_t)((seg_node *)efg_ptr(g->nodes[node]))->priv;
        efg_slots *s = q != NULL ? &q->slots : NULL;
        if (s != NULL && slot / 64 < s->words) {
            s->used[slot / 64] &= ~((uint64_t)1 << slot % 64);
            if (slot / 64 < s->full)
                s->full = slot / 64;
        }
    }
    slots_unlock(g);
}

/* Appends an identity. Fails also if its definition is new and has no space. */
static int push_ident(seg_seq *s, uint64_t w)
{
    if (EFG_IS_CONST(w))
        return seq_push(s, (w & ~EFG_ABSENT) << 1 | 1);
    int64_t i = efg_def_index(w);
    if (i < 0) {                /* it has no definition: at least its word is kept */
        efg_def(EFG_DEF_UNKNOWN, w, NULL, 0, NULL, 0);
        i = efg_def_index(w);
    }
    return i < 0 ? -1 : seq_push(s, (uint64_t)i << 1);
}

static int push_vec(const seg_attr *a, const efg_stream *e, unsigned word)
{
    const efg_vecref *v = vec_of(e, word);
    if (EFG_IS_CONST(e->w[word]) || v == NULL)
        return push_ident(efg_ptr(a->values), e->w[word]);
    if (seq_push(efg_ptr(a->values), (uint64_t)v->len << 1) != 0)
        return -1;
    for (uint32_t i = 0; i < v->len; i++)
        if (seq_push(efg_ptr(a->elems), v->data[i]) != 0)
            return -1;
    return 0;
}

static int push_attrs(const seg_node *p, const efg_stream *e)
{
    const seg_attr *a = efg_ptr(p->attrs);
    for (uint32_t m = p->mask; m != 0; m &= m - 1, a++) {
        unsigned i = (unsigned)__builtin_ctz(m);
        enum efg_word_kind kind = kind_of(e->w[0], i);
        int err = kind == EFG_W_VEC     ? push_vec(a, e, i)
                  : kind == EFG_W_IDENT ? push_ident(efg_ptr(a->values), e->w[i])
                                        : seq_push(efg_ptr(a->values), e->w[i]);
        if (err != 0)
            return -1;
    }
    return 0;
}

static __attribute__((noinline)) int add_demoted(graph *g, seg_node *p, efg_stream *e)
{
    uint32_t mask = p->mask;
    uint64_t h = graph_roll(g->hash, p->hash);
    if (mask != 0) {
        unsigned k = slot_of(e->w[0]);
        if (k != 0 && e->w[k] == EFG_NEW && (e->w[k] = take_slot(g, p, &e->slots)) != EFG_ABSENT)
            e->id = id_of_first_slot(g, p) | e->w[k];
        if (push_attrs(p, e) != 0)
            return -1;
        for (; mask != 0; mask &= mask - 1)
            h = graph_roll(h, e->w[__builtin_ctz(mask)]);
    }
    return graph_publish(g, e, p, h);
}

/* If all demoted words are integers. Not inlined: graph_add_masked would save more registers. */
static __attribute__((noinline)) int add_scalars(graph *g, seg_node *p, efg_stream *e)
{
    const seg_attr *a = efg_ptr(p->attrs);
    uint64_t h = graph_roll(g->hash, p->hash);
    for (uint32_t m = p->mask; m != 0; m &= m - 1, a++) {
        uint64_t v = e->w[__builtin_ctz(m)];
        if (unlikely(seq_push(efg_ptr(a->values), v) != 0))
            return -1;
        h = graph_roll(h, v);
    }
    return graph_publish(g, e, p, h);
}

/* The fast path is for one thread, a new object, no other demoted word, and a
 * slot that the running repeat expects. */
int graph_add_masked(graph *g, seg_node *p, efg_stream *e)
{
    node_priv *q = (node_priv *)(uintptr_t)p->priv;
    if (unlikely(q == NULL || q->slot_only == 0 || efg_slots_shared
                 || q->slots.full >= q->slots.words || e->w[q->slot_only] != EFG_NEW))
        return q != NULL && q->scalars ? add_scalars(g, p, e) : add_demoted(g, p, e);
    uint64_t slot = e->w[q->slot_only] = lowest_slot(&q->slots);
    e->slots = &q->slots;
    e->id = q->slot_ids | slot;
    if (unlikely(!seq_repeats(q->slot_values, slot)))
        return add_demoted(g, p, e);
    return graph_publish(g, e, p, graph_roll(graph_roll(g->hash, p->hash), slot));
}
