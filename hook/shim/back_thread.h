/* The back end's state of each thread, and its locks. */
#ifndef EFG_BACK_THREAD_H
#define EFG_BACK_THREAD_H

#include "back_map.h"

#pragma GCC visibility push(hidden)

extern bool bk_threads;      /* several threads may call MPI at once */

static inline bool bk_lock(pthread_mutex_t *m)
{
    return bk_threads && pthread_mutex_lock(m) == 0;
}
static inline void bk_unlock(pthread_mutex_t *m, bool locked)
{
    if (locked) pthread_mutex_unlock(m);
}

enum { BK_COMM_BITS = 5, BK_TYPE_BITS = 7, BK_OP_BITS = 3, BK_TEXT_BITS = 6 };

struct bk_block;             /* scratch memory of one event (back_vec.c) */

struct bk_last;              /* the last array of requests (back_complete.h) */

struct bk_replay;            /* the recording that the thread follows (back_replay.h) */
struct bk_turn;

/* BK_SCRATCHED: the last event used scratch memory. */
enum bk_special { BK_SCRATCHED = 1, BK_REPLAYS = 2 };

typedef struct bk_thread {
    efg_stream *t;
    uint32_t lang;           /* of the call being recorded */
    struct bk_block *block;
    uint8_t special;         /* what the next event has to do first: BK_SCRATCHED … */
    MPI_Status status;       /* stands in for MPI_STATUS_IGNORE */
    struct bk_last *last;
    struct bk_replay *replay;    /* or NULL */
    struct bk_turn *turn;        /* where the outcome of the call is recorded; or NULL */
    uint64_t texts[1 << BK_TEXT_BITS];    /* words of strings that are defined (back_annotation.h) */
    bk_entry comm[1 << BK_COMM_BITS], type[1 << BK_TYPE_BITS], op[1 << BK_OP_BITS];
} bk_thread;

/* The thread's state; NULL when there is no memory. */
bk_thread *bk_thread_new(efg_stream *t);

static inline bk_thread *bk_thread_of(efg_stream *t)
{
    return bk_likely(t->user != NULL) ? t->user : bk_thread_new(t);
}

#pragma GCC visibility pop

#endif
