/* Forces the outcomes of calls as recorded.
 *
 * A recorded success is waited for; a recorded failure of a poll needs no call.
 * Waiting ends if the run goes on free: the call is then made as the program made
 * it. */
#define _GNU_SOURCE
#include "back_replay_state.h"
#include "back_substitute.h"
#include "back_vec.h"

#include <sched.h>
#include <stdio.h>

enum { SPINS = 64, LOOKS = 256, PATIENCE = 10 };

static bk_cold void report_wait(bk_waiting *x)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (x->since == 0) x->since = now.tv_sec;
    if (x->since < 0 || now.tv_sec - x->since < PATIENCE) return;
    x->since = -1;
    bk_replay_note(x->b, "has waited for %d s for what was recorded of %s", PATIENCE, bk_turn_name(x->b->turn));
}

/* Reports whether to wait on: not if the run has gone on free. */
static bool wait_on(bk_waiting *x)
{
    if (++x->turns > SPINS) sched_yield();
    if (x->turns % LOOKS == 0) report_wait(x);
    return !bk_replay_free();
}

static void set_flag(void *flag, bool value) { *(int *)flag = value; }

static MPI_Status *status_or_ignore(const bk_thread *b, void *status)
{
    return bk_status_ignored(b, status) ? MPI_STATUS_IGNORE : status;
}

static MPI_Status *statuses_or_ignore(const bk_thread *b, void *statuses)
{
    return statuses == NULL || bk_statuses_ignored(b, statuses) ? MPI_STATUSES_IGNORE : statuses;
}

/* The index as the language counts. */
static int index_of(const bk_thread *b, int position)
{
    bool from_one = b->lang == BK_MPIF || (b->lang == BK_F08 && !bk_f08_from_zero);
    return position == MPI_UNDEFINED ? position : position + from_one;
}

/* ---- receives and probes ---- */

/* Waits until a message is there; false if the run goes on free. */
static bool await_message(bk_thread *b, MPI_Comm comm, int source, int tag)
{
    int there = 0;
    bk_waiting x = { .b = b };
    while (PMPI_Iprobe(source, tag, comm, &there, MPI_STATUS_IGNORE) == MPI_SUCCESS && !there)
        if (!wait_on(&x)) return false;
    return true;
}

bool bk_replay_source(bk_thread *b, MPI_Comm comm, enum bk_replay_receive how, int *source, int *tag,
                      void *flag, int *rc)
{
    bk_turn *t = b->turn;
    uint64_t v = bk_turn_value(t);
    if (v == RPL_NOTHING && how == BK_POLLS) {
        set_flag(flag, false);
        *rc = MPI_SUCCESS;
        return true;
    }
    if (v < RPL_FOUND) return false;
    int from = (int)(v - RPL_FOUND), with = (int)bk_turn_value(t);
    if (t->row->object != b->t->w[2]) {
        bk_replay_leave(b, "recorded was a message in another communicator");
        return false;
    }
    if ((*source != MPI_ANY_SOURCE && *source != from) || (*tag != MPI_ANY_TAG && *tag != with)) {
        bk_replay_leave(b, "recorded was a message from rank %d with tag %d, the program asks for one from %d with %d",
                        from, with, *source, *tag);
        return false;
    }
    if (how != BK_POSTS && !await_message(b, comm, from, with)) return false;
    *source = from;
    *tag = with;
    return false;
}

/* ---- other polls ---- */

bool bk_replay_poll(bk_waiting *x, void *flag, int *rc)
{
    uint64_t v = bk_turn_value(x->b->turn);
    x->until_found = v >= RPL_FOUND;
    if (v != RPL_NOTHING) return false;
    set_flag(flag, false);
    *rc = MPI_SUCCESS;
    return true;
}

bool bk_replay_again(bk_waiting *x, const void *flag, int rc)
{
    return x->until_found && rc == MPI_SUCCESS && !*(const int *)flag && wait_on(x);
}

/* ---- one request ---- */

/* Waits for a request; false if the run goes on free. peek: it stays. */
static bool complete(bk_thread *b, MPI_Request *r, bool peek, MPI_Status *status, int *rc)
{
    int done = 0;
    bk_waiting x = { .b = b };
    for (;;) {
        *rc = peek ? PMPI_Request_get_status(*r, &done, status) : PMPI_Test(r, &done, status);
        if (*rc != MPI_SUCCESS || done) return true;
        if (!wait_on(&x)) return false;
    }
}

/* Makes the call that the program makes, on the request that takes the place of its own. */
static int call_one(enum bk_replay_one how, MPI_Request *r, void *flag, MPI_Status *status)
{
    switch (how) {
    case BK_WAITS: return PMPI_Wait(r, status);
    case BK_TESTS: return PMPI_Test(r, flag, status);
    case BK_PEEKS: return PMPI_Request_get_status(*r, flag, status);
    case BK_CANCELS: return PMPI_Cancel(r);
    case BK_FREES: break;
    }
    return MPI_SUCCESS;
}

static void set_request(const bk_thread *b, void *var, int64_t i, MPI_Request r)
{
    if (b->lang == BK_C) ((MPI_Request *)var)[i] = r;
    else ((MPI_Fint *)var)[i] = PMPI_Request_c2f(r);
}

bool bk_replay_one(bk_thread *b, enum bk_replay_one how, MPI_Request request, void *var, void *flag,
                   void *status, int *rc)
{
    bool polls = how == BK_TESTS || how == BK_PEEKS;
    uint64_t v = polls ? bk_turn_value(b->turn) : RPL_FREE;
    bk_substitute *s = bk_substitute_of(BK_KEY(request));
    MPI_Request own = request, *r = s != NULL ? &s->real : &own;
    *rc = MPI_SUCCESS;
    if (s != NULL && how == BK_FREES) {
        bk_substitute_end(s);
        return false;
    }
    if (v == RPL_NOTHING) {
        set_flag(flag, false);
        return true;
    }
    if (polls) status = status_or_ignore(b, status);
    else if (how == BK_WAITS) status = status_or_ignore(b, status);
    if (v >= RPL_FOUND && complete(b, r, how == BK_PEEKS, status, rc)) {
        set_flag(flag, true);
        if (s == NULL && how == BK_TESTS) set_request(b, var, 0, own);
        return true;
    }
    if (s == NULL) return false;
    *rc = call_one(how, r, flag, status);
    return true;
}

bool bk_replay_start_one(bk_thread *b, MPI_Request request, int *rc)
{
    bk_substitute *s = bk_substitute_of(BK_KEY(request));
    if (s == NULL) return false;
    *rc = bk_substitute_start(b, s, request);
    return true;
}

/* ---- arrays of requests ---- */

static MPI_Request request_at(const bk_thread *b, const bk_many *m, int64_t i)
{
    return b->lang == BK_C ? ((const MPI_Request *)m->array)[i]
                           : PMPI_Request_f2c(((const MPI_Fint *)m->array)[i]);
}

/* The requests of the array, with those that take the place of the program's own; NULL if there are
 * none, or no memory. */
static MPI_Request *substituted(bk_thread *b, const bk_many *m)
{
    bool any = false;
    if (!bk_substitutes || m->l == NULL) return NULL;
    MPI_Request *real = (MPI_Request *)bk_scratch(b, (size_t)m->n + 1);
    for (int64_t i = 0; real != NULL && i < m->n; i++) {
        real[i] = request_at(b, m, i);
        const bk_substitute *s = bk_substitute_of(BK_KEY(real[i]));
        if (s == NULL) continue;
        real[i] = s->real;
        any = true;
    }
    return any ? real : NULL;
}

static void put_back(const bk_thread *b, const bk_many *m, const MPI_Request *real)
{
    for (int64_t i = 0; i < m->n; i++) {
        bk_substitute *s = bk_substitute_of(BK_KEY(request_at(b, m, i)));
        if (s != NULL) s->real = real[i];
        else set_request(b, (void *)(uintptr_t)m->array, i, real[i]);
    }
}

bool bk_replay_start_all(bk_thread *b, const bk_many *m, int *rc)
{
    if (!bk_substitutes || m->l == NULL) return false;
    *rc = MPI_SUCCESS;
    for (int64_t i = 0; i < m->n && *rc == MPI_SUCCESS; i++) {
        MPI_Request r = request_at(b, m, i);
        bk_substitute *s = bk_substitute_of(BK_KEY(r));
        *rc = s != NULL ? bk_substitute_start(b, s, r) : PMPI_Start(&r);
    }
    return true;
}

/* Waits for the request at a position; false if the run goes on free, or if it is not active. */
static bool complete_at(bk_thread *b, const bk_many *m, uint64_t position, MPI_Status *status, int *rc)
{
    if (m->l == NULL || position >= (uint64_t)m->n || (m->l->r[position].at >= 0 && !(m->l->r[position].flags & BK_ACTIVE))
        || request_at(b, m, (int64_t)position) == MPI_REQUEST_NULL) {
        bk_replay_leave(b, "recorded was the completion of request %llu of an array, which is not active",
                        (unsigned long long)position);
        return false;
    }
    MPI_Request own = request_at(b, m, (int64_t)position);
    bk_substitute *s = bk_substitute_of(BK_KEY(own));
    bool done = complete(b, s != NULL ? &s->real : &own, false, status, rc);
    if (s == NULL && done) set_request(b, (void *)(uintptr_t)m->array, (int64_t)position, own);
    return done;
}

bool bk_replay_any(bk_thread *b, const bk_many *m, void *index, void *flag, void *status, int *rc)
{
    uint64_t v = bk_turn_value(b->turn), position = v - RPL_FOUND;
    MPI_Status *to = status_or_ignore(b, status);
    *rc = MPI_SUCCESS;
    if (v == RPL_NOTHING && flag != NULL) {
        set_flag(flag, false);
        *(int *)index = MPI_UNDEFINED;
        return true;
    }
    if (v >= RPL_FOUND && complete_at(b, m, position, to, rc)) {
        *(int *)index = index_of(b, (int)position);
        if (flag != NULL) set_flag(flag, true);
        return true;
    }
    MPI_Request *real = substituted(b, m);
    if (real == NULL) return false;
    int i = MPI_UNDEFINED;
    *rc = flag != NULL ? PMPI_Testany((int)m->n, real, &i, flag, to) : PMPI_Waitany((int)m->n, real, &i, to);
    put_back(b, m, real);
    *(int *)index = index_of(b, i);
    return true;
}

/* Waits for n requests; the number of those that completed before the run went on free. */
static int complete_some(bk_thread *b, const bk_many *m, uint64_t n, int *indices, MPI_Status *statuses, int *rc)
{
    bk_turn *t = b->turn;
    int done = 0;
    while ((uint64_t)done < n && *rc == MPI_SUCCESS) {
        uint64_t position = bk_turn_value(t);
        if (!complete_at(b, m, position, statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + done, rc)) break;
        indices[done++] = index_of(b, (int)position);
    }
    return done;
}

/* The program's call, with requests that take the place of its own; false if there are none. */
static bool some_of(bk_thread *b, const bk_many *m, bool polls, int *outcount, int *indices, MPI_Status *statuses, int *rc)
{
    MPI_Request *real = substituted(b, m);
    if (real == NULL) return false;
    *rc = polls ? PMPI_Testsome((int)m->n, real, outcount, indices, statuses)
                : PMPI_Waitsome((int)m->n, real, outcount, indices, statuses);
    put_back(b, m, real);
    for (int i = 0; *outcount != MPI_UNDEFINED && i < *outcount; i++) indices[i] = index_of(b, indices[i]);
    return true;
}

bool bk_replay_some(bk_thread *b, const bk_many *m, bool polls, void *outcount, void *indices,
                    void *statuses, int *rc)
{
    uint64_t v = bk_turn_value(b->turn);
    MPI_Status *to = statuses_or_ignore(b, statuses);
    *rc = MPI_SUCCESS;
    if (v == RPL_NOTHING) {
        *(int *)outcount = 0;
        return true;
    }
    int done = v >= RPL_FOUND ? complete_some(b, m, v - RPL_FOUND, indices, to, rc) : 0;
    if (done == 0) return some_of(b, m, polls, outcount, indices, to, rc);
    *(int *)outcount = done;
    return true;
}

/* Waits for all; false if the run goes on free. */
static bool complete_all(bk_thread *b, int64_t n, MPI_Request *r, MPI_Status *statuses, int *rc)
{
    int done = 0;
    bk_waiting x = { .b = b };
    for (;;) {
        *rc = PMPI_Testall((int)n, r, &done, statuses);
        if (*rc != MPI_SUCCESS || done) return true;
        if (!wait_on(&x)) return false;
    }
}

bool bk_replay_all(bk_thread *b, const bk_many *m, void *flag, void *statuses, int *rc)
{
    uint64_t v = flag != NULL ? bk_turn_value(b->turn) : RPL_FREE;
    MPI_Status *to = statuses_or_ignore(b, statuses);
    *rc = MPI_SUCCESS;
    if (v == RPL_NOTHING) {
        set_flag(flag, false);
        return true;
    }
    MPI_Request *real = substituted(b, m);
    bool own = real == NULL;
    if (own && (v < RPL_FOUND || m->l == NULL)) return false;
    if (own) real = (MPI_Request *)bk_scratch(b, (size_t)m->n + 1);
    if (real == NULL) return false;
    for (int64_t i = 0; own && i < m->n; i++) real[i] = request_at(b, m, i);
    if (v >= RPL_FOUND && complete_all(b, m->n, real, to, rc)) set_flag(flag, true);
    else if (flag != NULL) *rc = PMPI_Testall((int)m->n, real, flag, to);
    else *rc = PMPI_Waitall((int)m->n, real, to);
    put_back(b, m, real);
    return true;
}
