/* What core_graph.c and core_attrs.c share about a node. */
#ifndef EFG_CORE_NODE_H
#define EFG_CORE_NODE_H

#include "core_internal.h"

#include <stdlib.h>

/* Private half of a node; only nodes with several edges, or with slots, have one. */
typedef struct node_priv {
    uint32_t *edges;            /* refs, by number */
    struct by_successor {
        uint32_t to;            /* ref */
        uint32_t edge;          /* ref; 0: free */
        uint32_t number;        /* of the edge */
    } *table;
    uint32_t bits;              /* the table has 1 << bits entries, cap is half of it */
    uint32_t nedges, cap;
    uint32_t tail;              /* ref: the newest edge */
    uint32_t unentered;         /* number of its turns that are noted in the stream */
    efg_slots slots;
    uint64_t slot_ids;          /* id of slot 0, for a node where only the slot is demoted */
    seg_seq *slot_values;       /* then: the slots */
    unsigned slot_only;         /* then: the slot's word; otherwise 0 */
    bool demoted;               /* words other than a slot are */
    bool scalars;               /* they are integers, and there is no slot: only values */
} node_priv;

/* NULL: no memory. */
static inline node_priv *priv_of(seg_node *p)
{
    if (p->priv == 0)
        p->priv = (uint64_t)(uintptr_t)calloc(1, sizeof(node_priv));
    return (node_priv *)(uintptr_t)p->priv;
}

/* Reports whether words of the node are demoted, besides the slot of a new
 * object. */
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

/* Creates the attribute streams of a new node's mask. 0, or -1 when out of space. */
int graph_make_attrs(const graph *g, seg_node *p, uint64_t header);

#endif
