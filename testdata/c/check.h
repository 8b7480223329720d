/* Shared by the test programs: a failed check says where and ends the job with
 * a non-zero status. */
#ifndef CHECK_H
#define CHECK_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(ok)                                                              \
    do {                                                                       \
        if (!(ok)) {                                                           \
            fprintf(stderr, "%s:%d: wrong: %s\n", __FILE__, __LINE__, #ok);    \
            MPI_Abort(MPI_COMM_WORLD, 1);                                      \
            exit(1);                                                           \
        }                                                                      \
    } while (0)

/* Argument i as a number, or a default. */
static inline int number_arg(int argc, char **argv, int i, int otherwise)
{
    return argc > i ? atoi(argv[i]) : otherwise;
}

/* Rank 0 says that the program got through; the tests compare this output. */
static inline void say_ok(const char *program, double result)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        printf("%s: ok %.10g\n", program, result);
    fflush(stdout);
}

#endif
