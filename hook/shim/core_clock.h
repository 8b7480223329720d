/* The clock: the time stamp counter where it is invariant and the kernel itself
 * trusts it, else CLOCK_MONOTONIC. One architecture, one block. Ticks are recorded as
 * they are; readers convert them, with the anchors in the segment's header. */
#ifndef EFG_CORE_CLOCK_H
#define EFG_CORE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#pragma GCC visibility push(hidden)

extern bool efg_clock_is_tsc;

/* Where the bins of time statistics begin, in ticks. An octave is what the highest bit of a
 * time says; the lower end of exactly one bin is in each. */
struct efg_bins {
    uint64_t low;           /* a power of two: below it there is bin 0 only */
    unsigned first;         /* octave of low */
    uint64_t is_long;       /* a power of two, more than a second and less than last */
    uint64_t last;          /* a power of two: from here on there is the last bin only */
    uint64_t edge[64];      /* by octave: where a bin ends and the next one begins */
};
extern struct efg_bins efg_bins;

/* Chooses the clock and takes a first reading. */
void efg_clock_open(void);
/* Estimates the rate of the clock and fills efg_bins; spins until a millisecond has passed
 * since efg_clock_open. Returns nanoseconds per tick, times 2^32. */
uint64_t efg_clock_calibrate(void);
/* The same, with a rate that is known. */
void efg_clock_set_rate(uint64_t mult);

/* Puts an anchor into the segment's header: the first time that of the start, later the newest.
 * Any thread. */
void efg_clock_anchor(void);
/* Does so if the newest one is old; now is a recent tick. Seldom called. */
void efg_clock_refresh(uint64_t now);

/* CLOCK_MONOTONIC. */
uint64_t efg_mono_ns(void);

#pragma GCC visibility pop

static inline uint64_t efg_ticks(void)
{
#if defined(__x86_64__)
    if (__builtin_expect(efg_clock_is_tsc, 1))
        return __rdtsc();
#endif
    return efg_mono_ns();
}

#endif
