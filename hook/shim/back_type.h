/* Datatypes. */
#ifndef EFG_BACK_TYPE_H
#define EFG_BACK_TYPE_H

#include "back_thread.h"

#pragma GCC visibility push(hidden)

const bk_entry *bk_type_miss(bk_thread *b, MPI_Datatype type);

static inline const bk_entry *bk_type_entry(bk_thread *b, MPI_Datatype type)
{
    const bk_entry *e = &b->type[bk_cache_slot(BK_KEY(type), BK_TYPE_BITS)];
    return bk_is_copy(&bk_types, BK_KEY(type), e) ? e : bk_type_miss(b, type);
}
static inline uint64_t bk_type_word(bk_thread *b, MPI_Datatype type)
{
    return bk_type_entry(b, type)->word;
}
static inline uint64_t bk_type_size(bk_thread *b, MPI_Datatype type)
{
    return bk_type_entry(b, type)->u.size;
}
uint64_t bk_type_new(bk_thread *b, MPI_Datatype type);
/* From MPI_Type_get_envelope; 0 for an unknown type. */
int64_t bk_num_integers(bk_thread *b, MPI_Datatype type);
int64_t bk_num_addresses(bk_thread *b, MPI_Datatype type);
int64_t bk_num_large_counts(bk_thread *b, MPI_Datatype type);
int64_t bk_num_datatypes(bk_thread *b, MPI_Datatype type);

#pragma GCC visibility pop

#endif
