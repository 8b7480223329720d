/* Choosing and calibrating the clock; see core_clock.h. */
#define _GNU_SOURCE
#include "core_clock.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

bool efg_clock_is_tsc;
uint64_t efg_tick_mult = (uint64_t)1 << 32;

static uint64_t first_tick, first_mono;

uint64_t efg_mono_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

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

void efg_clock_anchor(uint64_t *tick, uint64_t *mono)
{
    uint64_t best = ~(uint64_t)0;
    for (int i = 0; i < 20; i++) {
        uint64_t a = efg_ticks(), ns = efg_mono_ns(), b = efg_ticks();
        if (b - a < best) {
            best = b - a;
            *tick = a + (b - a) / 2;
            *mono = ns;
        }
    }
}

void efg_clock_open(void)
{
    efg_clock_is_tsc = tsc_usable();
    efg_clock_anchor(&first_tick, &first_mono);
}

void efg_clock_calibrate(void)
{
    uint64_t tick, mono;
    if (!efg_clock_is_tsc)
        return;
    while (efg_mono_ns() - first_mono < 1000000)
        ;
    efg_clock_anchor(&tick, &mono);
    efg_tick_mult = (uint64_t)(((unsigned __int128)(mono - first_mono) << 32) / (tick - first_tick));
}
