/* The clock: the time stamp counter where it is invariant and the kernel itself
 * trusts it, else CLOCK_MONOTONIC. One architecture, one block. */
#ifndef EFG_CORE_CLOCK_H
#define EFG_CORE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#pragma GCC visibility push(hidden)

extern bool efg_clock_is_tsc;
extern uint64_t efg_tick_mult;      /* ns = ticks * efg_tick_mult >> 32 */

/* Chooses the clock and takes the first anchor. */
void efg_clock_open(void);
/* Computes efg_tick_mult; spins until the anchors are a millisecond apart. */
void efg_clock_calibrate(void);
/* A pair of readings that belong together: clock ticks and CLOCK_MONOTONIC ns. */
void efg_clock_anchor(uint64_t *tick, uint64_t *mono);

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

static inline uint64_t efg_ticks_to_ns(uint64_t ticks)
{
    return (uint64_t)((unsigned __int128)ticks * efg_tick_mult >> 32);
}

#endif
