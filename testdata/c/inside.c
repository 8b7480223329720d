/* Hangs in a call inside another one: in a reduction operation every rank receives from its neighbour. With an
 * argument a signal ends it there. */
#include "check.h"

#include <unistd.h>

static int ends;

static void receive(void *a, void *b, int *n, MPI_Datatype *t)
{
    int x, rank, size;
    (void)a, (void)b, (void)n, (void)t;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (ends)
        alarm(1);
    MPI_Recv(&x, 1, MPI_INT, (rank + 1) % size, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int in = 1, out = 2;
    MPI_Op op;
    MPI_Init(&argc, &argv);
    ends = argc > 1;
    MPI_Op_create(receive, 1, &op);
    MPI_Reduce_local(&in, &out, 1, MPI_INT, op);
    say_ok("inside", out);
    MPI_Finalize();
    return 0;
}
