/* Reading a counter from the page that a perf event maps. */
#ifndef EFG_CORE_COUNTERS_H
#define EFG_CORE_COUNTERS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

/* Sources of counters that are not types of perf events; internal/counters has the same. */
enum { EFG_FROM_USAGE = 256, EFG_FROM_CLOCK = 257 };
enum efg_usage { EFG_MINOR_FAULTS, EFG_MAJOR_FAULTS, EFG_FAULTS, EFG_SWITCHES, EFG_MAX_RSS };

/* States of a counter, bits. */
enum { EFG_COUNTER_READ = 1, EFG_COUNTER_MULTIPLEXED = 2, EFG_COUNTER_FAILED = 4 };

#ifndef EFG_RDPMC                   /* a test has its own hardware */
#if defined(__x86_64__)
static inline uint64_t efg_rdpmc(uint32_t counter)
{
    uint32_t low, high;
    __asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(counter));
    return (uint64_t)high << 32 | low;
}
#define EFG_RDPMC(counter) efg_rdpmc(counter)
#else
#define EFG_RDPMC(counter) ((void)(counter), (uint64_t)0)
#endif
#endif

/* Reports whether the event can be read without the kernel. */
static inline bool counter_page_readable(const volatile struct perf_event_mmap_page *p)
{
#if defined(__x86_64__) || defined(EFG_TEST_RDPMC)
    return p->cap_user_rdpmc && p->pmc_width > 0 && p->pmc_width <= 64;
#else
    (void)p;
    return false;
#endif
}

/* The value of the event so far. *all: it was counted all the time, not in turns with others. The
 * kernel changes the page when it takes the thread off its processor or returns it; lock says so. */
static inline uint64_t counter_page_read(const volatile struct perf_event_mmap_page *p, bool *all)
{
    uint32_t lock, index;
    uint64_t value;
    do {
        lock = p->lock;
        __asm__ volatile("" ::: "memory");
        index = p->index;
        value = (uint64_t)p->offset;
        *all = p->time_enabled == p->time_running;
        if (index != 0) {
            unsigned unused = 64u - p->pmc_width;
            value += (uint64_t)((int64_t)(EFG_RDPMC(index - 1) << unused) >> unused);
        }
        __asm__ volatile("" ::: "memory");
    } while (p->lock != lock);
    return value;
}

#endif
