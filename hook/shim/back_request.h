/* Requests. */
#ifndef EFG_BACK_REQUEST_H
#define EFG_BACK_REQUEST_H

#include <stdatomic.h>

#include "back.h"

#pragma GCC visibility push(hidden)

/* BK_WILD: the source and tag of the message do not follow from the posting call. */
enum bk_request_flags { BK_PERSISTENT = 1, BK_ACTIVE = 2, BK_RECV = 4, BK_WILD = 8 };

/* Nothing arrives from MPI_PROC_NULL, and the content of the status then differs
 * between libraries. */
static inline unsigned bk_wild(int64_t source, int64_t tag)
{
    return source == MPI_ANY_SOURCE || source == MPI_PROC_NULL || tag == MPI_ANY_TAG ? BK_WILD : 0;
}

/* A live request, as found. */
typedef struct bk_request {
    uint64_t id;             /* its word; what represents it if none was found */
    uint64_t bytes;          /* posted */
    int32_t at;              /* place in the map, -1 if none was found */
    uint32_t serial;         /* distinguishes requests that had the same place */
    uint32_t flags;          /* 0 if none was found */
} bk_request;

/* Incremented whenever a request is added, removed, started or completed. */
extern _Atomic uint64_t bk_request_changes;

/* The size of an element of an array of requests in C or in Fortran. */
static inline uint32_t bk_request_width(bool c)
{
    return c ? sizeof(MPI_Request) : sizeof(MPI_Fint);
}
static inline uint64_t bk_request_key(bool c, const void *array, int64_t i)
{
    return c ? BK_KEY(((const MPI_Request *)array)[i])
             : BK_KEY(PMPI_Request_f2c(((const MPI_Fint *)array)[i]));
}

/* Adds a new request with an id and the slots that its slot is from, its handle,
 * and the variable that the call stored it in. Nothing happens for
 * MPI_REQUEST_NULL. */
void bk_request_add(uint64_t key, const void *var, uint64_t id, efg_slots *slots, uint64_t bytes,
                    unsigned flags);
/* The live request with this handle, stored in var when it was created. */
void bk_request_find(uint64_t key, const void *var, bk_request *out);
/* The same for an array's n elements; words are their words. Equal handles in the
 * array yield different requests. Returns all their flags, with BK_CHANGED if the
 * words differ from those in out before, BK_RENEWED if they differ from words. */
enum { BK_CHANGED = 16, BK_RENEWED = 32 };
unsigned bk_requests_find(bool c, const void *array, uint32_t n, bk_request *out, uint64_t *words);
/* Ends a request's operation: an active persistent one becomes inactive, any
 * other is removed and its slot is free. Nothing happens if the request no longer
 * exists: since the end of the call another thread may have got the same handle. */
void bk_request_done(int32_t at, uint32_t serial);
/* The same for the active ones among n requests; afterwards they describe what is
 * left, inactive requests and null ones. Returns the number of active ones. */
uint64_t bk_requests_done(bk_request *r, uint32_t n);
void bk_request_start(int32_t at, uint32_t serial);
void bk_request_free(int32_t at, uint32_t serial);
uint64_t bk_request_word(uint64_t key, const void *var);

#pragma GCC visibility pop

#endif
