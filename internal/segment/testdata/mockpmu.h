/* Stands in for hardware counters where there are none: perf_event_open makes a file in memory, the page of which
 * says that rdpmc may be used. To be included once, by a program that is linked with -Wl,--wrap=syscall and defines
 * the two functions below. */
#ifndef MOCKPMU_H
#define MOCKPMU_H

#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What perf_event_open does for a counter of the group with this descriptor, -1 if it is the first one: the
 * errno with which it fails, 0 if it is mocked, or -1 if the kernel is asked. */
static int mocked(int group);

/* Prepares the page of the next counter. */
static void mocked_page(struct perf_event_mmap_page *p);

enum { MOCKED_WIDTH = 48 };

long __real_syscall(long number, ...);

long __wrap_syscall(long number, ...)
{
    va_list l;
    va_start(l, number);
    long a[6];
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(l, long);
    va_end(l);
    int how = number == SYS_perf_event_open ? mocked((int)a[3]) : -1;
    if (how < 0)
        return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (how > 0) {
        errno = how;
        return -1;
    }
    int fd = memfd_create("pmu", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, 4096) != 0)
        abort();
    struct perf_event_mmap_page *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED)
        abort();
    p->cap_user_rdpmc = 1;
    p->pmc_width = MOCKED_WIDTH;
    mocked_page(p);
    return fd;
}

#endif
