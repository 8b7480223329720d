/* Groups: named by the world ranks of their members. */
#include "back_group.h"
#include "back_map.h"

#include <stdlib.h>

MPI_Group bk_world_group = MPI_GROUP_NULL;

static uint64_t world_rank(int r)
{
    return r == MPI_UNDEFINED ? (uint64_t)BK_FOREIGN : (uint64_t)r;
}

/* Compresses n ranks to ranges (first, count, stride), replacing the content of
 * out, which has room for 3n words. Greedy from the left, so equal lists give
 * equal ranges. A single rank has stride 0. */
static uint32_t compress(const int *ranks, int n, uint64_t *out)
{
    uint32_t k = 0;
    for (int i = 0; i < n;) {
        uint64_t first = world_rank(ranks[i]), stride = 0;
        int j = i + 1;
        if (j < n) {
            stride = world_rank(ranks[j]) - first;
            while (j < n && world_rank(ranks[j]) - world_rank(ranks[j - 1]) == stride) j++;
        }
        out[k++] = first;
        out[k++] = (uint64_t)(j - i);
        out[k++] = j - i > 1 ? stride : 0;
        i = j;
    }
    return k;
}

/* World ranks of all members; NULL: empty group or no memory. */
static int *members(MPI_Group group, int *n)
{
    *n = 0;
    if (PMPI_Group_size(group, n) != MPI_SUCCESS || *n <= 0) return NULL;
    int *own = malloc(2 * (size_t)*n * sizeof *own);
    if (own == NULL) return NULL;
    int *world = own + *n;
    for (int i = 0; i < *n; i++) own[i] = i, world[i] = MPI_UNDEFINED;
    if (bk_world_group != MPI_GROUP_NULL)
        PMPI_Group_translate_ranks(group, *n, own, bk_world_group, world);
    memcpy(own, world, (size_t)*n * sizeof *own);
    return own;
}

uint64_t *bk_group_ranges(MPI_Group group, uint32_t *n)
{
    int size;
    int *ranks = members(group, &size);
    *n = 0;
    if (ranks == NULL) return NULL;
    uint64_t *r = malloc(3 * (size_t)size * sizeof *r);
    if (r != NULL) {
        *n = compress(ranks, size, r);
        uint64_t *fit = realloc(r, *n * sizeof *r);
        if (fit != NULL) r = fit;
    }
    free(ranks);
    return r;
}

uint64_t bk_group_define(const uint64_t *ranges, uint32_t n)
{
    uint64_t word = EFG_IDENT(efg_hash(ranges, n));
    return efg_def(EFG_DEF_GROUP, word, ranges, n, NULL, 0);
}

uint64_t bk_group_new(MPI_Group group)
{
    if (group == MPI_GROUP_NULL || group == MPI_GROUP_EMPTY) return bk_group_word(group);
    uint32_t n;
    uint64_t *r = bk_group_ranges(group, &n);
    uint64_t word = r != NULL ? bk_group_define(r, n) : K(MPI_GROUP_EMPTY);
    free(r);
    bk_map_made(&bk_groups, &(bk_entry){ .key = BK_KEY(group), .word = word, .refs = 1 });
    return word;
}

uint64_t bk_group_word(MPI_Group group)
{
    return bk_map_word(&bk_groups, BK_KEY(group));
}
