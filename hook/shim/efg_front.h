/* Between the front (front.c, preloaded, knows no MPI) and a back end (one per
 * MPI ABI, loaded at the first MPI call).
 *
 * Every entry point of MPI that is recorded has a slot: C, C large-count,
 * Fortran, mpi_f08 in its variants (gen/slots.h numbers them). The front exports
 * stubs for each slot that jump on without changing arguments or stack, so a
 * wrapper is entered as if the program had called it: same arguments, and
 * __builtin_return_address(0) is the program's. */
#ifndef EFG_FRONT_H
#define EFG_FRONT_H

#include <stddef.h>
#include <stdint.h>

#define EFG_FRONT_VERSION 5

/* In the length of an annotation's name: the function that makes it does so for its caller, whose callsite
 * is to be recorded. Either it is of a module of another language that is compiled with the program, or of
 * the front. */
#define EFG_FROM_MODULE ((size_t)1 << 63)
#define EFG_FROM_FRONT ((size_t)1 << 62)

typedef struct efg_front {
    uint32_t version;             /* EFG_FRONT_VERSION of the front */
    uint32_t nslots;              /* EFG_NSLOTS of the front */
    uint64_t slots_hash;          /* EFG_SLOTS_HASH of the front */
    /* The MPI library's function of a slot, real[EFG_PMPI + s] by its PMPI_ names.
     * Both are filled in before wrapper s is entered for the first time by such a name,
     * the first one before it is entered at all; they stay NULL if the library has no such
     * function (then the wrapper is not entered). For any other slot ask resolve, which fills real[s] and returns
     * it; NULL if there is none. */
    void *const *real;
    void *(*resolve)(uint32_t slot);
    /* Address of any other symbol of the MPI library, as the program would see
     * it; NULL if there is none. */
    void *(*find)(const char *name);
    const char *mpi_path;         /* file of the library with PMPI_Init */
    const char *mpi_soname;
} efg_front;

/* What the front needs to know for calls by PMPI_ names, which the MPI library
 * itself also makes. */
typedef struct efg_back {
    /* Offset from the thread pointer to the frame of the outermost active wrapper
     * of the thread, NULL if there is none; calls further down the stack pass. 0:
     * not used. */
    ptrdiff_t guard;
    /* Reports whether this call, from caller and not inside a wrapper, is to be
     * recorded. If so, the front jumps to the wrapper. */
    int (*enter_pmpi)(const void *caller);
    /* A child that the recorded process has forked calls MPI, which is not recorded. */
    void (*fork_calls)(const char *symbol);
} efg_back;

/* Exported by every back end; called once per process, before any wrapper, on the
 * thread that makes the first MPI call. Fills wrappers[0..nslots) (all NULL at
 * entry); slots that it does not wrap remain NULL. Fills *back, which is zero at
 * entry. Returns 0, or -1 if it cannot work here (after reporting the reason on
 * stderr): then nothing is recorded. */
int efg_back_open(const efg_front *f, void **wrappers, efg_back *back);

#endif
