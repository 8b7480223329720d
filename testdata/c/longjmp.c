/* An error handler that leaves MPI with longjmp: longjmp ROUNDS */
#include "check.h"

#include <setjmp.h>

static jmp_buf back;

static void handler(MPI_Comm *c, int *code, ...)
{
    (void)c;
    (void)code;
    longjmp(back, 1);
}

/* volatile: the values must survive the jump */
static volatile int jumps, size;

static void try_bad_send(void)
{
    int x = 0;
    if (setjmp(back) == 0) {
        MPI_Send(&x, 1, MPI_INT, size + 9, 0, MPI_COMM_WORLD);
        CHECK(0);
    }
    jumps++;
}

int main(int argc, char **argv)
{
    MPI_Errhandler e;
    int n;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    size = n;
    int rounds = number_arg(argc, argv, 1, 5);
    MPI_Comm_create_errhandler(handler, &e);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, e);
    for (int i = 0; i < rounds; i++) {
        try_bad_send();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    CHECK(jumps == rounds);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&e);
    say_ok("longjmp", jumps);
    MPI_Finalize();
    return 0;
}
