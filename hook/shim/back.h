/* The back end: forms the words of an MPI call (docs/internals.md) for the
 * recorder. Compiled once per MPI with that MPI's own mpi.h.
 *
 * gen/wrappers_*.c hold one wrapper per procedure and language; they call the
 * functions of back_*.h to turn arguments into words. Nothing here calls
 * procedures by MPI_ names, only by PMPI_ names, and never collective ones.
 */
#ifndef EFG_BACK_H
#define EFG_BACK_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "efg_core.h"
#include "efg_front.h"
#include "gen/constants.h"

#if defined(OPEN_MPI)
#include "back_openmpi.h"
#elif defined(MPICH_VERSION) || defined(MVAPICH2_VERSION) || defined(I_MPI_VERSION)
#include "back_mpich.h"
#else
#error "efg has no back end for this MPI"
#endif

/* For names that an mpi.h lacks there are macros BK_NO_... (gen/has.h finds out). */
#ifdef BK_NO_MPI_Session
typedef void *MPI_Session;   /* such a library has no procedure with one */
#endif

#define bk_likely(x)   __builtin_expect(!!(x), 1)
#define bk_unlikely(x) __builtin_expect(!!(x), 0)
#define bk_cold        __attribute__((noinline, cold))

#define K(name)   EFG_CONST(EFG_K_##name)
#define BK_KEY(h) ((uint64_t)(uintptr_t)(h))

_Static_assert(sizeof(MPI_Fint) == 4, "Fortran INTEGER is 4 bytes in the ABIs that efg knows");
_Static_assert(sizeof(MPI_Aint) == 8 && sizeof(MPI_Count) == 8 && sizeof(MPI_Offset) == 8,
               "efg needs a 64-bit MPI");

enum bk_language { BK_C, BK_MPIF, BK_F08 };

#endif
