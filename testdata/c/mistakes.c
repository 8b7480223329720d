/* Mistakes that no library notices, selected by the name in the first argument; the
 * program ends as if it were right. "right" runs all of them without the mistake. */
#include "check.h"

#include <string.h>

static int rank, size, right, left, ok;
static int in[8], out[8];
static MPI_Comm world = MPI_COMM_WORLD;

static void forgotten_receive(void)
{
    if (rank == 0)
        MPI_Send(out, 1, MPI_INT, 1, 1, world);
    else if (rank == 1 && ok)
        MPI_Recv(in, 1, MPI_INT, 0, 1, world, MPI_STATUS_IGNORE);
}

static void other_tag(void) /* a receive is posted with another tag than its message has */
{
    MPI_Request r;
    if (rank == 0) {
        MPI_Send(out, 1, MPI_INT, 1, 2, world);
    } else if (rank == 1) {
        MPI_Irecv(in, 1, MPI_INT, 0, ok ? 2 : 3, world, &r);
        if (ok)
            MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
}

static void other_source(void)
{
    MPI_Request r;
    if (rank == 0) {
        MPI_Send(out, 1, MPI_INT, 1, 4, world);
    } else if (rank == 1) {
        MPI_Irecv(in, 1, MPI_INT, ok ? 0 : 2, 4, world, &r);
        if (ok)
            MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
}

static void subgroup(void) /* a lost message on a communicator where ranks have other numbers */
{
    MPI_Comm c;
    MPI_Comm_split(world, 0, -rank, &c);
    if (rank == size - 1)
        MPI_Send(out, 1, MPI_INT, 1, 5, c);
    else if (rank == size - 2 && ok)
        MPI_Recv(in, 1, MPI_INT, 0, 5, c, MPI_STATUS_IGNORE);
    MPI_Comm_free(&c);
}

static void no_wait_send(void)
{
    MPI_Request r;
    MPI_Isend(out, 1, MPI_INT, right, 6, world, &r);
    MPI_Recv(in, 1, MPI_INT, left, 6, world, MPI_STATUS_IGNORE);
    if (ok)
        MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void no_wait_receive(void)
{
    MPI_Request r;
    MPI_Irecv(in, 1, MPI_INT, left, 7, world, &r);
    MPI_Send(out, 1, MPI_INT, right, 7, world);
    if (ok)
        MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void lost_request(void) /* a second request takes the place of the first */
{
    MPI_Request r[2];
    int second = ok;
    MPI_Irecv(&in[0], 1, MPI_INT, left, 8, world, &r[0]);
    MPI_Irecv(&in[1], 1, MPI_INT, left, 8, world, &r[second]);
    MPI_Send(out, 1, MPI_INT, right, 8, world);
    MPI_Send(out, 1, MPI_INT, right, 8, world);
    MPI_Waitall(1 + second, r, MPI_STATUSES_IGNORE);
}

static void no_wait_collective(void)
{
    MPI_Request r;
    MPI_Ibarrier(world, &r);
    if (ok)
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    else
        MPI_Barrier(world);
}

static void never_started(void)
{
    MPI_Request r;
    MPI_Recv_init(in, 1, MPI_INT, left, 9, world, &r);
    if (ok) {
        MPI_Start(&r);
        MPI_Send(out, 1, MPI_INT, right, 9, world);
    }
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Request_free(&r);
}

static void never_completed(void)
{
    MPI_Request r;
    MPI_Send_init(out, 1, MPI_INT, right, 10, world, &r);
    MPI_Start(&r);
    MPI_Recv(in, 1, MPI_INT, left, 10, world, MPI_STATUS_IGNORE);
    if (ok)
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Request_free(&r);
}

static void not_freed(void)
{
    MPI_Request r;
    MPI_Send_init(out, 1, MPI_INT, MPI_PROC_NULL, 11, world, &r);
    if (ok)
        MPI_Request_free(&r);
}

static void comm_leak(void)
{
    MPI_Comm c;
    MPI_Comm_split(world, rank % 2, rank, &c);
    if (ok)
        MPI_Comm_free(&c);
}

static void type_leak(void)
{
    MPI_Datatype t;
    MPI_Type_vector(2, 1, 2, MPI_INT, &t);
    MPI_Type_commit(&t);
    if (ok)
        MPI_Type_free(&t);
}

static void op_types(void) /* a message of another basic datatype */
{
    float f = 0;
    if (rank == 0)
        MPI_Send(ok ? (void *)out : &f, 1, ok ? MPI_INT : MPI_FLOAT, 1, 12, world);
    else if (rank == 1)
        MPI_Recv(in, 1, MPI_INT, 0, 12, world, MPI_STATUS_IGNORE);
}

static void bcast_types(void)
{
    float f = 0;
    int odd = !ok && rank == size - 1;
    MPI_Bcast(odd ? (void *)&f : in, 1, odd ? MPI_FLOAT : MPI_INT, 0, world);
}

static void reduce_ops(void)
{
    MPI_Allreduce(out, in, 1, MPI_INT, !ok && rank == 1 ? MPI_MAX : MPI_SUM, world);
}

static void extra_collective(void) /* a root that nobody follows: it may go on */
{
    MPI_Bcast(in, 1, MPI_INT, 0, world);
    if (rank == 0 && !ok)
        MPI_Bcast(in, 1, MPI_INT, 0, world);
}

static void collective_order(void) /* the root may go on, and so may the others */
{
    if (rank == 0 || ok) {
        MPI_Bcast(in, 1, MPI_INT, 0, world);
        MPI_Reduce(out, in + 1, 1, MPI_INT, MPI_SUM, 1, world);
    } else {
        MPI_Reduce(out, in + 1, 1, MPI_INT, MPI_SUM, 1, world);
        MPI_Bcast(in, 1, MPI_INT, 0, world);
    }
}

static const struct mistake {
    const char *name;
    void (*make)(void);
} mistakes[] = {
    { "forgotten_receive", forgotten_receive }, { "other_tag", other_tag }, { "other_source", other_source },
    { "subgroup", subgroup }, { "no_wait_send", no_wait_send }, { "no_wait_receive", no_wait_receive },
    { "lost_request", lost_request }, { "no_wait_collective", no_wait_collective }, { "never_started", never_started },
    { "never_completed", never_completed }, { "not_freed", not_freed }, { "comm_leak", comm_leak },
    { "type_leak", type_leak }, { "op_types", op_types }, { "bcast_types", bcast_types },
    { "reduce_ops", reduce_ops }, { "extra_collective", extra_collective }, { "collective_order", collective_order },
};

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "right";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    ok = strcmp(name, "right") == 0;
    for (unsigned i = 0; i < sizeof mistakes / sizeof *mistakes; i++)
        if (ok || strcmp(name, mistakes[i].name) == 0)
            mistakes[i].make();
    if (strcmp(name, "no_finalize") != 0)
        MPI_Finalize();
    return 0;
}
