/* Dynamic processes: a spawned pair of children. Some builds of MPICH cannot
 * (the UCX netmod): then the error is returned to the program: spawn */
#include "check.h"

#include <string.h>

static void child(MPI_Comm parent)
{
    int rank, x, sum;
    MPI_Comm all;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Bcast(&x, 1, MPI_INT, 0, parent);
    CHECK(x == 17);
    x += rank;
    MPI_Send(&x, 1, MPI_INT, 0, 5, parent);
    MPI_Intercomm_merge(parent, 1, &all);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, all);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&parent);
}

static int parents(char *self)
{
    int rank, x = 17, sum, errors[2];
    MPI_Comm children, all;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (MPI_Comm_spawn(self, MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                       errors) != MPI_SUCCESS)
        return 0;
    MPI_Bcast(&x, 1, MPI_INT, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, children);
    if (rank == 0)
        for (int i = 0; i < 2; i++) {
            MPI_Recv(&x, 1, MPI_INT, i, 5, children, MPI_STATUS_IGNORE);
            CHECK(x == 17 + i);
        }
    MPI_Intercomm_merge(children, 0, &all);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, all);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&children);
    return 2;
}

int main(int argc, char **argv)
{
    MPI_Comm parent;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        child(parent);
    } else {
        say_ok("spawn", parents(argv[0]));
    }
    MPI_Finalize();
    return 0;
}
