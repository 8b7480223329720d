/* Like an unstructured mesh: each rank has its own neighbours, and messages of a
 * different size with each. The lists change once, half way: lists STEPS */
#include "check.h"

enum { MAX = 64, MOST = 900 };

static int rank, size;

/* The same number on all ranks. */
static unsigned draw(unsigned a, unsigned b, unsigned c)
{
    unsigned h = a * 2654435761u ^ b * 2246822519u ^ c * 3266489917u;
    h = (h ^ h >> 15) * 2246822519u;
    return h ^ h >> 13;
}

static int are_near(int a, int b, int epoch)
{
    int low = a < b ? a : b, high = a < b ? b : a;
    return a != b && (high - low == 1 || draw((unsigned)low, (unsigned)high, (unsigned)epoch) % 5 < 2);
}

static int length(int from, int to, int epoch)
{
    return 1 + (int)(draw((unsigned)(from * MAX + to), 77, (unsigned)epoch) % MOST);
}

int main(int argc, char **argv)
{
    static double in[MAX][MOST], out[MOST];
    static MPI_Request r[2 * MAX];
    static MPI_Status st[2 * MAX];
    double sum = 0, all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size <= MAX);
    int steps = number_arg(argc, argv, 1, 40);
    for (int s = 0; s < steps; s++) {
        int epoch = s >= steps / 2, n = 0, got;
        for (int p = 0; p < size; p++)
            if (are_near(p, rank, epoch))
                MPI_Irecv(in[p], length(p, rank, epoch), MPI_DOUBLE, p, 5, MPI_COMM_WORLD, &r[n++]);
        int receives = n;
        for (int p = 0; p < size; p++)
            if (are_near(rank, p, epoch))
                MPI_Isend(out, length(rank, p, epoch), MPI_DOUBLE, p, 5, MPI_COMM_WORLD, &r[n++]);
        MPI_Waitall(n, r, st);
        for (int i = 0; i < receives; i++) {
            MPI_Get_count(&st[i], MPI_DOUBLE, &got);
            CHECK(got == length(st[i].MPI_SOURCE, rank, epoch));
            sum += got;
        }
        for (int i = 0; i < 2 && s % 5 == 0; i++)
            MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    say_ok("lists", steps);
    MPI_Finalize();
    return 0;
}
