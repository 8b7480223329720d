/* Datatypes. */
#ifndef EFG_BACK_TYPE_H
#define EFG_BACK_TYPE_H

#include "back_thread.h"

#pragma GCC visibility push(hidden)

const bk_cached *bk_type_miss(bk_thread *b, MPI_Datatype type);

static inline const bk_cached *bk_type_cached(bk_thread *b, MPI_Datatype type)
{
    const bk_cached *c = &b->type[bk_cache_slot(BK_KEY(type), BK_TYPE_BITS)];
    if (bk_likely(c->e.key == BK_KEY(type)
                  && c->gen == atomic_load_explicit(&bk_types.gen, memory_order_relaxed)))
        return c;
    return bk_type_miss(b, type);
}
static inline uint64_t bk_type_word(bk_thread *b, MPI_Datatype type)
{
    return bk_type_cached(b, type)->e.word;
}
static inline uint64_t bk_type_size(bk_thread *b, MPI_Datatype type)
{
    return bk_type_cached(b, type)->e.u.size;
}
uint64_t bk_type_new(bk_thread *b, MPI_Datatype type);
/* What MPI_Type_get_envelope tells. */
int64_t bk_num_integers(MPI_Datatype type);
int64_t bk_num_addresses(MPI_Datatype type);
int64_t bk_num_large_counts(MPI_Datatype type);
int64_t bk_num_datatypes(MPI_Datatype type);

#pragma GCC visibility pop

#endif
