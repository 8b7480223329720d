// Exceptions that leave MPI: from an error handler, into functions that then call MPI from deeper and
// from higher places on the stack, and out of a call inside a call: leaves ROUNDS
#include "../c/check.h"

#include <stdexcept>

static MPI_Comm faulty;
static int caught;

static void handler(MPI_Comm *, int *code, ...)
{
    int x = 0, y = 1;
    MPI_Sendrecv(&x, 1, MPI_INT, 0, 1, &y, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    CHECK(y == 0);
    throw std::runtime_error("code " + std::to_string(*code));
}

static void fail()
{
    int x = 0;
    MPI_Send(&x, 1, MPI_INT, 9999, 0, faulty);
    CHECK(0);
}

__attribute__((noinline)) static void try_to_fail()
{
    try {
        fail();
    } catch (const std::runtime_error &) {
        caught++;
    }
}

// Its frames are where those of the call that was left were.
__attribute__((noinline)) static int deeper(int levels)
{
    volatile char room[256];
    room[0] = 0;
    if (levels > 0)
        return deeper(levels - 1) + room[0];
    MPI_Barrier(MPI_COMM_WORLD);
    return 0;
}

// The exception stays inside the operation, which goes on.
static void op(void *a, void *b, int *n, MPI_Datatype *)
{
    try_to_fail();
    int x = 3, y = 0;
    MPI_Sendrecv(&x, 1, MPI_INT, 0, 2, &y, 1, MPI_INT, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    CHECK(y == 3);
    try_to_fail();
    for (int i = 0; i < *n; i++)
        static_cast<int *>(b)[i] += static_cast<int *>(a)[i];
}

int main(int argc, char **argv)
{
    MPI_Errhandler h;
    MPI_Op add;
    MPI_Init(&argc, &argv);
    int rounds = number_arg(argc, argv, 1, 4);
    MPI_Comm_dup(MPI_COMM_WORLD, &faulty);
    MPI_Comm_create_errhandler(handler, &h);
    MPI_Comm_set_errhandler(faulty, h);
    MPI_Op_create(op, 1, &add);
    for (int i = 0; i < rounds; i++) {
        try_to_fail();
        deeper(20);
        try_to_fail();
        deeper(0);
        int x = 1, y = 2;
        MPI_Reduce_local(&x, &y, 1, MPI_INT, add);
        CHECK(y == 3);
        MPI_Barrier(MPI_COMM_WORLD);
        try_to_fail();
    }
    CHECK(caught == 5 * rounds);
    MPI_Op_free(&add);
    MPI_Errhandler_free(&h);
    say_ok("leaves", rounds);
    MPI_Finalize();
    return 0;
}
