/* Trees of communicators, by every constructor; groups; dup and free in a
 * loop: comms LOOPS */
#include "check.h"

static int rank, size;

/* Uses a communicator and frees it. */
static void use(MPI_Comm c)
{
    int one = 1, n, all;
    if (c == MPI_COMM_NULL)
        return;
    MPI_Comm_size(c, &n);
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, c);
    CHECK(all == n);
    MPI_Comm_free(&c);
}

static void tree(MPI_Comm parent, int depth)
{
    int n, me;
    MPI_Comm c;
    if (depth == 0)
        return;
    MPI_Comm_size(parent, &n);
    MPI_Comm_rank(parent, &me);
    MPI_Comm_split(parent, me % 2, -me, &c);
    tree(c, depth - 1);
    use(c);
    MPI_Comm_split(parent, me == 0 ? MPI_UNDEFINED : 1, 0, &c);
    CHECK((c == MPI_COMM_NULL) == (me == 0));
    if (c != MPI_COMM_NULL)
        tree(c, depth - 1);
    use(c);
    MPI_Comm_dup(parent, &c);
    use(c);
}

static void by_groups(void)
{
    MPI_Group world, odd, even, both, g[6];
    MPI_Comm c;
    int list[16], n = 0, ranges[1][3] = { { 0, size - 1, 2 } }, out[16];
    for (int i = 1; i < size; i += 2)
        list[n++] = i;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, n, list, &odd);
    MPI_Group_excl(world, n, list, &even);
    MPI_Group_range_incl(world, 1, ranges, &g[0]);
    MPI_Group_range_excl(world, 1, ranges, &g[1]);
    MPI_Group_union(odd, even, &both);
    MPI_Group_intersection(odd, world, &g[2]);
    MPI_Group_difference(world, odd, &g[3]);
    MPI_Group_compare(even, g[0], &out[0]);
    CHECK(out[0] == MPI_IDENT);
    MPI_Group_translate_ranks(odd, n, (int[16]){ 0, 1, 2, 3, 4, 5, 6, 7 }, world, out);
    CHECK(n == 0 || out[n - 1] == list[n - 1]);
    MPI_Comm_create(MPI_COMM_WORLD, odd, &c);
    use(c);
    MPI_Comm_create(MPI_COMM_WORLD, both, &c);
    use(c);
    for (int i = 0; i < 3; i++)
        if (rank % 2) {
            MPI_Comm_create_group(MPI_COMM_WORLD, odd, 30 + i, &c);
            use(c);
        }
    for (int i = 0; i < 4; i++)
        MPI_Group_free(&g[i]);
    MPI_Group_free(&both);
    MPI_Group_free(&odd);
    MPI_Group_free(&even);
    MPI_Group_free(&world);
}

static void unequal_histories(void)
{
    MPI_Comm extra, c;
    /* one rank makes communicators that the others do not know */
    if (rank == 1 % size) {
        MPI_Comm_dup(MPI_COMM_SELF, &extra);
        use(extra);
        MPI_Comm_split(MPI_COMM_SELF, 3, 0, &extra);
        use(extra);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    use(c);
}

static void nonblocking(void)
{
    MPI_Comm c[3];
    MPI_Request r[3];
    for (int i = 0; i < 3; i++)
        MPI_Comm_idup(MPI_COMM_WORLD, &c[i], &r[i]);
    MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
    for (int i = 2; i >= 0; i--)
        use(c[i]);
}

static void topologies(void)
{
    int dims[2] = { 0, 0 }, periods[2] = { 0, 1 }, coords[2], keep[2] = { 0, 1 }, r;
    MPI_Comm cart, row;
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &cart);
    MPI_Comm_rank(cart, &r);
    MPI_Cart_coords(cart, r, 2, coords);
    MPI_Cart_rank(cart, coords, &r);
    MPI_Cart_sub(cart, keep, &row);
    use(row);
    MPI_Cart_get(cart, 2, dims, periods, coords);
    CHECK(periods[1] && !periods[0]);
    use(cart);
    MPI_Cart_create(MPI_COMM_WORLD, 1, (int[]){ 1 }, periods, 0, &cart);
    CHECK((cart == MPI_COMM_NULL) == (rank != 0));
    use(cart);
}

static void with_info(void)
{
    MPI_Info info;
    MPI_Comm c;
    MPI_Info_create(&info);
    MPI_Info_set(info, "key", "value with spaces");
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &c);
    MPI_Comm_set_name(c, "with info");
    use(c);
    MPI_Info_free(&info);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &c);
    use(c);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_UNDEFINED, rank, MPI_INFO_NULL, &c);
    CHECK(c == MPI_COMM_NULL);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int loops = number_arg(argc, argv, 1, 200);
    unequal_histories();
    tree(MPI_COMM_WORLD, 3);
    by_groups();
    nonblocking();
    topologies();
    with_info();
    for (int i = 0; i < loops; i++) {
        MPI_Comm c;
        MPI_Comm_dup(MPI_COMM_WORLD, &c);
        MPI_Barrier(c);
        MPI_Comm_free(&c);
    }
    say_ok("comms", loops);
    MPI_Finalize();
    return 0;
}
