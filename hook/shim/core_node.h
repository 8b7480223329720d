/* What core_graph.c and core_attrs.c share of a node. */
#ifndef EFG_CORE_NODE_H
#define EFG_CORE_NODE_H

#include "core_internal.h"

#include <stdlib.h>

/* Private half of a node; only nodes with several edges, or slots, have one. */
typedef struct node_priv {
    uint32_t *edges;            /* refs, by number */
    struct by_successor {
        uint32_t to;            /* ref */
        uint32_t edge;          /* ref; 0: free */
        uint32_t number;        /* of the edge */
    } *table;
    uint32_t bits;              /* the table has 1 << bits entries, cap is half of it */
    uint32_t nedges, cap;
    uint32_t unentered;         /* turns that are noted in the stream */
    efg_slots slots;
    uint64_t slot_ids;          /* id of slot 0, of a node where only the slot is demoted */
    seg_seq *slot_values;       /* the slots then */
    unsigned slot_only;         /* the slot's word then, else 0 */
    bool demoted;               /* other words than a slot are */
    bool scalars;               /* they are integers, and there is no slot: only values */
} node_priv;

/* NULL: no memory. */
static inline node_priv *priv_of(seg_node *p)
{
    if (p->priv == 0)
        p->priv = (uint64_t)(uintptr_t)calloc(1, sizeof(node_priv));
    return (node_priv *)(uintptr_t)p->priv;
}

/* Are words of the node demoted, besides the slot of a new object? */
static inline bool is_demoted(const seg_node *p)
{
    const node_priv *q = (node_priv *)(uintptr_t)p->priv;
    return p->mask != 0 && q != NULL && q->demoted;
}

static inline enum efg_word_kind kind_of(uint64_t header, unsigned word)
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

/* ---- core_attrs.c ---- */

/* Gives a new node the attribute streams of its mask. 0, or -1 when out of space. */
int graph_make_attrs(const graph *g, seg_node *p, uint64_t header);

#endif
