/* Calls that fail where those of others succeed: receives too short for their
 * message, and a broadcast with other data on the last rank. Errors are returned. */
#include "check.h"

static int rank, size, x[8], y[8];
static MPI_Comm world = MPI_COMM_WORLD;

static void failed(int rc)
{
    int class;
    MPI_Error_class(rc, &class);
    CHECK(class == MPI_ERR_TRUNCATE);
}

static void receive(int from, int tag)
{
    failed(MPI_Recv(y, 1, MPI_INT, from, tag, world, MPI_STATUS_IGNORE));
}

static void matched(int from)
{
    MPI_Message m;
    MPI_Mprobe(from, 3, world, &m, MPI_STATUS_IGNORE);
    failed(MPI_Mrecv(y, 1, MPI_INT, &m, MPI_STATUS_IGNORE));
}

static void posted(int from)
{
    MPI_Request r;
    MPI_Irecv(y, 1, MPI_INT, from, 4, world, &r);
    failed(MPI_Wait(&r, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    int left = (rank + size - 1) % size, right = (rank + 1) % size, rc;
    for (int i = 0; i < 3; i++) {
        MPI_Request r[4];
        for (int tag = 1; tag <= 4; tag++)
            MPI_Isend(x, 3, MPI_INT, right, tag, world, &r[tag - 1]);
        receive(left, 1);
        receive(MPI_ANY_SOURCE, 2);
        matched(left);
        posted(left);
        MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
        failed(MPI_Sendrecv(x, 3, MPI_INT, right, 5, y, 1, MPI_INT, left, 5, world, MPI_STATUS_IGNORE));
        MPI_Barrier(world);
    }
    rc = MPI_Bcast(x, rank == size - 1 ? 1 : 4, MPI_INT, 0, world);
    CHECK((rc != MPI_SUCCESS) == (rank == size - 1));
    for (int i = 0; i < 5; i++)
        MPI_Allreduce(x, y, 1, MPI_INT, MPI_SUM, world);
    say_ok("failing", 3);
    MPI_Finalize();
    return 0;
}
