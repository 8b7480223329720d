/* 3-D halo exchange with nonblocking messages on a grid of ranks. The domain is
 * periodic, or has borders with MPI_PROC_NULL as neighbour, or open borders
 * without calls: grid STEPS [periodic|null|open [PX PY PZ]] */
#include "check.h"

#include <string.h>

enum { FACES = 6, MOST = 30 * 24 };

static const int area[3] = { 24 * 20, 30 * 20, 30 * 24 };
static int rank, neighbour[FACES], faces;
static int dim[FACES], side[FACES];
static double in[FACES][MOST], out[FACES][MOST];
static MPI_Comm cart;

static void setup(int argc, char **argv, const char *border)
{
    int size, dims[3] = { 0, 0, 0 }, periods[3];
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int d = 0; d < 3; d++) {
        dims[d] = number_arg(argc, argv, 3 + d, 0);
        periods[d] = strcmp(border, "periodic") == 0;
    }
    MPI_Dims_create(size, 3, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 1, &cart);
    MPI_Comm_rank(cart, &rank);
    for (int d = 0; d < 3; d++) {
        int near[2];
        MPI_Cart_shift(cart, d, 1, &near[0], &near[1]);
        for (int s = 0; s < 2; s++) {
            if (near[s] == MPI_PROC_NULL && strcmp(border, "open") == 0)
                continue;
            neighbour[faces] = near[s];
            dim[faces] = d;
            side[faces++] = s;
        }
    }
}

static void exchange(int step)
{
    MPI_Request r[2 * FACES];
    for (int i = 0; i < faces; i++) {
        out[i][0] = step * 1000 + rank;
        MPI_Irecv(in[i], area[dim[i]], MPI_DOUBLE, neighbour[i], 2 * dim[i] + 1 - side[i], cart, &r[i]);
    }
    for (int i = 0; i < faces; i++)
        MPI_Isend(out[i], area[dim[i]], MPI_DOUBLE, neighbour[i], 2 * dim[i] + side[i], cart,
                  &r[faces + i]);
    MPI_Waitall(2 * faces, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < faces; i++)
        CHECK(neighbour[i] == MPI_PROC_NULL || in[i][0] == step * 1000 + neighbour[i]);
}

int main(int argc, char **argv)
{
    double mine, most;
    MPI_Init(&argc, &argv);
    int steps = number_arg(argc, argv, 1, 25);
    setup(argc, argv, argc > 2 ? argv[2] : "null");
    for (int i = 0; i < steps; i++) {
        exchange(i);
        if (i % 10 == 9) {
            mine = rank;
            MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, cart);
        }
    }
    MPI_Barrier(cart);
    MPI_Comm_free(&cart);
    say_ok("grid", steps);
    MPI_Finalize();
    return 0;
}
