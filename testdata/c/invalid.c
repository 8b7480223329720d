/* Calls that end the job, selected by the name in the first argument: most have an
 * invalid argument. Each rank makes the call. "right" makes all calls, with valid
 * arguments. */
#include "check.h"

#include <string.h>
#include <time.h>

static int rank, size, right, left, ok;
static int in[8], out[8];
static MPI_Comm world = MPI_COMM_WORLD;
static MPI_Request q[2];

/* Sends to the right and receives from the left, as the arguments say. */
static void ring(int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    MPI_Irecv(in, 4, MPI_INT, left, 3, world, &q[0]);
    MPI_Send(out, count, type, to, tag, comm);
    MPI_Wait(&q[0], MPI_STATUS_IGNORE);
}

static void send_comm(void) { ring(1, MPI_INT, right, 3, ok ? world : MPI_COMM_NULL); }
static void send_type(void) { ring(1, ok ? MPI_INT : MPI_DATATYPE_NULL, right, 3, world); }
static void send_count(void) { ring(ok ? 1 : -1, MPI_INT, right, 3, world); }
static void send_rank(void) { ring(1, MPI_INT, ok ? right : size, 3, world); }
static void send_negative(void) { ring(1, MPI_INT, ok ? right : -9, 3, world); }
static void send_tag(void) { ring(1, MPI_INT, right, ok ? 3 : -3, world); }

static void receive(int count, MPI_Datatype type, int from, int tag)
{
    MPI_Isend(out, 1, MPI_INT, right, 3, world, &q[0]);
    MPI_Recv(in, count, type, from, tag, world, MPI_STATUS_IGNORE);
    MPI_Wait(&q[0], MPI_STATUS_IGNORE);
}

static void recv_type(void) { receive(1, ok ? MPI_INT : MPI_DATATYPE_NULL, left, 3); }
static void recv_count(void) { receive(ok ? 1 : -2, MPI_INT, left, 3); }
static void recv_rank(void) { receive(1, MPI_INT, ok ? left : size + 1, 3); }
static void recv_tag(void) { receive(1, MPI_INT, left, ok ? 3 : -5); }

static void post(int count, int from, int tag, MPI_Comm comm)
{
    MPI_Irecv(in, count, MPI_INT, from, tag, comm, &q[0]);
    MPI_Isend(out, 1, MPI_INT, right, 3, world, &q[1]);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
}

static void irecv_comm(void) { post(1, left, 3, ok ? world : MPI_COMM_NULL); }
static void irecv_count(void) { post(ok ? 1 : -4, left, 3, world); }
static void irecv_rank(void) { post(1, ok ? left : size, 3, world); }
static void bcast_comm(void) { MPI_Bcast(out, 1, MPI_INT, 0, ok ? world : MPI_COMM_NULL); }
static void bcast_root(void) { MPI_Bcast(out, 1, MPI_INT, ok ? 0 : size, world); }
static void bcast_negative(void) { MPI_Bcast(out, 1, MPI_INT, ok ? 0 : -8, world); }
static void bcast_count(void) { MPI_Bcast(out, ok ? 1 : -1, MPI_INT, 0, world); }
static void bcast_type(void) { MPI_Bcast(out, 1, ok ? MPI_INT : MPI_DATATYPE_NULL, 0, world); }
static void reduce_op(void) { MPI_Reduce(out, in, 1, MPI_INT, ok ? MPI_SUM : MPI_OP_NULL, 0, world); }
static void reduce_root(void) { MPI_Reduce(out, in, 1, MPI_INT, MPI_SUM, ok ? 0 : size + 2, world); }
static void barrier_comm(void) { MPI_Barrier(ok ? world : MPI_COMM_NULL); }
static void ibarrier_comm(void)
{
    MPI_Ibarrier(ok ? world : MPI_COMM_NULL, &q[0]);
    MPI_Wait(&q[0], MPI_STATUS_IGNORE);
}

static void gather_count(void)
{
    static int all[64];
    MPI_Gather(out, ok ? 1 : -1, MPI_INT, all, 1, MPI_INT, 0, world);
}

static void freed_comm(void)
{
    MPI_Comm c, d;
    MPI_Comm_dup(world, &c);
    d = c;
    if (!ok)
        MPI_Comm_free(&d);
    MPI_Barrier(c);
    if (ok)
        MPI_Comm_free(&c);
}

static void freed_type(void)
{
    MPI_Datatype t, u;
    MPI_Type_contiguous(2, MPI_INT, &t);
    MPI_Type_commit(&t);
    u = t;
    if (!ok)
        MPI_Type_free(&u);
    ring(1, t, right, 3, world);
    if (ok)
        MPI_Type_free(&t);
}

static void uncommitted(void)
{
    MPI_Datatype t;
    MPI_Type_contiguous(2, MPI_INT, &t);
    if (ok)
        MPI_Type_commit(&t);
    ring(1, t, right, 3, world);
    MPI_Type_free(&t);
}

static void freed_request(void) /* a persistent one that is started after it was freed */
{
    MPI_Request r, s;
    MPI_Send_init(out, 1, MPI_INT, MPI_PROC_NULL, 3, world, &r);
    s = r;
    if (!ok)
        MPI_Request_free(&s);
    MPI_Start(&r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    if (ok)
        MPI_Request_free(&r);
}

static void waited_twice(void) /* a copy of a request that is complete */
{
    MPI_Request r[2], s;
    MPI_Irecv(in, 1, MPI_INT, left, 3, world, &r[0]);
    MPI_Isend(out, 1, MPI_INT, right, 3, world, &r[1]);
    s = r[0];
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    if (!ok)
        MPI_Wait(&s, MPI_STATUS_IGNORE);
}

static void start_null(void)
{
    MPI_Request r = MPI_REQUEST_NULL;
    if (ok)
        MPI_Send_init(out, 1, MPI_INT, MPI_PROC_NULL, 3, world, &r);
    MPI_Start(&r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    if (ok)
        MPI_Request_free(&r);
}

static void start_plain(void) /* a request that is not persistent is started */
{
    MPI_Request r;
    MPI_Irecv(in, 1, MPI_INT, left, 3, world, &r);
    if (!ok)
        MPI_Start(&r);
    MPI_Send(out, 1, MPI_INT, right, 3, world);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void free_null(void)
{
    MPI_Comm c = MPI_COMM_NULL;
    if (ok)
        MPI_Comm_dup(world, &c);
    MPI_Comm_free(&c);
}

static void free_type_null(void)
{
    MPI_Datatype t = MPI_DATATYPE_NULL;
    if (ok)
        MPI_Type_contiguous(2, MPI_INT, &t);
    MPI_Type_free(&t);
}

static void free_world(void)
{
    MPI_Comm c = world;
    if (ok)
        MPI_Comm_dup(world, &c);
    MPI_Comm_free(&c);
}

static void type_count(void)
{
    MPI_Datatype t;
    MPI_Type_contiguous(ok ? 2 : -2, MPI_INT, &t);
    MPI_Type_free(&t);
}

static void put_rank(void)
{
    MPI_Win w;
    MPI_Win_create(in, sizeof in, sizeof *in, MPI_INFO_NULL, world, &w);
    MPI_Win_fence(0, w);
    MPI_Put(out, 1, MPI_INT, ok ? right : size + 1, 0, 1, MPI_INT, w);
    MPI_Win_fence(0, w);
    MPI_Win_free(&w);
}

static void fence_null(void)
{
    MPI_Win w = MPI_WIN_NULL;
    if (ok)
        MPI_Win_create(in, sizeof in, sizeof *in, MPI_INFO_NULL, world, &w);
    MPI_Win_fence(0, w);
    if (ok)
        MPI_Win_free(&w);
}

static void truncated(void) /* the message is too long */
{
    MPI_Isend(out, 4, MPI_INT, right, 3, world, &q[0]);
    MPI_Recv(in, ok ? 4 : 2, MPI_INT, left, 3, world, MPI_STATUS_IGNORE);
    MPI_Wait(&q[0], MPI_STATUS_IGNORE);
}

static void truncated_wait(void)
{
    MPI_Irecv(in, ok ? 4 : 2, MPI_INT, left, 3, world, &q[0]);
    MPI_Send(out, 4, MPI_INT, right, 3, world);
    MPI_Wait(&q[0], MPI_STATUS_IGNORE);
}

static void null_buffer(void)
{
    MPI_Isend(out, 1, MPI_INT, right, 3, world, &q[0]);
    MPI_Recv(ok ? in : NULL, 1, MPI_INT, left, 3, world, MPI_STATUS_IGNORE);
    MPI_Wait(&q[0], MPI_STATUS_IGNORE);
}

static void crash(void) { *(volatile int *)(ok ? in : NULL) = 1; }

static void crash_in(void) { MPI_Allreduce(out, ok ? in : (int *)16, 1, MPI_INT, MPI_SUM, world); }

/* Only the root needs a receive buffer. The others wait for it when it ends the job. */
static void gather_null(void)
{
    enum { MANY = 1 << 20 };
    static int from[MANY], to[8 * MANY];
    if (rank == 0 && !ok) nanosleep(&(struct timespec){ .tv_nsec = 300000000 }, NULL);
    MPI_Gather(from, ok || rank > 0 ? MANY : -1, MPI_INT, rank == 0 ? to : NULL, MANY, MPI_INT, 0, world);
}

static void reduce_null(void)
{
    MPI_Reduce(out, ok && rank == 0 ? in : NULL, 1, MPI_INT, MPI_SUM, 0, world);
}

static void aborts(void)
{
    if (!ok)
        MPI_Abort(world, 5);
}

static const struct fault {
    const char *name;
    void (*make)(void);
} faults[] = {
    { "send_comm", send_comm }, { "send_type", send_type }, { "send_count", send_count }, { "send_rank", send_rank },
    { "send_negative", send_negative }, { "send_tag", send_tag }, { "recv_type", recv_type }, { "recv_count", recv_count },
    { "recv_rank", recv_rank }, { "recv_tag", recv_tag }, { "irecv_comm", irecv_comm }, { "irecv_count", irecv_count },
    { "irecv_rank", irecv_rank }, { "bcast_comm", bcast_comm }, { "bcast_root", bcast_root },
    { "bcast_negative", bcast_negative }, { "bcast_count", bcast_count }, { "bcast_type", bcast_type },
    { "reduce_op", reduce_op }, { "reduce_root", reduce_root }, { "barrier_comm", barrier_comm },
    { "ibarrier_comm", ibarrier_comm }, { "gather_count", gather_count }, { "freed_comm", freed_comm },
    { "freed_type", freed_type }, { "uncommitted", uncommitted }, { "freed_request", freed_request },
    { "waited_twice", waited_twice }, { "start_null", start_null }, { "start_plain", start_plain },
    { "free_null", free_null }, { "free_type_null", free_type_null }, { "free_world", free_world },
    { "type_count", type_count }, { "put_rank", put_rank }, { "fence_null", fence_null },
    { "truncated", truncated }, { "truncated_wait", truncated_wait }, { "null_buffer", null_buffer }, { "crash", crash }, { "crash_in", crash_in },
    { "gather_null", gather_null }, { "reduce_null", reduce_null }, { "aborts", aborts },
};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    ok = argc > 1 && strcmp(argv[1], "right") == 0;
    for (unsigned i = 0; i < sizeof faults / sizeof *faults; i++)
        if (ok || (argc > 1 && strcmp(argv[1], faults[i].name) == 0))
            faults[i].make();
    MPI_Finalize();
    return 0;
}
