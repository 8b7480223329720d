/* Operations, and the objects that are identified by slots. */
#ifndef EFG_BACK_OBJECT_H
#define EFG_BACK_OBJECT_H

#include "back_thread.h"

#pragma GCC visibility push(hidden)

uint64_t bk_op_miss(bk_thread *b, MPI_Op op);

static inline uint64_t bk_op_word(bk_thread *b, MPI_Op op)
{
    const bk_entry *e = &b->op[bk_cache_slot(BK_KEY(op), BK_OP_BITS)];
    return bk_is_copy(&bk_ops, BK_KEY(op), e) ? e->word : bk_op_miss(b, op);
}
uint64_t bk_op_new(bk_thread *b, MPI_Op op, const void *function, int commute);

enum bk_object { BK_INFO, BK_ERRH, BK_KEYVAL, BK_SESSION, BK_MESSAGE, BK_OBJECTS };

/* Word of an object handle: constant or id. */
uint64_t bk_object_word(enum bk_object kind, uint64_t key);
/* The slot word for a handle that a call returned: a constant, EFG_NEW or, if the
 * call may return an existing object, that object's id. */
uint64_t bk_object_out(enum bk_object kind, uint64_t key, bool may_exist);
/* After efg_record: id is the new object's. */
void bk_object_set(enum bk_object kind, uint64_t key, uint64_t id);

#pragma GCC visibility pop

#endif
