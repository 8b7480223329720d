/* One-sided communication with every synchronisation: rma ROUNDS */
#include "check.h"

enum { N = 8 };

static int rank, size, left, right;

static void fences(MPI_Win w, int *mem)
{
    int x = rank, y = -1;
    MPI_Win_fence(MPI_MODE_NOPRECEDE, w);
    MPI_Put(&x, 1, MPI_INT, right, 0, 1, MPI_INT, w);
    MPI_Win_fence(0, w);
    CHECK(mem[0] == left);
    MPI_Get(&y, 1, MPI_INT, left, 0, 1, MPI_INT, w);
    MPI_Win_fence(MPI_MODE_NOSTORE, w);
    CHECK(y == (left + size - 1) % size);
    mem[1] = 0;
    MPI_Win_fence(0, w);
    MPI_Accumulate(&x, 1, MPI_INT, 0, 1, 1, MPI_INT, MPI_SUM, w);
    MPI_Win_fence(MPI_MODE_NOSUCCEED | MPI_MODE_NOPUT, w);
    CHECK(rank != 0 || mem[1] == size * (size - 1) / 2);
}

static void active_target(MPI_Win w, int *mem)
{
    MPI_Group world, to, from;
    int flag = 0, x = 1000 + rank;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &right, &to);
    MPI_Group_incl(world, 1, &left, &from);
    MPI_Win_post(from, 0, w);
    MPI_Win_start(to, 0, w);
    MPI_Put(&x, 1, MPI_INT, right, 2, 1, MPI_INT, w);
    MPI_Win_complete(w);
    if (rank % 2)
        MPI_Win_wait(w);
    else
        while (!flag)
            MPI_Win_test(w, &flag);
    CHECK(mem[2] == 1000 + left);
    MPI_Group_free(&to);
    MPI_Group_free(&from);
    MPI_Group_free(&world);
}

static void locks(MPI_Win w)
{
    int x = 1, old = -1, cmp = 0, sum;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, w);
    MPI_Put(&rank, 1, MPI_INT, right, 3, 1, MPI_INT, w);
    MPI_Win_flush(right, w);
    MPI_Get(&old, 1, MPI_INT, right, 3, 1, MPI_INT, w);
    MPI_Win_flush_local(right, w);
    MPI_Win_unlock(right, w);
    CHECK(old == rank);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, w);
    MPI_Fetch_and_op(&x, &old, MPI_INT, 0, 4, MPI_SUM, w);
    MPI_Win_flush_all(w);
    MPI_Compare_and_swap(&rank, &cmp, &old, MPI_INT, right, 5, w);
    MPI_Win_flush_local_all(w);
    MPI_Get_accumulate(&x, 1, MPI_INT, &sum, 1, MPI_INT, 0, 6, 1, MPI_INT, MPI_SUM, w);
    MPI_Win_sync(w);
    MPI_Win_unlock_all(w);
    CHECK(old == 0 || size == 1);
}

static void requests(MPI_Win w)
{
    int a = rank, b = -1, c = 5, d = -1, one = 1;
    MPI_Request r[4];
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, w);
    MPI_Rput(&a, 1, MPI_INT, rank, 7, 1, MPI_INT, w, &r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Win_flush(rank, w);
    MPI_Rget(&b, 1, MPI_INT, rank, 7, 1, MPI_INT, w, &r[1]);
    MPI_Wait(&r[1], MPI_STATUS_IGNORE);
    MPI_Raccumulate(&c, 1, MPI_INT, rank, 7, 1, MPI_INT, MPI_REPLACE, w, &r[2]);
    MPI_Win_flush(rank, w);
    MPI_Rget_accumulate(&one, 1, MPI_INT, &d, 1, MPI_INT, rank, 7, 1, MPI_INT, MPI_SUM, w, &r[3]);
    MPI_Waitall(2, r + 2, MPI_STATUSES_IGNORE);
    MPI_Win_unlock(rank, w);
    CHECK(b == rank && d == 5);
}

static void clear(MPI_Win w, int *mem)
{
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, w);
    for (int i = 0; i < N; i++)
        mem[i] = 0;
    MPI_Win_unlock(rank, w);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void on_window(MPI_Win w, int *mem, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        clear(w, mem);
        fences(w, mem);
        active_target(w, mem);
        clear(w, mem);
        locks(w);
        requests(w);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void shared(void)
{
    MPI_Comm node;
    MPI_Win w;
    MPI_Aint n;
    int *mem, *base, unit, me;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &me);
    MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, node, &mem, &w);
    MPI_Win_fence(0, w);
    *mem = 70 + me;
    MPI_Win_fence(0, w);
    MPI_Win_shared_query(w, 0, &n, &unit, &base);
    CHECK(*base == 70 && unit == (int)sizeof(int) && n == (MPI_Aint)sizeof(int));
    MPI_Win_fence(0, w);
    MPI_Win_free(&w);
    MPI_Comm_free(&node);
}

static void dynamic(void)
{
    int mem[2] = { rank, 0 }, got = -1;
    MPI_Aint here, there;
    MPI_Win w;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &w);
    MPI_Win_attach(w, mem, sizeof mem);
    MPI_Get_address(mem, &here);
    MPI_Sendrecv(&here, 1, MPI_AINT, left, 1, &there, 1, MPI_AINT, right, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, w);
    MPI_Get(&got, 1, MPI_INT, right, there, 1, MPI_INT, w);
    MPI_Win_unlock_all(w);
    CHECK(got == right);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_detach(w, mem);
    MPI_Win_free(&w);
}

int main(int argc, char **argv)
{
    int mem[N] = { 0 }, *own;
    MPI_Win w;
    MPI_Info info;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    int rounds = number_arg(argc, argv, 1, 3);
    MPI_Win_create(mem, sizeof mem, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &w);
    on_window(w, mem, rounds);
    MPI_Win_free(&w);
    MPI_Info_create(&info);
    MPI_Info_set(info, "same_disp_unit", "true");
    MPI_Win_allocate(N * sizeof(int), sizeof(int), info, MPI_COMM_WORLD, &own, &w);
    MPI_Win_set_name(w, "allocated");
    on_window(w, own, rounds);
    MPI_Win_free(&w);
    MPI_Info_free(&info);
    shared();
    dynamic();
    say_ok("rma", rounds);
    MPI_Finalize();
    return 0;
}
