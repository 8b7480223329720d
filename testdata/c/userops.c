/* Reduction operations of the program, some of which call MPI: userops ROUNDS */
#include "check.h"

static void first(void *a, void *b, int *n, MPI_Datatype *t)
{
    int *x = a, *y = b, size;
    MPI_Type_size(*t, &size);
    for (int i = 0; i < *n; i++)
        y[i] = x[i];    /* associative, not commutative */
}

static void add(void *a, void *b, int *n, MPI_Datatype *t)
{
    int *x = a, *y = b;
    (void)t;
    for (int i = 0; i < *n; i++)
        y[i] += x[i];
}

int main(int argc, char **argv)
{
    int rank, size, commute;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int rounds = number_arg(argc, argv, 1, 6);
    for (int i = 0; i < rounds; i++) {
        MPI_Op f, s;
        int x[3] = { rank + 1, 0, 0 }, y[3];
        MPI_Op_create(first, 0, &f);
        MPI_Op_create(add, 1, &s);
        MPI_Op_commutative(f, &commute);
        CHECK(!commute);
        MPI_Allreduce(x, y, 3, MPI_INT, f, MPI_COMM_WORLD);
        CHECK(y[0] == 1);
        MPI_Scan(x, y, 3, MPI_INT, s, MPI_COMM_WORLD);
        CHECK(y[0] == (rank + 1) * (rank + 2) / 2);
        MPI_Reduce_local(x, y, 3, MPI_INT, s);
        MPI_Op_free(&f);
        MPI_Op_free(&s);
        CHECK(f == MPI_OP_NULL);
    }
    say_ok("userops", rounds);
    MPI_Finalize();
    return 0;
}
