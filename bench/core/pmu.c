/* Mocked hardware counters, if the environment has BENCH_PMU. For rdpmc itself, the recorder is compiled with rdtsc,
 * which takes about as long. */
#define _GNU_SOURCE
#include "mockpmu.h"

static int mocked(int group)
{
    (void)group;
    return getenv("BENCH_PMU") != NULL ? 0 : -1;
}

static void mocked_page(struct perf_event_mmap_page *p) { p->index = 1; }
