/* Cost of a call whose outcome is forced: messages of a process to itself, received from any source, requests that
 * complete in any order. Of 8 calls 6 have an outcome that MPI leaves open: forced N
 *
 * Prints nanoseconds of processor time per call. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    int a = 1, b = 0, index, count, indices[2];
    long n = argc > 1 ? atol(argv[1]) : 1000000;
    MPI_Request r[2];
    MPI_Status st[2];
    MPI_Init(&argc, &argv);
    double start = cpu_ns();
    for (long i = 0; i < n; i += 8) {
        MPI_Irecv(&b, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &r[0]);
        MPI_Isend(&a, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, &r[1]);
        MPI_Waitany(2, r, &index, st);
        MPI_Waitsome(2, r, &count, indices, st);
        MPI_Isend(&a, 1, MPI_INT, 0, 6, MPI_COMM_WORLD, &r[1]);
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, st);
        MPI_Recv(&b, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, st);
        MPI_Waitany(1, &r[1], &index, st);
    }
    double end = cpu_ns();
    MPI_Finalize();
    printf("%.2f\n", (end - start) / (double)n);
    return 0;
}
