/* Memory attached to a dynamic window of the ranks in reverse order, in two rounds at the same address,
 * accessed in several places, of which SHIFT moves one; or two pieces of memory at the same time:
 * dynamic SHIFT [two] */
#include "check.h"

#include <string.h>

enum { N = 16 };

static int mem[N], more[N];

static void accesses(MPI_Win w, int me, int size, const MPI_Aint *at, int shift)
{
    int to = (me + 1) % size, x = 40 + me, old = -1, got = -1;
    MPI_Win_lock_all(MPI_MODE_NOCHECK, w);
    for (int i = 0; i < 4; i++)
        MPI_Put(&x, 1, MPI_INT, to, MPI_Aint_add(at[to], i * (MPI_Aint)sizeof x), 1, MPI_INT, w);
    MPI_Win_flush(to, w);
    MPI_Fetch_and_op(&x, &old, MPI_INT, to, MPI_Aint_add(at[to], (8 + shift) * (MPI_Aint)sizeof x), MPI_SUM, w);
    MPI_Get(&got, 1, MPI_INT, to, at[to], 1, MPI_INT, w);
    MPI_Win_unlock_all(w);
    CHECK(got == x && old >= 0);
}

int main(int argc, char **argv)
{
    int rank, size, me;
    MPI_Comm reversed;
    MPI_Win w;
    MPI_Aint here, at[64];
    MPI_Init(&argc, &argv);
    int shift = number_arg(argc, argv, 1, 0), two = argc > 2 && strcmp(argv[2], "two") == 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    MPI_Comm_rank(reversed, &me);
    MPI_Comm_size(reversed, &size);
    CHECK(size <= 64);
    MPI_Win_create_dynamic(MPI_INFO_NULL, reversed, &w);
    for (int round = 0; round < 2; round++) {
        MPI_Win_attach(w, mem, sizeof mem);
        if (two)
            MPI_Win_attach(w, more, sizeof more);
        MPI_Get_address(mem, &here);
        MPI_Allgather(&here, 1, MPI_AINT, at, 1, MPI_AINT, reversed);
        accesses(w, me, size, at, shift);
        MPI_Barrier(reversed);
        MPI_Win_detach(w, mem);
        if (two)
            MPI_Win_detach(w, more);
    }
    MPI_Win_free(&w);
    MPI_Comm_free(&reversed);
    say_ok("dynamic", 2);
    MPI_Finalize();
    return 0;
}
