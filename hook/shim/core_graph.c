/* The event flow graph of one stream: nodes, edges, branch runs.
 *
 * An event that goes where the last one from the same node went takes
 * core_fast.h's way: its words are those of the predicted node, and a counter
 * goes up. Everything else (another successor, a new node, a demoted word) is
 * here. efg/builder.go is the same in Go.
 *
 * Order of stores: a reader takes the published number of events and walks the
 * graph that far, so whatever an event adds must be there before Events says
 * so, and may be there without harm if it never does. */
#include "core_fast.h"
#include "core_seq.h"
#include "xxh64.h"

#include <stdlib.h>
#include <string.h>

enum { EDGES_SCAN = 8 };        /* more successors than this are hashed */

struct index_entry {
    uint64_t key;               /* lookup_key of the node */
    seg_node *node;
};

/* Private half of a node. */
typedef struct node_priv {
    uint32_t nedges, cap;
    uint32_t *edge;             /* refs of the edges, by number */
    struct by_successor {
        uint32_t to, edge;      /* refs; 0: free */
    } *table;                   /* the same, hashed; 2*cap entries; NULL if few */
    efg_slots slots;
    uint64_t slot_ids;          /* id of slot 0, of a node where only the slot is demoted */
    seg_seq *slot_values;       /* the slots then */
    unsigned slot_only;         /* the slot's word then, else 0 */
} node_priv;

bool efg_slots_shared;

graph *graph_new(seg_stream *s, bool times)
{
    graph *g = calloc(1, sizeof *g);
    if (g == NULL)
        return NULL;
    g->s = s;
    g->times = times;
    g->cap = 64;
    g->nodes = malloc(g->cap * sizeof *g->nodes);
    g->index = calloc(2 * (size_t)g->cap, sizeof *g->index);
    g->sites = sites_new();
    if (g->nodes == NULL || g->index == NULL || g->sites == NULL)
        return NULL;
    return g;
}

static inline void slots_lock(graph *g)
{
    if (efg_slots_shared)
        efg_lock(&g->slots_lock);
}

static inline void slots_unlock(graph *g)
{
    if (efg_slots_shared)
        efg_unlock(&g->slots_lock);
}

/* ---- finding a node ---- */

/* A hash of the words that are not demoted, for the index only: cheaper than
 * the XXH64 that a node keeps. */
static inline uint64_t lookup_key(const uint64_t *w, unsigned n, uint64_t mask)
{
    uint64_t h = mask;
    for (unsigned i = 0; i < n; i++)
        if (!(mask >> i & 1))
            h += w[i] * (XXP1 * (2 * i + 1));
    h ^= h >> 32;
    return h * XXP2;
}

/* The entry of the live node that w belongs to, or a free one. */
static index_entry *index_slot(const graph *g, uint64_t key, uint64_t mask, const uint64_t *w,
                               unsigned n)
{
    uint32_t size = 2 * g->cap, i = (uint32_t)(key >> 32) & (size - 1);
    for (index_entry *e; (e = &g->index[i])->node != NULL; i = (i + 1) & (size - 1))
        if (e->key == key && e->node->mask == mask && matches(e->node, w, n))
            break;
    return &g->index[i];
}

static int grow_index(graph *g)
{
    uint32_t cap = g->cap * 2;
    slots_lock(g);              /* graph_slot_free reads nodes */
    seg_node **nodes = realloc(g->nodes, cap * sizeof *nodes);
    if (nodes != NULL)
        g->nodes = nodes;
    slots_unlock(g);
    index_entry *index = calloc(2 * (size_t)cap, sizeof *index);
    if (nodes == NULL || index == NULL) {
        free(index);
        return -1;
    }
    for (uint32_t k = 0; k < g->nnodes; k++) {
        seg_node *p = g->nodes[k];
        uint64_t key = lookup_key(node_words(p), p->n, p->mask);
        uint32_t i = (uint32_t)(key >> 32) & (2 * cap - 1);
        while (index[i].node != NULL)
            i = (i + 1) & (2 * cap - 1);
        index[i] = (index_entry){key, p};
    }
    free(g->index);
    g->index = index;
    g->cap = cap;
    return 0;
}

/* ---- making a node ---- */

static const efg_vecref *vec_of(const efg_stream *e, unsigned word)
{
    for (uint32_t i = 0; i < e->nvec; i++)
        if (e->vec[i].word == word)
            return &e->vec[i];
    return NULL;
}

static enum efg_word_kind kind_of(uint64_t header, unsigned word)
{
    unsigned op = EFG_OP(header);
    return op < efg_nschemas && word >= 3 ? efg_schemas[op].kind[word] : EFG_W_SCALAR;
}

/* The slot word of an event with this header, 0 if it has none. */
static inline unsigned slot_of(uint64_t header)
{
    unsigned op = EFG_OP(header);
    return op < efg_nschemas ? efg_schemas[op].slot : 0;
}

/* Vectors that stay in the signature get a definition. */
static void define_vectors(const efg_stream *e, uint64_t mask)
{
    for (uint32_t i = 0; i < e->nvec; i++) {
        const efg_vecref *v = &e->vec[i];
        if (!(mask >> v->word & 1) && !EFG_IS_CONST(e->w[v->word]))
            efg_def(EFG_DEF_VEC, e->w[v->word], v->data, v->len, NULL, 0);
    }
}

static node_priv *priv_of(seg_node *p)
{
    if (p->priv == 0)
        p->priv = (uint64_t)(uintptr_t)calloc(1, sizeof(node_priv));
    return (node_priv *)(uintptr_t)p->priv;
}

static inline uint64_t id_of_first_slot(const graph *g, const seg_node *p)
{
    return EFG_ID_BIT | (uint64_t)g->s->thread << 50 | (uint64_t)p->index << 24;
}

/* The quick way to a node's slots where nothing but word k is demoted. */
static int remember_slot(const graph *g, seg_node *p, unsigned k)
{
    node_priv *q = priv_of(p);
    if (q == NULL)
        return -1;
    q->slot_only = k;
    q->slot_ids = id_of_first_slot(g, p);
    q->slot_values = efg_ptr(((seg_attr *)efg_ptr(p->attrs))->values);
    return 0;
}

static int make_attrs(const graph *g, seg_node *p, uint64_t header)
{
    unsigned count = (unsigned)__builtin_popcount(p->mask);
    if (count == 0)
        return 0;
    seg_attr *a = efg_alloc(count * sizeof *a, SEG_REF_UNIT);
    if (a == NULL)
        return -1;
    p->attrs = efg_ref(a);
    for (uint32_t m = p->mask; m != 0; m &= m - 1, a++) {
        seg_seq *values = seq_new(true), *elems = NULL;
        bool vec = kind_of(header, (unsigned)__builtin_ctz(m)) == EFG_W_VEC;
        if (values == NULL || (vec && (elems = seq_new(true)) == NULL))
            return -1;
        a->values = efg_ref(values);
        a->elems = vec ? efg_ref(elems) : 0;
    }
    return p->mask == (uint32_t)1 << slot_of(header) ? remember_slot(g, p, slot_of(header)) : 0;
}

static seg_node *make_node(graph *g, const efg_stream *e, uint64_t mask)
{
    unsigned n = EFG_NWORDS(e->w[0]);
    size_t head = (sizeof(seg_node) + n * sizeof *e->w + 63) & ~(size_t)63;
    if (g->nnodes == g->cap && grow_index(g) != 0)
        return NULL;
    define_vectors(e, mask);
    seg_node *p = efg_alloc(head + (g->times ? sizeof(seg_node_stats) : 0), 64);
    if (p == NULL)
        return NULL;
    uint64_t *words = node_words(p);
    for (unsigned i = 0; i < n; i++)
        words[i] = mask >> i & 1 ? 0 : e->w[i];
    p->hash = xxh64(words, n * sizeof *words);
    if (slot_of(words[0]) != 0) /* what the next event will have there */
        words[slot_of(words[0])] = EFG_NEW;
    p->mask = (uint32_t)mask;
    p->n = p->live = (uint16_t)n;
    p->index = g->nnodes;
    if (make_attrs(g, p, words[0]) != 0 || sites_add_node(g->sites, e->w, p) != 0)
        return NULL;
    efg_publish_barrier();
    if (g->tail == NULL)
        g->s->nodes = efg_ref(p);
    else
        g->tail->next = efg_ref(p);
    g->tail = p;
    g->nodes[g->nnodes] = p;
    __atomic_store_n(&g->nnodes, g->nnodes + 1, __ATOMIC_RELEASE);
    return p;
}

/* The node of an event by its signature; made if it is new. */
static seg_node *find_node(graph *g, const efg_stream *e)
{
    unsigned n = EFG_NWORDS(e->w[0]);
    for (;;) {
        uint64_t mask, key;
        if (sites_mask(g->sites, e->w, &mask) != 0)
            return NULL;
        key = lookup_key(e->w, n, mask);
        index_entry *at = index_slot(g, key, mask, e->w, n);
        if (likely(at->node != NULL))
            return at->node;
        int demoted = sites_make_room(g->sites, e->w);
        if (demoted < 0)
            return NULL;
        if (demoted)
            continue;
        seg_node *p = make_node(g, e, mask);
        if (p != NULL)
            *index_slot(g, key, mask, e->w, n) = (index_entry){key, p};
        return p;
    }
}

/* The node of an event: the one that its callsite had last, or any other. A
 * live node whose words fit is always the right one. */
static inline seg_node *node_of(graph *g, const efg_stream *e)
{
    seg_node **hint = &g->hint[e->w[1] % GRAPH_HINTS];
    if (*hint != NULL && matches(*hint, e->w, EFG_NWORDS(e->w[0])))
        return *hint;
    return *hint = find_node(g, e);
}

/* ---- edges ---- */

static inline uint32_t edge_at(const node_priv *q, uint32_t to)
{
    uint32_t size = 2 * q->cap, i = (uint32_t)(to * XXP1 >> 40) & (size - 1);
    while (q->table[i].edge != 0 && q->table[i].to != to)
        i = (i + 1) & (size - 1);
    return i;
}

static int grow_edges(node_priv *q)
{
    uint32_t cap = q->cap == 0 ? 2 : 2 * q->cap;
    uint32_t *edge = realloc(q->edge, cap * sizeof *edge);
    if (edge == NULL)
        return -1;
    q->edge = edge;
    struct by_successor *table = NULL;
    if (cap > EDGES_SCAN && (table = calloc(2 * (size_t)cap, sizeof *table)) == NULL)
        return -1;
    free(q->table);
    q->table = table;
    q->cap = cap;
    for (uint32_t i = 0; table != NULL && i < q->nedges; i++) {
        uint32_t to = ((seg_edge *)efg_ptr(edge[i]))->to;
        table[edge_at(q, to)] = (struct by_successor){to, edge[i]};
    }
    return 0;
}

static inline seg_edge *find_edge(const node_priv *q, uint32_t to)
{
    if (q->table != NULL) {
        uint32_t edge = q->table[edge_at(q, to)].edge;
        return edge != 0 ? efg_ptr(edge) : NULL;
    }
    for (uint32_t i = 0; i < q->nedges; i++) {
        seg_edge *e = efg_ptr(q->edge[i]);
        if (e->to == to)
            return e;
    }
    return NULL;
}

static seg_edge *add_edge(seg_node *p, node_priv *q, uint32_t to)
{
    if (q->nedges == q->cap && grow_edges(q) != 0)
        return NULL;
    seg_edge *e = efg_alloc(sizeof *e, sizeof *e);
    if (e == NULL)
        return NULL;
    e->to = to;
    e->index = q->nedges;
    efg_publish_barrier();
    if (q->nedges == 0)
        p->edges = efg_ref(e);
    else
        ((seg_edge *)efg_ptr(q->edge[q->nedges - 1]))->next = efg_ref(e);
    if (q->table != NULL)
        q->table[edge_at(q, to)] = (struct by_successor){to, efg_ref(e)};
    q->edge[q->nedges++] = efg_ref(e);
    return e;
}

/* The edge's runs vary from now on; the new one is r long. */
static int begin_to_vary(seg_node *p, seg_edge *e, uint64_t r)
{
    seg_varies *v = efg_alloc(sizeof *v, SEG_REF_UNIT);
    seg_seq *c = p->counts != 0 ? efg_ptr(p->counts) : seq_new(false);
    if (v == NULL || c == NULL || seq_push(c, r) != 0)
        return -1;
    v->fixed = e->runs;
    v->count = e->steps;
    efg_publish_barrier();
    p->counts = efg_ref(c);
    e->varies = efg_ref(v);
    e->steps = e->steps * e->runs + r;
    return 0;
}

/* Closes p's current branch run, which is one of e. */
static int close_run(seg_node *p, seg_edge *e)
{
    uint64_t r = p->run;
    if (e->varies != 0) {
        if (seq_push(efg_ptr(p->counts), r) != 0)
            return -1;
        e->steps += r;
    } else if (e->runs == 0) {
        e->steps = r;
    } else if (e->steps != r && begin_to_vary(p, e, r) != 0) {
        return -1;
    }
    efg_publish_barrier();
    e->runs++;
    return 0;
}

/* Starts a branch run along e at p, closing the current one. */
static int start_run(seg_node *p, seg_edge *e)
{
    if (p->cur != 0) {
        seg_edge *old = efg_ptr(p->cur);
        if (close_run(p, old) != 0)
            return -1;
        seg_seq *runs = p->runs != 0 ? efg_ptr(p->runs) : seq_new(false);
        if (runs == NULL || (p->runs == 0 && seq_push(runs, old->index) != 0)
            || seq_push(runs, e->index) != 0)
            return -1;
        efg_publish_barrier();
        p->runs = efg_ref(runs);
    }
    p->pred = e->to;
    p->cur = efg_ref(e);
    p->run = 1;
    return 0;
}

static int step(seg_node *from, seg_node *to)
{
    node_priv *q = priv_of(from);
    if (q == NULL)
        return -1;
    uint32_t ref = efg_ref(to);
    seg_edge *e = find_edge(q, ref);
    if (e == NULL && (e = add_edge(from, q, ref)) == NULL)
        return -1;
    if (from->cur == efg_ref(e)) {
        from->run++;
        return 0;
    }
    return start_run(from, e);
}

/* The successor that the branch runs of p so far suggest. */
static seg_edge *expected(const seg_node *p)
{
    uint64_t i;
    if (p->runs == 0 || !seq_predict(efg_ptr(p->runs), &i))
        return NULL;
    return efg_ptr(((node_priv *)(uintptr_t)p->priv)->edge[i]);
}

/* ---- attributes and slots ---- */

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

/* The lowest free slot, of which there is one; it is taken. */
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
        node_priv *q = (node_priv *)(uintptr_t)g->nodes[node]->priv;
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
    if (i < 0) {                /* nobody said what it is: at least its word is kept */
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

/* ---- the event ---- */

/* The event does not go where the last one from g->cur went. */
static seg_node *turn(graph *g, const efg_stream *e, unsigned n)
{
    seg_node *from = g->cur;
    seg_edge *edge = from != NULL ? expected(from) : NULL;
    if (edge != NULL && efg_ref(edge) != from->cur && matches(efg_ptr(edge->to), e->w, n))
        return start_run(from, edge) == 0 ? efg_ptr(edge->to) : NULL;
    seg_node *p = node_of(g, e);
    if (p == NULL || (from != NULL && step(from, p) != 0))
        return NULL;
    return p;
}

int graph_turn(graph *g, efg_stream *e, uint64_t *id)
{
    seg_node *p = turn(g, e, EFG_NWORDS(e->w[0]));
    return p != NULL ? graph_add_masked(g, p, e, id) : -1;
}

static __attribute__((noinline)) int add_demoted(graph *g, seg_node *p, efg_stream *e, uint64_t *id)
{
    uint32_t mask = p->mask;
    uint64_t h = graph_roll(g->hash, p->hash);
    if (mask != 0) {
        unsigned k = slot_of(e->w[0]);
        if (k != 0 && e->w[k] == EFG_NEW && (e->w[k] = take_slot(g, p, &e->slots)) != EFG_ABSENT)
            *id = id_of_first_slot(g, p) | e->w[k];
        if (push_attrs(p, e) != 0)
            return -1;
        for (; mask != 0; mask &= mask - 1)
            h = graph_roll(h, e->w[__builtin_ctz(mask)]);
    }
    graph_publish(g, p, h);
    return 0;
}

/* The quick way is for one thread, a new object, no other word demoted, and a
 * slot that the running repeat expects. */
int graph_add_masked(graph *g, seg_node *p, efg_stream *e, uint64_t *id)
{
    node_priv *q = (node_priv *)(uintptr_t)p->priv;
    if (unlikely(q == NULL || q->slot_only == 0 || efg_slots_shared
                 || q->slots.full >= q->slots.words || e->w[q->slot_only] != EFG_NEW))
        return add_demoted(g, p, e, id);
    uint64_t slot = e->w[q->slot_only] = lowest_slot(&q->slots);
    e->slots = &q->slots;
    *id = q->slot_ids | slot;
    if (unlikely(!seq_repeats(q->slot_values, slot)))
        return add_demoted(g, p, e, id);
    graph_publish(g, p, graph_roll(graph_roll(g->hash, p->hash), slot));
    return 0;
}
