/* The loops of the event flow graph paper: a loop, a loop in a loop, and a
 * branch that is taken every third time: loops OUTER */
#include "check.h"

static int rank, size, left, right;

static void exchange(int tag, int n)
{
    double a[64] = { 0 }, b[64];
    if (rank % 2) {
        MPI_Send(a, n, MPI_DOUBLE, right, tag, MPI_COMM_WORLD);
        MPI_Recv(b, n, MPI_DOUBLE, left, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(b, n, MPI_DOUBLE, left, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(a, n, MPI_DOUBLE, right, tag, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    int total = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size % 2 == 0);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    int outer = number_arg(argc, argv, 1, 12);
    for (int i = 0; i < outer; i++) {
        for (int j = 0; j < 5; j++) {
            exchange(1, 8);
            if (j % 3 == 2)
                exchange(2, 16);
        }
        if (i % 3 == 0)
            MPI_Bcast(&total, 1, MPI_INT, i % size, MPI_COMM_WORLD);
        int one = 1, sum;
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        total += sum;
    }
    CHECK(total == outer * size);
    say_ok("loops", total);
    MPI_Finalize();
    return 0;
}
