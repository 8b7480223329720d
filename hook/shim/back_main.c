/* Start and end of the back end. */
#include "back_launch.h"
#include "back_pmpi.h"
#include "back_run.h"

#include <stdio.h>
#include <stdlib.h>

static bool session_seen;    /* its thread level is unknown */
static _Atomic int sessions; /* number of open ones */
static _Atomic bool world;   /* MPI_Init was called */
static char version[MPI_MAX_LIBRARY_VERSION_STRING + 1];

/* ---- the process ---- */

static void library_version(void)
{
    int len = 0;
    if (PMPI_Get_library_version(version, &len) != MPI_SUCCESS) len = 0;
    version[len >= 0 && len < (int)sizeof version ? len : 0] = '\0';
    for (char *p = version; *p; p++)
        if (*p == '\n' || *p == '\t') *p = ' ';
    bk_f08_from_zero = bk_f08_index_from_zero(version);
}

static void tell_process(bk_thread *b, int level)
{
    world = true;
    efg_may_exit(false);
    efg_process_info info = bk_launched_as();
    info.version = version;
    PMPI_Comm_rank(MPI_COMM_WORLD, &info.rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &info.size);
    bk_threads = level == MPI_THREAD_MULTIPLE || session_seen;
    info.thread_multiple = bk_threads;
    efg_set_process(&info);
    bk_comm_start();
    bk_replay_start(b, info.rank, info.size);
}

void bk_started_threads(bk_thread *b, bool failed, int provided)
{
    if (!failed) tell_process(b, provided);
}

void bk_started(bk_thread *b, bool failed)
{
    int level = MPI_THREAD_SINGLE;
    if (failed) return;
    PMPI_Query_thread(&level);
    tell_process(b, level);
}

void bk_before_session(void)
{
    session_seen = bk_threads = true;
}

void bk_session_started(MPI_Session session, bool failed)
{
    static _Atomic bool asked;
    if (failed) return;
    sessions++;
    efg_may_exit(false);
    if (!world && !atomic_exchange(&asked, true)) {    /* the launcher says what MPI_COMM_WORLD would */
        efg_process_info info = bk_launched_as();
        if (info.rank >= 0) bk_replay_start(bk_thread_of(efg_tls.s), info.rank, info.size);
    }
#ifndef BK_NO_PMPI_Group_from_session_pset
    if (bk_world_group != MPI_GROUP_NULL) return;
    PMPI_Group_from_session_pset(session, "mpi://WORLD", &bk_world_group);
#else
    (void)session;
#endif
}

/* Another session may begin: only the process's exit shows that this was the last
 * one. */
void bk_session_ended(bool failed)
{
    if (!failed && --sessions == 0 && !world) efg_may_exit(true);
}

void bk_finalized(bool failed)
{
    if (!failed) efg_end(EFG_END_FINALIZED);
}

/* ---- per-thread state ---- */

static pthread_key_t thread_key;

/* A call from a later destructor of the thread creates a new state. */
static void thread_ends(void *state)
{
    bk_replay_thread_ends(state);
    for (efg_stream *t = ((bk_thread *)state)->t; t != NULL; t = t->inner) {
        bk_thread *b = t->user;
        if (b == NULL) continue;
        t->user = NULL;
        bk_scratch_free(b);
        bk_last_free(b);
        free(b);
    }
}

/* Nested calls do not follow a recording, whose events are in the order in which
 * calls return. */
bk_cold bk_thread *bk_thread_new(efg_stream *t)
{
    bk_thread *b = calloc(1, sizeof *b);
    if (b == NULL) return NULL;
    b->t = t;
    t->user = b;
    if (t->depth != 0) return b;
    pthread_setspecific(thread_key, b);
    bk_replay_thread(b);
    return b;
}

bk_cold bk_thread *bk_enter_nested(void *frame, const void *site)
{
    const void *from = efg_tls.guard != NULL ? efg_nested_from(frame, site) : NULL;
    efg_stream *t = from != NULL && !bk_in_mpi(from) ? efg_enter_nested(frame) : NULL;
    if (t == NULL) return NULL;
    bk_thread *b = bk_thread_of(t);
    if (b == NULL) efg_leave(t);
    /* To readers, EFG_SAME is the array of the last outermost call. */
    else if (t->depth != 0 && b->last != NULL) b->last->valid = false;
    return b;
}

void bk_before(bk_thread *b, const uint64_t *w, const void *site)
{
    if (b->special & BK_SCRATCHED) bk_scratch_reset(b);
    if (b->special & BK_REPLAYS) bk_replay_call(b, w, site);
}

/* ---- conditions and freed handles ---- */

bool bk_leads(bk_thread *b, MPI_Comm comm, int leader)
{
    const bk_comm *c = bk_comm_info(b, comm);
    return c != NULL && c->rank == leader;
}

bool bk_leads_group(MPI_Group group, int leader)
{
    int rank = MPI_UNDEFINED;
    if (group != MPI_GROUP_NULL && bk_is_known(bk_group_word(group))) PMPI_Group_rank(group, &rank);
    return rank == leader;
}

void bk_take(bk_taken *k, bk_map *map, uint64_t key)
{
    k->map = map;
    k->taken = bk_map_release(map, key, &k->e);
}

void bk_taken_end(const bk_taken *k, bool failed)
{
    if (!k->taken) return;
    const bk_entry *e = &k->e;
    if (failed && e->refs > 1)
        bk_map_made(k->map, e);
    else if (failed)
        bk_map_add(k->map, e);
    else if (e->refs > 1)
        return;
    else if (k->map == &bk_comms && e->u.comm != NULL)
        bk_comm_drop(e->u.comm);
    else if (k->map >= bk_objects && k->map < bk_objects + BK_OBJECTS)
        efg_slot_free(e->word);
}

/* ---- entry ---- */

__attribute__((visibility("default")))
int efg_back_open(const efg_front *f, void **wrappers, efg_back *back)
{
    if (f->version != EFG_FRONT_VERSION || f->slots_hash != EFG_SLOTS_HASH) {
        fprintf(stderr, "efg: front and back end of the hook are of different builds\n");
        return -1;
    }
    efg_real[0] = f->real;
    efg_real[1] = f->real + EFG_PMPI;
    library_version();
    bk_const_start();
    efg_process_info info = bk_launched_as();
    info.version = version;
    info.thread_multiple = 1;
    info.front = (const void *)(uintptr_t)f->resolve;
    if (pthread_key_create(&thread_key, thread_ends) != 0) {
        fprintf(stderr, "efg: no thread key: the program runs unrecorded\n");
        return -1;
    }
    if (efg_start(&info) != 0) return -1;
    bk_fortran_start(f->find);
    bk_pmpi_start(f->find);
    *back = (efg_back){ .guard = (char *)&efg_tls.guard - (char *)__builtin_thread_pointer(),
                        .enter_pmpi = bk_enter_pmpi, .fork_calls = efg_fork_calls };
    bool queries = efg_option_queries();
    for (const bk_wrapper *x = __start_efg_wrappers; x != __stop_efg_wrappers; x++)
        if (queries || !x->query) wrappers[x->slot] = (char *)(uintptr_t)x + x->fn;
    return 0;
}
