/* Definitions: the contents of identity words. An append-only list in the
 * segment, one for the process, with a private index. */
#include "core_internal.h"
#include "xxh64.h"

#include <stdlib.h>
#include <string.h>

static efg_lock_t defs_lock = ATOMIC_FLAG_INIT;

/* Open addressing over definitions by their words; guarded by defs_lock. */
static struct entry {
    uint32_t def;               /* ref */
    uint32_t number;            /* in the list, from 1; 0: free */
} *table;
static uint32_t table_size;     /* power of two */
static seg_def *last;

uint64_t efg_hash(const uint64_t *w, size_t n) { return xxh64(w, n * sizeof *w); }

static inline uint64_t word_of(const struct entry *e) { return ((seg_def *)efg_ptr(e->def))->word; }

static struct entry *slot(uint64_t word)
{
    uint32_t i = (uint32_t)(word * XXP1 >> 32) & (table_size - 1);
    while (table[i].number != 0 && word_of(&table[i]) != word)
        i = (i + 1) & (table_size - 1);
    return &table[i];
}

static int table_grow(void)
{
    struct entry *old = table;
    uint32_t old_size = table_size;
    uint32_t size = old_size != 0 ? 2 * old_size : 256;
    struct entry *t = efg_table_new(size * sizeof *t);
    if (t == NULL)
        return -1;
    table = t;
    table_size = size;
    for (uint32_t i = 0; i < old_size; i++)
        if (old[i].number != 0)
            *slot(word_of(&old[i])) = old[i];
    efg_table_free(old, old_size * sizeof *old);
    return 0;
}

static int append(enum efg_def_kind kind, uint64_t word, const uint64_t *words, uint32_t n,
                  const void *data, uint32_t nbytes)
{
    seg_def *d = efg_alloc(sizeof *d + n * sizeof *words + nbytes, SEG_REF_UNIT);
    if (d == NULL)
        return -1;
    d->kind = kind;
    d->word = word;
    d->nwords = n;
    d->nbytes = nbytes;
    if (n != 0)
        memcpy(d + 1, words, n * sizeof *words);
    if (nbytes != 0)
        memcpy((char *)(d + 1) + n * sizeof *words, data, nbytes);
    efg_publish_barrier();
    if (last == NULL)
        efg_header->defs = efg_ref(d);
    else
        last->next = efg_ref(d);
    last = d;
    efg_publish_barrier();
    efg_header->ndefs++;
    return 0;
}

uint64_t efg_def(enum efg_def_kind kind, uint64_t word, const uint64_t *words, uint32_t n,
                 const void *data, uint32_t nbytes)
{
    if (efg_header == NULL)
        return word;
    efg_lock(&defs_lock);
    if (table_size != 0 || table_grow() == 0) {
        struct entry *e = slot(word);
        if (e->number == 0 && append(kind, word, words, n, data, nbytes) == 0) {
            *e = (struct entry){efg_ref(last), efg_header->ndefs};
            if (efg_header->ndefs * 2 > table_size && table_grow() != 0)
                efg_segment_full(12 /* ENOMEM */);
        }
    }
    efg_unlock(&defs_lock);
    return word;
}

int64_t efg_def_index(uint64_t word)
{
    int64_t number = -1;
    efg_lock(&defs_lock);
    if (table_size != 0)
        number = (int64_t)slot(word)->number - 1;
    efg_unlock(&defs_lock);
    return number;
}

uint64_t efg_string_word(const char *s, size_t len)
{
    uint64_t word = EFG_IDENT(xxh64(s, len));
    return efg_def(EFG_DEF_STRING, word, NULL, 0, s, (uint32_t)len);
}
