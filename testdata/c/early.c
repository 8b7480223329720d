/* Rank 1 is killed in a call by rank 0, which is in none then, until it returns or is killed by the launcher. */
#include "check.h"

#include <signal.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, size, x, pid = (int)getpid();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size == 2);
    if (rank == 1) /* the call that sends the number does not return, because the receive in it never ends */
        MPI_Sendrecv(&pid, 1, MPI_INT, 0, 0, &x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(&pid, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(kill(pid, SIGKILL) == 0);
    sleep(1);
    return 0; /* MPI_Finalize waits for the rank that is gone */
}
