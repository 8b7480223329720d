#include "back_substitute.h"
#include "back_fortran.h"
#include "back_replay_state.h"

#include <limits.h>
#include <stdlib.h>

enum { BUCKETS = 1024 };

uint32_t bk_substitutes;
static bk_substitute *bucket[BUCKETS];

static bk_substitute **bucket_of(uint64_t key)
{
    return &bucket[key * 0x9E3779B97F4A7C15ull >> 54 & (BUCKETS - 1)];
}

bk_substitute *bk_substitute_find(uint64_t key)
{
    bk_substitute *s = *bucket_of(key);
    while (s != NULL && s->key != key) s = s->next;
    return s;
}

void bk_replay_prepared(bk_thread *b, MPI_Request request, const void *buf, const void *descriptor, int64_t count,
                        MPI_Datatype type, int source, int tag, MPI_Comm comm)
{
    if (bk_turn_value(b->turn) < RPL_FOUND) return;
    bk_substitute *s = calloc(1, sizeof *s);
    if (s == NULL) return;
    /* Other threads may use the request, and know nothing of this. */
    s->itself = (descriptor != NULL && !bk_descriptor_contiguous(descriptor)) || count > INT_MAX || bk_threads
                || PMPI_Type_dup(type, &s->type) != MPI_SUCCESS;
    if (bk_buffer(b, buf) == K(MPI_BOTTOM)) buf = MPI_BOTTOM;
    s->key = BK_KEY(request);
    s->real = s->itself ? request : MPI_REQUEST_NULL;
    s->buf = (void *)(uintptr_t)buf;
    s->count = (int)count;
    s->source = source;
    s->tag = tag;
    s->comm = comm;
    s->next = *bucket_of(s->key);
    *bucket_of(s->key) = s;
    bk_substitutes++;
}

int bk_substitute_start(bk_thread *b, bk_substitute *s, MPI_Request request)
{
    uint64_t v = bk_turn_value(b->turn);
    int source = s->source, tag = s->tag;
    if (v >= RPL_FOUND) {
        source = (int)(v - RPL_FOUND);
        tag = (int)bk_turn_value(b->turn);
    }
    if (s->itself) return PMPI_Start(&request);
    return PMPI_Irecv(s->buf, s->count, s->type, source, tag, s->comm, &s->real);
}

void bk_substitute_end(bk_substitute *s)
{
    bk_substitute **at = bucket_of(s->key);
    while (*at != s) at = &(*at)->next;
    *at = s->next;
    bk_substitutes--;
    if (!s->itself) {
        if (s->real != MPI_REQUEST_NULL) PMPI_Request_free(&s->real);
        PMPI_Type_free(&s->type);
    }
    free(s);
}
