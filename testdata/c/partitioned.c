/* Partitioned communication (MPI 4): partitioned ROUNDS */
#include "check.h"

enum { PARTS = 4, N = 8 };

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rounds = number_arg(argc, argv, 1, 5);
#if MPI_VERSION >= 4
    int rank, size, out[PARTS * N], in[PARTS * N], flag;
    MPI_Request r[2];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    MPI_Precv_init(in, PARTS, N, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
    MPI_Psend_init(out, PARTS, N, MPI_INT, right, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);
    for (int i = 0; i < rounds; i++) {
        int list[1] = { 3 };
        for (int k = 0; k < PARTS * N; k++)
            out[k] = 1000 * i + k + rank;
        MPI_Startall(2, r);
        MPI_Pready(0, r[1]);
        MPI_Pready_range(1, 2, r[1]);
        MPI_Pready_list(1, list, r[1]);
        for (flag = 0; !flag;)
            MPI_Parrived(r[0], i % PARTS, &flag);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        CHECK(in[PARTS * N - 1] == 1000 * i + PARTS * N - 1 + left);
    }
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
#endif
    say_ok("partitioned", rounds);
    MPI_Finalize();
    return 0;
}
