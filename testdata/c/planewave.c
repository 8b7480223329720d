/* Like a plane-wave code: bands are distributed over groups of processes, each of which
 * transforms its own with Alltoallv over uneven columns of the grid; the number of bands
 * that have not converged differs from step to step: planewave STEPS */
#include "check.h"

enum { MAX = 64, BANDS = 12, GRID = 18, ROOM = 1 << 16 };

static int rank, size, groups, in_group;
static MPI_Comm group, across;
static double in[ROOM], out[ROOM];
static int send_counts[MAX], send_at[MAX], receive_counts[MAX], receive_at[MAX];
static unsigned seed = 3;

static int random_number(int below)
{
    seed = seed * 1103515245u + 12345u;
    return (int)((seed >> 16) % (unsigned)below);
}

/* Number of columns and planes of the grid that process p of the group owns. */
static int columns_of(int p, int n) { return GRID * GRID / (2 * n) + (p * 5 + 3) % 4; }
static int planes_of(int p, int n) { return GRID / n + (p < GRID % n); }

static void lay_out(int n)
{
    for (int p = 0, s = 0, r = 0; p < n; p++) {
        send_counts[p] = columns_of(in_group, n) * planes_of(p, n);
        receive_counts[p] = columns_of(p, n) * planes_of(in_group, n);
        send_at[p] = s;
        receive_at[p] = r;
        s += send_counts[p];
        r += receive_counts[p];
    }
}

static void transform(int forward)
{
    if (forward)
        MPI_Alltoallv(in, send_counts, send_at, MPI_DOUBLE, out, receive_counts, receive_at, MPI_DOUBLE, group);
    else
        MPI_Alltoallv(out, receive_counts, receive_at, MPI_DOUBLE, in, send_counts, send_at, MPI_DOUBLE, group);
}

/* Applies the Hamiltonian to some bands. */
static void apply(int bands, int mode)
{
    for (int b = 0; b < bands; b++) {
        transform(1);
        transform(0);
        if (mode && b % 3 == 0)
            MPI_Allreduce(in, out, 8, MPI_DOUBLE, MPI_SUM, group);
    }
}

/* Finds the eigenvectors of the bands that have not converged. */
static int diagonalize(int k)
{
    int left = BANDS / groups, basis = left, rounds = 0;
    while (left > 0 && rounds < 8) {
        apply(left, k % 2);
        MPI_Allreduce(in, out, basis * left, MPI_DOUBLE, MPI_SUM, group);
        MPI_Bcast(out, basis, MPI_DOUBLE, 0, group);
        basis += left;
        left -= 1 + random_number(2);
        rounds++;
    }
    return rounds;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size <= MAX);
    int steps = number_arg(argc, argv, 1, 12), rounds = 0, n;
    groups = size >= 4 ? 2 : 1;
    MPI_Comm_split(MPI_COMM_WORLD, rank % groups, rank, &group);
    MPI_Comm_rank(group, &in_group);
    MPI_Comm_size(group, &n);
    MPI_Comm_split(MPI_COMM_WORLD, in_group, rank, &across);
    lay_out(n);
    for (int s = 0; s < steps; s++) {
        for (int k = 0; k < 4; k++)
            rounds += diagonalize(k);
        MPI_Allreduce(in, out, 64, MPI_DOUBLE, MPI_SUM, across);
        double own = 1.0 / (s + 1), error;
        MPI_Allreduce(&own, &error, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (s % 5 == 4)
            MPI_Gather(in, 16 + s, MPI_DOUBLE, out, 16 + s, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
    MPI_Comm_free(&group);
    MPI_Comm_free(&across);
    say_ok("planewave", rounds);
    MPI_Finalize();
    return 0;
}
