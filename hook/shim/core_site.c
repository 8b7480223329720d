/* Sites: events with equal header, callsite and object. A site whose signatures
 * explode gets words taken out of them ("demotion"): the word that varies most
 * leaves the signature and goes to attribute streams of the nodes that remain.
 * A callsite that sees too many objects has the object demoted first of all.
 * efg/builder_site.go is the same in Go; efg/FORMAT.md states the rules. */
#include "core_internal.h"
#include "xxh64.h"

#include <stdlib.h>
#include <string.h>

enum {
    SITE_WORDS = 3,             /* header, callsite, object */
    OBJECT_WORD = 2,
    MAX_OBJECTS = 16            /* sites of a callsite before the object is demoted */
};

typedef struct site {
    uint64_t key[SITE_WORDS];
    uint64_t mask;
    uint32_t nlive;
    uint32_t nsites;            /* of a callsite entry */
    seg_node **live;            /* demote bound entries */
    struct site *callsite;      /* its callsite's entry */
    struct site *next;          /* the callsite's sites */
} site;

/* Open addressing over pointers to sites. Callsites are entries too, with
 * object EFG_NEW, which is no object's word. Their mask has the object's bit
 * once that is demoted. */
struct sites {
    site **slot;
    uint32_t size, used;
};

sites *sites_new(void)
{
    sites *t = calloc(1, sizeof *t);
    if (t != NULL && (t->slot = calloc(64, sizeof *t->slot)) != NULL)
        t->size = 64;
    return t;
}

static site **find(const sites *t, uint64_t w0, uint64_t w1, uint64_t w2)
{
    uint64_t h = ((w0 * XXP1 ^ w1) * XXP2 ^ w2) * XXP1;
    uint32_t i = (uint32_t)(h >> 40) & (t->size - 1);
    site *s;
    while ((s = t->slot[i]) != NULL && (s->key[0] != w0 || s->key[1] != w1 || s->key[2] != w2))
        i = (i + 1) & (t->size - 1);
    return &t->slot[i];
}

static int rehash(sites *t)
{
    sites n = {calloc(2 * (size_t)t->size, sizeof *n.slot), t->size * 2, t->used};
    if (n.slot == NULL)
        return -1;
    for (uint32_t i = 0; i < t->size; i++) {
        site *s = t->slot[i];
        if (s != NULL)
            *find(&n, s->key[0], s->key[1], s->key[2]) = s;
    }
    free(t->slot);
    *t = n;
    return 0;
}

static site *find_or_add(sites *t, uint64_t w0, uint64_t w1, uint64_t w2)
{
    site **at = find(t, w0, w1, w2);
    if (*at != NULL)
        return *at;
    if (t->used * 2 >= t->size) {
        if (rehash(t) != 0)
            return NULL;
        at = find(t, w0, w1, w2);
    }
    site *s = calloc(1, sizeof *s);
    if (s == NULL)
        return NULL;
    memcpy(s->key, (uint64_t[]){w0, w1, w2}, sizeof s->key);
    unsigned op = EFG_OP(w0);
    if (op < efg_nschemas && efg_schemas[op].slot != 0)
        s->mask = (uint64_t)1 << efg_schemas[op].slot;
    t->used++;
    return *at = s;
}

static void kill_nodes(site *s)
{
    for (uint32_t i = 0; i < s->nlive; i++)
        s->live[i]->live = 0;
    s->nlive = 0;
}

/* Links a new site to its callsite; demotes the object if there are too many. */
static site *adopt(sites *t, site *callsite, site *s)
{
    s->next = callsite->next;
    callsite->next = s;
    if (++callsite->nsites <= MAX_OBJECTS)
        return s;
    callsite->mask |= (uint64_t)1 << OBJECT_WORD;
    for (site *o = callsite->next; o != NULL; o = o->next)
        kill_nodes(o);
    site *all = find_or_add(t, s->key[0], s->key[1], EFG_NEW - 1);
    if (all != NULL)
        all->mask |= (uint64_t)1 << OBJECT_WORD;
    return all;
}

static inline bool object_demoted(const site *callsite)
{
    return callsite->mask >> OBJECT_WORD & 1;
}

/* The site that events like w belong to now; NULL when out of memory. */
static site *site_of(sites *t, const uint64_t *w)
{
    site *s = *find(t, w[0], w[1], w[2]), *callsite;
    if (likely(s != NULL && !object_demoted(s->callsite)))
        return s;
    if ((callsite = find_or_add(t, w[0], w[1], EFG_NEW)) == NULL)
        return NULL;
    if (object_demoted(callsite))
        return find_or_add(t, w[0], w[1], EFG_NEW - 1);
    if ((s = find_or_add(t, w[0], w[1], w[2])) == NULL)
        return NULL;
    s->callsite = callsite;
    return adopt(t, callsite, s);
}

int sites_mask(sites *t, const uint64_t *w, uint64_t *mask)
{
    site *s = site_of(t, w);
    if (s == NULL)
        return -1;
    *mask = s->mask;
    return 0;
}

static int compare_words(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* How many different values word i has over the live nodes and w. */
static unsigned distinct(const site *s, const uint64_t *w, unsigned i)
{
    uint64_t v[256];
    unsigned n = 0, d = 1;
    for (uint32_t k = 0; k < s->nlive; k++)
        v[n++] = node_words(s->live[k])[i];
    v[n++] = w[i];
    qsort(v, n, sizeof *v, compare_words);
    for (unsigned k = 1; k < n; k++)
        d += v[k] != v[k - 1];
    return d;
}

/* The word with the most values; the first of several. 0 if none varies. */
static unsigned most_varied(const site *s, const uint64_t *w)
{
    unsigned best = 0, most = 1;
    for (unsigned i = SITE_WORDS; i < EFG_NWORDS(w[0]); i++) {
        if (s->mask >> i & 1)
            continue;
        unsigned d = distinct(s, w, i);
        if (d > most)
            most = d, best = i;
    }
    return best;
}

int sites_make_room(sites *t, const uint64_t *w)
{
    site *s = site_of(t, w);
    if (s == NULL)
        return -1;
    if (s->nlive < efg_header->demote)
        return 0;
    unsigned i = most_varied(s, w);
    if (i == 0)
        return 0;
    s->mask |= (uint64_t)1 << i;
    kill_nodes(s);
    return 1;
}

int sites_add_node(sites *t, const uint64_t *w, seg_node *node)
{
    site *s = site_of(t, w);
    if (s == NULL)
        return -1;
    if (s->live == NULL && (s->live = malloc(efg_header->demote * sizeof *s->live)) == NULL)
        return -1;
    if (s->nlive < efg_header->demote)
        s->live[s->nlive++] = node;
    return 0;
}
