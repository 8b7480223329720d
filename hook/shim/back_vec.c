/* Scratch memory of the event being formed, and the words of arrays and strings. */
#include "back_object.h"
#include "back_type.h"
#include "back_vec.h"

#include <stdlib.h>

/* Blocks are linked, newest first, so that memory that was handed out stays where
 * it is while the event is being formed. */
struct bk_block {
    struct bk_block *older;
    size_t cap, used;
    uint64_t words[];
};

enum { FIRST_BLOCK = 1024 };

uint64_t *bk_scratch(bk_thread *b, size_t n)
{
    struct bk_block *k = b->block;
    b->special |= BK_SCRATCHED;
    if (k == NULL || k->cap - k->used < n) {
        size_t cap = k != NULL ? k->cap * 2 : FIRST_BLOCK;
        if (cap < n) cap = n;
        if (cap > (SIZE_MAX - sizeof *k) / sizeof(uint64_t)) return NULL;
        k = malloc(sizeof *k + cap * sizeof(uint64_t));
        if (k == NULL) return NULL;
        *k = (struct bk_block){ b->block, cap, 0 };
        b->block = k;
    }
    uint64_t *p = k->words + k->used;
    k->used += n;
    return p;
}

void bk_scratch_reset(bk_thread *b)
{
    struct bk_block *k = b->block;
    b->special &= (uint8_t)~BK_SCRATCHED;
    if (k == NULL) return;
    k->used = 0;
    for (struct bk_block *o = k->older, *next; o != NULL; o = next) {
        next = o->older;
        free(o);
    }
    k->older = NULL;
}

void bk_scratch_free(bk_thread *b)
{
    bk_scratch_reset(b);
    free(b->block);
    b->block = NULL;
}

uint64_t bk_vec(bk_thread *b, unsigned word, const uint64_t *data, int64_t n)
{
    if (data == NULL || n < 0 || n > UINT32_MAX) return EFG_ABSENT;
    return efg_vec_word(b->t, word, data, (uint32_t)n);
}

/* Room for an array argument of n elements; NULL if there is none. */
static uint64_t *room(bk_thread *b, const void *a, int64_t n)
{
    return a && n >= 0 ? bk_scratch(b, (size_t)n + 1) : NULL;
}

uint64_t bk_vec_num(bk_thread *b, unsigned word, const void *a, int64_t n, int width)
{
    uint64_t *w = room(b, a, n);
    if (w == NULL) return EFG_ABSENT;
    if (width == 4)
        for (int64_t i = 0; i < n; i++) w[i] = (uint64_t)(int64_t)((const int32_t *)a)[i];
    else
        memcpy(w, a, (size_t)n * sizeof *w);
    return bk_vec(b, word, w, n);
}

uint64_t bk_vec_map(bk_thread *b, unsigned word, const int *a, int64_t n, uint64_t (*map)(int64_t))
{
    uint64_t *w = room(b, a, n);
    if (w == NULL) return EFG_ABSENT;
    for (int64_t i = 0; i < n; i++) w[i] = map(a[i]);
    return bk_vec(b, word, w, n);
}

static MPI_Datatype type_at(const bk_thread *b, const void *types, int64_t i)
{
    return b->lang == BK_C ? ((const MPI_Datatype *)types)[i]
                           : PMPI_Type_f2c(((const MPI_Fint *)types)[i]);
}

uint64_t bk_vec_type(bk_thread *b, unsigned word, const void *types, int64_t n)
{
    uint64_t *w = room(b, types, n);
    if (w == NULL) return EFG_ABSENT;
    for (int64_t i = 0; i < n; i++) w[i] = bk_type_word(b, type_at(b, types, i));
    return bk_vec(b, word, w, n);
}

uint64_t bk_vec_new_type(bk_thread *b, unsigned word, const void *types, int64_t n)
{
    uint64_t *w = room(b, types, n);
    if (w == NULL) return EFG_ABSENT;
    for (int64_t i = 0; i < n; i++) w[i] = bk_type_new(b, type_at(b, types, i));
    return bk_vec(b, word, w, n);
}

uint64_t bk_vec_info(bk_thread *b, unsigned word, const void *infos, int64_t n)
{
    uint64_t *w = room(b, infos, n);
    if (w == NULL) return EFG_ABSENT;
    for (int64_t i = 0; i < n; i++)
        w[i] = bk_object_word(BK_INFO, BK_KEY(b->lang == BK_C
                                                  ? ((const MPI_Info *)infos)[i]
                                                  : PMPI_Info_f2c(((const MPI_Fint *)infos)[i])));
    return bk_vec(b, word, w, n);
}

int64_t bk_sum(const int *a, int64_t n)
{
    int64_t s = 0;
    for (int64_t i = 0; a != NULL && i < n; i++) s += a[i];
    return s;
}

int64_t bk_last_of(const int *a, int64_t n) { return a != NULL && n > 0 ? a[n - 1] : 0; }

uint64_t bk_string(const char *s)
{
    return s != NULL ? efg_string_word(s, strlen(s)) : EFG_ABSENT;
}

/* Length without trailing blanks, as passed on by the libraries. */
static size_t trimmed(const char *s, size_t len)
{
    while (len > 0 && s[len - 1] == ' ') len--;
    return len;
}

uint64_t bk_fstring(const char *s, size_t len)
{
    if (s == NULL) return EFG_ABSENT;
    while (len > 0 && *s == ' ') s++, len--;
    return efg_string_word(s, trimmed(s, len));
}

uint64_t bk_vec_strings(bk_thread *b, unsigned word, char *const *s, int64_t n)
{
    if (s != NULL && n < 0)
        for (n = 0; s[n] != NULL;) n++;
    uint64_t *w = room(b, s, n);
    if (w == NULL) return EFG_ABSENT;
    for (int64_t i = 0; i < n; i++) w[i] = bk_string(s[i]);
    return bk_vec(b, word, w, n);
}

/* The end of a list; MPI_ARGV_NULL is one character, blank or NUL. */
static bool blank(const char *s, size_t len)
{
    return trimmed(s, len) == 0 || *s == '\0';
}

uint64_t bk_vec_fstrings(bk_thread *b, unsigned word, const char *s, int64_t n, size_t len)
{
    if (s != NULL && n < 0)
        for (n = 0; !blank(s + (size_t)n * len, len);) n++;
    uint64_t *w = room(b, s, n);
    if (w == NULL) return EFG_ABSENT;
    for (int64_t i = 0; i < n; i++) w[i] = bk_fstring(s + (size_t)i * len, len);
    return bk_vec(b, word, w, n);
}
