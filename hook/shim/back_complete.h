/* Calls that complete requests: which ones they complete, and with which
 * statuses. */
#ifndef EFG_BACK_COMPLETE_H
#define EFG_BACK_COMPLETE_H

#include "back_const.h"
#include "back_fortran.h"
#include "back_request.h"
#include "back_thread.h"

#pragma GCC visibility push(hidden)

/* ---- one request: Wait, Test, Request_get_status ---- */

typedef struct bk_one {
    bk_request r;
    bool recv;               /* an active receive: its status matters */
} bk_one;

/* Looks the request up before the call; returns its word. */
uint64_t bk_one_begin(bk_one *o, uint64_t key, const void *var);

/* The status to pass on: a private one if the program ignores what the recorder
 * needs. */
static inline void *bk_one_status(bk_thread *b, const bk_one *o, void *status)
{
    return o->recv && bk_status_ignored(b, status) ? &b->status : status;
}

static inline void bk_status_words(uint64_t *w, const void *status)
{
    const MPI_Status *s = status;
    w[0] = bk_rank(s->MPI_SOURCE);
    w[1] = bk_tag(s->MPI_TAG);
    w[2] = bk_status_bytes(s);
}
static inline void bk_status_absent(uint64_t *w)
{
    w[0] = w[1] = w[2] = EFG_ABSENT;
}

/* Reports whether a reader may take the content of a receive's status from the
 * call that posted it, if both are equal. A reader tracks the requests of one
 * thread. */
static inline bool bk_follows(const bk_thread *b, const MPI_Status *s, const bk_request *r)
{
    return (r->id >> 50 & 0xfff) == b->t->thread && !bk_status_cancelled(s);
}

/* The words of the status of a completed receive. */
static inline void bk_receive_words(const bk_thread *b, uint64_t *w, const void *status,
                                    const bk_request *r)
{
    bk_status_words(w, status);
    if (bk_unlikely(!bk_follows(b, status, r))) return;
    if (!(r->flags & BK_WILD)) w[0] = w[1] = K(EFG_AS_POSTED);
    if (w[2] == r->bytes) w[2] = K(EFG_AS_POSTED);
}

/* Settles the request after the event was recorded. done: the call completed it.
 * now: the handle after the call, which shows that if the call failed. */
void bk_one_end(const bk_one *o, bool done, bool failed, uint64_t now);

/* ---- arrays of requests ---- */

/* The array of requests as the last call of this thread that took one left it
 * (EFG_SAME); during such a call, as it was before the call. It is not valid
 * after a poll that is only counted and had another array, because that array is
 * not recorded. */
typedef struct bk_last {
    bool valid;
    bool full;               /* the word of the latest call is not EFG_SAME */
    unsigned flags;          /* of all the requests */
    uint32_t n, cap, width;
    uint64_t changes;        /* bk_request_changes when it was stored */
    const void *array;       /* NULL: raw was not kept */
    bk_request *r;
    void *raw;               /* the handles as the program holds them */
    uint64_t *words;         /* of the last array that was looked up */
    uint64_t word;           /* of the vector of nhashed of these words; a loop */
    uint32_t nhashed;        /* waits for the same ones repeatedly */
} bk_last;

void bk_last_free(bk_thread *b);

typedef struct bk_many {
    bk_last *l;              /* NULL: the array could not be looked up, and n is 0 */
    const void *array;
    int64_t n;
    uint64_t changes;        /* of the request map before the call */
    bool recv;               /* there may be active receives */
} bk_many;

/* Looks all requests up before the call; returns the array's word. */
uint64_t bk_many_begin(bk_thread *b, bk_many *m, unsigned word, const void *array, int64_t n);

void *bk_many_status(bk_thread *b, const bk_many *m, void *status);
void *bk_many_statuses(bk_thread *b, const bk_many *m, void *statuses);

/* The position, counted from 0, for an index returned by the call; -1 for
 * MPI_UNDEFINED. */
int64_t bk_position(bk_thread *b, const bk_many *m, int64_t index);
/* The same for arrays of n indexes; the result is valid until the event is
 * recorded. NULL: no memory. */
uint64_t *bk_positions(bk_thread *b, const bk_many *m, const int *indices, int64_t n);
/* Reports whether the request at this position is an active receive. */
bool bk_many_recv(const bk_many *m, int64_t position);

/* The word of the statuses of n completed requests: those at pos, or all. */
uint64_t bk_many_status_word(bk_thread *b, const bk_many *m, unsigned word, const void *statuses,
                             const uint64_t *pos, int64_t n);

enum { BK_ALL = -1 };

/* Settles the n requests at pos, or all of them (n = BK_ALL), after the event was
 * recorded. failed: determines by itself which ones are gone. */
void bk_many_end(bk_thread *b, const bk_many *m, const uint64_t *pos, int64_t n, bool failed);
/* The same for calls that leave the requests unchanged, or start them. */
void bk_many_peek_end(const bk_thread *b, const bk_many *m, bool failed);
void bk_many_start(const bk_thread *b, const bk_many *m, bool failed);

/* The library counts mpi_f08's indexes from 0 (a bug of some releases). */
extern _Atomic bool bk_f08_from_zero;

#pragma GCC visibility pop

#endif
