/* Forces the outcomes of calls as recorded.
 *
 * A recorded success is waited for, not only awaited once; a recorded failure of a
 * poll needs no call. Waiting ends if the run goes on free: the call is then made
 * as the program made it. */
#define _GNU_SOURCE
#include "back_replay_state.h"

#include <sched.h>
#include <stdio.h>

enum { SPINS = 64 };

/* Reports whether to wait on. */
static bool wait_on(unsigned *turns)
{
    if (++*turns > SPINS) sched_yield();
    return !bk_replay_free();
}

static void set_flag(void *flag, bool value) { *(int *)flag = value; }

static MPI_Request request_at(const bk_thread *b, const bk_many *m, int64_t i)
{
    return b->lang == BK_C ? ((const MPI_Request *)m->array)[i]
                           : PMPI_Request_f2c(((const MPI_Fint *)m->array)[i]);
}

static void set_request(const bk_thread *b, const bk_many *m, int64_t i, MPI_Request r)
{
    if (b->lang == BK_C) ((MPI_Request *)(uintptr_t)m->array)[i] = r;
    else ((MPI_Fint *)(uintptr_t)m->array)[i] = PMPI_Request_c2f(r);
}

/* The index as the language counts. */
static int index_of(const bk_thread *b, uint64_t position)
{
    bool from_one = b->lang == BK_MPIF || (b->lang == BK_F08 && !bk_f08_from_zero);
    return (int)position + from_one;
}

/* ---- receives and probes ---- */

/* Waits until a message is there; false if the run goes on free. */
static bool await_message(MPI_Comm comm, int source, int tag)
{
    int there = 0;
    unsigned turns = 0;
    while (PMPI_Iprobe(source, tag, comm, &there, MPI_STATUS_IGNORE) == MPI_SUCCESS && !there)
        if (!wait_on(&turns)) return false;
    return true;
}

bool bk_replay_source(bk_thread *b, MPI_Comm comm, enum bk_replay_receive how, MPI_Fint *source,
                      MPI_Fint *tag, void *flag, int *rc)
{
    bk_turn *t = b->turn;
    uint64_t v = bk_turn_value(t);
    if (v == RPL_NOTHING && how == BK_POLLS) {
        set_flag(flag, false);
        *rc = MPI_SUCCESS;
    }
    if (v < RPL_FOUND) return v == RPL_NOTHING;
    if (t->row->object != b->t->w[2]) {
        bk_replay_leave(b, "recorded was a message in another communicator");
        return false;
    }
    int from = (int)(v - RPL_FOUND), with = (int)bk_turn_value(t);
    if ((*source != MPI_ANY_SOURCE && *source != from) || (*tag != MPI_ANY_TAG && *tag != with)) {
        char what[200];
        snprintf(what, sizeof what, "recorded was a message from rank %d with tag %d, the program asks for one from %d with %d",
                 from, with, (int)*source, (int)*tag);
        bk_replay_leave(b, what);
        return false;
    }
    if (how != BK_POSTS && !await_message(comm, from, with)) return false;
    *source = from;
    *tag = with;
    return false;
}

/* ---- completions ---- */

/* Waits for the request at a position; false if the run goes on free. */
static bool complete(bk_thread *b, const bk_many *m, uint64_t position, void *status, int *rc)
{
    MPI_Request r = request_at(b, m, (int64_t)position);
    int done = 0;
    unsigned turns = 0;
    while ((*rc = PMPI_Test(&r, &done, status)) == MPI_SUCCESS && !done)
        if (!wait_on(&turns)) return false;
    set_request(b, m, (int64_t)position, r);
    return true;
}

/* Reports whether there is an active request at the position; leaves the recording if not. */
static bool is_active(bk_thread *b, const bk_many *m, uint64_t position)
{
    if (m->l != NULL && position < (uint64_t)m->n && (m->l->r[position].at < 0 || m->l->r[position].flags & BK_ACTIVE)
        && request_at(b, m, (int64_t)position) != MPI_REQUEST_NULL)
        return true;
    char what[200];
    snprintf(what, sizeof what, "recorded was the completion of request %llu of an array, which is not active",
             (unsigned long long)position);
    bk_replay_leave(b, what);
    return false;
}

static MPI_Status *status_or_ignore(const bk_thread *b, void *status)
{
    return bk_status_ignored(b, status) ? MPI_STATUS_IGNORE : status;
}

bool bk_replay_any(bk_thread *b, const bk_many *m, void *index, void *flag, void *status, int *rc)
{
    uint64_t v = bk_turn_value(b->turn);
    if (v == RPL_NOTHING && flag != NULL) {
        set_flag(flag, false);
        *(int *)index = MPI_UNDEFINED;
        *rc = MPI_SUCCESS;
        return true;
    }
    if (v < RPL_FOUND) return false;
    uint64_t position = v - RPL_FOUND;
    if (!is_active(b, m, position) || !complete(b, m, position, status_or_ignore(b, status), rc)) return false;
    *(int *)index = index_of(b, position);
    if (flag != NULL) set_flag(flag, true);
    return true;
}

bool bk_replay_some(bk_thread *b, const bk_many *m, void *outcount, void *indices, void *statuses,
                    int *rc)
{
    bk_turn *t = b->turn;
    uint64_t v = bk_turn_value(t);
    bool ignored = statuses == NULL || bk_statuses_ignored(b, statuses);
    *rc = MPI_SUCCESS;
    if (v == RPL_NOTHING) {
        *(int *)outcount = 0;
        return true;
    }
    if (v < RPL_FOUND) return false;
    uint64_t n = v - RPL_FOUND, done = 0;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t position = bk_turn_value(t);
        if (!is_active(b, m, position)
            || !complete(b, m, position, ignored ? MPI_STATUS_IGNORE : (MPI_Status *)statuses + i, rc))
            break;
        ((int *)indices)[done++] = index_of(b, position);
        if (*rc != MPI_SUCCESS) break;
    }
    *(int *)outcount = (int)done;
    return done > 0;
}
