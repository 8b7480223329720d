/* Maps from MPI handles to words. */
#ifndef EFG_BACK_MAP_H
#define EFG_BACK_MAP_H

#include <pthread.h>
#include <stdatomic.h>

#include "back.h"

#pragma GCC visibility push(hidden)

/* MPI is asked about a handle only while the handle has an entry: predefined
 * handles have one, and those that calls returned have one until the program
 * frees them. For other handles MPI might raise an error, and end a program that
 * would not have ended by itself. */
typedef struct bk_entry {
    uint64_t key, word;      /* word 0: empty; EFG_FREED: the program freed the handle */
    union { uint64_t size; struct bk_comm *comm; } u;
    uint32_t refs;           /* number of times that the program must free the handle */
    uint32_t gen;            /* of a thread's copy: the map's when it was made; 0: none */
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
void bk_map_add(bk_map *m, const bk_entry *e);        /* no-op if the key exists */
/* A call returned this handle: if it did so before for the same object, the
 * program has another reference to it. */
void bk_map_made(bk_map *m, const bk_entry *e);
/* The program frees a handle once; without a reference left it has no entry. out:
 * the previous entry. False: there is none, or the handle is predefined. */
bool bk_map_release(bk_map *m, uint64_t key, bk_entry *out);

/* The word of a handle. If it has no entry: EFG_FREED, or EFG_UNKNOWN if no
 * recorded call returned it, or one did long ago. */
uint64_t bk_map_word(bk_map *m, uint64_t key);
static inline bool bk_is_known(uint64_t word)
{
    return word != K(EFG_FREED) && word != K(EFG_UNKNOWN);
}
/* Fills a thread's copy of an entry; without an entry it has the word as above. */
const bk_entry *bk_map_copy(bk_map *m, uint64_t key, bk_entry *copy);

static inline bool bk_is_copy(const bk_map *m, uint64_t key, const bk_entry *copy)
{
    return bk_likely(copy->key == key
                     && copy->gen == atomic_load_explicit(&m->gen, memory_order_relaxed));
}

static inline unsigned bk_cache_slot(uint64_t key, int bits)
{
    return (unsigned)((key * 0x9E3779B97F4A7C15ull) >> (64 - bits));
}

#pragma GCC visibility pop

#endif
