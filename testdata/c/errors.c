/* Errors that are returned to the program: errors ROUNDS */
#include "check.h"

static int class_of(int rc)
{
    int class;
    MPI_Error_class(rc, &class);
    return class;
}

int main(int argc, char **argv)
{
    int rank, size, x[8] = { 0 }, y[8], rc;
    MPI_Status st[2];
    MPI_Request r[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    int rounds = number_arg(argc, argv, 1, 5);
    for (int i = 0; i < rounds; i++) {
        rc = MPI_Send(x, 1, MPI_INT, size + 5, 0, MPI_COMM_WORLD);
        CHECK(class_of(rc) == MPI_ERR_RANK);
        rc = MPI_Send(x, 1, MPI_INT, 0, -77, MPI_COMM_WORLD);
        CHECK(class_of(rc) == MPI_ERR_TAG);
        rc = MPI_Send(x, -1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        CHECK(class_of(rc) == MPI_ERR_COUNT);
        rc = MPI_Isend(x, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD, &r[0]);
        CHECK(class_of(rc) == MPI_ERR_TYPE);
        rc = MPI_Bcast(x, 1, MPI_INT, size + 1, MPI_COMM_WORLD);
        CHECK(class_of(rc) == MPI_ERR_ROOT);
        /* a message that is too long for one receive of two */
        MPI_Irecv(&y[0], 1, MPI_INT, left, 1, MPI_COMM_WORLD, &r[0]);
        MPI_Irecv(&y[4], 1, MPI_INT, left, 2, MPI_COMM_WORLD, &r[1]);
        MPI_Send(x, 3, MPI_INT, right, 1, MPI_COMM_WORLD);
        MPI_Send(x, 1, MPI_INT, right, 2, MPI_COMM_WORLD);
        if (i % 2) {
            rc = MPI_Waitall(2, r, st);
            CHECK(class_of(rc) == MPI_ERR_IN_STATUS);
            CHECK(class_of(st[0].MPI_ERROR) == MPI_ERR_TRUNCATE);
        } else {
            rc = MPI_Wait(&r[0], MPI_STATUS_IGNORE);
            CHECK(class_of(rc) == MPI_ERR_TRUNCATE);
            rc = MPI_Wait(&r[1], &st[1]);
            CHECK(rc == MPI_SUCCESS && st[1].MPI_TAG == 2);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    int class, code, length;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &code);
    MPI_Add_error_string(code, "our own error");
    MPI_Error_string(code, text, &length);
    CHECK(class_of(code) == class && length == 13);
    say_ok("errors", rounds);
    MPI_Finalize();
    return 0;
}
