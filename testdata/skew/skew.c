/* Preloaded: to the recorder, and to nobody else, the second half of the ranks is on a machine of
 * its own, whose clock is SKEW_OFFSET ns ahead of the true one when that begins, and faster by
 * SKEW_PPM parts per million. Without a time stamp counter the recorder reads CLOCK_MONOTONIC. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* What is known of callers, by return address: an odd value is in the recorder. */
static _Atomic uintptr_t known[256];

static bool is_recorder(void *caller)
{
    uintptr_t at = (uintptr_t)caller;
    _Atomic uintptr_t *slot = &known[at >> 1 & 255];
    uintptr_t found = atomic_load(slot);
    if (found >> 1 != at) {
        Dl_info info;
        const char *name = dladdr(caller, &info) && info.dli_fname != NULL ? strrchr(info.dli_fname, '/') : NULL;
        found = at << 1 | (name != NULL && strncmp(name, "/libefg", 7) == 0);
        atomic_store(slot, found);
    }
    return found & 1;
}

static long number(const char *a, const char *b)
{
    const char *text = getenv(a);
    if (text == NULL)
        text = getenv(b);
    return text != NULL ? strtol(text, NULL, 10) : 0;
}

static bool is_skewed(void)
{
    static _Atomic int answer; /* 1: no, 2: yes */
    int is = atomic_load(&answer);
    if (is == 0) {
        long size = number("OMPI_COMM_WORLD_SIZE", "PMI_SIZE");
        is = size > 1 && number("OMPI_COMM_WORLD_RANK", "PMI_RANK") >= size / 2 ? 2 : 1;
        atomic_store(&answer, is);
    }
    return is == 2;
}

/* By how much the clock is ahead, ns. */
static int64_t ahead(void)
{
    static _Atomic int64_t offset, ppm;
    static atomic_bool read;
    if (!atomic_load(&read)) {
        atomic_store(&offset, number("SKEW_OFFSET", ""));
        atomic_store(&ppm, number("SKEW_PPM", ""));
        atomic_store(&read, true);
    }
    struct timespec t;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
    int64_t us = (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
    return atomic_load(&offset) + us * atomic_load(&ppm) / 1000;
}

static int (*real_gettime)(clockid_t, struct timespec *);

int clock_gettime(clockid_t id, struct timespec *t)
{
    if (real_gettime == NULL)
        *(void **)&real_gettime = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real_gettime(id, t);
    if (result == 0 && (id == CLOCK_MONOTONIC || id == CLOCK_REALTIME) &&
        is_recorder(__builtin_return_address(0)) && is_skewed()) {
        int64_t ns = t->tv_nsec + ahead();
        t->tv_sec += ns / 1000000000;
        t->tv_nsec = ns % 1000000000;
        if (t->tv_nsec < 0) {
            t->tv_nsec += 1000000000;
            t->tv_sec--;
        }
    }
    return result;
}

int gethostname(char *name, size_t size)
{
    static int (*real)(char *, size_t);
    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "gethostname");
    if (is_recorder(__builtin_return_address(0)) && is_skewed()) {
        strncpy(name, "skewed", size);
        return 0;
    }
    return real(name, size);
}

int open(const char *path, int flags, ...)
{
    static int (*real)(const char *, int, ...);
    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "open");
    va_list list;
    va_start(list, flags);
    int mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(list, int) : 0;
    va_end(list);
    if (strstr(path, "/current_clocksource") != NULL && is_recorder(__builtin_return_address(0)))
        return memfd_create("clocksource", MFD_CLOEXEC); /* none */
    return real(path, flags, mode);
}
