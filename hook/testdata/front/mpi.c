/* A stand-in for an MPI library: a few names, and results that tell whether all
 * arguments arrived. */
#include <stdarg.h>

int PMPI_Init(int *argc, char ***argv) { (void)argc; (void)argv; return 0; }
int PMPI_Barrier(void *comm) { return 50 + (int)(long)comm; }
void pmpi_barrier_(int *comm, int *ierr) { *ierr = 70 + *comm; }

/* By these names, for what a library calls may be another's. */
int MPI_Init(int *argc, char ***argv) { return PMPI_Init(argc, argv) + PMPI_Barrier((void *)4); }
/* A procedure that nobody looks at. */
int MPI_Comm_rank(void *comm, int *rank) { *rank = PMPI_Barrier(comm); return 0; }
int PMPI_Comm_rank(void *comm, int *rank) { *rank = 7; return comm == 0; }

/* Twelve arguments: six of them on the stack. */
int MPI_Sendrecv(const void *a, int b, void *c, int d, int e, void *f, int g, void *h, int i,
                 int j, void *k, void *l)
{
    return (int)((long)a + 2 * b + 3 * (long)c + 4 * d + 5 * e + 6 * (long)f + 7 * g
                 + 8 * (long)h + 9 * i + 10 * j + 11 * (long)k + 12 * (long)l);
}

/* Vector registers, and their number in al. */
int MPI_Pcontrol(const int level, ...)
{
    va_list l;
    double sum = 0;
    va_start(l, level);
    for (int i = 0; i < level; i++) sum += (i + 1) * va_arg(l, double);
    va_end(l);
    return (int)sum;
}

int MPI_Barrier(void *comm) { return 40 + (int)(long)comm; }
void mpi_barrier_(int *comm, int *ierr) { *ierr = 60 + *comm; }
void mpi_barrier_f08_(int *comm, int *ierr) { *ierr = 80 + *comm; }
void mpi_barrier__(int *, int *) __attribute__((alias("mpi_barrier_")));
void MPI_BARRIER(int *, int *) __attribute__((alias("mpi_barrier_")));
