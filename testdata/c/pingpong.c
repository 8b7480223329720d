/* Each rank of the first half and one of the second send a message to and fro, in rounds; from time
 * to time all do something together. Argument: milliseconds. */
#include "check.h"

#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

enum { FEW = 8 };

static void to_and_fro(int peer, int first)
{
    int sent = 0, got = -1;
    for (int i = 0; i < FEW; i++) {
        if (first)
            MPI_Send(&sent, 1, MPI_INT, peer, 1, MPI_COMM_WORLD);
        MPI_Recv(&got, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(got == sent);
        if (!first)
            MPI_Send(&sent, 1, MPI_INT, peer, 1, MPI_COMM_WORLD);
        sent++;
    }
}

int main(int argc, char **argv)
{
    int rank, size, sum = 0, one = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int half = size / 2, rounds = argc > 1 ? atoi(argv[1]) : 20;
    for (int i = 0; i < rounds; i++) {
        usleep(1000);
        if (rank < 2 * half)
            to_and_fro(rank < half ? rank + half : rank - half, rank < half);
        if (i % 4 == 0)
            MPI_Barrier(MPI_COMM_WORLD);
        if (i % 4 == 1) {
            MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            CHECK(sum == size);
        }
        if (i % 4 == 2)
            MPI_Bcast(&one, 1, MPI_INT, i % size, MPI_COMM_WORLD);
        if (i % 4 == 3)
            MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, i % size, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
