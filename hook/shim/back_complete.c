#include "back_complete.h"

#include <stdlib.h>

_Atomic bool bk_f08_from_zero;

enum { IS_RECV = 128 };

/* ---- one request ---- */

uint64_t bk_one_begin(bk_one *o, uint64_t key, const void *var)
{
    o->r.at = -1;
    o->recv = false;
    if (key == BK_KEY(MPI_REQUEST_NULL)) return K(MPI_REQUEST_NULL);
    bk_request_find(key, var, 0, &o->r);
    if (o->r.at < 0) return EFG_ABSENT;
    o->recv = o->r.kind == BK_RECV && (o->r.flags & BK_ACTIVE);
    return o->r.id;
}

void bk_one_end(const bk_one *o, bool done, bool failed, uint64_t now)
{
    if (o->r.at < 0) return;
    if (failed) done = !(o->r.flags & BK_PERSISTENT) && now == BK_KEY(MPI_REQUEST_NULL);
    if (done) bk_request_done(o->r.at, o->r.serial);
}

/* ---- arrays ---- */

static uint32_t width_of(const bk_thread *b)
{
    return b->lang == BK_C ? sizeof(MPI_Request) : sizeof(MPI_Fint);
}

static uint64_t key_at(const bk_thread *b, const void *array, int64_t i)
{
    return b->lang == BK_C ? BK_KEY(((const MPI_Request *)array)[i])
                           : BK_KEY(PMPI_Request_f2c(((const MPI_Fint *)array)[i]));
}

static const void *var_at(const bk_thread *b, const void *array, int64_t i)
{
    return (const char *)array + (size_t)i * width_of(b);
}

static bool reserve(bk_last *l, uint32_t n)
{
    if (n <= l->cap && l->raw) return true;
    uint32_t cap = l->cap > n / 2 ? l->cap * 2 : n < 16 ? 16 : n;
    size_t each = sizeof *l->words + sizeof *l->bytes + sizeof(MPI_Request) + sizeof *l->at
                  + sizeof *l->serial + sizeof *l->flags;
    uint64_t *p = malloc(each * cap);
    if (!p) return false;
    free(l->words);          /* the one block */
    l->words = p;
    l->bytes = p + cap;
    l->raw = p + 2 * (size_t)cap;
    l->at = (int32_t *)(void *)((char *)l->raw + sizeof(MPI_Request) * cap);
    l->serial = (uint32_t *)(l->at + cap);
    l->flags = (uint8_t *)(l->serial + cap);
    l->cap = cap;
    l->valid = false;
    return true;
}

void bk_last_free(bk_thread *b)
{
    if (b->last) free(b->last->words);
    free(b->last);
    b->last = NULL;
}

/* Looks the array up afresh. Returns whether the words are those that the last
 * call left. */
static bool look_up(bk_thread *b, bk_last *l, const void *array, uint32_t n)
{
    bool same = l->valid && l->n == n;
    uint32_t lookup = bk_request_lookup();
    l->recv = false;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t key = key_at(b, array, i), word = K(MPI_REQUEST_NULL);
        bk_request r;
        l->at[i] = -1;
        l->flags[i] = 0;
        if (key != BK_KEY(MPI_REQUEST_NULL)) {
            bk_request_find(key, var_at(b, array, i), lookup, &r);
            l->at[i] = r.at;
            word = r.at < 0 ? EFG_ABSENT : r.id;
        }
        if (l->at[i] >= 0) {
            l->flags[i] = (uint8_t)(r.flags | (r.kind == BK_RECV ? IS_RECV : 0));
            l->bytes[i] = r.bytes;
            l->serial[i] = r.serial;
            if (r.kind == BK_RECV && (r.flags & BK_ACTIVE)) l->recv = true;
        }
        same = same && l->words[i] == word;
        l->words[i] = word;
    }
    return same;
}

static bool unchanged(const bk_thread *b, const bk_last *l, const bk_many *m)
{
    return l->valid && l->n == m->n && l->array == m->array && l->width == width_of(b)
           && l->changes == m->changes && m->n > 0
           && memcmp(l->raw, m->array, (size_t)m->n * l->width) == 0;
}

uint64_t bk_many_begin(bk_thread *b, bk_many *m, unsigned word, const void *array, int64_t n)
{
    if (!b->last) b->last = calloc(1, sizeof *b->last);
    bk_last *l = b->last;
    *m = (bk_many){ .l = l, .array = array, .n = n };
    m->changes = atomic_load_explicit(&bk_request_changes, memory_order_relaxed);
    if (!l || n < 0 || n > INT32_MAX || (!array && n > 0) || !reserve(l, (uint32_t)n)) {
        m->n = 0;
        m->l = NULL;
        if (l) l->valid = false;
        return EFG_ABSENT;
    }
    bool same = unchanged(b, l, m);
    if (!same) same = look_up(b, l, array, (uint32_t)n);
    l->valid = false;        /* until the call is over */
    l->n = (uint32_t)n;
    l->width = width_of(b);
    l->array = array;
    if (n > 0) memcpy(l->raw, array, (size_t)n * l->width);
    m->recv = l->recv;
    return same ? K(EFG_SAME) : bk_vec(b, word, l->words, n);
}

void *bk_many_status(bk_thread *b, const bk_many *m, void *status)
{
    return m->recv && bk_status_ignored(b, status) ? &b->status : status;
}

void *bk_many_statuses(bk_thread *b, const bk_many *m, void *statuses)
{
    if (!m->recv || !bk_statuses_ignored(b, statuses)) return statuses;
    size_t words = ((size_t)m->n * sizeof(MPI_Status) + 7) / 8;
    void *own = bk_scratch(b, words);
    return own ? own : statuses;
}

/* ---- positions ---- */

static bool gone(const bk_thread *b, const bk_many *m, int64_t i)
{
    return i >= 0 && i < m->n && m->l->at[i] >= 0 && !(m->l->flags[i] & BK_PERSISTENT)
           && key_at(b, m->array, i) == BK_KEY(MPI_REQUEST_NULL);
}

static bool there(const bk_thread *b, const bk_many *m, int64_t i)
{
    return i >= 0 && i < m->n && m->l->at[i] >= 0 && !(m->l->flags[i] & BK_PERSISTENT)
           && key_at(b, m->array, i) != BK_KEY(MPI_REQUEST_NULL);
}

static bool undefined(int64_t index)
{
    return index == MPI_UNDEFINED || index == (int64_t)MPI_UNDEFINED + 1;
}

int64_t bk_position(bk_thread *b, const bk_many *m, int64_t index)
{
    if (b->lang == BK_C) return index == MPI_UNDEFINED ? -1 : index;
    if (undefined(index)) return -1;
    if (b->lang == BK_MPIF) return index - 1;
    /* A request that is gone shows how the library counts. */
    if (gone(b, m, index) && there(b, m, index - 1)) bk_f08_from_zero = true;
    if (gone(b, m, index - 1) && there(b, m, index)) bk_f08_from_zero = false;
    return bk_f08_from_zero ? index : index - 1;
}

uint64_t *bk_positions(bk_thread *b, const bk_many *m, const int *indices, int64_t n)
{
    if (n < 0 || n > m->n || (!indices && n > 0)) return NULL;
    uint64_t *p = bk_scratch(b, (size_t)n + 1);
    if (!p) return NULL;
    /* The first pass only learns how the library counts. */
    if (b->lang == BK_F08)
        for (int64_t i = 0; i < n; i++) bk_position(b, m, indices[i]);
    for (int64_t i = 0; i < n; i++) p[i] = (uint64_t)bk_position(b, m, indices[i]);
    return p;
}

bool bk_many_recv(const bk_many *m, int64_t i)
{
    return i >= 0 && i < m->n && (m->l->flags[i] & IS_RECV) && (m->l->flags[i] & BK_ACTIVE);
}

/* ---- statuses ---- */

/* Position among the statuses, source, tag, bytes: of the receives for which
 * the posting call does not tell the same. */
static int64_t list_statuses(const bk_many *m, const MPI_Status *s, const uint64_t *pos, int64_t n,
                             uint64_t *out)
{
    int64_t k = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t at = pos ? (int64_t)pos[i] : i;
        if (!bk_many_recv(m, at)) continue;
        uint64_t bytes = bk_status_bytes(&s[i]);
        if (!(m->l->flags[at] & BK_WILD) && bytes == m->l->bytes[at]) continue;
        out[k] = (uint64_t)i;
        bk_status_words(out + k + 1, &s[i]);
        k += 4;
    }
    return k;
}

uint64_t bk_many_status_word(bk_thread *b, const bk_many *m, unsigned word, const void *statuses,
                             const uint64_t *pos, int64_t n)
{
    if (!m->recv || !statuses || bk_statuses_ignored(b, statuses)) return K(EFG_AS_POSTED);
    uint64_t *out = bk_scratch(b, 4 * (size_t)n + 1);
    if (!out) return EFG_ABSENT;
    int64_t k = list_statuses(m, statuses, pos, n, out);
    return k ? bk_vec(b, word, out, k) : K(EFG_AS_POSTED);
}

/* ---- after the call ---- */

/* Returns the number of changes to the request map. */
static uint64_t settle(bk_last *l, int64_t i)
{
    if (i < 0 || i >= l->n || l->at[i] < 0 || !(l->flags[i] & BK_ACTIVE)) return 0;
    bk_request_done(l->at[i], l->serial[i]);
    if (l->flags[i] & BK_PERSISTENT) {
        l->flags[i] &= (uint8_t)~BK_ACTIVE;
        return 1;
    }
    l->at[i] = -1;
    l->flags[i] = 0;
    l->words[i] = K(MPI_REQUEST_NULL);
    return 1;
}

/* Keeps the array as the call left it. changes: those to the request map that
 * this call made; any others make the next call look again. */
static void keep(const bk_many *m, uint64_t changes)
{
    bk_last *l = m->l;
    l->recv = false;
    for (uint32_t i = 0; i < l->n; i++)
        if (bk_many_recv(m, i)) l->recv = true;
    if (l->n > 0) memcpy(l->raw, m->array, (size_t)l->n * l->width);
    l->changes = m->changes + changes;
    l->valid = true;
}

void bk_many_end(bk_thread *b, const bk_many *m, const uint64_t *pos, int64_t n, bool failed)
{
    uint64_t changes = 0;
    if (!m->l) return;
    if (failed) {
        for (int64_t i = 0; i < m->n; i++)
            if (gone(b, m, i)) settle(m->l, i);
        return;
    }
    const bool all = n == BK_ALL;
    if (all) n = m->n;
    for (int64_t i = 0; i < n; i++) changes += settle(m->l, all ? i : (int64_t)pos[i]);
    keep(m, changes);
}

void bk_many_peek_end(const bk_many *m, bool failed)
{
    if (m->l && !failed) keep(m, 0);
}

void bk_many_start(const bk_many *m, bool failed)
{
    uint64_t changes = 0;
    if (!m->l || failed) return;
    for (int64_t i = 0; i < m->n; i++) {
        if (m->l->at[i] < 0) continue;
        bk_request_start(m->l->at[i], m->l->serial[i]);
        m->l->flags[i] |= BK_ACTIVE;
        changes++;
    }
    keep(m, changes);
}
