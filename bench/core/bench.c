/* Cost per event of the recorder alone, in the relevant shapes: the same six
 * calls repeatedly, cycles of many distinct signatures, random order. Events
 * are recorded as a wrapper does it: fill the words, call_begin, call_end,
 * record. Prints "shape parameter ns events bytes"; bytes is the growth of the
 * segment. Arguments: events [irregular | six]; "irregular" runs only the random
 * order of 1,000, "six" a cycle of 6. Environment: EFG_DIR, EFG_TIME, EFG_COUNTERS. */
#define _GNU_SOURCE
#include "core_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* One event like MPI_Send: nine words, with a count and a tag. */
static inline void send(uint64_t site, uint64_t peer, uint64_t count, uint64_t tag)
{
    efg_stream *t = efg_enter();
    uint64_t *w = t->w;
    w[0] = 1 | 9u << 24;
    w[1] = site;
    w[2] = EFG_CONST(7);
    w[3] = 0;
    w[4] = count;
    w[5] = EFG_CONST(30);
    w[6] = peer;
    w[7] = tag;
    w[8] = 0;
    efg_call_begin(t);
    efg_call_end(t);
    efg_record(t);
    efg_leave(t);
}

/* An event with its own callsite. */
static inline void event(uint64_t base, uint64_t site)
{
    send(base + site * 0x9E3779B97F4A7C15u, site & 7, 1024, 42);
}

/* One of 8 * k signatures of one callsite: above the bound, so that words are demoted. */
static inline void varied(uint64_t base, uint64_t k, uint64_t x)
{
    send(base, 1, 1 + x % 8, (x >> 3) % k);
}

static uint64_t next_random(uint64_t *x)
{
    *x ^= *x << 13, *x ^= *x >> 7, *x ^= *x << 17;
    return *x;
}

static void report(const char *shape, uint64_t k, double t0, uint64_t n, uint64_t used)
{
    printf("%s %llu %.1f %llu %llu\n", shape, (unsigned long long)k, (now() - t0) / (double)n,
           (unsigned long long)n, (unsigned long long)(efg_header->used - used));
}

static void cycle(uint64_t k, uint64_t n)
{
    uint64_t base = k << 40, i;
    for (i = 0; i < 2 * k; i++)
        event(base, i % k);
    uint64_t used = efg_header->used, at = 0;
    double t0 = now();
    for (i = 0; i < n; i++) {
        event(base, at);
        if (++at == k)
            at = 0;
    }
    report("cycle", k, t0, n, used);
}

static void random_order(uint64_t k, uint64_t n)
{
    uint64_t base = k << 40 | 1, x = 88172645463325252u, i;
    for (i = 0; i < 20 * k; i++)
        event(base, next_random(&x) % k);
    uint64_t used = efg_header->used;
    double t0 = now();
    for (i = 0; i < n; i++)
        event(base, next_random(&x) % k);
    report("random", k, t0, n, used);
}

static void varied_order(uint64_t k, uint64_t n)
{
    uint64_t base = k << 40 | 2, x = 88172645463325252u, i;
    for (i = 0; i < 160 * k; i++)
        varied(base, k, next_random(&x));
    uint64_t used = efg_header->used;
    double t0 = now();
    for (i = 0; i < n; i++)
        varied(base, k, next_random(&x));
    report("varied", 8 * k, t0, n, used);
}

int main(int argc, char **argv)
{
    uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 2000000;
    efg_process_info info = {.size = 1, .family = "bench", .version = ""};
    if (efg_start(&info) != 0)
        return 1;
    if (argc > 2 && strcmp(argv[2], "irregular") == 0) {
        random_order(1000, n);
        return 0;
    }
    if (argc > 2 && strcmp(argv[2], "six") == 0) {
        cycle(6, n);
        return 0;
    }
    for (uint64_t k = 1; argc < 3 && k <= 100000; k *= 10)
        cycle(k, n);
    random_order(64, n);
    random_order(1000, n);
    varied_order(8, n);
    return 0;
}
