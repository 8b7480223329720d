/* The map of requests against a plain list: random requests come and go, with
 * handles of their own and shared ones, stored in variables that are reused and
 * moved. From time to time all handles and variables change, so that the map
 * fills with ones that nobody uses. Built with back_request.c; prints the first
 * difference. */
#include "back_request.h"
#include "back_thread.h"

#include <stdio.h>
#include <stdlib.h>

bool bk_threads = false;
bool efg_slots_shared = true;    /* slots come back through efg_slot_free */

enum { HANDLES = 40, SHARED = 3, VARS = 50, MOST = 400, STEPS = 400000, ERA = 1000, ARRAY = 20 };

typedef struct live { uint64_t key, id; const void *var; uint32_t taken; } live;

static live list[MOST + 1];      /* by age */
static int n;
static bool is_shared[SHARED];
static char vars[VARS * (1 + STEPS / ERA)];
static MPI_Request array[ARRAY]; /* variables that stay */
static int era;                  /* of handles and variables */
static uint64_t freed;           /* the last slot given back */

void efg_slot_free(uint64_t id) { freed = id; }

int PMPI_Request_get_status(MPI_Request r, int *flag, MPI_Status *s)
{
    (void)r, (void)s;
    *flag = 1;
    return MPI_SUCCESS;
}

/* The shared ones stay. */
static uint64_t handle(int i) { return 0x1000 + (uint64_t)(i < SHARED ? i : i + era * HANDLES) * 64; }
static const void *some_var(void)
{
    return rand() % 2 ? (void *)&array[rand() % ARRAY] : (void *)&vars[rand() % VARS + era * VARS];
}

static void fail(const char *what, int step)
{
    printf("step %d: %s\n", step, what);
    exit(1);
}

static int newest(uint64_t key)
{
    for (int i = n - 1; i >= 0; i--)
        if (list[i].key == key) return i;
    return -1;
}

/* What bk_request_find must find: the newest of the variable, else the oldest
 * that this lookup did not take. */
static int expected(uint64_t key, const void *var, uint32_t lookup, bool shared)
{
    int hit = -1;
    if (!shared) return newest(key);
    for (int i = n - 1; i >= 0 && hit < 0; i--)
        if (list[i].key == key && list[i].var == var) hit = i;
    if (hit >= 0 && lookup && list[hit].taken == lookup) hit = -1;
    for (int i = 0; i < n && hit < 0; i++)
        if (list[i].key == key && !(lookup && list[i].taken == lookup)) hit = i;
    return hit;
}

static void drop(int i)
{
    memmove(&list[i], &list[i + 1], (size_t)(n - i - 1) * sizeof *list);
    n--;
}

static void add(int step)
{
    int h = rand() % HANDLES;
    uint64_t key = handle(h), id = (uint64_t)step + 1;
    const void *var = some_var();
    if (n == MOST || (h >= SHARED && newest(key) >= 0)) return;
    if (newest(key) >= 0) is_shared[h] = true;
    bk_request_add(key, var, id, NULL, 8, BK_ACTIVE);
    list[n++] = (live){ key, id, var, 0 };
}

/* Ends the operation of a request that was found; twice, which does nothing. */
static void finish(int step, int i, bk_request *r, bool as_array)
{
    uint64_t id = r->id;
    bk_request again = *r;
    if (!as_array) bk_request_done(r->at, r->serial);
    else if (bk_requests_done(r, 1) != 1 || r->at >= 0 || r->flags) fail("an ended request stays", step);
    if (freed != id) fail("gave another slot back", step);
    freed = 0;
    if (as_array) bk_requests_done(&again, 1);
    else bk_request_done(again.at, again.serial);
    if (freed) fail("ended a request twice", step);
    drop(i);
}

static void check(int step, int want, const bk_request *r)
{
    if ((want < 0) != (r->at < 0)) fail("found where nothing is, or not found", step);
    if ((want < 0 ? K(EFG_UNKNOWN) : list[want].id) != r->id) fail("found another request", step);
}

static bool shared(int h) { return h < SHARED && is_shared[h]; }

static void find_one(int step)
{
    int h = rand() % HANDLES;
    const void *var = some_var();
    bk_request r;
    bk_request_find(handle(h), var, &r);
    int want = expected(handle(h), var, 0, shared(h));
    check(step, want, &r);
    if (want >= 0 && rand() % 2) finish(step, want, &r, false);
}

/* Looks an array up whose elements are their own variables, and ends some. */
static void find_array(int step)
{
    static uint32_t lookups;
    bk_request r[ARRAY] = { { 0 } }, again[ARRAY];
    int h[ARRAY], want[ARRAY];
    uint64_t id[ARRAY], words[ARRAY] = { 0 };
    lookups++;
    for (int i = 0; i < ARRAY; i++) {
        h[i] = rand() % HANDLES;
        array[i] = (MPI_Request)handle(h[i]);
    }
    unsigned told = bk_requests_find(true, array, ARRAY, r, words);
    if (told & ~(BK_ACTIVE | BK_CHANGED | BK_RENEWED)) fail("told what is not", step);
    for (int i = 0; i < ARRAY; i++) {
        want[i] = expected(handle(h[i]), &array[i], lookups, shared(h[i]));
        check(step, want[i], &r[i]);
        if (want[i] >= 0) list[want[i]].taken = lookups;
        id[i] = r[i].id;
    }
    memcpy(again, r, sizeof r);
    lookups++;
    if (bk_requests_find(true, array, ARRAY, again, words) & (BK_CHANGED | BK_RENEWED))
        fail("the same array differs", step);
    again[rand() % ARRAY].id ^= 1;
    lookups++;
    if ((bk_requests_find(true, array, ARRAY, again, words) & (BK_CHANGED | BK_RENEWED)) != BK_CHANGED)
        fail("another array is the same", step);
    words[rand() % ARRAY] ^= 1;
    lookups++;
    if ((bk_requests_find(true, array, ARRAY, again, words) & (BK_CHANGED | BK_RENEWED)) != BK_RENEWED)
        fail("other words are the same", step);
    for (int i = 0; i < ARRAY; i++) {
        int at = 0;
        while (at < n && list[at].id != id[i]) at++;
        if (at < n && rand() % 2) finish(step, at, &r[i], true);
    }
}

/* Ends the requests whose handles do not come back. */
static void next_era(int step)
{
    for (int i = n - 1; i >= 0; i--) {
        bk_request r;
        if (list[i].key < handle(SHARED)) continue;
        bk_request_find(list[i].key, list[i].var, &r);
        check(step, i, &r);
        finish(step, i, &r, false);
    }
    era++;
}

int main(int argc, char **argv)
{
    srand(argc > 1 ? (unsigned)atoi(argv[1]) : 1);
    for (int step = 0; step < STEPS; step++) {
        int what = rand() % 8;
        if (what < 4) add(step);
        else if (what < 7) find_one(step);
        else find_array(step);
        if (step % ERA == ERA - 1) next_era(step);
    }
    puts("ok");
    return 0;
}
