/* Stands in for hardware counters where there are none: perf_event_open makes a file in memory whose page
 * says that rdpmc may be used. For rdpmc itself, the recorder is compiled with rdtsc, which takes about as long.
 * To be linked with -Wl,--wrap=syscall. */
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

long __real_syscall(long number, ...);

long __wrap_syscall(long number, ...)
{
    va_list l;
    va_start(l, number);
    long a[6];
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(l, long);
    va_end(l);
    const char *mock = getenv("BENCH_PMU");
    if (number != SYS_perf_event_open || mock == NULL)
        return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    int fd = memfd_create("pmu", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, 4096) != 0)
        abort();
    struct perf_event_mmap_page *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    p->cap_user_rdpmc = 1;
    p->pmc_width = 48;
    p->index = 1;
    return fd;
}
