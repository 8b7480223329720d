/* Large-count procedures (MPI 4): large ROUNDS */
#include "check.h"

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rounds = number_arg(argc, argv, 1, 4);
#if MPI_VERSION >= 4
    int rank, size, out[64] = { 0 }, in[256];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size <= 4);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    for (int i = 0; i < rounds; i++) {
        MPI_Count n = 10 + i, got, counts[4] = { 1, 2, 1, 2 }, sizes[1] = { 16 }, sub[1] = { 8 },
                  start[1] = { i % 8 };
        MPI_Aint displs[4] = { 0, 8, 16, 24 };
        MPI_Status st;
        MPI_Request r[3];
        MPI_Datatype t;
        MPI_Irecv_c(in, n, MPI_INT, left, i, MPI_COMM_WORLD, &r[0]);
        MPI_Isend_c(out, n - 1, MPI_INT, right, i, MPI_COMM_WORLD, &r[1]);
        MPI_Wait(&r[0], &st);
        MPI_Get_count_c(&st, MPI_INT, &got);
        CHECK(got == n - 1);
        MPI_Wait(&r[1], MPI_STATUS_IGNORE);
        MPI_Bcast_c(in, n, MPI_INT, 0, MPI_COMM_WORLD);
        out[0] = 1;
        MPI_Allreduce_c(out, in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK(in[0] == size);
        MPI_Allgatherv_c(out, counts[rank], MPI_INT, in, counts, displs, MPI_INT, MPI_COMM_WORLD);
        MPI_Gatherv_c(out, counts[rank], MPI_INT, in, rank ? NULL : counts, rank ? NULL : displs,
                      MPI_INT, 0, MPI_COMM_WORLD);
        MPI_Type_create_subarray_c(1, sizes, sub, start, MPI_ORDER_C, MPI_INT, &t);
        MPI_Type_commit(&t);
        MPI_Sendrecv_c(out, 1, t, right, 9, in, 1, t, left, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Type_free(&t);
        MPI_Type_contiguous_c(n, MPI_INT, &t);
        MPI_Type_commit(&t);
        MPI_Sendrecv(out, 1, t, right, 9, in, n, MPI_INT, left, 9, MPI_COMM_WORLD, &st);
        MPI_Type_free(&t);
    }
#endif
    say_ok("large", rounds);
    MPI_Finalize();
    return 0;
}
