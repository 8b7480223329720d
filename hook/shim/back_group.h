/* Groups. */
#ifndef EFG_BACK_GROUP_H
#define EFG_BACK_GROUP_H

#include "back.h"

#pragma GCC visibility push(hidden)

/* Members of a group as world ranks, compressed to ranges (first, count,
 * stride). Ranks outside this process's world are BK_FOREIGN. Returns malloced
 * words, *n of them; NULL and 0 on failure or for an empty group. */
#define BK_FOREIGN ((int64_t)0xffffffff)
uint64_t *bk_group_ranges(MPI_Group group, uint32_t *n);
/* The group that world ranks refer to; MPI_GROUP_NULL while unknown. */
extern MPI_Group bk_world_group;
uint64_t bk_group_word(MPI_Group group);
uint64_t bk_group_new(MPI_Group group);
uint64_t bk_group_define(const uint64_t *ranges, uint32_t n);

#pragma GCC visibility pop

#endif
