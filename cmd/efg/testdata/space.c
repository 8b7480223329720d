/* An MPI program whose calls do not repeat, so that their recording grows. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    long n = argc > 1 ? strtol(argv[1], NULL, 10) : 1000, sum = 0;
    uint64_t x = 88172645463325252;
    int rank, in = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < n; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        int tag = (int)(x & 0x7fff);
        MPI_Sendrecv(&i, 1, MPI_INT, rank, tag, &in, 1, MPI_INT, rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sum += in ^ tag;
    }
    MPI_Finalize();
    printf("sum %ld\n", sum);
    return 3;
}
