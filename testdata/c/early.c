/* early FILE: the last rank is killed in a receive, after a second; the others go on for two more, and rank 0 then writes
 * the time of day to FILE. */
#include "check.h"

#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, size, x;
    struct timespec now;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == size - 1) {
        alarm(1);
        MPI_Recv(&x, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (unsigned left = 3; left > 0;)
        left = sleep(left);     /* MPICH tells survivors with a signal */
    if (rank == 0 && argc > 1) {
        FILE *f = fopen(argv[1], "w");
        CHECK(f != NULL && clock_gettime(CLOCK_REALTIME, &now) == 0);
        fprintf(f, "%lld\n", (long long)now.tv_sec * 1000000000 + now.tv_nsec);
        CHECK(fclose(f) == 0);
    }
    return 0; /* MPI_Finalize waits for the rank that is gone */
}
