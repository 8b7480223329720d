/* Maps from MPI handles to words. A handle's value may be reused after its object
 * was freed, so constructors overwrite entries, and frees leave a mark until the
 * map grows. */
#include "back_thread.h"

#include <stdlib.h>

bool bk_threads = true;   /* until MPI_Init_thread says otherwise */

bk_map bk_comms = BK_MAP_INIT, bk_wins = BK_MAP_INIT, bk_files = BK_MAP_INIT,
       bk_types = BK_MAP_INIT, bk_groups = BK_MAP_INIT, bk_ops = BK_MAP_INIT;

static size_t home(const bk_map *m, uint64_t key)
{
    return (size_t)((key * 0x9E3779B97F4A7C15ull) >> 20) & (m->cap - 1);
}

/* The key's place, or the empty place where it belongs. */
static bk_entry *find(const bk_map *m, uint64_t key)
{
    size_t i = home(m, key);
    while (m->e[i].word && m->e[i].key != key) i = (i + 1) & (m->cap - 1);
    return &m->e[i];
}

static bool is_live(const bk_entry *e) { return e->word != 0 && bk_is_known(e->word); }

/* Makes room, if possible by removing freed handles. */
static bool grow(bk_map *m)
{
    size_t live = 0;
    for (size_t i = 0; i < m->cap; i++) live += is_live(&m->e[i]);
    bk_map n = { .cap = m->cap == 0 ? 256 : live * 4 > m->cap ? m->cap * 2 : m->cap, .n = live };
    n.e = calloc(n.cap, sizeof *n.e);
    if (n.e == NULL) return false;
    for (size_t i = 0; i < m->cap; i++)
        if (is_live(&m->e[i])) *find(&n, m->e[i].key) = m->e[i];
    free(m->e);
    m->e = n.e;
    m->cap = n.cap;
    m->n = n.n;
    return true;
}

static void changed(bk_map *m)
{
    uint32_t gen = atomic_load_explicit(&m->gen, memory_order_relaxed) + 1;
    atomic_store_explicit(&m->gen, gen ? gen : 1, memory_order_release);
}

/* The entry of a handle; without one the word says why. */
static bk_entry entry_of(bk_map *m, uint64_t key)
{
    bk_entry e = { .key = key };
    bool locked = bk_lock(&m->lock);
    if (m->cap > 0) e = *find(m, key);
    bk_unlock(&m->lock, locked);
    return e.word != 0 ? e : (bk_entry){ .key = key, .word = K(EFG_UNKNOWN) };
}

bool bk_map_get(bk_map *m, uint64_t key, bk_entry *out)
{
    bk_entry e = entry_of(m, key);
    if (is_live(&e)) *out = e;
    return is_live(&e);
}

uint64_t bk_map_word(bk_map *m, uint64_t key)
{
    return entry_of(m, key).word;
}

enum known { KEEP, OVERWRITE, COUNT };   /* what happens to an existing entry */

/* Without memory the map does not change: the handle will count as unknown. */
static void put(bk_map *m, const bk_entry *e, enum known known)
{
    bool locked = bk_lock(&m->lock);
    if (m->n * 2 < m->cap || grow(m)) {
        bk_entry *at = find(m, e->key);
        if (at->word == 0) {
            m->n++;
            *at = *e;
        } else if (known == COUNT && at->word == e->word) {
            at->refs++;
        } else if (known != KEEP || !is_live(at)) {
            *at = *e;
            changed(m);
        }
    }
    bk_unlock(&m->lock, locked);
}

void bk_map_set(bk_map *m, const bk_entry *e) { put(m, e, OVERWRITE); }
void bk_map_add(bk_map *m, const bk_entry *e) { put(m, e, KEEP); }
void bk_map_made(bk_map *m, const bk_entry *e) { put(m, e, COUNT); }

bool bk_map_release(bk_map *m, uint64_t key, bk_entry *out)
{
    bool locked = bk_lock(&m->lock), found = false;
    if (m->cap > 0) {
        bk_entry *e = find(m, key);
        found = is_live(e) && !EFG_IS_CONST(e->word);
        if (found) {
            *out = *e;
            if (e->refs > 1) {
                e->refs--;
            } else {
                *e = (bk_entry){ .key = key, .word = K(EFG_FREED) };
                changed(m);
            }
        }
    }
    bk_unlock(&m->lock, locked);
    return found;
}

const bk_entry *bk_map_copy(bk_map *m, uint64_t key, bk_entry *copy)
{
    uint32_t gen = atomic_load_explicit(&m->gen, memory_order_acquire);
    *copy = entry_of(m, key);
    if (is_live(copy)) copy->gen = gen;
    return copy;
}
