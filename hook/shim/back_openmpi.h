/* Specifics of Open MPI's ABI (libmpi.so.40). */
#ifndef EFG_BACK_OPENMPI_H
#define EFG_BACK_OPENMPI_H

#define BK_FAMILY "openmpi"

/* Prefixes of the names of files that are parts of the library. */
#define BK_PARTS "mca_", "libmca_", "libopen-pal", "libopen-rte", "libopen_mpi", "libmpi_mpifh", \
                 "libmpi_usempi", "libmpi_cxx", "libmpi_java"

/* Bytes received, as MPI_Get_count with MPI_BYTE would say. The field has had
 * this offset since Open MPI 1.5. */
static inline uint64_t bk_status_bytes(const MPI_Status *s) { return s->_ucount; }
static inline bool bk_status_cancelled(const MPI_Status *s) { return s->_cancelled != 0; }

/* Error codes are classes; other numbers have none. */
#define BK_ANY_CODE_HAS_CLASS 0

/* Reports whether this request handle may belong to several live requests at
 * once. Operations that complete immediately return one static request object;
 * which objects those are depends on the messaging layer. */
static inline int bk_maybe_shared(uint64_t key) { (void)key; return 1; }

/* Fortran sentinels are the addresses of these variables, wherever the dynamic
 * linker put them (copy relocations move them into the executable). */
#define BK_SENTINEL_IS_POINTER 0
#define BK_SYM_BOTTOM        "mpi_fortran_bottom_"
#define BK_SYM_IN_PLACE      "mpi_fortran_in_place_"
#define BK_SYM_UNWEIGHTED    "mpi_fortran_unweighted_"
#define BK_SYM_WEIGHTS_EMPTY "mpi_fortran_weights_empty_"
#define BK_SYM_STATUS        "mpi_fortran_status_ignore_"
#define BK_SYM_STATUSES      "mpi_fortran_statuses_ignore_"
#define BK_SYM_ERRCODES      "mpi_fortran_errcodes_ignore_"
/* mpi_f08 uses the same variables. */
#define BK_SYM_F08_BOTTOM    BK_SYM_BOTTOM
#define BK_SYM_F08_IN_PLACE  BK_SYM_IN_PLACE
#define BK_SYM_F08_UNWEIGHTED    BK_SYM_UNWEIGHTED
#define BK_SYM_F08_WEIGHTS_EMPTY BK_SYM_WEIGHTS_EMPTY
#define BK_SYM_F08_ERRCODES      BK_SYM_ERRCODES
#define BK_SYM_F08_STATUS    BK_SYM_STATUS
#define BK_SYM_F08_STATUSES  BK_SYM_STATUSES

/* Reports whether mpi_f08 returns indices counted from 0. */
static inline int bk_f08_index_from_zero(const char *version) { (void)version; return 0; }

#endif
