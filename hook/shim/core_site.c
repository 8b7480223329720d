/* Sites: events with equal header, callsite and object. If a site has too many
 * signatures, words are removed from them ("demotion"): the word that varies most
 * leaves the signature and goes to attribute streams of the remaining nodes. At a
 * callsite with too many objects the object is demoted first. efg/builder_site.go
 * is the Go counterpart; efg/FORMAT.md states the rules. */
#include "core_internal.h"
#include "xxh64.h"

#include <stdlib.h>
#include <string.h>

enum {
    SITE_WORDS = 3,             /* header, callsite, object */
    OBJECT_WORD = 2,
    MAX_OBJECTS = 16,           /* sites of a callsite before the object is demoted */
    FEW_LIVE = 2,               /* live nodes that need no array */
    BLOCK = 32                  /* callsites allocated at a time */
};

typedef struct site {
    uint64_t object;
    uint32_t mask;
    uint8_t nlive;              /* the bound is at most 255 */
    bool has_many;
    /* Of the first site of a callsite: */
    uint8_t nsites;             /* of the callsite */
    bool object_demoted;        /* it is the only site, whatever the object */
    union {                     /* refs of live nodes: */
        uint32_t few[FEW_LIVE];
        uint32_t *many;         /* more of them; as many as the bound allows */
    } live;
    struct site *next;          /* of the callsite */
} site;

/* A program has many, and most have one site with one node. */
typedef struct callsite {
    uint64_t header, word;
    site first;
} callsite;

_Static_assert(sizeof(callsite) == 48, "no padding");

/* Open addressing over pointers to callsites. */
struct sites {
    callsite **slot;
    uint32_t size, used;
    callsite *block;            /* the newest; its first used % BLOCK are taken */
};

sites *sites_new(void)
{
    sites *t = calloc(1, sizeof *t);
    if (t != NULL && (t->slot = efg_table_new(64 * sizeof *t->slot)) != NULL)
        t->size = 64;
    return t;
}

static callsite **find(const sites *t, uint64_t header, uint64_t word)
{
    uint64_t h = (header * XXP1 ^ word) * XXP2;
    uint32_t i = (uint32_t)(h >> 40) & (t->size - 1);
    callsite *c;
    while ((c = t->slot[i]) != NULL && (c->header != header || c->word != word))
        i = (i + 1) & (t->size - 1);
    return &t->slot[i];
}

static int rehash(sites *t)
{
    sites n = {efg_table_new(2 * (size_t)t->size * sizeof *n.slot), t->size * 2, t->used, t->block};
    if (n.slot == NULL)
        return -1;
    for (uint32_t i = 0; i < t->size; i++) {
        callsite *c = t->slot[i];
        if (c != NULL)
            *find(&n, c->header, c->word) = c;
    }
    efg_table_free(t->slot, t->size * sizeof *t->slot);
    *t = n;
    return 0;
}

/* NULL when out of memory. */
static callsite *callsite_of(sites *t, const uint64_t *w)
{
    callsite **at = find(t, w[0], w[1]);
    if (*at != NULL)
        return *at;
    if (t->used * 2 >= t->size) {
        if (rehash(t) != 0)
            return NULL;
        at = find(t, w[0], w[1]);
    }
    if (t->used % BLOCK == 0) {
        callsite *block = calloc(BLOCK, sizeof *block);
        if (block == NULL)
            return NULL;
        t->block = block;
    }
    callsite *c = &t->block[t->used++ % BLOCK];
    c->header = w[0];
    c->word = w[1];
    return *at = c;
}

static inline uint32_t *live(site *s) { return s->has_many ? s->live.many : s->live.few; }

static void kill_nodes(site *s)
{
    for (uint32_t i = 0; i < s->nlive; i++)
        ((seg_node *)efg_ptr(live(s)[i]))->live = 0;
    s->nlive = 0;
}

/* The mask of a new site. */
static uint32_t first_mask(uint64_t header)
{
    unsigned op = EFG_OP(header);
    return op < efg_nschemas && efg_schemas[op].slot != 0 ? (uint32_t)1 << efg_schemas[op].slot : 0;
}

/* Merges all sites of a callsite into one, without an object. */
static site *demote_object(callsite *c)
{
    for (site *s = &c->first, *next; s != NULL; s = next) {
        next = s->next;
        kill_nodes(s);
        if (s != &c->first) {
            if (s->has_many)
                free(s->live.many);
            free(s);
        }
    }
    c->first.object_demoted = true;
    c->first.next = NULL;
    c->first.mask = first_mask(c->header) | (uint32_t)1 << OBJECT_WORD;
    return &c->first;
}

/* Adds a site to a callsite. Demotes the object if there are too many sites then. */
static site *add_site(callsite *c, uint64_t object)
{
    site *s = &c->first;
    if (c->first.nsites == MAX_OBJECTS)
        return demote_object(c);
    if (c->first.nsites != 0) {
        if ((s = calloc(1, sizeof *s)) == NULL)
            return NULL;
        s->next = c->first.next;
        c->first.next = s;
    }
    c->first.nsites++;
    s->object = object;
    s->mask = first_mask(c->header);
    return s;
}

/* The site that events like w currently belong to; NULL when out of memory. */
static site *site_of(sites *t, const uint64_t *w)
{
    callsite *c = callsite_of(t, w);
    if (c == NULL)
        return NULL;
    if (c->first.object_demoted)
        return &c->first;
    for (site *s = c->first.nsites != 0 ? &c->first : NULL; s != NULL; s = s->next)
        if (s->object == w[OBJECT_WORD])
            return s;
    return add_site(c, w[OBJECT_WORD]);
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

/* Number of distinct values of word i over the live nodes and w. */
static unsigned distinct(site *s, const uint64_t *w, unsigned i)
{
    uint64_t v[256];
    unsigned n = 0, d = 1;
    for (uint32_t k = 0; k < s->nlive; k++)
        v[n++] = node_words(efg_ptr(live(s)[k]))[i];
    v[n++] = w[i];
    qsort(v, n, sizeof *v, compare_words);
    for (unsigned k = 1; k < n; k++)
        d += v[k] != v[k - 1];
    return d;
}

/* The word with the most values; the first of several. 0 if none varies. */
static unsigned most_varied(site *s, const uint64_t *w)
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
    s->mask |= (uint32_t)1 << i;
    kill_nodes(s);
    return 1;
}

static int make_room_for_many(site *s)
{
    uint32_t *many = malloc(efg_header->demote * sizeof *many);
    if (many == NULL)
        return -1;
    memcpy(many, s->live.few, sizeof s->live.few);
    s->live.many = many;
    s->has_many = true;
    return 0;
}

int sites_add_node(sites *t, const uint64_t *w, seg_node *node)
{
    site *s = site_of(t, w);
    if (s == NULL)
        return -1;
    if (s->nlive >= efg_header->demote)
        return 0;
    if (s->nlive == FEW_LIVE && !s->has_many && make_room_for_many(s) != 0)
        return -1;
    live(s)[s->nlive++] = efg_ref(node);
    return 0;
}
