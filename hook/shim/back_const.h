/* Integers that may be constants, and error classes. */
#ifndef EFG_BACK_CONST_H
#define EFG_BACK_CONST_H

#include "back.h"

#pragma GCC visibility push(hidden)

uint64_t bk_rank_slow(int64_t v);
uint64_t bk_tag_slow(int64_t v);
uint64_t bk_undefined_slow(int64_t v);

static inline uint64_t bk_rank(int64_t v) { return bk_likely(v >= 0) ? (uint64_t)v : bk_rank_slow(v); }
static inline uint64_t bk_tag(int64_t v) { return bk_likely(v >= 0) ? (uint64_t)v : bk_tag_slow(v); }
/* Indexes, colours, counts that may be MPI_UNDEFINED. */
static inline uint64_t bk_undefined(int64_t v)
{
    return bk_likely(v >= 0) ? (uint64_t)v : bk_undefined_slow(v);
}
uint64_t bk_darg(int64_t v);
uint64_t bk_bool(int64_t v);
uint64_t bk_number(int64_t v);
uint64_t bk_error_class(int rc);         /* as in the header */
uint64_t bk_error_class_word(int64_t class_);
void bk_const_start(void);               /* enters predefined handles into the maps */

#pragma GCC visibility pop

#endif
