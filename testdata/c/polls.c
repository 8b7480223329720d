/* Long polling: each round has a run of failed MPI_Testsome and one of failed
 * MPI_Iprobe, their lengths random (exponential) or equal: polls ROUNDS [equal] */
#include "check.h"

#include <math.h>

enum { K = 3, MEAN = 30 };

static int rank;
static unsigned long long state;

static double random_number(void)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(state >> 11) / 9007199254740992.0;
}

static int run_length(int equal)
{
    return equal ? MEAN : 1 + (int)(-log(1 - random_number()) * MEAN);
}

static void testsome(int polls)
{
    MPI_Request r[K];
    int value[K], index[K], n, v = 7;
    for (int i = 0; i < K; i++)
        MPI_Irecv(&value[i], 1, MPI_INT, rank, i, MPI_COMM_WORLD, &r[i]);
    for (int i = 0; i < polls; i++) {
        MPI_Testsome(K, r, &n, index, MPI_STATUSES_IGNORE);
        CHECK(n == 0);
    }
    for (int i = 0; i < K; i++)
        MPI_Send(&v, 1, MPI_INT, rank, i, MPI_COMM_WORLD);
    MPI_Waitall(K, r, MPI_STATUSES_IGNORE);
}

static void iprobe(int polls)
{
    int flag, value, v = 7;
    MPI_Status st;
    MPI_Request s;
    for (int i = 0; i < polls; i++) {
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &st);
        CHECK(!flag);
    }
    MPI_Isend(&v, 1, MPI_INT, rank, 9, MPI_COMM_WORLD, &s);
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &st);
    MPI_Wait(&s, MPI_STATUS_IGNORE);
    CHECK(st.MPI_SOURCE == rank && value == v);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int rounds = number_arg(argc, argv, 1, 20);
    state = 12345u + (unsigned)rank;
    for (int i = 0; i < rounds; i++) {
        testsome(run_length(argc > 2));
        iprobe(run_length(argc > 2));
    }
    say_ok("polls", rounds);
    MPI_Finalize();
    return 0;
}
