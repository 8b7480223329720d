/* Communicators. */
#ifndef EFG_BACK_COMM_H
#define EFG_BACK_COMM_H

#include "back_thread.h"

#pragma GCC visibility push(hidden)

typedef struct bk_comm {
    uint64_t word, family;            /* family: the word without the sequence number */
    int32_t size, rank, remote;       /* remote: remote size, -1: intracommunicator */
    _Atomic int32_t degree[2];        /* in, out; -1: not requested yet */
    uint64_t *ranges[2];              /* members as ranges: local, remote group */
    uint32_t nranges[2];
    struct bk_comm *next;             /* in the list of free ones */
} bk_comm;

const bk_entry *bk_comm_miss(bk_thread *b, MPI_Comm comm);

static inline const bk_entry *bk_comm_entry(bk_thread *b, MPI_Comm comm)
{
    const bk_entry *e = &b->comm[bk_cache_slot(BK_KEY(comm), BK_COMM_BITS)];
    return bk_is_copy(&bk_comms, BK_KEY(comm), e) ? e : bk_comm_miss(b, comm);
}
static inline uint64_t bk_comm_word(bk_thread *b, MPI_Comm comm)
{
    return bk_comm_entry(b, comm)->word;
}
/* NULL: MPI_COMM_NULL, or unknown. */
static inline const bk_comm *bk_comm_info(bk_thread *b, MPI_Comm comm)
{
    return bk_comm_entry(b, comm)->u.comm;
}

/* Number of processes that the arrays of a collective call have elements for. */
static inline int bk_peers(bk_thread *b, MPI_Comm comm)
{
    const bk_comm *c = bk_comm_info(b, comm);
    return c == NULL ? 0 : c->remote >= 0 ? c->remote : c->size;
}
/* Reports whether this process is the root of a rooted collective call. */
static inline bool bk_at_root(bk_thread *b, MPI_Comm comm, int root)
{
    const bk_comm *c = bk_comm_info(b, comm);
    return c != NULL && (c->remote >= 0 ? root == MPI_ROOT : root == c->rank);
}

/* From here on MPI_COMM_WORLD and MPI_COMM_SELF can be queried. */
void bk_comm_start(void);
/* The word of a new communicator made from parent by the constructor kind (a
 * constant number). tag: what else identifies it on all its members. */
uint64_t bk_comm_new(bk_thread *b, MPI_Comm comm, MPI_Comm parent, uint32_t kind, uint64_t tag);
void bk_comm_drop(bk_comm *c);

/* Next number of a family of communicators, windows or files. */
uint64_t bk_next_in_family(uint64_t family);

#pragma GCC visibility pop

#endif
