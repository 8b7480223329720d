/* Derived datatypes of every constructor; freed while used; rebuilt in each
 * iteration; changing at random: types ROUNDS */
#include "check.h"

#include <stddef.h>

typedef struct particle {
    double x[3];
    int id;
    char tag;
} particle;

static int rank, size, left, right;

static void transfer(MPI_Datatype t, int count)
{
    static char a[1 << 16], b[1 << 16];
    MPI_Status st;
    int n;
    MPI_Sendrecv(a + 1024, count, t, right, 3, b + 1024, count, t, left, 3, MPI_COMM_WORLD, &st);
    MPI_Get_count(&st, t, &n);
    CHECK(n == count);
}

/* Commits, uses and frees; the message is in flight while the type is freed. */
static void use(MPI_Datatype t)
{
    static char a[1 << 16], b[1 << 16];
    MPI_Request r[2];
    MPI_Type_commit(&t);
    transfer(t, 2);
    MPI_Irecv(b + 1024, 1, t, left, 4, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(a + 1024, 1, t, right, 4, MPI_COMM_WORLD, &r[1]);
    MPI_Type_free(&t);
    CHECK(t == MPI_DATATYPE_NULL);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
}

static MPI_Datatype particle_type(void)
{
    int lengths[3] = { 3, 1, 1 };
    MPI_Aint at[3] = { offsetof(particle, x), offsetof(particle, id), offsetof(particle, tag) };
    MPI_Datatype parts[3] = { MPI_DOUBLE, MPI_INT, MPI_CHAR }, t, u;
    MPI_Type_create_struct(3, lengths, at, parts, &t);
    MPI_Type_create_resized(t, 0, sizeof(particle), &u);
    MPI_Type_free(&t);
    return u;
}

static void every_constructor(int k)
{
    int lengths[3] = { 1, 2, 1 + k % 2 }, at[3] = { 0, 3, 8 };
    int sizes[2] = { 8, 6 }, sub[2] = { 4, 3 }, start[2] = { k % 4, 1 };
    int distribs[2] = { MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC };
    int dargs[2] = { MPI_DISTRIBUTE_DFLT_DARG, 2 }, psizes[2] = { size, 1 };
    MPI_Aint where[3] = { 0, 24, 80 };
    MPI_Datatype t, u;
    MPI_Type_contiguous(5, MPI_INT, &t);
    use(t);
    MPI_Type_vector(3, 2, 4, MPI_DOUBLE, &t);
    use(t);
    MPI_Type_create_hvector(3, 2, 40, MPI_FLOAT, &t);
    use(t);
    MPI_Type_indexed(3, lengths, at, MPI_INT, &t);
    use(t);
    MPI_Type_create_hindexed(3, lengths, where, MPI_SHORT, &t);
    use(t);
    MPI_Type_create_indexed_block(3, 2, at, MPI_INT, &t);
    use(t);
    MPI_Type_create_hindexed_block(3, 1, where, MPI_LONG, &t);
    use(t);
    MPI_Type_create_subarray(2, sizes, sub, start, MPI_ORDER_FORTRAN, MPI_INT, &t);
    use(t);
    MPI_Type_create_darray(size, rank, 2, (int[]){ 4 * size, 6 }, distribs, dargs, psizes,
                           MPI_ORDER_C, MPI_INT, &t);
    use(t);
    t = particle_type();
    MPI_Type_dup(t, &u);
    MPI_Type_free(&t);
    MPI_Type_vector(2, 1, 3, u, &t);
    MPI_Type_free(&u);
    use(t);
}

/* Types with a new shape in every call, as in an adaptive code. */
static void changing(unsigned *seed)
{
    int lengths[6], at[6], n = 1 + (int)(*seed % 5), next = 0;
    MPI_Datatype t;
    for (int i = 0; i < n; i++) {
        *seed = *seed * 1103515245u + 12345u;
        lengths[i] = 1 + (int)(*seed >> 16) % 7;
        at[i] = next + (int)(*seed >> 20) % 5;
        next = at[i] + lengths[i];
    }
    MPI_Type_indexed(n, lengths, at, MPI_DOUBLE, &t);
    use(t);
}

static void inspect(void)
{
    MPI_Datatype t = particle_type(), parts[3], inner[1];
    int ni, na, nd, combiner, integers[16];
    MPI_Aint addresses[16], lb, extent;
    MPI_Type_get_envelope(t, &ni, &na, &nd, &combiner);
    CHECK(combiner == MPI_COMBINER_RESIZED && na == 2 && nd == 1);
    MPI_Type_get_contents(t, ni, na, nd, integers, addresses, inner);
    MPI_Type_get_envelope(inner[0], &ni, &na, &nd, &combiner);
    CHECK(combiner == MPI_COMBINER_STRUCT && nd == 3);
    MPI_Type_get_contents(inner[0], ni, na, nd, integers, addresses, parts);
    CHECK(parts[1] == MPI_INT);
    /* a type that the program got without a constructor */
    MPI_Type_commit(&inner[0]);
    transfer(inner[0], 1);
    MPI_Type_free(&inner[0]);
    MPI_Type_get_extent(t, &lb, &extent);
    CHECK(lb == 0 && extent == (MPI_Aint)sizeof(particle));
    MPI_Type_set_name(t, "particle");
    use(t);
    MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &t);
    transfer(t, 4);
    MPI_Type_create_f90_real(12, 30, &t);
    transfer(t, 2);
}

static void packing(void)
{
    char buffer[256];
    int position = 0, at = 0, n, in[3] = { 1, 2, 3 }, out[3];
    double d = 4.5, e;
    MPI_Aint wide = 0;
    MPI_Pack(in, 3, MPI_INT, buffer, sizeof buffer, &position, MPI_COMM_WORLD);
    MPI_Pack(&d, 1, MPI_DOUBLE, buffer, sizeof buffer, &position, MPI_COMM_WORLD);
    MPI_Sendrecv_replace(buffer, position, MPI_PACKED, right, 5, left, 5, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    MPI_Unpack(buffer, position, &at, out, 3, MPI_INT, MPI_COMM_WORLD);
    MPI_Unpack(buffer, position, &at, &e, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    CHECK(out[2] == 3 && e == 4.5 && at == position);
    MPI_Pack_size(3, MPI_INT, MPI_COMM_WORLD, &n);
    MPI_Pack_external("external32", in, 3, MPI_INT, buffer, sizeof buffer, &wide);
    CHECK(wide == 12 && n >= 12);
    wide = 0;
    MPI_Unpack_external("external32", buffer, 12, &wide, out, 3, MPI_INT);
    CHECK(out[0] == 1);
}

int main(int argc, char **argv)
{
    unsigned seed = 7;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    int rounds = number_arg(argc, argv, 1, 8);
    for (int i = 0; i < rounds; i++) {
        every_constructor(i);
        for (int k = 0; k < 10; k++)
            changing(&seed);
    }
    inspect();
    packing();
    say_ok("types", rounds);
    MPI_Finalize();
    return 0;
}
