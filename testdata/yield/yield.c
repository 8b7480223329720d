/* For test runs with more ranks than cores: MPICH over UCX busy-waits and
 * starves the other ranks. This preload yields the core when nothing
 * progressed. Never part of the hook. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>

unsigned ucp_worker_progress(void *worker);

unsigned ucp_worker_progress(void *worker)
{
    static unsigned (*real)(void *);
    if (!real)
        real = (unsigned (*)(void *))dlsym(RTLD_NEXT, "ucp_worker_progress");
    unsigned n = real(worker);
    if (n == 0)
        sched_yield();
    return n;
}
