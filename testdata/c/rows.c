/* A grid of ranks that works in rows and columns, as dense linear algebra does: blocks go around each row, panels
 * down each column, and both have collectives of their own: rows ROWS COLUMNS STEPS */
#include "check.h"

enum { MOST = 64, N = 8 };

int main(int argc, char **argv)
{
    int rank, size, block[N] = { 0 }, sum, counts[MOST], at[MOST];
    static int all[MOST * N], parts[MOST];
    MPI_Comm row, column;
    MPI_Init(&argc, &argv);
    int rows = number_arg(argc, argv, 1, 3), columns = number_arg(argc, argv, 2, 3), steps = number_arg(argc, argv, 3, 10);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size == rows * columns && rows <= MOST && columns <= MOST);
    int y = rank / columns, x = rank % columns;
    MPI_Comm_split(MPI_COMM_WORLD, y, x, &row);
    MPI_Comm_split(MPI_COMM_WORLD, x, y, &column);
    for (int k = 0; k < MOST; k++) {
        counts[k] = 2;
        at[k] = 2 * k;
    }
    for (int i = 0; i < steps; i++) {
        MPI_Sendrecv_replace(block, N, MPI_INT, (x + columns - 1) % columns, 1, (x + 1) % columns, 1, row, MPI_STATUS_IGNORE);
        if (y > 0)
            MPI_Recv(block, N, MPI_INT, y - 1, 2, column, MPI_STATUS_IGNORE);
        if (y < rows - 1)
            MPI_Send(block, N, MPI_INT, y + 1, 2, column);
        MPI_Bcast(block, N, MPI_INT, 0, row);
        MPI_Allgatherv(block, 2, MPI_INT, all, counts, at, MPI_INT, column);
        MPI_Alltoall(parts, 1, MPI_INT, all, 1, MPI_INT, row);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK(sum == size * (size - 1) / 2);
    }
    MPI_Comm_free(&row);
    MPI_Comm_free(&column);
    say_ok("rows", steps);
    MPI_Finalize();
    return 0;
}
