/* The back end: forms the words of an MPI call (docs/internals.md) for the
 * recorder. Compiled once per MPI with that MPI's own mpi.h.
 *
 * gen/wrappers_*.c hold one wrapper per procedure and language; they call the
 * functions below to turn arguments into words. Nothing here calls an MPI_
 * name, only PMPI_ ones, and never a collective one.
 */
#ifndef EFG_BACK_H
#define EFG_BACK_H

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "efg_core.h"
#include "efg_front.h"
#include "gen/constants.h"

#if defined(OPEN_MPI)
#include "back_openmpi.h"
#elif defined(MPICH_VERSION) || defined(MVAPICH2_VERSION) || defined(I_MPI_VERSION)
#include "back_mpich.h"
#else
#error "efg has no back end for this MPI"
#endif

#pragma GCC visibility push(hidden)

/* What an mpi.h may lack has a macro BK_NO_... then (gen/has.h finds out). */
#ifdef BK_NO_MPI_Session
typedef void *MPI_Session;   /* such a library has no procedure that takes one */
#endif

#define bk_likely(x)   __builtin_expect(!!(x), 1)
#define bk_unlikely(x) __builtin_expect(!!(x), 0)
#define bk_cold        __attribute__((noinline, cold))

#define K(name)   EFG_CONST(EFG_K_##name)
#define BK_KEY(h) ((uint64_t)(uintptr_t)(h))

_Static_assert(sizeof(MPI_Fint) == 4, "Fortran INTEGER is 4 bytes in the ABIs that efg knows");
_Static_assert(sizeof(MPI_Aint) == 8 && sizeof(MPI_Count) == 8 && sizeof(MPI_Offset) == 8,
               "efg needs a 64-bit MPI");

enum bk_language { BK_C, BK_MPIF, BK_F08 };

/* ---- handle maps (back_map.c) ---- */

typedef struct bk_entry {
    uint64_t key, word;      /* word 0: empty */
    union { uint64_t size; struct bk_comm *comm; uint32_t refs; } u;
} bk_entry;

/* Process-wide map from a handle to its word. gen changes with every change of
 * an existing key, so that per-thread caches know when to forget. */
typedef struct bk_map {
    pthread_mutex_t lock;
    _Atomic uint32_t gen;
    bk_entry *e;
    size_t cap, n;
} bk_map;

#define BK_MAP_INIT { PTHREAD_MUTEX_INITIALIZER, 1, NULL, 0, 0 }

extern bk_map bk_comms, bk_wins, bk_files, bk_types, bk_groups, bk_ops, bk_objects[];
extern bool bk_threads;      /* several threads may call MPI at once */

bool bk_map_get(bk_map *m, uint64_t key, bk_entry *out);
void bk_map_set(bk_map *m, const bk_entry *e);        /* overwrites */
void bk_map_add(bk_map *m, const bk_entry *e);        /* no-op if the key is there */
bool bk_map_del(bk_map *m, uint64_t key, bk_entry *out);

static inline bool bk_lock(pthread_mutex_t *m)
{
    return bk_threads && pthread_mutex_lock(m) == 0;
}
static inline void bk_unlock(pthread_mutex_t *m, bool locked)
{
    if (locked) pthread_mutex_unlock(m);
}

/* ---- per-thread state ---- */

enum { BK_COMM_BITS = 5, BK_TYPE_BITS = 7, BK_OP_BITS = 3 };

typedef struct bk_cached {
    bk_entry e;
    uint32_t gen;            /* 0: never filled */
} bk_cached;

struct bk_block;             /* scratch memory of one event (back_vec.c) */

struct bk_last;              /* the last array of requests (back_complete.h) */

typedef struct bk_thread {
    efg_stream *t;
    uint32_t lang;           /* of the call being recorded */
    struct bk_block *block;
    bool scratched;          /* the last event used scratch memory */
    MPI_Status status;       /* stands in for MPI_STATUS_IGNORE */
    struct bk_last *last;
    bk_cached comm[1 << BK_COMM_BITS], type[1 << BK_TYPE_BITS], op[1 << BK_OP_BITS];
} bk_thread;

/* The thread's state; NULL when there is no memory. */
bk_thread *bk_thread_new(efg_stream *t);

static inline bk_thread *bk_thread_of(efg_stream *t)
{
    return bk_likely(t->user != NULL) ? t->user : bk_thread_new(t);
}

static inline unsigned bk_cache_slot(uint64_t key, int bits)
{
    return (unsigned)((key * 0x9E3779B97F4A7C15ull) >> (64 - bits));
}

/* ---- communicators, windows, files (back_comm.c, back_win.c) ---- */

typedef struct bk_comm {
    uint64_t word, family;            /* family: the word without the sequence */
    uint64_t group;                   /* word of the local group, 0: not known yet */
    int32_t size, rank, remote;       /* remote: remote size, -1: intracommunicator */
    _Atomic int32_t degree[2];        /* in, out; -1: not asked yet */
    uint64_t *ranges[2];              /* members as ranges: local, remote group */
    uint32_t nranges[2];
    struct bk_comm *next;             /* in the list of free ones */
} bk_comm;

const bk_cached *bk_comm_miss(bk_thread *b, MPI_Comm comm);

static inline const bk_cached *bk_comm_cached(bk_thread *b, MPI_Comm comm)
{
    const bk_cached *c = &b->comm[bk_cache_slot(BK_KEY(comm), BK_COMM_BITS)];
    if (bk_likely(c->e.key == BK_KEY(comm)
                  && c->gen == atomic_load_explicit(&bk_comms.gen, memory_order_relaxed)))
        return c;
    return bk_comm_miss(b, comm);
}
static inline uint64_t bk_comm_word(bk_thread *b, MPI_Comm comm)
{
    return bk_comm_cached(b, comm)->e.word;
}
/* NULL: MPI_COMM_NULL or not a communicator. */
static inline const bk_comm *bk_comm_info(bk_thread *b, MPI_Comm comm)
{
    return bk_comm_cached(b, comm)->e.u.comm;
}

/* Number of processes a collective call's arrays speak of. */
static inline int bk_peers(bk_thread *b, MPI_Comm comm)
{
    const bk_comm *c = bk_comm_info(b, comm);
    return !c ? 0 : c->remote >= 0 ? c->remote : c->size;
}
/* Is this process the root of a rooted collective call? */
static inline bool bk_at_root(bk_thread *b, MPI_Comm comm, int root)
{
    const bk_comm *c = bk_comm_info(b, comm);
    return c && (c->remote >= 0 ? root == MPI_ROOT : root == c->rank);
}
/* Sizes in the communicator's topology; 0 if it has none of that kind. */
int bk_local_size(bk_thread *b, MPI_Comm comm);
int bk_indegree(bk_thread *b, MPI_Comm comm);
int bk_outdegree(bk_thread *b, MPI_Comm comm);
int bk_cart_dims(MPI_Comm comm);
int bk_graph_nodes(MPI_Comm comm);
int bk_graph_edges(MPI_Comm comm);
int bk_graph_degree(MPI_Comm comm, int rank);

/* MPI_COMM_WORLD and MPI_COMM_SELF can be asked from here on. */
void bk_comm_start(void);
/* The word of a new communicator made from parent by the constructor kind (a
 * constant number). tag: what else tells it apart on all its members. */
uint64_t bk_comm_new(bk_thread *b, MPI_Comm comm, MPI_Comm parent, uint32_t kind, uint64_t tag);
void bk_comm_drop(bk_comm *c);

uint64_t bk_win_word(MPI_Win win);
uint64_t bk_win_new(bk_thread *b, MPI_Win win, MPI_Comm comm, uint32_t kind);
uint64_t bk_file_word(MPI_File file);
uint64_t bk_file_new(bk_thread *b, MPI_File file, MPI_Comm comm, uint64_t name);

/* Next number of a family of communicators, windows or files. */
uint64_t bk_next_in_family(uint64_t family);

/* ---- groups (back_group.c) ---- */

/* Members of a group as world ranks, compressed to ranges (first, count,
 * stride). Ranks outside this process's world are BK_FOREIGN. Returns malloced
 * words, *n of them; NULL and 0 on failure or for an empty group. */
#define BK_FOREIGN ((int64_t)0xffffffff)
uint64_t *bk_group_ranges(MPI_Group group, uint32_t *n);
/* The group that world ranks count in; MPI_GROUP_NULL before it is known. */
extern MPI_Group bk_world_group;
uint64_t bk_group_word(MPI_Group group);
uint64_t bk_group_new(MPI_Group group);
uint64_t bk_group_define(const uint64_t *ranges, uint32_t n);

/* ---- handles that nothing is known of (back_map.c) ---- */

/* MPI is asked what they are, before the call that they are passed to. One that is invalid may end
 * the program there: meanwhile that call is in progress, with all arguments absent. */
typedef struct bk_asking {
    uint64_t w[EFG_MAX_WORDS];
    unsigned n;              /* words that were put aside */
} bk_asking;
void bk_asking_begin(bk_thread *b, bk_asking *a);
void bk_asking_end(bk_thread *b, const bk_asking *a);

/* ---- datatypes (back_type.c) ---- */

const bk_cached *bk_type_miss(bk_thread *b, MPI_Datatype type);

static inline const bk_cached *bk_type_cached(bk_thread *b, MPI_Datatype type)
{
    const bk_cached *c = &b->type[bk_cache_slot(BK_KEY(type), BK_TYPE_BITS)];
    if (bk_likely(c->e.key == BK_KEY(type)
                  && c->gen == atomic_load_explicit(&bk_types.gen, memory_order_relaxed)))
        return c;
    return bk_type_miss(b, type);
}
static inline uint64_t bk_type_word(bk_thread *b, MPI_Datatype type)
{
    return bk_type_cached(b, type)->e.word;
}
static inline uint64_t bk_type_size(bk_thread *b, MPI_Datatype type)
{
    return bk_type_cached(b, type)->e.u.size;
}
uint64_t bk_type_new(bk_thread *b, MPI_Datatype type);
/* What MPI_Type_get_envelope tells. */
int64_t bk_num_integers(MPI_Datatype type);
int64_t bk_num_addresses(MPI_Datatype type);
int64_t bk_num_large_counts(MPI_Datatype type);
int64_t bk_num_datatypes(MPI_Datatype type);

/* ---- operations and the objects that get slots (back_object.c) ---- */

uint64_t bk_op_miss(bk_thread *b, MPI_Op op);

static inline uint64_t bk_op_word(bk_thread *b, MPI_Op op)
{
    const bk_cached *c = &b->op[bk_cache_slot(BK_KEY(op), BK_OP_BITS)];
    if (bk_likely(c->e.key == BK_KEY(op)
                  && c->gen == atomic_load_explicit(&bk_ops.gen, memory_order_relaxed)))
        return c->e.word;
    return bk_op_miss(b, op);
}
uint64_t bk_op_new(bk_thread *b, MPI_Op op, const void *function, int commute);

enum bk_object { BK_INFO, BK_ERRH, BK_KEYVAL, BK_SESSION, BK_MESSAGE, BK_OBJECTS };

/* Word of an object handle: constant or id; ABSENT for one that never was seen. */
uint64_t bk_object_word(enum bk_object kind, uint64_t key);
/* The slot word for a handle that a call returned: a constant, EFG_NEW, or,
 * where the call may return one that lives already, that one's id. */
uint64_t bk_object_out(enum bk_object kind, uint64_t key, bool may_exist);
/* After efg_record: id is the new object's. */
void bk_object_set(enum bk_object kind, uint64_t key, uint64_t id);

/* ---- scratch memory, vectors, strings (back_vec.c) ---- */

/* Room for n words, valid until the event is recorded. NULL: no memory. */
uint64_t *bk_scratch(bk_thread *b, size_t n);
void bk_scratch_reset(bk_thread *b);
void bk_scratch_free(bk_thread *b);

/* The word of an array; ABSENT for a NULL array or a negative length. Handles
 * are read in the language of the call. width: bytes of an integer element. */
uint64_t bk_vec(bk_thread *b, unsigned word, const uint64_t *data, int64_t n);
uint64_t bk_vec_num(bk_thread *b, unsigned word, const void *a, int64_t n, int width);
uint64_t bk_vec_map(bk_thread *b, unsigned word, const int *a, int64_t n, uint64_t (*map)(int64_t));
uint64_t bk_vec_type(bk_thread *b, unsigned word, const void *types, int64_t n);
uint64_t bk_vec_info(bk_thread *b, unsigned word, const void *infos, int64_t n);
/* Sums of integer arrays, for the lengths of others. */
int64_t bk_sum(const int *a, int64_t n);
int64_t bk_last_of(const int *a, int64_t n);

uint64_t bk_string(const char *s);                       /* C */
uint64_t bk_fstring(const char *s, size_t len);          /* blank-padded */
uint64_t bk_vec_strings(bk_thread *b, unsigned word, char *const *s, int64_t n);
uint64_t bk_vec_fstrings(bk_thread *b, unsigned word, const char *s, int64_t n, size_t len);

/* ---- requests (back_request.c) ---- */

/* BK_WILD: the posting call does not tell the source and tag of what comes. */
enum bk_request_flags { BK_PERSISTENT = 1, BK_ACTIVE = 2, BK_RECV = 4, BK_WILD = 8 };

/* Nothing comes from MPI_PROC_NULL, and what the status says then differs
 * between libraries. */
static inline unsigned bk_wild(int64_t source, int64_t tag)
{
    return source == MPI_ANY_SOURCE || source == MPI_PROC_NULL || tag == MPI_ANY_TAG ? BK_WILD : 0;
}

/* A live request, as found. */
typedef struct bk_request {
    uint64_t id;             /* its word; what stands for it if none was found */
    uint64_t bytes;          /* posted */
    int32_t at;              /* place in the map, -1: none was found */
    uint32_t serial;         /* tells the requests apart that had one place */
    uint32_t flags;          /* 0 if none was found */
} bk_request;

/* Changes with every request that comes, goes, starts or ends. */
extern _Atomic uint64_t bk_request_changes;

/* An array of requests as a call in C, or else in Fortran, has it. */
static inline uint32_t bk_request_width(bool c)
{
    return c ? sizeof(MPI_Request) : sizeof(MPI_Fint);
}
static inline uint64_t bk_request_key(bool c, const void *array, int64_t i)
{
    return c ? BK_KEY(((const MPI_Request *)array)[i])
             : BK_KEY(PMPI_Request_f2c(((const MPI_Fint *)array)[i]));
}

/* A new request with an id and where its slot comes from, its handle, and the
 * variable that the call stored it in. Nothing happens for MPI_REQUEST_NULL. */
void bk_request_add(uint64_t key, const void *var, uint64_t id, efg_slots *slots, uint64_t bytes,
                    unsigned flags);
/* The live request with this handle, stored in var when it was made. */
void bk_request_find(uint64_t key, const void *var, bk_request *out);
/* The same for an array's n elements; words are their words. Equal handles in
 * the array give different requests. Returns all their flags, with BK_CHANGED if
 * the words are others than out held before, BK_RENEWED if others than words. */
enum { BK_CHANGED = 16, BK_RENEWED = 32 };
unsigned bk_requests_find(bool c, const void *array, uint32_t n, bk_request *out, uint64_t *words);
/* Ends a request's operation: an active persistent one becomes inactive, any
 * other is removed and its slot is free. Nothing happens if the request is not
 * there any more: between the end of a call and this, another thread may have
 * been given the same handle. */
void bk_request_done(int32_t at, uint32_t serial);
/* The same for those of n requests that are active; afterwards they say what is
 * left, inactive requests and null ones. Returns how many were active. */
uint64_t bk_requests_done(bk_request *r, uint32_t n);
void bk_request_start(int32_t at, uint32_t serial);
void bk_request_free(int32_t at, uint32_t serial);
uint64_t bk_request_word(uint64_t key, const void *var);

/* ---- integers that may be constants (back_const.c) ---- */

uint64_t bk_rank_slow(int64_t v);
uint64_t bk_tag_slow(int64_t v);
uint64_t bk_undefined_slow(int64_t v);

static inline uint64_t bk_rank(int64_t v) { return bk_likely(v >= 0) ? (uint64_t)v : bk_rank_slow(v); }
static inline uint64_t bk_tag(int64_t v) { return bk_likely(v >= 0) ? (uint64_t)v : bk_tag_slow(v); }
/* Indexes, colours, counts that may be MPI_UNDEFINED. */
static inline uint64_t bk_undefined(int64_t v)
{
    return bk_likely(v >= 0) ? (uint64_t)v : bk_undefined_slow(v);
}
uint64_t bk_darg(int64_t v);
uint64_t bk_bool(int64_t v);
uint64_t bk_number(int64_t v);
uint64_t bk_error_class(int rc);         /* as in the header */
uint64_t bk_error_class_word(int64_t class_);
void bk_const_start(void);               /* predefined handles into the maps */

/* ---- buffers and Fortran (back_fortran.c) ---- */

void bk_fortran_start(void *(*find)(const char *name));
uint64_t bk_buffer_slow(const bk_thread *b, const void *p);
extern bool bk_buffers;                  /* --buffers */

/* The word of a buffer argument. C: both libraries use small numbers or -1. */
static inline uint64_t bk_buffer(const bk_thread *b, const void *p)
{
    if (bk_likely((uintptr_t)p + 1 > 2 && b->lang == BK_C && !bk_buffers)) return 0;
    return bk_buffer_slow(b, p);
}
static inline bool bk_in_place(uint64_t word) { return word == K(MPI_IN_PLACE); }
/* MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY as constants, 0 for an array. */
uint64_t bk_weights(const bk_thread *b, const void *p);
/* Fortran: is this argument the "ignore" sentinel? */
bool bk_status_ignored_f(const bk_thread *b, const void *status);
bool bk_statuses_ignored_f(const bk_thread *b, const void *statuses);
static inline bool bk_status_ignored(const bk_thread *b, const void *status)
{
    return b->lang == BK_C ? status == MPI_STATUS_IGNORE : bk_status_ignored_f(b, status);
}
static inline bool bk_statuses_ignored(const bk_thread *b, const void *statuses)
{
    return b->lang == BK_C ? statuses == MPI_STATUSES_IGNORE : bk_statuses_ignored_f(b, statuses);
}
/* A constant that is passed in place of an array; 0 for an array. */
uint64_t bk_errcodes(const bk_thread *b, const void *p);
/* First word of an array descriptor: the data's address (mpi_f08, TS 29113). */
static inline const void *bk_descriptor_base(const void *d)
{
    return d ? *(const void *const *)d : NULL;
}

#pragma GCC visibility pop

#endif
