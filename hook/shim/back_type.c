/* Datatypes: named by their structure, so that a type that is created in every
 * iteration is one type. */
#include "back_const.h"
#include "back_type.h"

#include <stdlib.h>

#if !defined(BK_NO_PMPI_Type_get_envelope_c) && !defined(BK_NO_PMPI_Type_get_contents_c)
#define LARGE_CONTENTS
typedef MPI_Count bk_int;   /* large-count types can only be queried in this way */
#else
typedef int bk_int;
#endif

/* The result of MPI_Type_get_contents. */
typedef struct contents {
    int combiner;
    bk_int nint, naddr, ncount, ntype;
    int *ints;
    MPI_Count *addrs, *counts;   /* addresses: MPI_Aint is as wide */
    MPI_Datatype *types;
} contents;

static bool get_envelope(MPI_Datatype type, contents *c)
{
#ifdef LARGE_CONTENTS
    return PMPI_Type_get_envelope_c(type, &c->nint, &c->naddr, &c->ncount, &c->ntype, &c->combiner)
           == MPI_SUCCESS;
#else
    c->ncount = 0;
    return PMPI_Type_get_envelope(type, &c->nint, &c->naddr, &c->ntype, &c->combiner) == MPI_SUCCESS;
#endif
}

static bool get_contents(MPI_Datatype type, contents *c)
{
#ifdef LARGE_CONTENTS
    MPI_Aint *addrs = malloc(((size_t)c->naddr + 1) * sizeof *addrs);
    if (addrs == NULL) return false;
    /* In the large variant displacements are counts; addresses remain for types
     * that were created with addresses. */
    MPI_Count *a = c->addrs;
    bool ok = PMPI_Type_get_contents_c(type, c->nint, c->naddr, c->ncount, c->ntype, c->ints, addrs,
                                       c->counts, c->types) == MPI_SUCCESS;
    for (MPI_Count i = 0; ok && i < c->naddr; i++) a[i] = addrs[i];
    free(addrs);
    return ok;
#else
    return PMPI_Type_get_contents(type, c->nint, c->naddr, c->ntype, c->ints, (MPI_Aint *)c->addrs,
                                  c->types) == MPI_SUCCESS;
#endif
}

/* Replaces constants among the integers of a constructor by words. */
static void canonical_ints(const contents *c, uint64_t *w)
{
    for (bk_int i = 0; i < c->nint; i++) w[i] = (uint64_t)(int64_t)c->ints[i];
    bk_int n = c->nint;
    switch (c->combiner) {
    case MPI_COMBINER_SUBARRAY:
        if (n > 0) w[n - 1] = bk_enum_order(c->ints[n - 1]);
        break;
    case MPI_COMBINER_DARRAY:
        if (n < 4 || n != 4 * c->ints[2] + 4) break;
        for (bk_int i = 0, d = c->ints[2]; i < d; i++) {
            w[3 + d + i] = bk_enum_distrib(c->ints[3 + d + i]);
            w[3 + 2 * d + i] = bk_darg(c->ints[3 + 2 * d + i]);
        }
        w[n - 1] = bk_enum_order(c->ints[n - 1]);
        break;
    case MPI_COMBINER_F90_REAL:
    case MPI_COMBINER_F90_COMPLEX:
    case MPI_COMBINER_F90_INTEGER:
        for (bk_int i = 0; i < n; i++) w[i] = bk_undefined(c->ints[i]);
        break;
    default:
        break;
    }
}

/* Frees the handles that MPI_Type_get_contents created. */
static void release(const contents *c)
{
    for (bk_int i = 0; i < c->ntype; i++) {
        contents t;
        if (!get_envelope(c->types[i], &t)) continue;
        if (t.combiner != MPI_COMBINER_NAMED && t.combiner != MPI_COMBINER_F90_REAL
            && t.combiner != MPI_COMBINER_F90_COMPLEX && t.combiner != MPI_COMBINER_F90_INTEGER) {
            MPI_Datatype copy = c->types[i];
            PMPI_Type_free(&copy);
        }
    }
}

static uint64_t structure(bk_thread *b, MPI_Datatype type, MPI_Count size);
static MPI_Count size_of(MPI_Datatype type);

/* The word of a component type: the program may have freed it since. */
static uint64_t inner(bk_thread *b, MPI_Datatype type)
{
    uint64_t word = bk_type_word(b, type);
    return bk_is_known(word) ? word : structure(b, type, size_of(type));
}

enum { HEAD = 6 };   /* combiner, size, numbers of ints, addresses, counts, types */

static uint64_t define(bk_thread *b, contents *c, MPI_Count size, uint64_t *w, uint32_t n)
{
    w[0] = bk_enum_combiner(c->combiner);
    w[1] = (uint64_t)size;
    w[2] = (uint64_t)c->nint;
    w[3] = (uint64_t)c->naddr;
    w[4] = (uint64_t)c->ncount;
    w[5] = (uint64_t)c->ntype;
    uint64_t *p = w + HEAD;
    canonical_ints(c, p);
    p += c->nint;
    for (bk_int i = 0; i < c->naddr; i++) *p++ = (uint64_t)c->addrs[i];
    for (bk_int i = 0; i < c->ncount; i++) *p++ = (uint64_t)c->counts[i];
    for (bk_int i = 0; i < c->ntype; i++) *p++ = inner(b, c->types[i]);
    return efg_def(EFG_DEF_TYPE, EFG_IDENT(efg_hash(w, n)), w, n, NULL, 0);
}

/* The word of a type that is not predefined; ABSENT without memory. */
static uint64_t structure(bk_thread *b, MPI_Datatype type, MPI_Count size)
{
    contents c = { 0 };
    if (!get_envelope(type, &c)) return EFG_ABSENT;
    if (c.combiner == MPI_COMBINER_NAMED) return K(MPI_COMBINER_NAMED);
    size_t n = HEAD + (size_t)c.nint + (size_t)c.naddr + (size_t)c.ncount + (size_t)c.ntype;
    uint64_t *w = malloc((2 * n + 4) * sizeof *w), word = EFG_ABSENT;
    c.types = malloc(((size_t)c.ntype + 1) * sizeof *c.types);
    if (w != NULL && c.types != NULL && n <= UINT32_MAX) {
        c.addrs = (MPI_Count *)(w + n);
        c.counts = c.addrs + c.naddr + 1;
        c.ints = (int *)(c.counts + c.ncount + 1);
        if (get_contents(type, &c)) {
            word = define(b, &c, size, w, (uint32_t)n);
            release(&c);
        }
    }
    free(c.types);
    free(w);
    return word;
}

static MPI_Count size_of(MPI_Datatype type)
{
    MPI_Count size = 0;
#ifndef BK_NO_PMPI_Type_size_x
    PMPI_Type_size_x(type, &size);
#else
    PMPI_Type_size_c(type, &size);   /* MPI-4's replacement */
#endif
    return size;
}

uint64_t bk_type_new(bk_thread *b, MPI_Datatype type)
{
    bk_entry e = { .key = BK_KEY(type), .refs = 1 };
    if (type == MPI_DATATYPE_NULL) return K(MPI_DATATYPE_NULL);
    /* Constructors may return a predefined type (MPI_Type_match_size). */
    bk_entry known;
    if (bk_map_get(&bk_types, e.key, &known) && EFG_IS_CONST(known.word)) return known.word;
    MPI_Count size = size_of(type);
    e.word = structure(b, type, size);
    e.u.size = size == MPI_UNDEFINED ? 0 : (uint64_t)size;
    bk_map_made(&bk_types, &e);
    return e.word;
}

bk_cold const bk_entry *bk_type_miss(bk_thread *b, MPI_Datatype type)
{
    return bk_map_copy(&bk_types, BK_KEY(type), &b->type[bk_cache_slot(BK_KEY(type), BK_TYPE_BITS)]);
}

static contents envelope(bk_thread *b, MPI_Datatype type)
{
    contents c = { 0 };
    if (!bk_is_known(bk_type_word(b, type)) || type == MPI_DATATYPE_NULL || !get_envelope(type, &c))
        memset(&c, 0, sizeof c);
    return c;
}

int64_t bk_num_integers(bk_thread *b, MPI_Datatype type) { return envelope(b, type).nint; }
int64_t bk_num_addresses(bk_thread *b, MPI_Datatype type) { return envelope(b, type).naddr; }
int64_t bk_num_large_counts(bk_thread *b, MPI_Datatype type) { return envelope(b, type).ncount; }
int64_t bk_num_datatypes(bk_thread *b, MPI_Datatype type) { return envelope(b, type).ntype; }
