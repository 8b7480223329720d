/* Ranks that sleep, so that a small machine holds many: most of the time inside an MPI
 * call, whose operation of our own does nothing but that. MPI libraries wait for messages
 * by asking all the time, which a few cores cannot do for hundreds of ranks.
 *
 *   sleepers MILLISECONDS    how long a call sleeps. It goes on until it is killed.
 */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

static useconds_t nap;

static void sleep_in_call(void *in, void *inout, int *len, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)len, (void)type;
    usleep(nap);
}

int main(int argc, char **argv)
{
    int rank, x = 0, y = 0;
    MPI_Op op;
    nap = (useconds_t)(argc > 1 ? atoi(argv[1]) : 100) * 1000;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Op_create(sleep_in_call, 1, &op);
    for (;;) {
        MPI_Reduce_local(&x, &y, 1, MPI_INT, op);
        MPI_Sendrecv(&x, 1, MPI_INT, 0, 1, &y, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    }
}
