#include "back_complete.h"
#include "back_vec.h"

#include <stdlib.h>

_Atomic bool bk_f08_from_zero;

static inline bool receiving(unsigned flags)
{
    return (flags & (BK_RECV | BK_ACTIVE)) == (BK_RECV | BK_ACTIVE);
}

/* ---- one request ---- */

uint64_t bk_one_begin(bk_one *o, uint64_t key, const void *var)
{
    o->r.at = -1;
    o->recv = false;
    if (key == BK_KEY(MPI_REQUEST_NULL)) return K(MPI_REQUEST_NULL);
    bk_request_find(key, var, &o->r);
    if (o->r.at < 0) return o->r.id;
    o->recv = receiving(o->r.flags);
    return o->r.id;
}

void bk_one_end(const bk_one *o, bool done, bool failed, uint64_t now)
{
    if (o->r.at < 0) return;
    if (failed) done = !(o->r.flags & BK_PERSISTENT) && now == BK_KEY(MPI_REQUEST_NULL);
    if (done) bk_request_done(o->r.at, o->r.serial);
}

/* ---- arrays ---- */

static uint64_t key_at(const bk_thread *b, const void *array, int64_t i)
{
    return bk_request_key(b->lang == BK_C, array, i);
}

static bool reserve(bk_last *l, uint32_t n)
{
    if (bk_likely(n <= l->cap && l->r != NULL)) return true;
    uint32_t cap = l->cap > n / 2 ? l->cap * 2 : n < 16 ? 16 : n;
    bk_request *r = calloc(cap, sizeof *l->r + sizeof *l->words + sizeof(MPI_Request));
    if (r == NULL) return false;
    free(l->r);              /* a single block */
    l->r = r;
    l->words = (uint64_t *)(r + cap);
    l->raw = l->words + cap;
    l->cap = cap;
    l->valid = false;
    l->nhashed = 0;
    return true;
}

void bk_last_free(bk_thread *b)
{
    if (b->last != NULL) free(b->last->r);
    free(b->last);
    b->last = NULL;
}

static bool unchanged(const bk_thread *b, const bk_last *l, const bk_many *m)
{
    return l->valid && l->array == m->array && m->array != NULL && l->n == m->n
           && l->width == bk_request_width(b->lang == BK_C) && l->changes == m->changes
           && m->n > 0 && memcmp(l->raw, m->array, (size_t)m->n * l->width) == 0;
}

/* Looks the array up afresh; returns its word. */
static uint64_t look_up(bk_thread *b, bk_last *l, unsigned word, const void *array, uint32_t n)
{
    unsigned told = bk_requests_find(b->lang == BK_C, array, n, l->r, l->words);
    bool same = l->valid && l->n == n && !(told & BK_CHANGED);
    bool known = n > 0 && l->nhashed == n && !(told & BK_RENEWED);
    l->flags = told;
    if (!known) l->nhashed = 0;
    if (same) return K(EFG_SAME);
    if (known) {
        efg_vec_refer(b->t, word, l->words, n);
        return l->word;
    }
    l->nhashed = n;
    return l->word = bk_vec(b, word, l->words, n);
}

uint64_t bk_many_begin(bk_thread *b, bk_many *m, unsigned word, const void *array, int64_t n)
{
    if (bk_unlikely(b->last == NULL)) b->last = calloc(1, sizeof *b->last);
    bk_last *l = b->last;
    m->array = array;
    m->n = n;
    m->l = l;
    m->changes = atomic_load_explicit(&bk_request_changes, memory_order_relaxed);
    if (l == NULL || n < 0 || n > INT32_MAX || (array == NULL && n > 0) || !reserve(l, (uint32_t)n)) {
        m->n = 0;
        m->l = NULL;
        m->recv = false;
        if (l != NULL) l->valid = false;
        return EFG_ABSENT;
    }
    uint64_t w = unchanged(b, l, m) ? K(EFG_SAME) : look_up(b, l, word, array, (uint32_t)n);
    l->valid = false;        /* until the call is over */
    l->full = w != K(EFG_SAME);
    l->n = (uint32_t)n;
    l->width = bk_request_width(b->lang == BK_C);
    m->recv = receiving(l->flags);
    return w;
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
    return own != NULL ? own : statuses;
}

/* ---- positions ---- */

/* Reports whether there is a request at this position that its completion
 * removes. */
static bool transient(const bk_many *m, int64_t i)
{
    return i >= 0 && i < m->n && m->l->r[i].at >= 0 && !(m->l->r[i].flags & BK_PERSISTENT);
}

static bool gone(const bk_thread *b, const bk_many *m, int64_t i)
{
    return transient(m, i) && key_at(b, m->array, i) == BK_KEY(MPI_REQUEST_NULL);
}

static bool there(const bk_thread *b, const bk_many *m, int64_t i)
{
    return transient(m, i) && key_at(b, m->array, i) != BK_KEY(MPI_REQUEST_NULL);
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
    if (n < 0 || n > m->n || (indices == NULL && n > 0)) return NULL;
    uint64_t *p = bk_scratch(b, (size_t)n + 1);
    if (p == NULL) return NULL;
    /* The first pass only determines how the library counts. */
    if (b->lang == BK_F08)
        for (int64_t i = 0; i < n; i++) bk_position(b, m, indices[i]);
    for (int64_t i = 0; i < n; i++) p[i] = (uint64_t)bk_position(b, m, indices[i]);
    return p;
}

bool bk_many_recv(const bk_many *m, int64_t i)
{
    return i >= 0 && i < m->n && receiving(m->l->r[i].flags);
}

/* ---- statuses ---- */

/* Reports whether the status of the request at this position contains anything
 * that does not follow from the posting call. */
static inline bool telling(const bk_thread *b, const bk_many *m, int64_t at, const MPI_Status *s)
{
    if (!bk_many_recv(m, at)) return false;
    const bk_request *r = &m->l->r[at];
    return (r->flags & BK_WILD) || bk_status_bytes(s) != r->bytes || !bk_follows(b, s, r);
}

/* Position among the statuses, source, tag, bytes: for the statuses that contain
 * something new, from the first one on. */
static int64_t list_statuses(const bk_thread *b, const bk_many *m, const MPI_Status *s,
                             const uint64_t *pos, int64_t first, int64_t n, uint64_t *out)
{
    int64_t k = 0;
    for (int64_t i = first; i < n; i++) {
        if (!telling(b, m, pos != NULL ? (int64_t)pos[i] : i, &s[i])) continue;
        out[k] = (uint64_t)i;
        bk_status_words(out + k + 1, &s[i]);
        k += 4;
    }
    return k;
}

uint64_t bk_many_status_word(bk_thread *b, const bk_many *m, unsigned word, const void *statuses,
                             const uint64_t *pos, int64_t n)
{
    if (!m->recv || statuses == NULL || bk_statuses_ignored(b, statuses)) return K(EFG_AS_POSTED);
    const MPI_Status *s = statuses;
    int64_t first = 0;
    while (first < n && !telling(b, m, pos != NULL ? (int64_t)pos[first] : first, &s[first])) first++;
    if (first == n) return K(EFG_AS_POSTED);
    uint64_t *out = bk_scratch(b, 4 * (size_t)(n - first));
    if (out == NULL) return EFG_ABSENT;
    return bk_vec(b, word, out, list_statuses(b, m, s, pos, first, n, out));
}

/* ---- after the call ---- */

/* Returns the number of changes to the request map. */
static uint64_t settle(bk_last *l, int64_t i)
{
    return i >= 0 && i < l->n ? bk_requests_done(&l->r[i], 1) : 0;
}

/* Keeps the array as the call left it. changes: those to the request map that
 * this call made; any others make the next call look it up again. */
static void keep(const bk_thread *b, const bk_many *m, uint64_t changes)
{
    bk_last *l = m->l;
    l->flags = 0;
    for (uint32_t i = 0; i < l->n; i++) l->flags |= l->r[i].flags;
    if (l->n > 0) memcpy(l->raw, m->array, (size_t)l->n * l->width);
    l->array = m->array;
    l->changes = m->changes + changes;
    l->valid = !(l->full && b->t->counted);
}

/* All of them are complete. */
static void end_all(const bk_thread *b, const bk_many *m)
{
    uint64_t changes = bk_requests_done(m->l->r, (uint32_t)m->n);
    if (m->l->flags & BK_PERSISTENT) {
        keep(b, m, changes);
        return;
    }
    m->l->array = NULL;      /* looking up null handles takes no longer than comparing */
    m->l->valid = true;
}

static void end_failed(const bk_thread *b, const bk_many *m)
{
    for (int64_t i = 0; i < m->n; i++)
        if (gone(b, m, i)) settle(m->l, i);
}

void bk_many_end(bk_thread *b, const bk_many *m, const uint64_t *pos, int64_t n, bool failed)
{
    uint64_t changes = 0;
    if (m->l == NULL) return;
    if (bk_unlikely(failed)) {
        end_failed(b, m);
    } else if (n == BK_ALL) {
        end_all(b, m);
    } else {
        for (int64_t i = 0; i < n; i++) changes += settle(m->l, (int64_t)pos[i]);
        keep(b, m, changes);
    }
}

void bk_many_peek_end(const bk_thread *b, const bk_many *m, bool failed)
{
    if (m->l != NULL && !failed) keep(b, m, 0);
}

void bk_many_start(const bk_thread *b, const bk_many *m, bool failed)
{
    uint64_t changes = 0;
    if (m->l == NULL || failed) return;
    for (int64_t i = 0; i < m->n; i++) {
        bk_request *r = &m->l->r[i];
        if (r->at < 0) continue;
        bk_request_start(r->at, r->serial);
        r->flags |= BK_ACTIVE;
        changes++;
    }
    keep(b, m, changes);
}
