/* The map from request handles to requests.
 *
 * Operations that complete at once return a handle that all such requests
 * share. They are told apart by the variable that holds the handle, and where
 * the program moved it, by age, first in, first out: they are all complete, so
 * any one-to-one choice is a true account.
 *
 * Requests with a handle of their own hang in the bucket of the handle, shared
 * ones in the bucket of handle and variable.
 */
#include "back.h"

#include <stdlib.h>

enum { NONE = -1, MIN_BUCKETS = 256, MAX_SHARED = 64 };

_Atomic uint64_t bk_request_changes;

typedef struct entry {
    uint64_t key;            /* the handle */
    const void *var;
    uint64_t id, bytes;      /* id 0: free */
    uint32_t serial;
    uint8_t kind, flags;
    bool shared;             /* several live requests have this handle */
    uint32_t taken;          /* found by the array lookup of this number */
    int32_t chain, back;     /* next in the bucket, or in the list of free ones; previous */
    int32_t older, newer;    /* live requests with a shared handle, by age */
} entry;

static struct {
    pthread_mutex_t lock;
    entry *r;                /* places */
    int32_t cap, used, free; /* places, ever used; head of the free list */
    uint32_t live, serial;
    int32_t *bucket;
    uint32_t buckets;        /* a power of two */
    uint32_t lookups;
    struct {
        uint64_t key;
        int32_t oldest, newest;
        int32_t next;        /* where the search by age goes on in this lookup */
        uint32_t lookup;
    } shared[MAX_SHARED];
    int nshared;
} map = { .lock = PTHREAD_MUTEX_INITIALIZER, .free = NONE };

/* Every caller holds the lock where threads may race, so a plain addition does. */
static inline void changed(void)
{
    uint64_t n = atomic_load_explicit(&bk_request_changes, memory_order_relaxed);
    atomic_store_explicit(&bk_request_changes, n + 1, memory_order_relaxed);
}

static inline uint32_t bucket_of(uint64_t key, const void *var, bool shared)
{
    uint64_t h = key;
    if (shared) h ^= (uint64_t)(uintptr_t)var * 0xC2B2AE3D27D4EB4Full;
    return (uint32_t)((h * 0x9E3779B97F4A7C15ull) >> 32) & (map.buckets - 1);
}

static int shared_handle(uint64_t key)
{
    for (int i = 0; i < map.nshared; i++)
        if (map.shared[i].key == key) return i;
    return NONE;
}

/* key, var and shared are those of the entry: it was written just now. */
static inline void link_in(int32_t at, uint64_t key, const void *var, bool shared)
{
    int32_t *head = &map.bucket[bucket_of(key, var, shared)];
    map.r[at].chain = *head;
    map.r[at].back = NONE;
    if (bk_unlikely(*head != NONE)) map.r[*head].back = at;
    *head = at;
}

static void unlink_from(int32_t at)
{
    const entry *r = &map.r[at];
    if (bk_unlikely(r->chain != NONE)) map.r[r->chain].back = r->back;
    if (r->back == NONE) map.bucket[bucket_of(r->key, r->var, r->shared)] = r->chain;
    else map.r[r->back].chain = r->chain;
}

static bool grow_buckets(void)
{
    uint32_t n = map.buckets ? map.buckets * 2 : MIN_BUCKETS;
    int32_t *b = malloc(n * sizeof *b);
    if (!b) return map.buckets != 0;
    for (uint32_t i = 0; i < n; i++) b[i] = NONE;
    int32_t *old = map.bucket;
    uint32_t nold = map.buckets;
    map.bucket = b;
    map.buckets = n;
    for (uint32_t i = 0; i < nold; i++)
        for (int32_t at = old[i], next; at != NONE; at = next) {
            next = map.r[at].chain;
            link_in(at, map.r[at].key, map.r[at].var, map.r[at].shared);
        }
    free(old);
    return true;
}

/* A free place, or NONE without memory. */
static int32_t place(void)
{
    if (map.live >= map.buckets && !grow_buckets()) return NONE;
    int32_t at = map.free;
    if (at != NONE) {
        map.free = map.r[at].chain;
        return at;
    }
    if (map.used == map.cap) {
        if (map.cap > INT32_MAX / 2) return NONE;
        int32_t cap = map.cap ? map.cap * 2 : MIN_BUCKETS;
        entry *r = realloc(map.r, (size_t)cap * sizeof *r);
        if (!r) return NONE;
        map.r = r;
        map.cap = cap;
    }
    return map.used++;
}

/* ---- ages of requests with shared handles ---- */

static void age_append(int s, int32_t at)
{
    map.r[at].older = map.shared[s].newest;
    map.r[at].newer = NONE;
    if (map.shared[s].newest != NONE) map.r[map.shared[s].newest].newer = at;
    else map.shared[s].oldest = at;
    map.shared[s].newest = at;
}

static void age_remove(int s, int32_t at)
{
    const entry *r = &map.r[at];
    if (map.shared[s].next == at) map.shared[s].next = r->newer;
    if (r->older != NONE) map.r[r->older].newer = r->newer;
    else map.shared[s].oldest = r->newer;
    if (r->newer != NONE) map.r[r->newer].older = r->older;
    else map.shared[s].newest = r->older;
}

static void remove_at(int32_t at)
{
    entry *r = &map.r[at];
    unlink_from(at);
    if (r->shared) age_remove(shared_handle(r->key), at);
    efg_slot_free(r->id);
    r->id = 0;
    r->chain = map.free;
    map.free = at;
    map.live--;
    changed();
}

/* The request of a handle or, if the handle is shared, the newest one of handle
 * and variable. */
static int32_t exact(uint64_t key, const void *var, bool shared)
{
    if (!map.buckets) return NONE;
    int32_t best = NONE;
    for (int32_t at = map.bucket[bucket_of(key, var, shared)]; at != NONE; at = map.r[at].chain) {
        const entry *r = &map.r[at];
        if (r->key != key || r->shared != shared) continue;
        if (!shared) return at;
        if (r->var == var && (best == NONE || (int32_t)(r->serial - map.r[best].serial) > 0))
            best = at;
    }
    return best;
}

static bool complete(uint64_t key)
{
    int flag = 0;
    PMPI_Request_get_status((MPI_Request)(uintptr_t)key, &flag, MPI_STATUS_IGNORE);
    return flag != 0;
}

/* A second live request with the same handle. Either the handle is shared, or
 * the first one ended out of our sight and its entry is stale. Returns the
 * number of the shared handle or NONE. */
static bk_cold int second(uint64_t key, int32_t first)
{
    if (!bk_maybe_shared(key) || map.nshared == MAX_SHARED || !complete(key)) {
        remove_at(first);
        return NONE;
    }
    unlink_from(first);
    map.r[first].shared = true;
    int s = map.nshared++;
    map.shared[s].key = key;
    map.shared[s].oldest = map.shared[s].newest = map.shared[s].next = NONE;
    map.shared[s].lookup = 0;
    link_in(first, key, map.r[first].var, true);
    age_append(s, first);
    return s;
}

void bk_request_add(uint64_t key, const void *var, uint64_t id, uint64_t bytes, unsigned kind,
                    unsigned flags)
{
    if (key == BK_KEY(MPI_REQUEST_NULL)) return;
    bool locked = bk_lock(&map.lock);
    int32_t at = place();
    if (bk_likely(at != NONE)) {
        int s = map.nshared ? shared_handle(key) : NONE;
        int32_t first = s == NONE ? exact(key, NULL, false) : NONE;
        if (bk_unlikely(first != NONE)) s = second(key, first);
        entry *r = &map.r[at];
        r->key = key;
        r->var = var;
        r->id = id;
        r->bytes = bytes;
        r->kind = (uint8_t)kind;
        r->flags = (uint8_t)flags;
        r->shared = s != NONE;
        r->serial = ++map.serial;
        r->taken = 0;
        link_in(at, key, var, s != NONE);
        if (s != NONE) age_append(s, at);
        map.live++;
        changed();
    }
    bk_unlock(&map.lock, locked);
}

uint32_t bk_request_lookup(void)
{
    bool locked = bk_lock(&map.lock);
    if (++map.lookups == 0) ++map.lookups;
    uint32_t n = map.lookups;
    bk_unlock(&map.lock, locked);
    return n;
}

/* The oldest request with a shared handle that this lookup has not taken yet. */
static int32_t by_age(int s, uint32_t lookup)
{
    if (!lookup) return map.shared[s].oldest;
    if (map.shared[s].lookup != lookup) {
        map.shared[s].lookup = lookup;
        map.shared[s].next = map.shared[s].oldest;
    }
    int32_t at = map.shared[s].next;
    while (at != NONE && map.r[at].taken == lookup) at = map.r[at].newer;
    if (at != NONE) {
        map.r[at].taken = lookup;
        map.shared[s].next = map.r[at].newer;
    }
    return at;
}

void bk_request_find(uint64_t key, const void *var, uint32_t lookup, bk_request *out)
{
    bool locked = bk_lock(&map.lock);
    int s = map.nshared ? shared_handle(key) : NONE;
    int32_t at = exact(key, var, s != NONE);
    if (s != NONE) {
        if (at != NONE && lookup && map.r[at].taken == lookup) at = NONE;
        if (at == NONE) at = by_age(s, lookup);
        else map.r[at].taken = lookup;
    }
    out->at = at;
    if (at != NONE) {
        const entry *r = &map.r[at];
        out->id = r->id;
        out->bytes = r->bytes;
        out->serial = r->serial;
        out->kind = r->kind;
        out->flags = r->flags;
    }
    bk_unlock(&map.lock, locked);
}

/* Is the request that was found at this place still there? */
static bool still(int32_t at, uint32_t serial)
{
    return map.r[at].id && map.r[at].serial == serial;
}

void bk_request_done(int32_t at, uint32_t serial)
{
    bool locked = bk_lock(&map.lock);
    if (still(at, serial)) {
        if (map.r[at].flags & BK_PERSISTENT) {
            map.r[at].flags &= (uint8_t)~BK_ACTIVE;
            changed();
        } else {
            remove_at(at);
        }
    }
    bk_unlock(&map.lock, locked);
}

void bk_request_start(int32_t at, uint32_t serial)
{
    bool locked = bk_lock(&map.lock);
    if (still(at, serial)) {
        map.r[at].flags |= BK_ACTIVE;
        changed();
    }
    bk_unlock(&map.lock, locked);
}

void bk_request_free(int32_t at, uint32_t serial)
{
    bool locked = bk_lock(&map.lock);
    if (still(at, serial)) remove_at(at);
    bk_unlock(&map.lock, locked);
}

uint64_t bk_request_word(uint64_t key, const void *var)
{
    bk_request r;
    if (key == BK_KEY(MPI_REQUEST_NULL)) return K(MPI_REQUEST_NULL);
    bk_request_find(key, var, 0, &r);
    return r.at < 0 ? EFG_ABSENT : r.id;
}
