/* Attributes, keyvals, infos, error handlers, names: attrs ROUNDS */
#include "check.h"

#include <string.h>

static int copies, deletes;

static int copy(MPI_Comm c, int keyval, void *extra, void *in, void *out, int *flag)
{
    int n;
    (void)keyval;
    MPI_Comm_size(c, &n);   /* MPI inside a callback */
    *(void **)out = in;
    *flag = 1;
    ++*(int *)extra;
    return MPI_SUCCESS;
}

static int drop(MPI_Comm c, int keyval, void *value, void *extra)
{
    (void)c;
    (void)keyval;
    (void)value;
    (void)extra;
    deletes++;
    return MPI_SUCCESS;
}

static int handled;

static void handler(MPI_Comm *c, int *code, ...)
{
    int n;
    MPI_Comm_rank(*c, &n);
    handled += *code != MPI_SUCCESS;
}

static void keyvals(void)
{
    int key, tkey, wkey, flag, value = 5, *got;
    MPI_Comm c;
    MPI_Datatype t;
    copies = deletes = 0;
    MPI_Comm_create_keyval(copy, drop, &key, &copies);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, &value);
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    MPI_Comm_get_attr(c, key, &got, &flag);
    CHECK(flag && *got == 5 && copies == 1);
    MPI_Comm_delete_attr(c, key);
    MPI_Comm_get_attr(c, key, &got, &flag);
    CHECK(!flag && deletes == 1);
    MPI_Comm_free(&c);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    MPI_Comm_free_keyval(&key);
    CHECK(key == MPI_KEYVAL_INVALID);
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &tkey, NULL);
    MPI_Type_contiguous(2, MPI_INT, &t);
    MPI_Type_set_attr(t, tkey, &value);
    MPI_Type_get_attr(t, tkey, &got, &flag);
    CHECK(flag && got == &value);
    MPI_Type_free(&t);
    MPI_Type_free_keyval(&tkey);
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &wkey, NULL);
    MPI_Win_free_keyval(&wkey);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &got, &flag);
    CHECK(flag && *got >= 32767);
}

static void infos(void)
{
    MPI_Info a, b;
    char value[64], key[MPI_MAX_INFO_KEY];
    int flag, n;
    MPI_Info_create(&a);
    MPI_Info_set(a, "one", "1");
    MPI_Info_set(a, "two", "zwei, deux");
    MPI_Info_dup(a, &b);
    MPI_Info_delete(a, "one");
    MPI_Info_get_nkeys(b, &n);
    CHECK(n == 2);
    MPI_Info_get_nthkey(b, 1, key);
    MPI_Info_get(b, "two", 63, value, &flag);
    CHECK(flag && strcmp(value, "zwei, deux") == 0);
    MPI_Info_get_valuelen(a, "one", &n, &flag);
    CHECK(!flag);
    MPI_Info_free(&b);
    MPI_Info_free(&a);
}

static void errhandlers(void)
{
    MPI_Errhandler e, old;
    int x = 0, size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_create_errhandler(handler, &e);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &old);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, e);
    handled = 0;
    CHECK(MPI_Send(&x, 1, MPI_INT, size + 3, 0, MPI_COMM_WORLD) != MPI_SUCCESS);
    MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER);
    CHECK(handled == 2);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, old);
    MPI_Errhandler_free(&e);
    MPI_Errhandler_free(&old);
}

int main(int argc, char **argv)
{
    char name[MPI_MAX_OBJECT_NAME];
    int n;
    MPI_Init(&argc, &argv);
    int rounds = number_arg(argc, argv, 1, 4);
    for (int i = 0; i < rounds; i++) {
        keyvals();
        infos();
        errhandlers();
    }
    MPI_Comm_set_name(MPI_COMM_WORLD, "our world");
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &n);
    CHECK(strcmp(name, "our world") == 0);
    MPI_Pcontrol(1);
    say_ok("attrs", rounds);
    MPI_Finalize();
    return 0;
}
