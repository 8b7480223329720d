/* Calls inside MPI calls, up to four deep: callbacks ROUNDS, or callbacks kill: rank 0 is killed in one */
#include "check.h"

#include <signal.h>
#include <string.h>

static MPI_Comm other;          /* the operations' own */
static MPI_Op inner;
static int dies;                /* in the operation, the time after next */

/* ---- reduction operations ---- */

static void add(int *x, int *y, int n)
{
    for (int i = 0; i < n; i++)
        y[i] += x[i];
}

/* Makes a message to itself: no call but queries inside. */
static void add_after_message(void *a, void *b, int *n, MPI_Datatype *t)
{
    int sent = *n, got = 0;
    (void)t;
    MPI_Request r;
    MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_SELF, &r);
    MPI_Send(&sent, 1, MPI_INT, 0, 3, MPI_COMM_SELF);
    if (dies > 0 && --dies == 0)
        raise(SIGKILL);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK(got == sent);
    add(a, b, *n);
}

/* Reduces something else meanwhile, with the other operation. */
static void add_after_reduction(void *a, void *b, int *n, MPI_Datatype *t)
{
    int one[2] = { 1, 2 }, all[2] = { 10, 20 };
    (void)t;
    MPI_Reduce_local(one, all, 2, MPI_INT, inner);
    CHECK(all[0] == 11 && all[1] == 22);
    MPI_Allreduce(one, all, 2, MPI_INT, inner, MPI_COMM_SELF);
    CHECK(all[1] == 2);
    add(a, b, *n);
}

static void reductions(int round)
{
    MPI_Op outer;
    int rank, size, y[3];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int x[3] = { rank, 1, round };
    MPI_Op_create(add_after_message, 1, &inner);
    MPI_Op_create(add_after_reduction, 1, &outer);
    MPI_Allreduce(x, y, 3, MPI_INT, outer, other);
    CHECK(y[1] == size && y[2] == size * round);
    MPI_Reduce(x, y, 3, MPI_INT, outer, 0, other);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Op_free(&outer);
    MPI_Op_free(&inner);
}

/* ---- attributes ---- */

static int copied, deleted;

static int copy(MPI_Comm c, int keyval, void *extra, void *in, void *out, int *flag)
{
    int x = 1, y = 0;
    (void)c;
    (void)keyval;
    (void)extra;
    MPI_Sendrecv(&x, 1, MPI_INT, 0, 5, &y, 1, MPI_INT, 0, 5, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    copied += y;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

/* The attribute is a communicator that belongs to the one that is freed, and may have
 * such an attribute itself. */
static int drop(MPI_Comm c, int keyval, void *value, void *extra)
{
    MPI_Comm *own = value;
    (void)c;
    (void)keyval;
    (void)extra;
    deleted++;
    if (own != NULL) {
        MPI_Comm_free(own);
        free(own);
    }
    return MPI_SUCCESS;
}

static void attributes(void)
{
    int copying, dropping;
    MPI_Comm c, d;
    copied = deleted = 0;
    MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &copying, NULL);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, drop, &dropping, NULL);
    MPI_Comm_dup(MPI_COMM_SELF, &c);
    MPI_Comm_set_attr(c, copying, NULL);
    MPI_Comm_dup(c, &d);
    CHECK(copied == 1);
    MPI_Comm_free(&d);
    for (int i = 0; i < 3; i++) {       /* c has d, which has e, which has f */
        MPI_Comm *own = malloc(sizeof *own), next;
        MPI_Comm_dup(MPI_COMM_SELF, &next);
        *own = c;
        MPI_Comm_set_attr(next, dropping, own);
        c = next;
    }
    MPI_Comm_free(&c);
    CHECK(deleted == 3);
    MPI_Comm_free_keyval(&copying);
    MPI_Comm_free_keyval(&dropping);
}

/* ---- error handlers ---- */

static int handled, limit;
static MPI_Comm faulty;

/* Makes another error on the same communicator, a few times. */
static void handler(MPI_Comm *c, int *code, ...)
{
    int x = 0, size;
    (void)code;
    handled++;
    MPI_Comm_remote_size(*c, &size);    /* a query */
    if (handled < limit)
        MPI_Send(&x, 1, MPI_INT, 999, handled, faulty);
}

static void intercomm(MPI_Comm *c)
{
    int rank;
    MPI_Comm half;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 7, c);
    MPI_Comm_free(&half);
}

static void errors(void)
{
    MPI_Errhandler h;
    int x = 0;
    intercomm(&faulty);
    MPI_Comm_create_errhandler(handler, &h);
    MPI_Comm_set_errhandler(faulty, h);
    for (limit = 1; limit <= 4; limit++) {
        handled = 0;
        MPI_Send(&x, 1, MPI_INT, 999, 0, faulty);
        CHECK(handled == limit);
    }
    MPI_Comm_free(&faulty);
    MPI_Errhandler_free(&h);
}

/* ---- generalized requests ---- */

static int query(void *state, MPI_Status *st)
{
    char text[16] = "";
    int at = 0, n = *(int *)state;
    MPI_Pack(&n, 1, MPI_INT, text, sizeof text, &at, MPI_COMM_SELF);
    MPI_Status_set_elements(st, MPI_BYTE, n);
    MPI_Status_set_cancelled(st, 0);
    st->MPI_SOURCE = 0;
    st->MPI_TAG = 0;
    return MPI_SUCCESS;
}

static int release(void *state)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_free(&info);
    *(int *)state = -1;
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    (void)state;
    (void)complete;
    return MPI_SUCCESS;
}

static void generalized(void)
{
    int state[2] = { 3, 4 }, index;
    MPI_Request r[2];
    MPI_Status st;
    for (int i = 0; i < 2; i++) {
        MPI_Grequest_start(query, release, cancel, &state[i], &r[i]);
        MPI_Grequest_complete(r[i]);
    }
    MPI_Waitany(2, r, &index, &st);
    CHECK(index == 0 && state[0] == -1);
    MPI_Waitany(2, r, &index, &st);
    CHECK(index == 1 && state[1] == -1);
    MPI_Waitany(2, r, &index, &st);
    CHECK(index == MPI_UNDEFINED);
}

/* ---- the end ---- */

static int at_end(MPI_Comm c, int keyval, void *value, void *extra)
{
    int x = 4, y = 0;
    (void)c;
    (void)keyval;
    (void)value;
    (void)extra;
    MPI_Sendrecv(&x, 1, MPI_INT, 0, 6, &y, 1, MPI_INT, 0, 6, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    if (y != 4)
        printf("wrong at the end\n");
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    int key, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int kill = argc > 1 && strcmp(argv[1], "kill") == 0, rank;
    int rounds = kill ? 5 : number_arg(argc, argv, 1, 5);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    dies = kill && rank == 0 ? 2 : 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_end, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    for (int i = 0; i < rounds; i++) {
        reductions(i);
        attributes();
        if (size > 1)
            errors();
        generalized();
    }
    MPI_Comm_free(&other);
    say_ok("callbacks", rounds);
    MPI_Finalize();
    return 0;
}
