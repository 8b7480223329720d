/* The map from request handles to requests.
 *
 * Operations that complete immediately return a handle that all such requests
 * share. They are distinguished by the variable that holds the handle and, if the
 * program moved it, by age, first in, first out: they are all complete, so any
 * one-to-one assignment is correct.
 *
 * A library reuses the same few handles. A handle therefore keeps its cell in the
 * hash table, and its place, when its request ends, and the next request with the
 * handle finds both. Unused ones are removed when the table has to grow.
 */
#include "back_request.h"
#include "back_thread.h"

#include <stdlib.h>

enum { NONE = -1, MIN_CELLS = 512, MIN_PLACES = 256, MAX_SHARED = 64 };

_Atomic uint64_t bk_request_changes;

/* The content of a place. */
typedef struct entry {
    uint64_t id;             /* 0: no live request */
    uint64_t bytes;          /* posted */
    efg_slots *slots;
    const void *var;
    uint32_t serial;
    uint8_t flags;
    int8_t shared;           /* number of the shared handle; NONE: it has a handle of its own */
    uint32_t taken;          /* found by the array lookup with this number */
    int32_t chain;           /* next older one of handle and variable; next free place */
    int32_t back;            /* next newer one of handle and variable */
    int32_t older, newer;    /* live requests with a shared handle, by age */
} entry;

/* A cell of the hash table (open addressing; key 0: empty) belongs to a handle
 * or, if that is shared, to one of the variables that held it. */
typedef struct cell {
    uint64_t key;            /* of a handle: itself; of a variable: var_key */
    int32_t at;              /* place; of a variable: of the newest request or NONE */
    int32_t shared;          /* of a variable: number of the handle; of a handle: NONE */
} cell;

static cell nothing;         /* the table before the first request */

static struct {
    pthread_mutex_t lock;
    entry *r;                /* places */
    int32_t cap, used, free; /* places, ever used; head of the free list */
    uint32_t serial, lookups;
    cell *cell;
    uint32_t mask, filled;   /* number of cells - 1; cells that are not empty */
    struct {
        int32_t oldest, newest;
        int32_t next;        /* where the search by age continues in this lookup */
        uint32_t lookup;
    } shared[MAX_SHARED];
    int nshared;
} map = { .lock = PTHREAD_MUTEX_INITIALIZER, .free = NONE, .cell = &nothing };

/* Every caller holds the lock if threads may race, so a plain addition suffices. */
static inline void changed(void)
{
    uint64_t n = atomic_load_explicit(&bk_request_changes, memory_order_relaxed);
    atomic_store_explicit(&bk_request_changes, n + 1, memory_order_relaxed);
}

/* ---- cells ---- */

/* The place in the cell of a shared handle encodes its number. */
static inline int32_t mark_of(int s) { return NONE - 1 - s; }
static inline bool is_mark(int32_t at) { return at < NONE; }

static inline uint64_t var_key(const void *var) { return (uint64_t)(uintptr_t)var + 1; }

/* The cell of key and shared, or the empty one where it belongs. */
static inline cell *cell_of(uint64_t key, int shared)
{
    uint64_t h = (key + (uint64_t)(shared - NONE) * 0xC2B2AE3D27D4EB4Full) * 0x9E3779B97F4A7C15ull;
    for (uint32_t i = (uint32_t)(h >> 32);; i++) {
        cell *c = &map.cell[i & map.mask];
        if (bk_likely(c->key == key && c->shared == shared) || !c->key) return c;
    }
}

/* Reports whether the cell refers to anything live. */
static bool in_use(const cell *c)
{
    if (!c->key) return false;
    if (c->shared != NONE) return c->at != NONE;
    return is_mark(c->at) || map.r[c->at].id;
}

static void free_place(int32_t at)
{
    map.r[at].chain = map.free;
    map.free = at;
}

/* Makes room for two more cells: a shared handle's first two variables.
 * Returns false without memory. */
static bk_cold bool rebuild(void)
{
    uint32_t cells = map.mask + 1, n = MIN_CELLS, kept = 0;
    for (uint32_t i = 0; i < cells; i++) kept += in_use(&map.cell[i]);
    while (n / 4 < kept + 2 && n < (uint32_t)1 << 31) n *= 2;
    cell *old = map.cell, *fresh = n / 2 >= kept + 2 ? calloc(n, sizeof *fresh) : NULL;
    if (fresh == NULL) return map.filled + 2 <= map.mask;
    map.cell = fresh;
    map.mask = n - 1;
    map.filled = kept;
    for (uint32_t i = 0; i < cells; i++) {
        if (in_use(&old[i])) *cell_of(old[i].key, old[i].shared) = old[i];
        else if (old[i].key && old[i].shared == NONE) free_place(old[i].at);
    }
    if (old != &nothing) free(old);
    return true;
}

static inline bool room(void)
{
    return bk_likely(map.filled + 2 <= (map.mask + 1) / 2) || rebuild();
}

static void fill(cell *c, uint64_t key, int32_t at, int shared)
{
    *c = (cell){ key, at, shared };
    map.filled++;
}

/* A free place, or NONE without memory. */
static int32_t place(void)
{
    int32_t at = map.free;
    if (at != NONE) {
        map.free = map.r[at].chain;
        return at;
    }
    if (map.used == map.cap) {
        if (map.cap > INT32_MAX / 2) return NONE;
        int32_t cap = map.cap ? map.cap * 2 : MIN_PLACES;
        entry *r = realloc(map.r, (size_t)cap * sizeof *r);
        if (r == NULL) return NONE;
        map.r = r;
        map.cap = cap;
    }
    map.r[map.used].id = 0;
    return map.used++;
}

/* ---- requests with shared handles: by variable and by age ---- */

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

/* Enters a request, the newest one of handle and variable. There is room. */
static void share(int s, int32_t at, const void *var)
{
    entry *r = &map.r[at];
    cell *c = cell_of(var_key(var), s);
    if (!c->key) fill(c, var_key(var), NONE, s);
    r->shared = (int8_t)s;
    r->chain = c->at;
    r->back = NONE;
    if (c->at != NONE) map.r[c->at].back = at;
    c->at = at;
    age_append(s, at);
}

static void unshare(int32_t at)
{
    const entry *r = &map.r[at];
    if (r->chain != NONE) map.r[r->chain].back = r->back;
    if (r->back != NONE) map.r[r->back].chain = r->chain;
    else cell_of(var_key(r->var), r->shared)->at = r->chain;
    age_remove(r->shared, at);
    free_place(at);
}

/* The oldest request with a shared handle that this lookup has not returned yet. */
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

static int32_t find_shared(int s, const void *var, uint32_t lookup)
{
    const cell *c = cell_of(var_key(var), s);
    int32_t at = c->key ? c->at : NONE;
    if (at == NONE || (lookup && map.r[at].taken == lookup)) return by_age(s, lookup);
    map.r[at].taken = lookup;
    return at;
}

/* ---- coming and going ---- */

/* The lock is held. */
static inline void remove_at(int32_t at)
{
    entry *r = &map.r[at];
    efg_slot_return(r->slots, r->id);
    r->id = 0;
    if (bk_unlikely(r->shared != NONE)) unshare(at);
    changed();
}

static bool complete(uint64_t key)
{
    int flag = 0;
    PMPI_Request_get_status((MPI_Request)(uintptr_t)key, &flag, MPI_STATUS_IGNORE);
    return flag != 0;
}

/* A second live request with the handle of this cell. Either the handle is
 * shared, or the first one ended in an unrecorded way and its entry is stale. */
static bk_cold void second(cell *c)
{
    int32_t first = c->at;
    if (!bk_maybe_shared(c->key) || map.nshared == MAX_SHARED || !complete(c->key)) {
        remove_at(first);
        return;
    }
    int s = map.nshared++;
    map.shared[s].oldest = map.shared[s].newest = map.shared[s].next = NONE;
    map.shared[s].lookup = 0;
    c->at = mark_of(s);
    share(s, first, map.r[first].var);
}

/* The place for a new request whose handle has no free place of its own: one for
 * the handle, or one among those that share it. NONE without memory. */
static __attribute__((noinline)) int32_t other_place(uint64_t key, const void *var)
{
    if (!room()) return NONE;
    cell *c = cell_of(key, NONE);
    if (c->key && !is_mark(c->at)) second(c);
    if (c->key && !is_mark(c->at)) return c->at;
    int32_t at = place();
    if (at == NONE) return NONE;
    if (c->key) {
        share(mark_of(c->at), at, var);
    } else {
        fill(c, key, at, NONE);
        map.r[at].shared = NONE;
    }
    return at;
}

/* The handle's own place, NONE if there is none or a request lives there. */
static inline int32_t own_place(uint64_t key)
{
    const cell *c = cell_of(key, NONE);
    return c->key && !is_mark(c->at) && !map.r[c->at].id ? c->at : NONE;
}

void bk_request_add(uint64_t key, const void *var, uint64_t id, efg_slots *slots, uint64_t bytes,
                    unsigned flags)
{
    if (bk_unlikely(key == BK_KEY(MPI_REQUEST_NULL) || !key)) return;
    bool locked = bk_lock(&map.lock);
    int32_t at = own_place(key);
    if (bk_unlikely(at == NONE)) at = other_place(key, var);
    if (bk_likely(at != NONE)) {
        entry *r = &map.r[at];
        r->id = id;
        r->bytes = bytes;
        r->slots = slots;
        r->var = var;
        r->serial = ++map.serial;
        r->flags = (uint8_t)flags;
        r->taken = 0;
        changed();
    }
    bk_unlock(&map.lock, locked);
}

/* ---- finding: the lock is held ---- */

static inline void none_found(bk_request *out, uint64_t word)
{
    out->id = word;
    out->at = NONE;
    out->flags = 0;
}

static inline void find(uint64_t key, const void *var, uint32_t lookup, bk_request *out)
{
    const cell *c = cell_of(key, NONE);
    int32_t at = c->key ? c->at : NONE;
    if (bk_unlikely(is_mark(at))) at = find_shared(mark_of(at), var, lookup);
    if (bk_unlikely(at == NONE || !map.r[at].id)) {
        none_found(out, K(EFG_UNKNOWN));
        return;
    }
    const entry *r = &map.r[at];
    out->id = r->id;
    out->bytes = r->bytes;
    out->at = at;
    out->serial = r->serial;
    out->flags = r->flags;
}

void bk_request_find(uint64_t key, const void *var, bk_request *out)
{
    bool locked = bk_lock(&map.lock);
    find(key, var, 0, out);
    bk_unlock(&map.lock, locked);
}

static inline unsigned find_all(bool c, const void *array, uint32_t n, bk_request *out,
                                uint64_t *words)
{
    const uint32_t width = bk_request_width(c);
    uint64_t changed = 0, renewed = 0;
    unsigned flags = 0;
    if (++map.lookups == 0) ++map.lookups;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t key = bk_request_key(c, array, i), before = out[i].id;
        if (key == BK_KEY(MPI_REQUEST_NULL))
            none_found(&out[i], K(MPI_REQUEST_NULL));
        else
            find(key, (const char *)array + (size_t)i * width, map.lookups, &out[i]);
        uint64_t id = out[i].id;
        changed |= id ^ before;
        renewed |= id ^ words[i];
        words[i] = id;
        flags |= out[i].flags;
    }
    return flags | (changed ? BK_CHANGED : 0) | (renewed ? BK_RENEWED : 0);
}

unsigned bk_requests_find(bool c, const void *array, uint32_t n, bk_request *out, uint64_t *words)
{
    bool locked = bk_lock(&map.lock);
    unsigned told = c ? find_all(true, array, n, out, words) : find_all(false, array, n, out, words);
    bk_unlock(&map.lock, locked);
    return told;
}

/* ---- the life of a request that was found ---- */

/* Reports whether the request that was found at this place still exists. */
static inline bool still(int32_t at, uint32_t serial)
{
    return map.r[at].serial == serial && map.r[at].id;
}

static inline void done(int32_t at, uint32_t serial)
{
    if (bk_unlikely(!still(at, serial))) return;
    if (map.r[at].flags & BK_PERSISTENT) {
        map.r[at].flags &= (uint8_t)~BK_ACTIVE;
        changed();
    } else {
        remove_at(at);
    }
}

void bk_request_done(int32_t at, uint32_t serial)
{
    bool locked = bk_lock(&map.lock);
    done(at, serial);
    bk_unlock(&map.lock, locked);
}

uint64_t bk_requests_done(bk_request *r, uint32_t n)
{
    uint64_t ended = 0;
    bool locked = bk_lock(&map.lock);
    for (uint32_t i = 0; i < n; i++) {
        if (r[i].at < 0 || !(r[i].flags & BK_ACTIVE)) continue;
        done(r[i].at, r[i].serial);
        if (bk_unlikely(r[i].flags & BK_PERSISTENT)) r[i].flags &= ~(uint32_t)BK_ACTIVE;
        else none_found(&r[i], K(MPI_REQUEST_NULL));
        ended++;
    }
    bk_unlock(&map.lock, locked);
    return ended;
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
    bk_request_find(key, var, &r);
    return r.id;
}
