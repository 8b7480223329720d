/* Maps from MPI handles to words. */
#ifndef EFG_BACK_MAP_H
#define EFG_BACK_MAP_H

#include <pthread.h>
#include <stdatomic.h>

#include "back.h"

#pragma GCC visibility push(hidden)

typedef struct bk_entry {
    uint64_t key, word;      /* word 0: empty */
    union { uint64_t size; struct bk_comm *comm; uint32_t refs; } u;
} bk_entry;

/* Process-wide map from a handle to its word. gen changes with every change of
 * an existing key, so that per-thread caches know when to forget. */
typedef struct bk_map {
    pthread_mutex_t lock;
    _Atomic uint32_t gen;
    bk_entry *e;
    size_t cap, n;
} bk_map;

#define BK_MAP_INIT { PTHREAD_MUTEX_INITIALIZER, 1, NULL, 0, 0 }

extern bk_map bk_comms, bk_wins, bk_files, bk_types, bk_groups, bk_ops, bk_objects[];

bool bk_map_get(bk_map *m, uint64_t key, bk_entry *out);
void bk_map_set(bk_map *m, const bk_entry *e);        /* overwrites */
void bk_map_add(bk_map *m, const bk_entry *e);        /* no-op if the key is there */
bool bk_map_del(bk_map *m, uint64_t key, bk_entry *out);

typedef struct bk_cached {
    bk_entry e;
    uint32_t gen;            /* 0: never filled */
} bk_cached;

static inline unsigned bk_cache_slot(uint64_t key, int bits)
{
    return (unsigned)((key * 0x9E3779B97F4A7C15ull) >> (64 - bits));
}

#pragma GCC visibility pop

#endif
