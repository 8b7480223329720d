/* Communicators: named identically on all members, without communication. */
#include "back_comm.h"
#include "back_group.h"
#include "back_vec.h"

#include <stdlib.h>

enum { SEQUENCE_BITS = 24 };

/* ---- families ---- */

static struct { pthread_mutex_t lock; bk_map map; } families = {
    PTHREAD_MUTEX_INITIALIZER, BK_MAP_INIT
};

/* In a family's entry u.size is its next number. */
uint64_t bk_next_in_family(uint64_t family)
{
    bool locked = bk_lock(&families.lock);
    bk_entry e = { .key = family, .word = family | 1 };
    bk_map_get(&families.map, family, &e);
    uint64_t seq = e.u.size++;
    bk_map_set(&families.map, &e);
    bk_unlock(&families.lock, locked);
    return seq & ((1u << SEQUENCE_BITS) - 1);
}

static uint64_t family_word(uint64_t hash)
{
    return (hash & ((1ull << 38) - 1)) << SEQUENCE_BITS;
}

/* ---- records ---- */

static pthread_mutex_t free_lock = PTHREAD_MUTEX_INITIALIZER;
static bk_comm *free_list;

/* Records are reused, never freed: a thread's cache may still point to one while
 * another thread frees the communicator. */
static bk_comm *record(void)
{
    bool locked = bk_lock(&free_lock);
    bk_comm *c = free_list;
    if (c != NULL) free_list = c->next;
    bk_unlock(&free_lock, locked);
    if (c == NULL) c = malloc(sizeof *c);
    if (c == NULL) return NULL;
    memset(c, 0, sizeof *c);
    c->remote = -1;
    c->degree[0] = c->degree[1] = -1;
    return c;
}

void bk_comm_drop(bk_comm *c)
{
    free(c->ranges[0]);
    free(c->ranges[1]);
    c->ranges[0] = c->ranges[1] = NULL;
    bool locked = bk_lock(&free_lock);
    c->next = free_list;
    free_list = c;
    bk_unlock(&free_lock, locked);
}

static uint64_t *copy(const uint64_t *w, uint32_t n)
{
    uint64_t *p = n ? malloc(n * sizeof *p) : NULL;
    return p ? memcpy(p, w, n * sizeof *p) : NULL;
}

/* Queries sizes and members. */
static void inspect(bk_comm *c, MPI_Comm comm)
{
    int inter = 0;
    MPI_Group group;
    PMPI_Comm_size(comm, &c->size);
    PMPI_Comm_rank(comm, &c->rank);
    if (PMPI_Comm_group(comm, &group) == MPI_SUCCESS) {
        c->ranges[0] = bk_group_ranges(group, &c->nranges[0]);
        if (group != MPI_GROUP_EMPTY) PMPI_Group_free(&group);
    }
    PMPI_Comm_test_inter(comm, &inter);
    if (!inter) return;
    PMPI_Comm_remote_size(comm, &c->remote);
    if (PMPI_Comm_remote_group(comm, &group) == MPI_SUCCESS) {
        c->ranges[1] = bk_group_ranges(group, &c->nranges[1]);
        if (group != MPI_GROUP_EMPTY) PMPI_Group_free(&group);
    }
}

/* A copy has its parent's members: nothing to query. */
static void inherit(bk_comm *c, const bk_comm *parent)
{
    c->size = parent->size;
    c->rank = parent->rank;
    c->remote = parent->remote;
    for (int i = 0; i < 2; i++) {
        c->ranges[i] = copy(parent->ranges[i], parent->nranges[i]);
        c->nranges[i] = c->ranges[i] != NULL ? parent->nranges[i] : 0;
    }
}

/* Reports whether the communicator may not be used yet. */
static bool is_pending(uint32_t kind)
{
    return kind == EFG_K_EFG_COMM_IDUP || kind == EFG_K_EFG_COMM_IDUP_WITH_INFO;
}

static bool is_copy(uint32_t kind)
{
    return kind == EFG_K_EFG_COMM_DUP || kind == EFG_K_EFG_COMM_DUP_WITH_INFO || is_pending(kind);
}

/* The two groups of an intercommunicator see it mirrored: the group with the
 * lower first world rank counts as the first. */
static int first_group(const bk_comm *c)
{
    if (!c->nranges[1] || !c->nranges[0]) return 0;
    return c->ranges[1][0] < c->ranges[0][0];
}

/* Hashes and defines the family of c; words as in efg.DefComm, and the tag. */
static uint64_t define_family(bk_thread *b, const bk_comm *c, uint64_t parent, uint32_t kind,
                              uint64_t tag)
{
    int first = first_group(c);
    uint32_t n0 = c->nranges[first], n1 = c->nranges[1 - first];
    uint64_t *w = bk_scratch(b, 5 + (size_t)n0 + n1);
    if (w == NULL) return 0;
    w[0] = parent;
    w[1] = EFG_CONST(kind);
    w[2] = (uint64_t)(int64_t)(first ? c->remote : c->size);
    w[3] = n0;
    if (n0) memcpy(w + 4, c->ranges[first], n0 * sizeof *w);
    if (n1) memcpy(w + 4 + n0, c->ranges[1 - first], n1 * sizeof *w);
    w[4 + n0 + n1] = tag;
    uint64_t family = family_word(efg_hash(w, 5 + (size_t)n0 + n1));
    efg_def(EFG_DEF_COMM, family, w, 4 + n0 + n1, NULL, 0);
    return family;
}

static uint64_t install(MPI_Comm comm, bk_comm *c)
{
    bk_entry e = { .key = BK_KEY(comm), .word = c->word, .u.comm = c, .refs = 1 }, old;
    bk_comm *stale = bk_map_get(&bk_comms, e.key, &old) ? old.u.comm : NULL;
    bk_map_set(&bk_comms, &e);
    if (stale != NULL) bk_comm_drop(stale);
    return c->word;
}

/* The parent does not count if it differs between the members. */
static uint64_t parent_family(bk_thread *b, MPI_Comm parent, uint32_t kind)
{
    if (parent == MPI_COMM_NULL || kind == EFG_K_EFG_COMM_INTER) return EFG_ABSENT;
    const bk_comm *p = bk_comm_info(b, parent);
    return p != NULL ? p->family : bk_comm_word(b, parent);
}

uint64_t bk_comm_new(bk_thread *b, MPI_Comm comm, MPI_Comm parent, uint32_t kind, uint64_t tag)
{
    bk_entry e;
    if (comm == MPI_COMM_NULL) return K(MPI_COMM_NULL);
    /* MPI_Comm_get_parent returns the same communicator every time. */
    if (kind == EFG_K_EFG_COMM_PARENT && bk_map_get(&bk_comms, BK_KEY(comm), &e)) return e.word;
    uint64_t family = parent_family(b, parent, kind);
    bk_comm *c = record();
    if (c == NULL) return EFG_ABSENT;
    const bk_comm *p = parent == MPI_COMM_NULL ? NULL : bk_comm_info(b, parent);
    if (is_copy(kind) && p != NULL)
        inherit(c, p);
    else if (!is_pending(kind))
        inspect(c, comm);
    else
        c->rank = MPI_UNDEFINED;
    c->family = define_family(b, c, family, kind, tag);
    c->word = c->family | bk_next_in_family(c->family);
    return install(comm, c);
}

bk_cold const bk_entry *bk_comm_miss(bk_thread *b, MPI_Comm comm)
{
    return bk_map_copy(&bk_comms, BK_KEY(comm), &b->comm[bk_cache_slot(BK_KEY(comm), BK_COMM_BITS)]);
}

static void start_one(MPI_Comm comm, uint64_t word)
{
    bk_comm *c = record();
    if (c == NULL) return;
    inspect(c, comm);
    c->word = c->family = word;
    install(comm, c);
}

void bk_comm_start(void)
{
    if (bk_world_group == MPI_GROUP_NULL) PMPI_Comm_group(MPI_COMM_WORLD, &bk_world_group);
    start_one(MPI_COMM_WORLD, K(MPI_COMM_WORLD));
    start_one(MPI_COMM_SELF, K(MPI_COMM_SELF));
}
