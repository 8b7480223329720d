/* Programs that hang, each because of one fault, after some healthy rounds: hangs KIND. The
 * table at the end has the kinds.
 */
#include "check.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BIG = 1 << 20 };

static int rank, size, last, next, before, x, y;
static int *big, *gathered;
static MPI_Comm world = MPI_COMM_WORLD, other, half, inter;

static void receive(int from, int tag, MPI_Comm c) { MPI_Recv(&x, 1, MPI_INT, from, tag, c, MPI_STATUS_IGNORE); }
static void send(int to, int tag, MPI_Comm c) { MPI_Send(&rank, 1, MPI_INT, to, tag, c); }
static void wait_for(MPI_Request *r) { MPI_Wait(r, MPI_STATUS_IGNORE); }

/* ---- collectives of one communicator ---- */

static void barrier_bcast(void)
{
    if (rank == 0) MPI_Barrier(world);
    else MPI_Bcast(&x, 1, MPI_INT, 0, world);
}

static void bcast_barrier_finalize(void)
{
    if (rank == 0) MPI_Bcast(&x, 1, MPI_INT, 0, world);
    else MPI_Barrier(world);
}

static void reduce_allreduce(void)
{
    if (rank == last) MPI_Reduce(&rank, &x, 1, MPI_INT, MPI_SUM, last, world);
    else MPI_Allreduce(&rank, &x, 1, MPI_INT, MPI_SUM, world);
}

static void alltoall_gather(void)
{
    if (rank == 0) MPI_Alltoall(gathered, 1, MPI_INT, big, 1, MPI_INT, world);
    else MPI_Gather(&rank, 1, MPI_INT, gathered, 1, MPI_INT, rank, world);
}

static void scan_barrier(void)
{
    if (rank == last) MPI_Scan(&rank, &x, 1, MPI_INT, MPI_SUM, world);
    else MPI_Barrier(world);
}

static void bcast_root(void)
{
    MPI_Bcast(&x, 1, MPI_INT, rank == 0 ? 1 : 0, world);
}

static void gather_root(void)
{
    MPI_Gather(&rank, 1, MPI_INT, gathered, 1, MPI_INT, rank, world);
}

static void reduce_root(void)
{
    MPI_Reduce(&rank, &x, 1, MPI_INT, MPI_SUM, rank % 2, world);
    MPI_Reduce(&rank, &x, 1, MPI_INT, MPI_SUM, rank, world);
}

static void scatter_root(void)
{
    MPI_Scatter(gathered, 1, MPI_INT, &x, 1, MPI_INT, next, world);
}

static void allreduce_op(void)
{
    if (rank == last) receive(0, 5, world);
    MPI_Allreduce(&rank, &x, 1, MPI_INT, rank == 0 ? MPI_SUM : MPI_MAX, world);
}

static void allreduce_count(void)
{
    if (rank == last) receive(0, 5, world);
    MPI_Allreduce(big, gathered, rank == 0 ? 1 : 2, MPI_INT, MPI_SUM, world);
}

static void allreduce_type(void)
{
    if (rank == last) receive(0, 5, world);
    if (rank == 0) MPI_Allreduce(big, gathered, 1, MPI_FLOAT, MPI_SUM, world);
    else MPI_Allreduce(big, gathered, 1, MPI_INT, MPI_SUM, world);
}

static void ibarrier_barrier(void)
{
    MPI_Request r = MPI_REQUEST_NULL;
    if (rank == 0) MPI_Ibarrier(world, &r);
    else MPI_Barrier(world);
    wait_for(&r);
}

static void icoll_order(void)
{
    MPI_Request r[2];
    MPI_Ibarrier(rank == 0 ? world : other, r);
    wait_for(r);
    MPI_Ibarrier(rank == 0 ? other : world, r + 1);
    wait_for(r + 1);
}

static void icoll_unwaited(void)
{
    MPI_Request r;
    MPI_Ibarrier(world, &r);
    if (rank == last) receive(0, 5, world);
    wait_for(&r);
    receive(last, 5, world);
}

static void dup_barrier(void)
{
    MPI_Comm c;
    if (rank == last) MPI_Comm_dup(world, &c);
    else MPI_Barrier(world);
}

static void split_barrier(void)
{
    MPI_Comm c;
    if (rank == 0) MPI_Comm_split(world, 0, rank, &c);
    else MPI_Barrier(world);
}

static void window_barrier(void)
{
    MPI_Win w;
    if (rank == 0) MPI_Win_create(&x, sizeof x, 1, MPI_INFO_NULL, world, &w);
    else MPI_Barrier(world);
}

static void fence_free(void)
{
    MPI_Win w;
    MPI_Win_create(&x, sizeof x, 1, MPI_INFO_NULL, world, &w);
    MPI_Win_fence(0, w);
    if (rank == 0) MPI_Barrier(world);
    MPI_Win_free(&w);
}

/* ---- a collective and a message ---- */

static void barrier_recv(void)
{
    if (rank == last) receive(0, 5, world);
    MPI_Barrier(world);
    if (rank == 0) send(last, 5, world);
}

static void bcast_recv(void)
{
    if (rank == 0) receive(last, 5, world);
    MPI_Bcast(&x, 1, MPI_INT, 0, world);
    if (rank == last) send(0, 5, world);
}

static void reduce_any(void)
{
    if (rank == last) receive(MPI_ANY_SOURCE, 5, world);
    MPI_Reduce(&rank, &x, 1, MPI_INT, MPI_SUM, 0, world);
    MPI_Barrier(world);
    if (rank == 0) send(last, 5, world);
}

static void barrier_ssend(void)
{
    if (rank == last) MPI_Ssend(&rank, 1, MPI_INT, 0, 5, world);
    MPI_Barrier(world);
    if (rank == 0) receive(last, 5, world);
}

static void allgather_probe(void)
{
    MPI_Status s;
    if (rank == 0) MPI_Probe(last, 5, world, &s);
    MPI_Allgather(&rank, 1, MPI_INT, gathered, 1, MPI_INT, world);
    if (rank == last) send(0, 5, world);
}

/* ---- messages ---- */

static void send_send(void)
{
    MPI_Send(big, BIG, MPI_INT, next, 5, world);
    MPI_Recv(gathered, BIG, MPI_INT, before, 5, world, MPI_STATUS_IGNORE);
}

static void ssend_self(void)
{
    if (rank == last) MPI_Ssend(&rank, 1, MPI_INT, rank, 5, world);
    MPI_Barrier(world);
}

static void recv_self(void)
{
    if (rank == 0) receive(0, 5, MPI_COMM_SELF);
    MPI_Barrier(world);
}

static void recv_tag(void)
{
    if (rank == 0) MPI_Ssend(&rank, 1, MPI_INT, 1, 5, world);
    if (rank == 1) receive(0, 6, world);
}

static void recv_more(void)
{
    if (rank == 0) send(last, 5, world);
    if (rank == last) receive(0, 5, world);
    if (rank == last) receive(0, 5, world);
    MPI_Barrier(world);
}

static void waitall_cycle(void)
{
    MPI_Request r[2];
    MPI_Irecv(&x, 1, MPI_INT, before, 5, world, r);
    MPI_Irecv(&y, 1, MPI_INT, next, 6, world, r + 1);
    send(before, 7, world);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
}

static void waitall_isend(void)
{
    MPI_Request r[2];
    MPI_Isend(big, BIG, MPI_INT, next, 5, world, r);
    MPI_Irecv(&x, 1, MPI_INT, before, 6, world, r + 1);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
}

static void waitany_cycle(void)
{
    MPI_Request r[2];
    int i;
    MPI_Irecv(&x, 1, MPI_INT, before, 5, world, r);
    MPI_Irecv(&y, 1, MPI_INT, next, 6, world, r + 1);
    MPI_Waitany(2, r, &i, MPI_STATUS_IGNORE);
}

static void issend_wait(void)
{
    MPI_Request r;
    MPI_Issend(&rank, 1, MPI_INT, next, 5, world, &r);
    wait_for(&r);
    receive(before, 5, world);
}

static void persistent_wait(void)
{
    MPI_Request r;
    MPI_Recv_init(&x, 1, MPI_INT, before, 5, world, &r);
    MPI_Start(&r);
    wait_for(&r);
}

static void probe_probe(void)
{
    MPI_Status s;
    MPI_Probe(before, 5, world, &s);
    send(next, 5, world);
}

static void mprobe_any(void)
{
    MPI_Status s;
    MPI_Message m;
    MPI_Mprobe(MPI_ANY_SOURCE, 5, world, &m, &s);
}

static void sendrecv_chain(void)
{
    MPI_Sendrecv(&rank, 1, MPI_INT, next, 5, &x, 1, MPI_INT, before, rank == 0 ? 6 : 5, world, MPI_STATUS_IGNORE);
    MPI_Barrier(world);
}

/* Rank 0 has received both messages in requests from any source: none is left for it. */
static void any_credited(void)
{
    MPI_Request r;
    if (rank == last) send(0, 5, world);
    if (rank == 0) {
        MPI_Status s;
        MPI_Irecv(&x, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &r);
        MPI_Wait(&r, &s);
        receive(last, 5, world);
    }
    MPI_Barrier(world);
}

static void any_waitall(void)
{
    MPI_Request r[2];
    if (rank == 1) send(0, 5, world);
    if (rank == last) send(0, 6, world);
    if (rank == 0) {
        int got[2];
        for (int i = 0; i < 2; i++)
            MPI_Irecv(got + i, 1, MPI_INT, MPI_ANY_SOURCE, 5 + i, world, r + i);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        receive(last, 6, world);
    }
    MPI_Barrier(world);
}

/* ---- communicators ---- */

static void comm_barrier(void) { MPI_Barrier(rank == 0 ? world : other); }

static void comm_message(void)
{
    if (rank == 0) MPI_Ssend(&rank, 1, MPI_INT, 1, 5, other);
    if (rank == 1) receive(0, 5, world);
    MPI_Barrier(world);
}

static void half_mismatch(void)
{
    if (rank < (size + 1) / 2) {
        if (rank == 0) MPI_Barrier(half);
        else MPI_Allreduce(&rank, &x, 1, MPI_INT, MPI_SUM, half);
    }
    MPI_Barrier(world);
}

static void half_recv(void)
{
    int members;
    MPI_Comm_size(half, &members);
    if (rank == 0) receive(members - 1, 5, half);
    MPI_Barrier(half);
    MPI_Barrier(world);
}

static void inter_recv(void) { receive(0, 5, inter); }

static void inter_barrier(void)
{
    if (rank == 0) receive(0, 5, inter);
    MPI_Barrier(inter);
    if (rank > 0) send(0, 5, inter);
}

static void inter_kinds(void)
{
    int n = 1;
    if (rank == 0) MPI_Barrier(inter);
    else MPI_Allreduce(&n, &x, 1, MPI_INT, MPI_SUM, inter);
}

/* ---- missing ranks ---- */

static void missing_finalize(void)
{
    if (rank != last) MPI_Barrier(world);
}

static void missing_recv(void)
{
    if (rank != last) receive(last, 5, world);
}

static const struct {
    const char *name;
    void (*hang)(void);
} kinds[] = {
#define K(name) {#name, name}
    K(barrier_bcast), K(bcast_barrier_finalize), K(reduce_allreduce), K(alltoall_gather), K(scan_barrier), K(bcast_root),
    K(gather_root), K(reduce_root), K(scatter_root), K(allreduce_op), K(allreduce_count), K(allreduce_type), K(ibarrier_barrier),
    K(icoll_order), K(icoll_unwaited), K(dup_barrier), K(split_barrier), K(window_barrier), K(fence_free),
    K(barrier_recv), K(bcast_recv), K(reduce_any), K(barrier_ssend), K(allgather_probe), K(send_send), K(ssend_self), K(recv_self),
    K(recv_tag), K(recv_more), K(waitall_cycle), K(waitall_isend), K(waitany_cycle), K(issend_wait), K(persistent_wait),
    K(probe_probe), K(mprobe_any), K(sendrecv_chain), K(any_credited), K(any_waitall), K(comm_barrier), K(comm_message),
    K(half_mismatch), K(half_recv), K(inter_recv), K(inter_barrier), K(inter_kinds), K(missing_finalize), K(missing_recv),
};

static void healthy(void)
{
    for (int i = 0; i < 3; i++) {
        MPI_Sendrecv(&rank, 1, MPI_INT, next, 3, &x, 1, MPI_INT, before, 3, world, MPI_STATUS_IGNORE);
        MPI_Bcast(&x, 1, MPI_INT, 0, world);
        MPI_Allreduce(&rank, &x, 1, MPI_INT, MPI_SUM, other);
        MPI_Barrier(world);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    last = size - 1;
    next = (rank + 1) % size;
    before = (rank + last) % size;
    big = calloc(2 * BIG, sizeof *big);
    gathered = big + BIG;
    int low = rank < (size + 1) / 2;
    MPI_Comm_dup(world, &other);
    MPI_Comm_split(world, low, rank, &half);
    MPI_Intercomm_create(half, 0, world, low ? (size + 1) / 2 : 0, 9, &inter);
    healthy();
    for (size_t i = 0; argc > 1 && i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(argv[1], kinds[i].name)) kinds[i].hang();
    MPI_Finalize();
    return 0;
}
