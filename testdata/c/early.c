/* early FILE: rank 1 is killed in a call, by rank 0, which goes on for three seconds when the process is no more, and then
 * writes the time of day to FILE. */
#include "check.h"

#include <errno.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

/* The process ends in the call that sends its number, because the receive in it never ends. */
static void end_in_call(void)
{
    int pid = (int)getpid(), x;
    MPI_Sendrecv(&pid, 1, MPI_INT, 0, 0, &x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void end(pid_t pid)
{
    CHECK(kill(pid, SIGKILL) == 0);
    while (kill(pid, 0) == 0)
        usleep(1000);
    CHECK(errno == ESRCH);
    for (unsigned left = 3; left > 0;)
        left = sleep(left);     /* MPICH tells survivors with a signal */
}

int main(int argc, char **argv)
{
    int rank, size, pid;
    struct timespec now;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size == 2 && argc == 2);
    if (rank == 1)
        end_in_call();
    MPI_Recv(&pid, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    end(pid);
    FILE *f = fopen(argv[1], "w");
    CHECK(f != NULL && clock_gettime(CLOCK_REALTIME, &now) == 0);
    fprintf(f, "%lld\n", (long long)now.tv_sec * 1000000000 + now.tv_nsec);
    CHECK(fclose(f) == 0);
    return 0; /* MPI_Finalize waits for the rank that is gone */
}
