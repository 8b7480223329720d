/* Specifics of the ABI shared by MPICH and its relatives (libmpi.so.12). */
#ifndef EFG_BACK_MPICH_H
#define EFG_BACK_MPICH_H

#include <string.h>

#define BK_FAMILY "mpich"

/* Prefixes of the names of files that are parts of the library: those for Fortran
 * and C++ of MPICH, Intel MPI and Cray MPICH. */
#define BK_PARTS "libmpichf", "libmpichcxx", "libmpifort", "libmpicxx", "libmpif"

/* Bytes received, as MPI_Get_count with MPI_BYTE would say: 63 bits in two
 * fields, whose lowest bit of the upper half is the cancelled mark. */
static inline uint64_t bk_status_bytes(const MPI_Status *s)
{
    return (uint64_t)((uint32_t)s->count_hi_and_cancelled >> 1) << 32 | (uint32_t)s->count_lo;
}

static inline bool bk_status_cancelled(const MPI_Status *s) { return s->count_hi_and_cancelled & 1; }

/* The class is a part of the code. */
#define BK_ANY_CODE_HAS_CLASS 1

/* Handles contain their kind: bits 30-31 say how the object is allocated (1:
 * built in), bits 26-29 what it is. Only built-in requests are shared. */
static inline int bk_maybe_shared(uint64_t key) { return ((uint32_t)key >> 30) == 1; }

/* mpif.h: variables that hold the sentinel's address, set when the library's
 * Fortran part starts. mpi_f08: the addresses of the variables themselves. */
#define BK_SENTINEL_IS_POINTER 1
#define BK_SYM_BOTTOM        "MPIR_F_MPI_BOTTOM"
#define BK_SYM_IN_PLACE      "MPIR_F_MPI_IN_PLACE"
#define BK_SYM_UNWEIGHTED    "MPIR_F_MPI_UNWEIGHTED"
#define BK_SYM_WEIGHTS_EMPTY "MPIR_F_MPI_WEIGHTS_EMPTY"
#define BK_SYM_STATUS        "MPI_F_STATUS_IGNORE"
#define BK_SYM_STATUSES      "MPI_F_STATUSES_IGNORE"
#define BK_SYM_ERRCODES      "MPI_F_ERRCODES_IGNORE"
#define BK_SYM_F08_BOTTOM    "MPIR_F08_MPI_BOTTOM"
#define BK_SYM_F08_IN_PLACE  "MPIR_F08_MPI_IN_PLACE"
#define BK_SYM_F08_UNWEIGHTED    "__mpi_f08_link_constants_MOD_mpi_unweighted"
#define BK_SYM_F08_WEIGHTS_EMPTY "__mpi_f08_link_constants_MOD_mpi_weights_empty"
#define BK_SYM_F08_ERRCODES      "__mpi_f08_link_constants_MOD_mpi_errcodes_ignore"
#define BK_SYM_F08_STATUS    "MPIR_F08_MPI_STATUS_IGNORE_OBJ"
#define BK_SYM_F08_STATUSES  "MPIR_F08_MPI_STATUSES_IGNORE_OBJ"

/* Reports whether mpi_f08 returns indices counted from 0, as the 4.0 releases do. */
static inline int bk_f08_index_from_zero(const char *version)
{
    const char *v = strstr(version, "Version:");
    if (v == NULL) return 0;
    v += strlen("Version:");
    v += strspn(v, " \t");
    return strncmp(v, "4.0", 3) == 0;
}

#endif
