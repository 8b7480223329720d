/* The event flow graph of one stream: nodes, edges, branch runs.
 *
 * An event whose step is the same as the last one from the same node takes the
 * path in core_fast.h: its words are those of the predicted node, and a counter
 * goes up. Everything else (another successor, a new node, a demoted word) is
 * here. efg/builder.go is the Go counterpart.
 *
 * Order of stores: a reader takes the published number of events and walks the
 * graph that far, so whatever an event adds must be stored before Events counts
 * the event, and does no harm if Events never does. */
#include "core_fast.h"
#include "core_node.h"
#include "xxh64.h"

#include <stdlib.h>
#include <string.h>

struct index_entry {
    uint32_t key;               /* of the node's lookup_key, the half that does not determine its place */
    uint32_t node;              /* ref */
};

graph *graph_new(seg_stream *s, bool times, bool trace)
{
    graph *g = calloc(1, sizeof *g);
    if (g == NULL)
        return NULL;
    g->s = s;
    g->times = times;
    g->at = trace;              /* beyond the end, 0, of no chunk */
    g->cap = 64;
    g->nodes = efg_table_new(g->cap * sizeof *g->nodes);
    g->index = efg_table_new(2 * (size_t)g->cap * sizeof *g->index);
    g->sites = sites_new();
    if (g->nodes == NULL || g->index == NULL || g->sites == NULL)
        return NULL;
    return g;
}

/* ---- finding a node ---- */

/* A hash of the words that are not demoted, for the index only: cheaper than
 * the XXH64 that a node keeps. */
static inline uint64_t lookup_key(const uint64_t *w, unsigned n, uint64_t mask)
{
    uint64_t h = mask;
#define WORD(i) case (i) + 1: h += w[i] * (XXP1 * (2 * (i) + 1)); __attribute__((fallthrough))
    switch (n) {
    WORD(31); WORD(30); WORD(29); WORD(28); WORD(27); WORD(26); WORD(25); WORD(24); WORD(23); WORD(22);
    WORD(21); WORD(20); WORD(19); WORD(18); WORD(17); WORD(16); WORD(15); WORD(14); WORD(13); WORD(12);
    WORD(11); WORD(10); WORD(9);  WORD(8);  WORD(7);  WORD(6);  WORD(5);  WORD(4);  WORD(3);  WORD(2);
    WORD(1);  WORD(0);
    default: break;
    }
#undef WORD
    for (uint64_t m = mask; m != 0; m &= m - 1) {
        unsigned i = (unsigned)__builtin_ctzll(m);
        h -= w[i] * (XXP1 * (2 * i + 1));
    }
    h ^= h >> 32;
    return h * XXP2;
}

/* The entry of the live node that w belongs to, or a free one. */
static index_entry *index_slot(const graph *g, uint64_t key, uint64_t mask, const uint64_t *w,
                               unsigned n)
{
    uint32_t size = 2 * g->cap, i = (uint32_t)(key >> 32) & (size - 1);
    for (index_entry *e; (e = &g->index[i])->node != 0; i = (i + 1) & (size - 1)) {
        const seg_node *p = efg_ptr(e->node);
        if (e->key == (uint32_t)key && p->mask == mask && p->live == n && matches_masked(p, w, n))
            break;
    }
    return &g->index[i];
}

static int grow_index(graph *g)
{
    uint32_t cap = g->cap * 2;
    uint32_t *nodes = efg_table_new(cap * sizeof *nodes), *old = g->nodes;
    if (nodes == NULL)
        return -1;
    index_entry *index = efg_table_new(2 * (size_t)cap * sizeof *index);
    if (index == NULL) {
        efg_table_free(nodes, cap * sizeof *nodes);
        return -1;
    }
    memcpy(nodes, old, g->nnodes * sizeof *nodes);
    slots_lock(g);              /* graph_slot_free reads nodes */
    g->nodes = nodes;
    slots_unlock(g);
    efg_table_free(old, g->cap * sizeof *old);
    for (uint32_t k = 0; k < g->nnodes; k++) {
        const seg_node *p = efg_ptr(g->nodes[k]);
        uint64_t key = lookup_key(node_words(p), p->n, p->mask);
        uint32_t i = (uint32_t)(key >> 32) & (2 * cap - 1);
        while (index[i].node != 0)
            i = (i + 1) & (2 * cap - 1);
        index[i] = (index_entry){(uint32_t)key, g->nodes[k]};
    }
    efg_table_free(g->index, 2 * (size_t)g->cap * sizeof *index);
    g->index = index;
    g->cap = cap;
    return 0;
}

/* ---- making a node ---- */

/* Vectors that stay in the signature get a definition. */
static void define_vectors(const efg_stream *e, uint64_t mask)
{
    for (uint32_t i = 0; i < e->nvec; i++) {
        const efg_vecref *v = &e->vec[i];
        if (!(mask >> v->word & 1) && !EFG_IS_CONST(e->w[v->word]))
            efg_def(EFG_DEF_VEC, e->w[v->word], v->data, v->len, NULL, 0);
    }
}

static seg_node *make_node(graph *g, const efg_stream *e, uint64_t mask)
{
    unsigned n = EFG_NWORDS(e->w[0]);
    size_t head = sizeof(seg_node) + n * sizeof *e->w;
    if (g->nnodes == g->cap && grow_index(g) != 0)
        return NULL;
    define_vectors(e, mask);
    size_t counters = efg_timing == EFG_TALLIED ? efg_header->ncounters * sizeof(seg_node_counter) : 0;
    seg_node *p = efg_alloc(head + (g->times ? sizeof(seg_node_stats) : 0) + counters, SEG_REF_UNIT);
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
    if (g->times)
        node_stats(p)->dur_min = node_stats(p)->gap_min = ~(uint64_t)0;
    if (counters != 0)
        counters_init_node(node_counters(p));
    p->index = g->nnodes;
    bool counted = (words[0] & EFG_COUNTED) != 0;
    if ((!counted && graph_make_attrs(g, p, words[0]) != 0) || sites_add_node(g->sites, e->w, p) != 0)
        return NULL;
    efg_publish_barrier();
    if (g->tail == NULL)
        g->s->nodes = efg_ref(p);
    else
        g->tail->next = efg_ref(p);
    g->tail = p;
    g->nodes[g->nnodes] = efg_ref(p);
    __atomic_store_n(&g->nnodes, g->nnodes + 1, __ATOMIC_RELEASE);
    return p;
}

/* The node of an event by its signature; created if it is new. */
static seg_node *find_node(graph *g, const efg_stream *e)
{
    unsigned n = EFG_NWORDS(e->w[0]);
    for (;;) {
        uint64_t mask, key;
        if (sites_mask(g->sites, e->w, &mask) != 0)
            return NULL;
        key = lookup_key(e->w, n, mask);
        index_entry *at = index_slot(g, key, mask, e->w, n);
        if (likely(at->node != 0))
            return efg_ptr(at->node);
        int demoted = sites_make_room(g->sites, e->w);
        if (demoted < 0)
            return NULL;
        if (demoted)
            continue;
        seg_node *p = make_node(g, e, mask);
        if (p != NULL)
            *index_slot(g, key, mask, e->w, n) = (index_entry){(uint32_t)key, efg_ref(p)};
        return p;
    }
}

/* The node of an event at the site of this live node, on which words are demoted;
 * NULL if there is none yet. All live nodes of a site have the same mask. */
static seg_node *neighbour(const graph *g, const seg_node *p, const uint64_t *w, unsigned n)
{
    const uint64_t *s = node_words(p);
    if (p->live != n || w[0] != s[0] || w[1] != s[1] || w[2] != s[2])
        return NULL;
    const index_entry *at = index_slot(g, lookup_key(w, n, p->mask), p->mask, w, n);
    return at->node != 0 ? efg_ptr(at->node) : NULL;
}

/* The node of an event: a recent one of its callsite and object, or any other. A
 * live node whose words match is always the right one. */
static inline seg_node *node_of(graph *g, const efg_stream *e)
{
    unsigned n = EFG_NWORDS(e->w[0]);
    seg_node **hint = g->hint[(e->w[1] ^ e->w[2]) % GRAPH_HINTS], *p = hint[0];
    if (p != NULL && is_demoted(p)) {
        if ((p = neighbour(g, p, e->w, n)) != NULL)
            return hint[0] = p;
    } else if (likely(p != NULL && matches(p, e->w, n))) {
        return p;
    }
    if (hint[1] != NULL && matches(hint[1], e->w, n))
        return hint[1];
    hint[1] = hint[0];
    return hint[0] = find_node(g, e);
}

/* ---- edges ---- */

/* The place of a successor in the table, or room for it. Numbers of successors
 * that are close to each other, as most are, do not collide. */
static inline uint32_t edge_place(const node_priv *q, const seg_node *to)
{
    uint32_t end = ((uint32_t)1 << q->bits) - 1;
    return (to->index + ((to->index >> q->bits) * 0x9E3779B1u >> (32 - q->bits))) & end;
}

static inline struct by_successor *edge_slot(const node_priv *q, const seg_node *to)
{
    uint32_t ref = efg_ref(to), end = ((uint32_t)1 << q->bits) - 1, i = edge_place(q, to);
    while (q->table[i].edge != 0 && q->table[i].to != ref)
        i = (i + 1) & end;
    return &q->table[i];
}

static void enter_edge(const node_priv *q, const seg_node *to, uint32_t number)
{
    *edge_slot(q, to) = (struct by_successor){efg_ref(to), q->edges[number], number};
}

/* Entries are moved from table to table: edges are far apart, and in none of the caches. */
static int grow_edges(node_priv *q)
{
    uint32_t bits = q->cap == 0 ? 2 : q->bits + 1, cap = (uint32_t)1 << bits >> 1;
    uint32_t *edges = realloc(q->edges, cap * sizeof *edges);
    if (edges == NULL)
        return -1;
    q->edges = edges;
    struct by_successor *table = calloc((size_t)1 << bits, sizeof *table), *old = q->table;
    if (table == NULL)
        return -1;
    uint32_t size = q->cap == 0 ? 0 : (uint32_t)1 << q->bits;
    q->table = table;
    q->bits = bits;
    q->cap = cap;
    for (uint32_t i = 0; i < size; i++)
        if (old[i].edge != 0)
            *edge_slot(q, efg_ptr(old[i].to)) = old[i];
    free(old);
    return 0;
}

/* Adds a node's edge with this number after the previous one; NULL when out of
 * space. */
static seg_edge *append_edge(seg_node *p, seg_edge *before, uint32_t number, const seg_node *to)
{
    seg_edge *e = efg_alloc(sizeof *e, sizeof *e);
    if (e == NULL)
        return NULL;
    e->to = efg_ref(to);
    e->index = number;
    efg_publish_barrier();
    if (before == NULL)
        p->edges = efg_ref(e);
    else
        before->next = efg_ref(e);
    return e;
}

/* The private half of a node with one edge, with that edge in it. */
static node_priv *several_edges(seg_node *p)
{
    node_priv *q = priv_of(p);
    if (q == NULL || (q->cap == 0 && grow_edges(q) != 0))
        return NULL;
    if (q->nedges == 0) {
        q->edges[0] = q->tail = p->edges;
        q->nedges = 1;
        enter_edge(q, efg_ptr(((seg_edge *)efg_ptr(p->edges))->to), 0);
    }
    return q;
}

static int64_t add_edge(seg_node *p, node_priv *q, const seg_node *to)
{
    if (q->nedges == q->cap && grow_edges(q) != 0)
        return -1;
    seg_edge *e = append_edge(p, efg_ptr(q->tail), q->nedges, to);
    if (e == NULL)
        return -1;
    q->edges[q->nedges] = q->tail = efg_ref(e);
    enter_edge(q, to, q->nedges);
    return q->nedges++;
}

/* The edge's runs vary from now on; the new one has length r. */
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

/* Closes p's current branch run, which belongs to e and has length r. */
static int close_run(seg_node *p, seg_edge *e, uint64_t r)
{
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

/* Closes p's branch run of length r, and enters that the next one belongs to this
 * edge. */
static int enter_run(seg_node *p, uint64_t r, uint32_t edge, uint32_t number)
{
    seg_edge *old = efg_ptr(p->cur);
    if (close_run(p, old, r) != 0)
        return -1;
    seg_seq *runs = p->runs != 0 ? efg_ptr(p->runs) : seq_new(false);
    if (runs == NULL || (p->runs == 0 && seq_push(runs, old->index) != 0)
        || seq_push(runs, number) != 0)
        return -1;
    efg_publish_barrier();
    p->runs = efg_ref(runs);
    p->cur = edge;
    return 0;
}

/* Starts a branch run to a node, by p's edge of this number; closes the current one. */
static int start_run(seg_node *p, uint32_t edge, uint32_t number, const seg_node *to)
{
    if (enter_run(p, p->run, edge, number) != 0)
        return -1;
    p->pred = efg_ref(to);
    p->run = 1;
    return 0;
}

/* ---- turns at nodes with many edges ---- */

/* Their tables of edges are larger than the caches. A turn is noted in the
 * stream, and entered at the node after several more were noted: meanwhile what
 * it changes is prefetched. Turns of one node are entered in order. If there is
 * no space to enter a turn it stays noted, because the event that made it is
 * published. */

#ifndef GRAPH_MANY_EDGES
#define GRAPH_MANY_EDGES 256    /* fewer in tests */
#endif

static int enter_oldest(graph *g)
{
    const seg_turn *t = &g->s->turns[g->s->entered % SEG_MAX_TURNS];
    seg_node *p = efg_ptr(t->from), *to = efg_ptr(t->to);
    node_priv *q = (node_priv *)(uintptr_t)p->priv;
    const struct by_successor *known = edge_slot(q, to);
    uint32_t edge = known->edge, number = known->number;
    if (edge == 0) {
        int64_t added = add_edge(p, q, to);
        if (added < 0)
            return -1;
        number = (uint32_t)added;
        edge = q->edges[number];
    }
    if (enter_run(p, t->run, edge, number) != 0)
        return -1;
    q->unentered--;
    efg_publish_barrier();
    g->s->entered++;
    return 0;
}

/* Whether there is an edge for a turn is known by now: prefetches what its number will
 * change, or where a new edge is added. */
static void fetch_more(const seg_turn *t)
{
    const seg_node *p = efg_ptr(t->from);
    const node_priv *q = (node_priv *)(uintptr_t)p->priv;
    const struct by_successor *known = edge_slot(q, efg_ptr(t->to));
    if (known->edge == 0) {
        __builtin_prefetch(efg_ptr(q->tail), 1);
        __builtin_prefetch(q->edges + q->nedges, 1);
    }
    seq_fetch(efg_ptr(p->runs), known->edge != 0 ? known->number : q->nedges);
}

/* The node's Run and Pred are those of the latest run, immediately. */
static int note_turn(graph *g, seg_node *p, node_priv *q, const seg_node *to)
{
    seg_stream *s = g->s;
    if (s->made - s->entered == SEG_MAX_TURNS && enter_oldest(g) != 0)
        return -1;
    const seg_seq *runs = efg_ptr(p->runs);
    s->turns[s->made % SEG_MAX_TURNS] = (seg_turn){
        .run = p->run, .runs = runs->state[runs->sel].n + q->unentered, .from = efg_ref(p), .to = efg_ref(to),
    };
    efg_publish_barrier();
    s->made++;
    efg_publish_barrier();
    p->pred = efg_ref(to);
    p->run = 1;
    q->unentered++;
    __builtin_prefetch(&q->table[edge_place(q, to)]);
    __builtin_prefetch(efg_ptr(p->cur), 1);
    __builtin_prefetch((void *)(uintptr_t)runs->priv, 1);
    if (s->made - s->entered > SEG_MAX_TURNS / 2)
        fetch_more(&s->turns[(s->made - 1 - SEG_MAX_TURNS / 2) % SEG_MAX_TURNS]);
    return 0;
}

/* The first step from a node. */
static int first_step(seg_node *from, const seg_node *to)
{
    seg_edge *e = append_edge(from, NULL, 0, to);
    if (e == NULL)
        return -1;
    from->pred = e->to;
    from->cur = efg_ref(e);
    from->run = 1;
    return 0;
}

static int step(graph *g, seg_node *from, const seg_node *to)
{
    if (from->cur == 0)
        return first_step(from, to);
    if (from->pred == efg_ref(to)) {
        from->run++;
        return 0;
    }
    node_priv *q = several_edges(from);
    if (q == NULL)
        return -1;
    if (q->nedges >= GRAPH_MANY_EDGES)
        return note_turn(g, from, q, to);
    const struct by_successor *known = edge_slot(q, to);
    if (likely(known->edge != 0))
        return start_run(from, known->edge, known->number, to);
    int64_t number = add_edge(from, q, to);
    return number >= 0 ? start_run(from, q->edges[number], (uint32_t)number, to) : -1;
}

/* Moves to the successor that the previous branch runs of p suggest, if the event
 * belongs to it. NULL if it does not; *err is -1 if it does but there is no
 * space. */
static inline seg_node *step_as_expected(seg_node *p, const efg_stream *e, int *err)
{
    uint64_t i;
    if (p->runs == 0 || !seq_predict(efg_ptr(p->runs), &i))
        return NULL;
    const node_priv *q = (node_priv *)(uintptr_t)p->priv;
    if (q->unentered != 0)
        return NULL;
    seg_node *to = efg_ptr(((seg_edge *)efg_ptr(q->edges[i]))->to);
    if (q->edges[i] == p->cur || !matches(to, e->w, EFG_NWORDS(e->w[0])))
        return NULL;
    *err = start_run(p, q->edges[i], (uint32_t)i, to);
    return to;
}

/* ---- the event ---- */

/* Prefetches what the next event will change if it turns again: in a large graph
 * nothing of that is in the caches, and the program's call takes a while. */
static inline void expect_turn(const seg_node *p)
{
    const seg_seq *runs = efg_ptr(p->runs);
    __builtin_prefetch((void *)(uintptr_t)p->priv);
    __builtin_prefetch(efg_ptr(p->cur), 1);
    __builtin_prefetch(runs, 1);
    __builtin_prefetch(&runs->state[1], 1);
}

int graph_turn(graph *g, efg_stream *e)
{
    seg_node *from = g->cur, *p = NULL;
    int err = 0;
    if (from != NULL)
        p = step_as_expected(from, e, &err);
    if (p == NULL && (p = node_of(g, e)) != NULL && from != NULL)
        err = step(g, from, p);
    if (unlikely(p == NULL || err != 0))
        return -1;
    if (p->runs != 0)
        expect_turn(p);
    if (p->mask != 0)
        return graph_add_masked(g, p, e);
    return graph_publish(g, e, p, graph_roll(g->hash, p->hash));
}

/* Its header distinguishes it from polls of the callsite that found something. */
seg_node *graph_count(graph *g, efg_stream *e)
{
    e->w[0] |= EFG_COUNTED;
    seg_node *p = node_of(g, e);
    if (p != NULL)
        p->run++;
    return p;
}
