/* Two halves of a job connect through a port, if the MPI library can: ports */
#include "check.h"

int main(int argc, char **argv)
{
    int rank, size, mine, x, y = -1, able = 1;
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm half, other;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size % 2 == 0);
    mine = rank % 2;
    MPI_Comm_split(MPI_COMM_WORLD, mine, rank, &half);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (rank == 0)
        able = MPI_Open_port(MPI_INFO_NULL, port) == MPI_SUCCESS;
    MPI_Bcast(&able, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (!able) {
        say_ok("ports", 0);
        MPI_Finalize();
        return 0;
    }
    MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (mine == 0)
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &other);
    else
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &other);
    MPI_Comm_rank(half, &x);
    MPI_Sendrecv(&rank, 1, MPI_INT, x, 3, &y, 1, MPI_INT, x, 3, other, MPI_STATUS_IGNORE);
    CHECK(y == (rank ^ 1));
    MPI_Comm_disconnect(&other);
    if (rank == 0)
        MPI_Close_port(port);
    MPI_Comm_free(&half);
    say_ok("ports", 1);
    MPI_Finalize();
    return 0;
}
