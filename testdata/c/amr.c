/* Like an adaptive mesh code: neighbour lists and sizes change from time to time,
 * Waitany and Waitsome complete in any order: amr STEPS */
#include "check.h"

enum { MAX = 16, PATCHES = 5 };

static int rank, size;
static unsigned seed = 11;

static int random_number(int below)
{
    seed = seed * 1103515245u + 12345u;
    return (int)((seed >> 16) % (unsigned)below);
}

/* Which rank sends how many messages of which size to which; the same on all ranks. */
static void regrid(int length[MAX][MAX][PATCHES])
{
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++)
            for (int k = 0; k < PATCHES; k++)
                length[i][j][k] = i == j || random_number(3) == 0 ? 0 : 1 + random_number(500);
}

static int post(int length[MAX][MAX][PATCHES], MPI_Request *r, int *receives)
{
    static double in[MAX][PATCHES][512], out[512];
    int n = 0;
    for (int p = 0; p < size; p++)
        for (int k = 0; k < PATCHES; k++)
            if (length[p][rank][k])
                MPI_Irecv(in[p][k], 512, MPI_DOUBLE, p, k, MPI_COMM_WORLD, &r[n++]);
    *receives = n;
    for (int p = 0; p < size; p++)
        for (int k = 0; k < PATCHES; k++)
            if (length[rank][p][k])
                MPI_Isend(out, length[rank][p][k], MPI_DOUBLE, p, k, MPI_COMM_WORLD, &r[n++]);
    return n;
}

int main(int argc, char **argv)
{
    static int length[MAX][MAX][PATCHES];
    static MPI_Request r[2 * MAX * PATCHES];
    long total = 0, expected = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size <= MAX);
    int steps = number_arg(argc, argv, 1, 60);
    for (int s = 0; s < steps; s++) {
        int receives, n, index, got;
        double dt = 1, all;
        if (s % 7 == 0)
            regrid(length);
        n = post(length, r, &receives);
        for (int i = 0; i < receives; i++) {
            MPI_Status st;
            if (s % 2) {
                MPI_Waitany(receives, r, &index, &st);
            } else {
                int list[1 + MAX * PATCHES];
                static MPI_Status sts[MAX * PATCHES];
                MPI_Waitsome(receives, r, &got, list, sts);
                for (int k = 1; k < got; k++) {
                    int c;
                    MPI_Get_count(&sts[k], MPI_DOUBLE, &c);
                    total += c;
                    i++;
                }
                st = sts[0];
            }
            MPI_Get_count(&st, MPI_DOUBLE, &got);
            CHECK(got == length[st.MPI_SOURCE][rank][st.MPI_TAG]);
            total += got;
        }
        MPI_Waitall(n - receives, r + receives, MPI_STATUSES_IGNORE);
        for (int p = 0; p < size; p++)
            for (int k = 0; k < PATCHES; k++)
                expected += length[p][rank][k];
        MPI_Allreduce(&dt, &all, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    }
    CHECK(total == expected);
    say_ok("amr", steps);
    MPI_Finalize();
    return 0;
}
