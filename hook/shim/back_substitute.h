/* Persistent receives of any source or tag, in a replay: such a request cannot be
 * started for the recorded message, so that each start posts a receive that takes
 * its place until it completes. The program keeps its own handle. */
#ifndef EFG_BACK_SUBSTITUTE_H
#define EFG_BACK_SUBSTITUTE_H

#include "back.h"
#include "back_thread.h"

#pragma GCC visibility push(hidden)

typedef struct bk_substitute {
    uint64_t key;            /* the program's handle */
    MPI_Request real;        /* the receive in its place, or MPI_REQUEST_NULL */
    void *buf;
    int count, source, tag;
    MPI_Datatype type;       /* a copy: the program may free its own */
    MPI_Comm comm;
    bool itself;             /* it cannot be replaced */
    struct bk_substitute *next;
} bk_substitute;

extern uint32_t bk_substitutes;

bk_substitute *bk_substitute_find(uint64_t key);
static inline bk_substitute *bk_substitute_of(uint64_t key)
{
    return bk_likely(bk_substitutes == 0) ? NULL : bk_substitute_find(key);
}
/* Starts the request as recorded. */
int bk_substitute_start(bk_thread *b, bk_substitute *s, MPI_Request request);
/* The program frees its request. */
void bk_substitute_end(bk_substitute *s);

#pragma GCC visibility pop

#endif
