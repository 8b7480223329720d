/* Many small sends pending at once: MPI libraries give them the same request
 * handle. Completed in another order, copied, moved, freed: eager ROUNDS */
#include "check.h"

enum { K = 8 };

static int rank, size, left, right;

static void post(MPI_Request *s, MPI_Request *q, int *out, int *in)
{
    for (int i = 0; i < K; i++)
        MPI_Irecv(&in[i], 1, MPI_INT, left, i, MPI_COMM_WORLD, &q[i]);
    for (int i = 0; i < K; i++) {
        out[i] = 10 * rank + i;
        MPI_Isend(&out[i], 1, MPI_INT, right, i, MPI_COMM_WORLD, &s[i]);
    }
}

static void check(const int *in)
{
    for (int i = 0; i < K; i++)
        CHECK(in[i] == 10 * left + i);
}

static void reversed(MPI_Request *s)
{
    for (int i = K - 1; i >= 0; i--)
        MPI_Wait(&s[i], MPI_STATUS_IGNORE);
}

static void some_freed(MPI_Request *s)
{
    for (int i = 0; i < K; i += 3)
        MPI_Request_free(&s[i]);
    for (int i = 0; i < K; i++)
        if (i % 3)
            MPI_Wait(&s[i], MPI_STATUS_IGNORE);
}

static void moved(MPI_Request *s)
{
    MPI_Request copy[K];
    for (int i = 0; i < K; i++) {
        copy[i] = s[(i + 3) % K];
        s[(i + 3) % K] = MPI_REQUEST_NULL;
    }
    MPI_Waitall(K, copy, MPI_STATUSES_IGNORE);
}

static void one_by_one(MPI_Request *s)
{
    for (int i = 0; i < K; i++) {
        int index;
        MPI_Waitany(K, s, &index, MPI_STATUS_IGNORE);
        CHECK(index >= 0 && index < K && s[index] == MPI_REQUEST_NULL);
    }
}

static void mixed(MPI_Request *s)
{
    int flag = 0;
    MPI_Waitall(3, s + 2, MPI_STATUSES_IGNORE);
    while (!flag)
        MPI_Testall(3, s + 5, &flag, MPI_STATUSES_IGNORE);
    MPI_Waitall(K, s, MPI_STATUSES_IGNORE);
}

/* One variable for a chain of sends: each handle is overwritten after a wait. */
static void chain(void)
{
    MPI_Request a, b;
    int x = 1, y;
    for (int i = 0; i < 4; i++) {
        MPI_Isend(&x, 1, MPI_INT, rank, 50, MPI_COMM_WORLD, &a);
        b = a;
        MPI_Isend(&x, 1, MPI_INT, rank, 51, MPI_COMM_WORLD, &a);
        MPI_Recv(&y, 1, MPI_INT, rank, 51, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(&y, 1, MPI_INT, rank, 50, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&a, MPI_STATUS_IGNORE);
        MPI_Wait(&b, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    void (*const ways[])(MPI_Request *) = { reversed, some_freed, moved, one_by_one, mixed };
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    int rounds = number_arg(argc, argv, 1, 15);
    for (int i = 0; i < rounds; i++) {
        MPI_Request s[K], q[K];
        int out[K], in[K];
        post(s, q, out, in);
        ways[i % 5](s);
        MPI_Waitall(K, q, MPI_STATUSES_IGNORE);
        check(in);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    chain();
    say_ok("eager", rounds);
    MPI_Finalize();
    return 0;
}
