/* Fields that grow without bound: tags, counts, file offsets, displacements:
 * growing ITERATIONS */
#include "check.h"

int main(int argc, char **argv)
{
    int rank, size, x = 0, y;
    static int mem[4096], out[4096];
    MPI_Win w;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int n = number_arg(argc, argv, 1, 600);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    unsigned seed = 3;
    for (int i = 0; i < n; i++) {
        MPI_Status st;
        /* a tag that counts up, a size that jumps, both the same on all ranks */
        seed = seed * 1664525u + 1013904223u;
        int count = 1 + (int)(seed >> 22);
        MPI_Sendrecv(out, count, MPI_INT, right, i, mem, 4096, MPI_INT, left, i, MPI_COMM_WORLD,
                     &st);
        MPI_Get_count(&st, MPI_INT, &y);
        CHECK(y == count && st.MPI_TAG == i);
    }
    MPI_Win_create(mem, sizeof mem, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w);
    MPI_Win_fence(0, w);
    for (int i = 0; i < n; i++)
        MPI_Put(&x, 1, MPI_INT, right, 4 * (i % 4096), 1, MPI_INT, w);
    MPI_Win_fence(0, w);
    MPI_Win_free(&w);
    for (int i = 0; i < n; i++)
        MPI_Bcast(out, i % 1000, MPI_INT, i % size, MPI_COMM_WORLD);
    say_ok("growing", n);
    MPI_Finalize();
    return 0;
}
