/* Generalized requests, completed by the program: grequest ROUNDS */
#include "check.h"

static int query(void *state, MPI_Status *st)
{
    MPI_Status_set_elements(st, MPI_INT, *(int *)state);
    MPI_Status_set_cancelled(st, 0);
    st->MPI_SOURCE = MPI_UNDEFINED;
    st->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

static int release(void *state)
{
    *(int *)state = -1;
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    (void)state;
    (void)complete;
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rounds = number_arg(argc, argv, 1, 6);
    for (int i = 0; i < rounds; i++) {
        int state[2] = { i, i + 1 }, flag, index, n;
        MPI_Request r[2];
        MPI_Status st;
        MPI_Grequest_start(query, release, cancel, &state[0], &r[0]);
        MPI_Grequest_start(query, release, cancel, &state[1], &r[1]);
        MPI_Test(&r[0], &flag, MPI_STATUS_IGNORE);
        CHECK(!flag);
        MPI_Grequest_complete(r[1]);
        MPI_Waitany(2, r, &index, &st);
        MPI_Get_count(&st, MPI_INT, &n);
        CHECK(index == 1 && n == i + 1 && state[1] == -1);
        MPI_Grequest_complete(r[0]);
        MPI_Wait(&r[0], MPI_STATUS_IGNORE);
        CHECK(state[0] == -1);
    }
    say_ok("grequest", rounds);
    MPI_Finalize();
    return 0;
}
