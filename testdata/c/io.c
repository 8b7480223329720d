/* MPI-IO: independent, collective, shared pointer, nonblocking, split, views:
 * io ROUNDS [FOLDER] */
#include "check.h"

#include <string.h>

enum { N = 4 };

static int rank, size;

/* Makes the others' writes visible. */
static void settle(MPI_File f)
{
    MPI_File_sync(f);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(f);
}

static void explicit_offsets(MPI_File f)
{
    int a[N] = { rank, rank + 1, rank + 2, rank + 3 }, b[N] = { 0 }, n;
    MPI_Offset at = (MPI_Offset)rank * N * 4;
    MPI_Status st;
    MPI_Request r;
    MPI_File_write_at(f, at, a, N, MPI_INT, &st);
    MPI_Get_count(&st, MPI_INT, &n);
    CHECK(n == N);
    MPI_File_read_at(f, at, b, N, MPI_INT, MPI_STATUS_IGNORE);
    CHECK(memcmp(a, b, sizeof a) == 0);
    MPI_File_write_at_all(f, at, a, N, MPI_INT, MPI_STATUS_IGNORE);
    settle(f);
    MPI_File_read_at_all(f, at, b, N, MPI_INT, &st);
    MPI_File_iwrite_at(f, at, a, N, MPI_INT, &r);
    MPI_Wait(&r, &st);
    MPI_File_iread_at(f, at, b, N, MPI_INT, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK(memcmp(a, b, sizeof a) == 0);
    MPI_File_write_at_all_begin(f, at, a, N, MPI_INT);
    MPI_File_write_at_all_end(f, a, &st);
    MPI_File_read_at_all_begin(f, at, b, N, MPI_INT);
    MPI_File_read_at_all_end(f, b, MPI_STATUS_IGNORE);
    CHECK(memcmp(a, b, sizeof a) == 0);
}

static void individual_pointer(MPI_File f)
{
    int a[N] = { 7, 8, 9, rank }, b[N] = { 0 };
    MPI_Offset at = (MPI_Offset)rank * N * 4, pos;
    MPI_Request r[2];
    MPI_File_seek(f, at, MPI_SEEK_SET);
    MPI_File_write(f, a, N, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_seek(f, -N * 4, MPI_SEEK_CUR);
    MPI_File_get_position(f, &pos);
    CHECK(pos == at);
    MPI_File_read(f, b, N, MPI_INT, MPI_STATUS_IGNORE);
    CHECK(memcmp(a, b, sizeof a) == 0);
    MPI_File_seek(f, at, MPI_SEEK_SET);
    MPI_File_write_all(f, a, N, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_seek(f, at, MPI_SEEK_SET);
    MPI_File_read_all(f, b, N, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_seek(f, at, MPI_SEEK_SET);
    MPI_File_iwrite(f, a, 2, MPI_INT, &r[0]);
    MPI_File_iwrite(f, a + 2, 2, MPI_INT, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    MPI_File_seek(f, at, MPI_SEEK_SET);
    MPI_File_iread(f, b, N, MPI_INT, &r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    CHECK(memcmp(a, b, sizeof a) == 0);
    MPI_File_seek(f, at, MPI_SEEK_SET);
    MPI_File_iwrite_all(f, a, N, MPI_INT, &r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
}

static void shared_pointer(MPI_File f)
{
    int x = rank, y;
    MPI_Request r;
    MPI_File_seek_shared(f, 0, MPI_SEEK_SET);
    MPI_File_write_ordered(f, &x, 1, MPI_INT, MPI_STATUS_IGNORE);
    settle(f);
    MPI_File_seek_shared(f, 0, MPI_SEEK_SET);
    MPI_File_read_ordered(f, &y, 1, MPI_INT, MPI_STATUS_IGNORE);
    CHECK(y == rank);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_write_shared(f, &x, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_iwrite_shared(f, &x, 1, MPI_INT, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_seek_shared(f, 0, MPI_SEEK_SET);
    MPI_File_read_shared(f, &y, 1, MPI_INT, MPI_STATUS_IGNORE);
    CHECK(y >= 0 && y < size);
}

static void views(MPI_File f)
{
    MPI_Datatype t;
    int a[N], b[N];
    char rep[MPI_MAX_DATAREP_STRING];
    MPI_Offset disp;
    MPI_Datatype etype, ftype;
    for (int i = 0; i < N; i++)
        a[i] = 100 * rank + i;
    MPI_Type_vector(N, 1, size, MPI_INT, &t);
    MPI_Type_commit(&t);
    MPI_File_set_view(f, (MPI_Offset)rank * 4, MPI_INT, t, "native", MPI_INFO_NULL);
    MPI_File_write_all(f, a, N, MPI_INT, MPI_STATUS_IGNORE);
    settle(f);
    MPI_File_seek(f, 0, MPI_SEEK_SET);
    MPI_File_read_all(f, b, N, MPI_INT, MPI_STATUS_IGNORE);
    CHECK(memcmp(a, b, sizeof a) == 0);
    MPI_File_get_view(f, &disp, &etype, &ftype, rep);
    CHECK(disp == rank * 4);
    MPI_Type_free(&t);
    MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
}

static void management(const char *name)
{
    MPI_File f;
    MPI_Info info;
    MPI_Offset n;
    int amode, atomic, rc;
    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_nodes", "1");
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR, info, &f);
    MPI_File_set_size(f, 128);
    MPI_File_preallocate(f, 256);
    MPI_File_get_size(f, &n);
    CHECK(n == 256);
    MPI_File_get_amode(f, &amode);
    CHECK(amode == MPI_MODE_RDWR);
    MPI_File_set_atomicity(f, 1);
    MPI_File_get_atomicity(f, &atomic);
    CHECK(atomic);
    MPI_File_sync(f);
    MPI_File_close(&f);
    MPI_Info_free(&info);
    rc = MPI_File_open(MPI_COMM_SELF, "/nowhere/at all", MPI_MODE_RDONLY, MPI_INFO_NULL, &f);
    MPI_Error_class(rc, &rc);
    CHECK(rc == MPI_ERR_NO_SUCH_FILE || rc == MPI_ERR_OTHER || rc == MPI_ERR_IO);
}

int main(int argc, char **argv)
{
    char name[512], own[600];
    MPI_File f;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int rounds = number_arg(argc, argv, 1, 2);
    snprintf(name, sizeof name, "%s/io.data", argc > 2 ? argv[2] : ".");
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &f);
    for (int i = 0; i < rounds; i++) {
        explicit_offsets(f);
        individual_pointer(f);
        shared_pointer(f);
        views(f);
    }
    MPI_File_close(&f);
    snprintf(own, sizeof own, "%s.%d", name, rank);
    MPI_File_open(MPI_COMM_SELF, own, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &f);
    MPI_File_close(&f);
    management(own);
    MPI_File_delete(own, MPI_INFO_NULL);
    say_ok("io", rounds);
    MPI_Finalize();
    return 0;
}
