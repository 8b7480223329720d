/* 3-D halo exchange with subarray types, Sendrecv in one round and ordered
 * blocking sends in the next: halo3d ITERATIONS */
#include "check.h"

enum { N = 6, M = N + 2 };

typedef struct block {
    double u[M][M][M];
    MPI_Comm cart;
    MPI_Datatype send[3][2], recv[3][2];
    int neighbour[3][2];
} block;

static MPI_Datatype face(int dim, int at)
{
    int sizes[3] = { M, M, M }, sub[3] = { N, N, N }, start[3] = { 1, 1, 1 };
    MPI_Datatype t;
    sub[dim] = 1;
    start[dim] = at;
    MPI_Type_create_subarray(3, sizes, sub, start, MPI_ORDER_C, MPI_DOUBLE, &t);
    MPI_Type_commit(&t);
    return t;
}

static void setup(block *b)
{
    int size, rank, dims[3] = { 0, 0, 0 }, periods[3] = { 1, 1, 1 };
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 3, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 1, &b->cart);
    MPI_Comm_rank(b->cart, &rank);
    for (int d = 0; d < 3; d++) {
        MPI_Cart_shift(b->cart, d, 1, &b->neighbour[d][0], &b->neighbour[d][1]);
        b->send[d][0] = face(d, 1);
        b->send[d][1] = face(d, N);
        b->recv[d][0] = face(d, 0);
        b->recv[d][1] = face(d, N + 1);
    }
    for (int i = 0; i < M * M * M; i++)
        (&b->u[0][0][0])[i] = rank;
}

static void sendrecv_round(block *b)
{
    for (int d = 0; d < 3; d++)
        for (int s = 0; s < 2; s++)
            MPI_Sendrecv(b->u, 1, b->send[d][s], b->neighbour[d][s], 10 * d + s,
                         b->u, 1, b->recv[d][!s], b->neighbour[d][!s], 10 * d + s,
                         b->cart, MPI_STATUS_IGNORE);
}

static void ordered_round(block *b)
{
    for (int d = 0; d < 3; d++)
        for (int s = 0; s < 2; s++) {
            MPI_Request r;
            MPI_Status st;
            int n;
            MPI_Isend(b->u, 1, b->send[d][s], b->neighbour[d][s], 10 * d + s, b->cart, &r);
            MPI_Recv(b->u, 1, b->recv[d][!s], b->neighbour[d][!s], 10 * d + s, b->cart, &st);
            MPI_Wait(&r, MPI_STATUS_IGNORE);
            MPI_Get_count(&st, b->recv[d][!s], &n);
            CHECK(n == 1 && st.MPI_SOURCE == b->neighbour[d][!s]);
        }
}

int main(int argc, char **argv)
{
    static block b;
    double sum, all;
    MPI_Init(&argc, &argv);
    setup(&b);
    int iterations = number_arg(argc, argv, 1, 10);
    for (int i = 0; i < iterations; i++) {
        if (i % 2)
            ordered_round(&b);
        else
            sendrecv_round(&b);
    }
    for (int d = 0; d < 3; d++) {
        int p[3] = { 1, 1, 1 };
        p[d] = 0;
        CHECK(b.u[p[0]][p[1]][p[2]] == b.neighbour[d][0]);
        p[d] = N + 1;
        CHECK(b.u[p[0]][p[1]][p[2]] == b.neighbour[d][1]);
    }
    sum = b.u[0][1][1];
    MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, b.cart);
    for (int d = 0; d < 3; d++)
        for (int s = 0; s < 2; s++) {
            MPI_Type_free(&b.send[d][s]);
            MPI_Type_free(&b.recv[d][s]);
        }
    say_ok("halo3d", iterations);
    MPI_Comm_free(&b.cart);
    MPI_Finalize();
    return 0;
}
