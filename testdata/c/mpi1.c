/* Procedures of MPI-1 that later versions removed; the libraries still have
 * them: mpi1 ROUNDS */
#include "check.h"

static void handler(MPI_Comm *c, int *code, ...)
{
    (void)c;
    (void)code;
}

static void old_types(int right, int left)
{
    struct { int i; double d; } out = { 3, 4.5 }, in;
    int lengths[2] = { 1, 1 };
    MPI_Aint at[2], base, extent;
    MPI_Datatype parts[2] = { MPI_INT, MPI_DOUBLE }, t, v;
    MPI_Address(&out, &base);
    MPI_Address(&out.i, &at[0]);
    MPI_Address(&out.d, &at[1]);
    at[0] -= base;
    at[1] -= base;
    MPI_Type_struct(2, lengths, at, parts, &t);
    MPI_Type_commit(&t);
    MPI_Type_extent(t, &extent);
    CHECK(extent == (MPI_Aint)sizeof out);
    MPI_Sendrecv(&out, 1, t, right, 1, &in, 1, t, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(in.i == 3 && in.d == 4.5);
    MPI_Type_hvector(3, 1, 32, t, &v);
    MPI_Type_free(&v);
    MPI_Type_hindexed(2, lengths, (MPI_Aint[2]){ 0, 64 }, t, &v);
    MPI_Type_free(&v);
    MPI_Type_free(&t);
}

int main(int argc, char **argv)
{
    int rank, size, key, value = 9, *got, flag;
    MPI_Errhandler e, old;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int rounds = number_arg(argc, argv, 1, 4);
    for (int i = 0; i < rounds; i++) {
        old_types((rank + 1) % size, (rank + size - 1) % size);
        MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, &key, NULL);
        MPI_Attr_put(MPI_COMM_WORLD, key, &value);
        MPI_Attr_get(MPI_COMM_WORLD, key, &got, &flag);
        CHECK(flag && *got == 9);
        MPI_Attr_delete(MPI_COMM_WORLD, key);
        MPI_Keyval_free(&key);
        MPI_Errhandler_create(handler, &e);
        MPI_Errhandler_get(MPI_COMM_WORLD, &old);
        MPI_Errhandler_set(MPI_COMM_WORLD, e);
        CHECK(MPI_Send(&value, 1, MPI_INT, size + 2, 0, MPI_COMM_WORLD) != MPI_SUCCESS);
        MPI_Errhandler_set(MPI_COMM_WORLD, old);
        MPI_Errhandler_free(&e);
        MPI_Errhandler_free(&old);
    }
    say_ok("mpi1", rounds);
    MPI_Finalize();
    return 0;
}
