/* Requests. */
#ifndef EFG_BACK_REQUEST_H
#define EFG_BACK_REQUEST_H

#include <stdatomic.h>

#include "back.h"

#pragma GCC visibility push(hidden)

/* BK_WILD: the posting call does not tell the source and tag of what comes. */
enum bk_request_flags { BK_PERSISTENT = 1, BK_ACTIVE = 2, BK_RECV = 4, BK_WILD = 8 };

/* Nothing comes from MPI_PROC_NULL, and what the status says then differs
 * between libraries. */
static inline unsigned bk_wild(int64_t source, int64_t tag)
{
    return source == MPI_ANY_SOURCE || source == MPI_PROC_NULL || tag == MPI_ANY_TAG ? BK_WILD : 0;
}

/* A live request, as found. */
typedef struct bk_request {
    uint64_t id;             /* its word; what stands for it if none was found */
    uint64_t bytes;          /* posted */
    int32_t at;              /* place in the map, -1: none was found */
    uint32_t serial;         /* tells the requests apart that had one place */
    uint32_t flags;          /* 0 if none was found */
} bk_request;

/* Changes with every request that comes, goes, starts or ends. */
extern _Atomic uint64_t bk_request_changes;

/* An array of requests as a call in C, or else in Fortran, has it. */
static inline uint32_t bk_request_width(bool c)
{
    return c ? sizeof(MPI_Request) : sizeof(MPI_Fint);
}
static inline uint64_t bk_request_key(bool c, const void *array, int64_t i)
{
    return c ? BK_KEY(((const MPI_Request *)array)[i])
             : BK_KEY(PMPI_Request_f2c(((const MPI_Fint *)array)[i]));
}

/* A new request with an id and where its slot comes from, its handle, and the
 * variable that the call stored it in. Nothing happens for MPI_REQUEST_NULL. */
void bk_request_add(uint64_t key, const void *var, uint64_t id, efg_slots *slots, uint64_t bytes,
                    unsigned flags);
/* The live request with this handle, stored in var when it was made. */
void bk_request_find(uint64_t key, const void *var, bk_request *out);
/* The same for an array's n elements; words are their words. Equal handles in
 * the array give different requests. Returns all their flags, with BK_CHANGED if
 * the words are others than out held before, BK_RENEWED if others than words. */
enum { BK_CHANGED = 16, BK_RENEWED = 32 };
unsigned bk_requests_find(bool c, const void *array, uint32_t n, bk_request *out, uint64_t *words);
/* Ends a request's operation: an active persistent one becomes inactive, any
 * other is removed and its slot is free. Nothing happens if the request is not
 * there any more: between the end of a call and this, another thread may have
 * been given the same handle. */
void bk_request_done(int32_t at, uint32_t serial);
/* The same for those of n requests that are active; afterwards they say what is
 * left, inactive requests and null ones. Returns how many were active. */
uint64_t bk_requests_done(bk_request *r, uint32_t n);
void bk_request_start(int32_t at, uint32_t serial);
void bk_request_free(int32_t at, uint32_t serial);
uint64_t bk_request_word(uint64_t key, const void *var);

#pragma GCC visibility pop

#endif
