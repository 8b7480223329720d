/* Every nonblocking collective, several pending at once: icoll ROUNDS */
#include "check.h"

enum { MAX = 16, N = 17 };

typedef struct data {
    int one, sum, all[MAX], part, v[MAX], w[MAX], x[MAX], y[MAX], red[MAX], counts[MAX],
        displs[MAX], bytes[MAX], scan, exscan, rs, rsb, bcast, gv[MAX], sv;
    MPI_Datatype types[MAX];
} data;

static int rank, size;

static void prepare(data *d)
{
    d->one = rank + 1;
    for (int i = 0; i < size; i++) {
        d->v[i] = 10 * rank + i;
        d->counts[i] = 1;
        d->displs[i] = i;
        d->bytes[i] = 4 * i;
        d->types[i] = MPI_INT;
        d->red[i] = rank;
    }
}

static int start(data *d, int root, MPI_Request *r)
{
    MPI_Comm c = MPI_COMM_WORLD;
    int n = 0, me = rank == root;
    MPI_Ibarrier(c, &r[n++]);
    d->bcast = me ? 7 : 0;
    MPI_Ibcast(&d->bcast, 1, MPI_INT, root, c, &r[n++]);
    MPI_Igather(&d->one, 1, MPI_INT, d->gv, me ? 1 : 0, me ? MPI_INT : MPI_DATATYPE_NULL, root, c,
                &r[n++]);
    MPI_Igatherv(&d->one, 1, MPI_INT, d->w, me ? d->counts : NULL, me ? d->displs : NULL,
                 me ? MPI_INT : MPI_DATATYPE_NULL, root, c, &r[n++]);
    MPI_Iscatter(me ? d->v : NULL, 1, MPI_INT, &d->part, 1, MPI_INT, root, c, &r[n++]);
    MPI_Iscatterv(me ? d->v : NULL, me ? d->counts : NULL, me ? d->displs : NULL, MPI_INT, &d->sv,
                  1, MPI_INT, root, c, &r[n++]);
    MPI_Iallgather(&d->one, 1, MPI_INT, d->all, 1, MPI_INT, c, &r[n++]);
    MPI_Iallgatherv(&d->one, 1, MPI_INT, d->x, d->counts, d->displs, MPI_INT, c, &r[n++]);
    MPI_Ialltoallw(d->v, d->counts, d->bytes, d->types, d->y, d->counts, d->bytes, d->types, c,
                   &r[n++]);
    MPI_Ireduce(&d->one, &d->sum, 1, MPI_INT, MPI_SUM, root, c, &r[n++]);
    MPI_Iscan(&d->one, &d->scan, 1, MPI_INT, MPI_SUM, c, &r[n++]);
    MPI_Iexscan(&d->one, &d->exscan, 1, MPI_INT, MPI_SUM, c, &r[n++]);
    MPI_Ireduce_scatter(d->red, &d->rs, d->counts, MPI_INT, MPI_SUM, c, &r[n++]);
    MPI_Ireduce_scatter_block(d->red, &d->rsb, 1, MPI_INT, MPI_SUM, c, &r[n++]);
    return n;
}

static void verify(const data *d, int root)
{
    int sum = size * (size + 1) / 2;
    CHECK(d->bcast == 7 && d->part == 10 * root + rank && d->sv == d->part);
    CHECK(rank != root || (d->sum == sum && d->gv[size - 1] == size && d->w[size - 1] == size));
    CHECK(d->all[size - 1] == size && d->x[size - 1] == size && d->y[0] == rank);
    CHECK(d->scan == (rank + 1) * (rank + 2) / 2);
    CHECK(rank == 0 || d->exscan == rank * (rank + 1) / 2);
    CHECK(d->rs == size * (size - 1) / 2 && d->rsb == d->rs);
}

static void one_at_a_time(void)
{
    int v[MAX], w[MAX], counts[MAX], displs[MAX], x = 1, y = 0, flag = 0;
    MPI_Request r;
    for (int i = 0; i < size; i++) {
        v[i] = 10 * rank + i;
        counts[i] = 1;
        displs[i] = i;
    }
    MPI_Ialltoall(v, 1, MPI_INT, w, 1, MPI_INT, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK(w[0] == rank);
    MPI_Ialltoallv(v, counts, displs, MPI_INT, w, counts, displs, MPI_INT, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Ialltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, w, counts, displs, MPI_INT,
                   MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK(w[0] == 10 * rank);
    MPI_Iallreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r);
    while (!flag)
        MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
    MPI_Iallreduce(MPI_IN_PLACE, &x, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK(x == size && y == size);
}

int main(int argc, char **argv)
{
    static data d[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size <= MAX);
    int rounds = number_arg(argc, argv, 1, 4);
    for (int i = 0; i < rounds; i++) {
        MPI_Request r[2 * N];
        prepare(&d[0]);
        prepare(&d[1]);
        int n = start(&d[0], i % size, r);
        n += start(&d[1], (i + 1) % size, r + n);
        CHECK(n <= 2 * N);
        MPI_Waitall(n, r, MPI_STATUSES_IGNORE);
        verify(&d[0], i % size);
        verify(&d[1], (i + 1) % size);
        one_at_a_time();
    }
    say_ok("icoll", rounds);
    MPI_Finalize();
    return 0;
}
