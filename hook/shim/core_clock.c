/* Choosing the clock, its rate, and its anchors; see core_clock.h. */
#define _GNU_SOURCE
#include "core_clock.h"
#include "core_internal.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

/* How often the clocks are read for an anchor; the tightest readings count. */
enum { TRIES = 20, FEW_TRIES = 6 };

static const uint64_t second = 1000000000;

bool efg_clock_is_tsc;
struct efg_bins efg_bins;

static seg_anchor opened;
static uint64_t ticks_of_second;
static efg_lock_t anchor_lock = ATOMIC_FLAG_INIT;

static uint64_t clock_ns(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (uint64_t)t.tv_sec * second + (uint64_t)t.tv_nsec;
}

uint64_t efg_mono_ns(void) { return clock_ns(CLOCK_MONOTONIC); }

static bool tsc_usable(void)
{
#if defined(__x86_64__)
    unsigned a, b, c, d;
    if (!__get_cpuid(0x80000007, &a, &b, &c, &d) || !(d & 1u << 8))
        return false;
    char name[16] = "";
    int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                  O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, name, sizeof name - 1);
    close(fd);
    return n > 3 && strncmp(name, "tsc\n", 4) == 0;
#else
    return false;
#endif
}

/* Reads the clocks between two ticks, again and again: a thread that is interrupted in
 * between says so by their distance. */
static seg_anchor read_clocks(int tries)
{
    seg_anchor best = {.width = ~(uint64_t)0};
    for (int i = 0; i < tries; i++) {
        uint64_t a = efg_ticks(), mono = efg_mono_ns(), b = efg_ticks();
        uint64_t real = clock_ns(CLOCK_REALTIME), c = efg_ticks();
        if (c - a < best.width)
            best = (seg_anchor){.tick = a + (b - a) / 2, .mono = mono, .real = real, .width = c - a};
    }
    return best;
}

void efg_clock_open(void)
{
    efg_clock_is_tsc = tsc_usable();
    opened = read_clocks(TRIES);
}

uint64_t efg_clock_calibrate(void)
{
    uint64_t mult = (uint64_t)1 << 32;
    if (efg_clock_is_tsc) {
        while (efg_mono_ns() - opened.mono < second / 1000)
            ;
        seg_anchor now = read_clocks(TRIES);
        mult = (uint64_t)(((unsigned __int128)(now.mono - opened.mono) << 32) / (now.tick - opened.tick));
    }
    efg_clock_set_rate(mult);
    return mult;
}

static uint64_t ticks_of(uint64_t ns, uint64_t mult)
{
    return (uint64_t)((((unsigned __int128)ns << 32) + mult - 1) / mult);
}

static unsigned octave_of(uint64_t tick) { return 63 - (unsigned)__builtin_clzll(tick); }

void efg_clock_set_rate(uint64_t mult)
{
    struct efg_bins *b = &efg_bins;
    const unsigned bin_1 = 4;       /* begins at 2^4 ns */
    ticks_of_second = ticks_of(second, mult);
    memset(b->edge, 0xff, sizeof b->edge);
    b->first = octave_of(ticks_of((uint64_t)1 << bin_1, mult));
    b->low = (uint64_t)1 << b->first;
    for (unsigned i = 0; i + 1 < SEG_BINS; i++)
        b->edge[b->first + i] = ticks_of((uint64_t)1 << (bin_1 + i), mult);
    b->last = b->low << (SEG_BINS - 1);
    b->is_long = (uint64_t)2 << octave_of(ticks_of_second);
}

void efg_clock_anchor(void)
{
    seg_header *h = efg_header;
    efg_lock(&anchor_lock);
    if (h->start.tick == 0) {
        h->start = read_clocks(TRIES);
    } else {
        h->later[h->nlater & 1] = read_clocks(TRIES);
        efg_publish_barrier();
        h->nlater++;
    }
    efg_unlock(&anchor_lock);
}

/* Soon after the start anchors follow each other fast: one that is as far from the newest one as
 * that is from the start halves the error of the rate. */
void efg_clock_refresh(uint64_t now)
{
    seg_header *h = efg_header;
    const seg_anchor *last = h->nlater == 0 ? &h->start : &h->later[(h->nlater - 1) & 1];
    uint64_t wait = last->tick - h->start.tick, least = ticks_of_second / 100;
    wait = wait < least ? least : wait > ticks_of_second ? ticks_of_second : wait;
    if (now - last->tick < wait || atomic_flag_test_and_set_explicit(&anchor_lock, memory_order_acquire))
        return;
    h->later[h->nlater & 1] = read_clocks(FEW_TRIES);
    efg_publish_barrier();
    h->nlater++;
    efg_unlock(&anchor_lock);
}
