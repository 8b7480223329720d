/* Nested loops with known trip counts: three that begin with different calls, three
 * that begin with the same call, one that ends on convergence, and a rarely taken
 * branch: nest OUTER MIDDLE INNER */
#include "check.h"

static int rank, size;

/* Each loop begins with a different call. */
static void apart(int outer, int middle, int inner)
{
    int a = 1, b = 0;
    for (int i = 0; i < outer; i++) {
        MPI_Bcast(&a, 1, MPI_INT, 0, MPI_COMM_WORLD);
        for (int j = 0; j < middle; j++) {
            MPI_Reduce(&a, &b, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
            for (int k = 0; k < inner; k++)
                MPI_Sendrecv(&a, 1, MPI_INT, (rank + 1) % size, 3, &b, 1, MPI_INT, (rank + size - 1) % size, 3,
                             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        MPI_Scan(&a, &b, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
}

/* The first call of an iteration is the same for all three. */
static void together(int outer, int middle, int inner)
{
    int a = 1, b = 0;
    for (int i = 0; i < outer; i++) {
        for (int j = 0; j < middle; j++) {
            for (int k = 0; k < inner; k++)
                MPI_Barrier(MPI_COMM_WORLD);
            MPI_Allreduce(&a, &b, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        }
        MPI_Exscan(&a, &b, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
}

/* Ten loops of as many iterations as convergence takes: 3, 4, 7, 5, 5, 7, 4, 3, 4, 7. */
static int converge(void)
{
    int steps = 0;
    for (int i = 0; i < 10; i++) {
        int left = 3 + i * i % 7;
        do {
            int go = --left > 0, any;
            MPI_Allreduce(&go, &any, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
            CHECK(any == go);
            steps++;
        } while (left > 0);
        MPI_Bcast(&steps, 1, MPI_INT, size - 1, MPI_COMM_WORLD);
    }
    return steps;
}

/* One iteration of many has an additional call. */
static void seldom(void)
{
    int a[4] = { 0 }, b[4];
    for (int i = 0; i < 60; i++) {
        MPI_Allreduce(a, b, 4, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        if (i == 17)
            MPI_Bcast(a, 4, MPI_INT, 0, MPI_COMM_WORLD);
        MPI_Allreduce(a, b, 3, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int outer = number_arg(argc, argv, 1, 7), middle = number_arg(argc, argv, 2, 5), inner = number_arg(argc, argv, 3, 3);
    apart(outer, middle, inner);
    together(outer, middle, inner);
    int steps = converge();
    seldom();
    say_ok("nest", steps);
    MPI_Finalize();
    return 0;
}
