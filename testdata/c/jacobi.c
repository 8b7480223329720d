/* 2-D Jacobi iteration with halo exchange: jacobi ITERATIONS */
#include "check.h"

#include <math.h>
#include <string.h>

enum { N = 24 };    /* points per rank and dimension, without halo */

typedef struct grid {
    double u[N + 2][N + 2], v[N + 2][N + 2];
    MPI_Comm cart;
    MPI_Datatype column;
    int up, down, left, right;
} grid;

static void setup(grid *g)
{
    int size, dims[2] = { 0, 0 }, periods[2] = { 0, 0 };
    memset(g, 0, sizeof *g);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &g->cart);
    MPI_Cart_shift(g->cart, 0, 1, &g->up, &g->down);
    MPI_Cart_shift(g->cart, 1, 1, &g->left, &g->right);
    MPI_Type_vector(N, 1, N + 2, MPI_DOUBLE, &g->column);
    MPI_Type_commit(&g->column);
    if (g->up == MPI_PROC_NULL)
        for (int j = 0; j < N + 2; j++)
            g->u[0][j] = g->v[0][j] = 1.0;
}

static void exchange(grid *g)
{
    MPI_Request r[8];
    MPI_Irecv(&g->u[0][1], N, MPI_DOUBLE, g->up, 1, g->cart, &r[0]);
    MPI_Irecv(&g->u[N + 1][1], N, MPI_DOUBLE, g->down, 2, g->cart, &r[1]);
    MPI_Irecv(&g->u[1][0], 1, g->column, g->left, 3, g->cart, &r[2]);
    MPI_Irecv(&g->u[1][N + 1], 1, g->column, g->right, 4, g->cart, &r[3]);
    MPI_Isend(&g->u[N][1], N, MPI_DOUBLE, g->down, 1, g->cart, &r[4]);
    MPI_Isend(&g->u[1][1], N, MPI_DOUBLE, g->up, 2, g->cart, &r[5]);
    MPI_Isend(&g->u[1][N], 1, g->column, g->right, 3, g->cart, &r[6]);
    MPI_Isend(&g->u[1][1], 1, g->column, g->left, 4, g->cart, &r[7]);
    MPI_Waitall(8, r, MPI_STATUSES_IGNORE);
}

static double sweep(grid *g)
{
    double diff = 0;
    for (int i = 1; i <= N; i++)
        for (int j = 1; j <= N; j++) {
            g->v[i][j] = 0.25 * (g->u[i - 1][j] + g->u[i + 1][j] + g->u[i][j - 1] + g->u[i][j + 1]);
            diff = fmax(diff, fabs(g->v[i][j] - g->u[i][j]));
        }
    for (int i = 1; i <= N; i++)
        memcpy(&g->u[i][1], &g->v[i][1], N * sizeof(double));
    return diff;
}

int main(int argc, char **argv)
{
    static grid g;
    double diff, all = 1;
    MPI_Init(&argc, &argv);
    setup(&g);
    int iterations = number_arg(argc, argv, 1, 100);
    for (int i = 0; i < iterations; i++) {
        exchange(&g);
        diff = sweep(&g);
        if (i % 10 == 9 || i == iterations - 1)
            MPI_Allreduce(&diff, &all, 1, MPI_DOUBLE, MPI_MAX, g.cart);
    }
    CHECK(all < 1);
    say_ok("jacobi", all);
    MPI_Type_free(&g.column);
    MPI_Comm_free(&g.cart);
    MPI_Finalize();
    return 0;
}
