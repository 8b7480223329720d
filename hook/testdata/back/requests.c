/* The map of requests against a plain list: random requests come and go, with
 * handles of their own and shared ones, stored in variables that are reused and
 * moved. Built with back_request.c; prints the first difference. */
#include "back.h"

#include <stdio.h>
#include <stdlib.h>

bool bk_threads = false;

enum { HANDLES = 40, SHARED = 3, VARS = 50, MOST = 400, STEPS = 400000 };

typedef struct live { uint64_t key, id; const void *var; uint32_t taken; } live;

static live list[MOST + 1];      /* by age */
static int n;
static bool is_shared[HANDLES];
static char vars[VARS];
static uint64_t freed;           /* the last slot given back */

void efg_slot_free(uint64_t id) { freed = id; }

int PMPI_Request_get_status(MPI_Request r, int *flag, MPI_Status *s)
{
    (void)r, (void)s;
    *flag = 1;
    return MPI_SUCCESS;
}

static uint64_t handle(int i) { return 0x1000 + (uint64_t)i * 64; }
static const void *some_var(void) { return &vars[rand() % VARS]; }

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
    bk_request_add(key, var, id, 8, BK_SEND, BK_ACTIVE);
    list[n++] = (live){ key, id, var, 0 };
}

static int find(int step, uint32_t lookup)
{
    int h = rand() % HANDLES;
    const void *var = some_var();
    bk_request r;
    bk_request_find(handle(h), var, lookup, &r);
    int want = expected(handle(h), var, lookup, is_shared[h]);
    if ((want < 0) != (r.at < 0)) fail("found where nothing is, or not found", step);
    if (want < 0) return -1;
    if (list[want].id != r.id) fail("found another request", step);
    if (lookup) list[want].taken = lookup;
    if (!lookup && rand() % 2) {
        bk_request_done(r.at, r.serial);
        if (freed != r.id) fail("gave another slot back", step);
        freed = 0;
        bk_request_done(r.at, r.serial);
        if (freed) fail("ended a request twice", step);
        drop(want);
    }
    return want;
}

int main(int argc, char **argv)
{
    srand(argc > 1 ? (unsigned)atoi(argv[1]) : 1);
    for (int step = 0; step < STEPS; step++) {
        int what = rand() % 8;
        if (what < 4) add(step);
        else if (what < 7) find(step, 0);
        else
            for (uint32_t i = 0, lookup = bk_request_lookup(); i < 20; i++) find(step, lookup);
    }
    puts("ok");
    return 0;
}
