/* Data that is sent with one datatype and received with another of the same type signature,
 * also in collectives. "wrong" adds a message and a broadcast with different signatures: two
 * basic datatypes in another order. */
#include "check.h"

#include <stddef.h>
#include <string.h>

static int rank, size;
static char out[4096], in[4096];

/* Rank 0 sends, the last one receives. */
static void message(int n, MPI_Datatype a, int m, MPI_Datatype b)
{
    if (rank == 0)
        MPI_Send(out, n, a, size - 1, 1, MPI_COMM_WORLD);
    else if (rank == size - 1)
        MPI_Recv(in, m, b, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* The last rank has the other datatype. */
static void broadcast(int n, MPI_Datatype a, int m, MPI_Datatype b)
{
    if (rank < size - 1)
        MPI_Bcast(out, n, a, 0, MPI_COMM_WORLD);
    else
        MPI_Bcast(out, m, b, 0, MPI_COMM_WORLD);
}

static MPI_Datatype made(MPI_Datatype t)
{
    MPI_Type_commit(&t);
    return t;
}

static MPI_Datatype record(int n, int a, MPI_Datatype x, int b, MPI_Datatype y, int c, MPI_Datatype z)
{
    MPI_Datatype t, types[] = { x, y, z };
    int lengths[] = { a, b, c };
    MPI_Aint at[] = { 0, 16, 64 };
    MPI_Type_create_struct(n, lengths, at, types, &t);
    return made(t);
}

int main(int argc, char **argv)
{
    MPI_Datatype t[8];
    int two = 2, sizes[] = { 4, 4 }, sub[] = { 2, 3 }, from[] = { 1, 1 };
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    /* a member of length 0 does not count */
    t[0] = record(3, 1, MPI_DOUBLE, 0, MPI_FLOAT, 1, MPI_INT);
    t[1] = record(2, 1, MPI_DOUBLE, 1, MPI_INT, 0, MPI_INT);
    message(3, t[0], 3, t[1]);
    broadcast(3, t[0], 3, t[1]);
    /* pairs */
    message(2, MPI_DOUBLE_INT, 2, t[1]);
    broadcast(2, t[0], 2, MPI_DOUBLE_INT);
    message(2, MPI_2INT, 4, MPI_INT);
    /* a message may be the beginning of what is received */
    message(1, MPI_DOUBLE, 1, t[1]);
    /* an empty message is of any datatype */
    message(0, MPI_FLOAT, 4, MPI_INT);
    /* where elements are in memory does not matter */
    MPI_Type_vector(2, 3, 5, MPI_INT, &t[2]);
    MPI_Type_create_subarray(2, sizes, sub, from, MPI_ORDER_C, MPI_INT, &t[3]);
    MPI_Type_contiguous(two, MPI_DOUBLE_INT, &t[4]);
    t[5] = record(2, 2, MPI_DOUBLE_INT, 0, MPI_BYTE, 0, MPI_INT);
    MPI_Type_create_resized(MPI_INT, 0, 32, &t[6]);
    for (int i = 2; i < 7; i++)
        if (i != 5)
            made(t[i]);
    message(1, t[2], 1, t[3]);
    message(6, t[6], 1, t[2]);
    broadcast(1, t[3], 6, t[6]);
    message(2, t[4], 4, MPI_DOUBLE_INT);
    broadcast(1, t[5], 1, t[4]);
    /* others */
    t[7] = record(2, 1, MPI_INT, 1, MPI_DOUBLE, 0, MPI_INT);
    if (argc > 1 && strcmp(argv[1], "wrong") == 0) {
        if (rank == 0)
            MPI_Send(out, 1, t[7], size - 1, 2, MPI_COMM_WORLD);
        else if (rank == size - 1)
            MPI_Recv(in, 1, t[1], 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        broadcast(1, t[7], 1, t[1]);
    }
    for (int i = 0; i < 8; i++)
        MPI_Type_free(&t[i]);
    say_ok("typesig", 1);
    MPI_Finalize();
    return 0;
}
