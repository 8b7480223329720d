/* A stand-in for a back end: its wrappers say that they were entered, from
 * where, and call the library. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "efg_front.h"
#include "gen/slots.h"

static const efg_front *front;
static int opened;

/* What is added to the slots for the call that is being entered. */
static __thread unsigned by;
static unsigned taken(void)
{
    unsigned now = by;
    by = 0;
    return now;
}

static void entered(const char *name, void *from)
{
    Dl_info info;
    const char *file = dladdr(from, &info) ? info.dli_fname : "?";
    const char *base = strrchr(file, '/');
    printf("wrapper %s from %s\n", name, base ? base + 1 : file);
}

#define ENTERED(name) entered(#name, __builtin_return_address(0))
#define REAL(type, name) ((type)front->real[taken() + EFG_SLOT_##name])

static int wrap_barrier(void *comm)
{
    ENTERED(MPI_Barrier);
    return REAL(int (*)(void *), MPI_Barrier)(comm);
}

static void wrap_barrier_f(int *comm, int *ierr)
{
    ENTERED(mpi_barrier);
    REAL(void (*)(int *, int *), mpi_barrier)(comm, ierr);
}

static int wrap_sendrecv(const void *a, int b, void *c, int d, int e, void *f, int g, void *h,
                         int i, int j, void *k, void *l)
{
    ENTERED(MPI_Sendrecv);
    return REAL(int (*)(const void *, int, void *, int, int, void *, int, void *, int, int,
                        void *, void *), MPI_Sendrecv)(a, b, c, d, e, f, g, h, i, j, k, l);
}

static __thread char *guard;    /* of a call of MPI_Init, which calls by PMPI_ names */

static int wrap_init(int *argc, char ***argv)
{
    guard = __builtin_frame_address(0);
    ENTERED(MPI_Init);
    int rc = REAL(int (*)(int *, char ***), MPI_Init)(argc, argv);
    guard = NULL;
    return rc;
}

/* Calls of the library itself come from there. */
static int enter_pmpi(const void *caller)
{
    Dl_info info;
    if (!dladdr(caller, &info) || strstr(info.dli_fname, "libmpi")) return 0;
    by = EFG_PMPI;
    return 1;
}

__attribute__((visibility("default"))) int efg_back_open(const efg_front *f, void **wrappers, efg_back *back)
{
    front = f;
    if (f->version != EFG_FRONT_VERSION || f->nslots != EFG_NSLOTS || f->slots_hash != EFG_SLOTS_HASH)
        return -1;
    printf("open %d %s\n", ++opened, f->mpi_soname);
    if (!f->find("PMPI_Init") || f->find("MPI_Such_a_name")) printf("find fails\n");
    if (!f->resolve(EFG_SLOT_MPI_Init) || f->resolve(EFG_SLOT_MPI_Send)) printf("resolve fails\n");
    wrappers[EFG_SLOT_MPI_Init] = (void *)wrap_init;
    back->guard = (char *)&guard - (char *)__builtin_thread_pointer();
    back->enter_pmpi = enter_pmpi;
    wrappers[EFG_SLOT_MPI_Barrier] = (void *)wrap_barrier;
    wrappers[EFG_SLOT_mpi_barrier] = (void *)wrap_barrier_f;
    wrappers[EFG_SLOT_MPI_Sendrecv] = (void *)wrap_sendrecv;
    return getenv("FAKE_BACK_REFUSES") ? -1 : 0;
}
