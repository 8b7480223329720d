/* Messages of each rank to itself, on MPI_COMM_SELF and MPI_COMM_WORLD: selfsend [vary|copy|lost].
 * With "copy" also on a duplicate of MPI_COMM_SELF; with "lost" the last one is never received. */
#include "check.h"

#include <string.h>

static int rank, size, in, out;

static void exchange(MPI_Comm comm, int self)
{
    MPI_Request r;
    for (int i = 0; i < 3; i++) {
        MPI_Irecv(&in, 1, MPI_INT, self, 1, comm, &r);
        MPI_Send(&out, 1, MPI_INT, self, 1, comm);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        MPI_Sendrecv(&out, 1, MPI_INT, self, 3, &in, 1, MPI_INT, self, 3, comm, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(comm);
}

static void vary(MPI_Comm comm) /* wildcards, and a persistent receive */
{
    MPI_Request r;
    for (int i = 0; i < 3; i++) {
        MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 2, comm, &r);
        MPI_Ssend(&out, 1, MPI_INT, 0, 2, comm);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    MPI_Recv_init(&in, 1, MPI_INT, 0, 4, comm, &r);
    MPI_Start(&r);
    MPI_Send(&out, 1, MPI_INT, 0, 4, comm);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Request_free(&r);
}

int main(int argc, char **argv)
{
    MPI_Comm copy;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char *what = argc > 1 ? argv[1] : "";
    exchange(MPI_COMM_SELF, 0);
    exchange(MPI_COMM_WORLD, rank);
    if (strcmp(what, "vary") == 0)
        vary(MPI_COMM_SELF);
    if (strcmp(what, "copy") == 0) {
        MPI_Comm_dup(MPI_COMM_SELF, &copy);
        exchange(copy, 0);
        vary(copy);
        MPI_Comm_free(&copy);
    }
    if (strcmp(what, "lost") == 0) {
        MPI_Request r;
        MPI_Isend(&out, 1, MPI_INT, 0, 5, MPI_COMM_SELF, &r);
        MPI_Request_free(&r);
    }
    MPI_Finalize();
    return 0;
}
