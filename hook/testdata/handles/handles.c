/* Passes handles that are no longer valid, or never were, to calls that return errors, and
 * prints what they return. The first argument chooses the handles: null, freed or unseen (made by
 * calls that are not recorded, and valid); a second argument chooses one of the kinds. */
#include <mpi.h>

#include <stdio.h>
#include <string.h>

static void say(const char *what, int rc)
{
    int class_ = 0;
    MPI_Error_class(rc, &class_);
    printf("%s: %s\n", what, rc == MPI_SUCCESS ? "success" : class_ == MPI_ERR_TYPE ? "type"
           : class_ == MPI_ERR_COMM ? "communicator" : class_ == MPI_ERR_GROUP ? "group" : "other");
    fflush(stdout);
}

#define CALL(call) say(#call, call)

static void with_type(MPI_Datatype type)
{
    int n = 1, in[2] = { 1, 2 }, out[2] = { 0, 0 }, one = 1, zero = 0, position = 0;
    int ints[8];
    MPI_Aint addresses[8];
    MPI_Datatype made = MPI_DATATYPE_NULL, types[8];
    MPI_Request request = MPI_REQUEST_NULL;
    CALL(MPI_Send(in, 1, type, MPI_PROC_NULL, 0, MPI_COMM_SELF));
    CALL(MPI_Isend(in, 1, type, 0, 0, MPI_COMM_SELF, &request));
    if (request != MPI_REQUEST_NULL) {
        CALL(MPI_Recv(out, 2, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE));
        CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    CALL(MPI_Bcast(in, 1, type, 0, MPI_COMM_SELF));
    CALL(MPI_Allreduce(MPI_IN_PLACE, in, 1, type, MPI_SUM, MPI_COMM_SELF));
    CALL(MPI_Alltoallw(in, &one, &zero, &type, out, &one, &zero, &type, MPI_COMM_SELF));
    CALL(MPI_Pack(in, 1, type, out, sizeof out, &position, MPI_COMM_SELF));
    CALL(MPI_Type_contiguous(n, type, &made));
    if (made != MPI_DATATYPE_NULL) CALL(MPI_Type_free(&made));
    CALL(MPI_Type_create_struct(1, &one, (MPI_Aint[]){ 0 }, &type, &made));
    if (made != MPI_DATATYPE_NULL) CALL(MPI_Type_free(&made));
    CALL(MPI_Type_get_contents(type, 3, 0, 1, ints, addresses, types));
    CALL(MPI_Type_commit(&type));
}

static void with_comm(MPI_Comm comm)
{
    int in = 1, out[8], keep = 1, type;
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Group group = MPI_GROUP_NULL;
    CALL(MPI_Send(&in, 1, MPI_INT, MPI_PROC_NULL, 0, comm));
    CALL(MPI_Bcast(&in, 1, MPI_INT, 0, comm));
    CALL(MPI_Gather(&in, 1, MPI_INT, out, 1, MPI_INT, 0, comm));
    CALL(MPI_Comm_dup(comm, &made));
    CALL(MPI_Comm_group(comm, &group));
    CALL(MPI_Topo_test(comm, &type));
    CALL(MPI_Cart_sub(comm, &keep, &made));
    CALL(MPI_Neighbor_allgather(&in, 1, MPI_INT, out, 1, MPI_INT, comm));
}

static void with_group(MPI_Group group)
{
    int zero = 0;
    MPI_Group made = MPI_GROUP_NULL;
    MPI_Comm comm = MPI_COMM_NULL;
    CALL(MPI_Group_incl(group, 1, &zero, &made));
    CALL(MPI_Group_union(group, group, &made));
    CALL(MPI_Comm_create(MPI_COMM_SELF, group, &comm));
    CALL(MPI_Comm_create_group(MPI_COMM_SELF, group, 1, &comm));
}

/* What a callback makes belongs to the call that it is called by: it is not recorded. */
static MPI_Datatype unseen_type;
static MPI_Group unseen_group;
static MPI_Comm unseen_comm;

static int result = MPI_SUCCESS;

static int copied(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)keyval, (void)extra, (void)in, (void)out;
    MPI_Type_vector(1, 1, 2, MPI_INT, &unseen_type);
    MPI_Type_commit(&unseen_type);
    MPI_Comm_group(MPI_COMM_SELF, &unseen_group);
    MPI_Comm_dup(MPI_COMM_SELF, &unseen_comm);
    *flag = 0;
    return result;
}

static void make_unseen(void)
{
    int keyval;
    MPI_Comm comm, attributed;
    MPI_Comm_dup(MPI_COMM_SELF, &attributed);
    MPI_Comm_create_keyval(copied, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
    MPI_Comm_set_attr(attributed, keyval, NULL);
    MPI_Comm_dup(attributed, &comm);
    MPI_Comm_free(&comm);
    MPI_Comm_free(&attributed);
}

/* What the callback returns is what the call returns, whatever it is. */
static void with_result(void)
{
    int keyval, class_;
    MPI_Comm comm, attributed;
    MPI_Comm_dup(MPI_COMM_SELF, &attributed);
    MPI_Comm_create_keyval(copied, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
    MPI_Comm_set_attr(attributed, keyval, NULL);
    MPI_Add_error_class(&class_);
    MPI_Add_error_code(class_, &result);
    printf("added: %d\n", MPI_Comm_dup(attributed, &comm) == result);
    result = 12345;
    printf("no code: %d\n", MPI_Comm_dup(attributed, &comm) == result);
}

static void freed(MPI_Datatype *type, MPI_Comm *comm, MPI_Group *group)
{
    MPI_Datatype t;
    MPI_Comm c;
    MPI_Group g, world;
    MPI_Type_vector(1, 1, 2, MPI_INT, &t);
    MPI_Type_commit(&t);
    MPI_Comm_dup(MPI_COMM_SELF, &c);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, (int[]){ 0 }, &g);
    *type = t;
    *comm = c;
    *group = g;
    MPI_Type_free(&t);
    MPI_Comm_free(&c);
    MPI_Group_free(&g);
    MPI_Group_free(&world);
}

/* Two handles of one object: one of them is freed, the other one is used. */
static void shared(void)
{
    int ints[8];
    MPI_Aint addresses[8];
    MPI_Datatype inner, outer, types[8];
    MPI_Group one, other, made;
    MPI_Type_vector(1, 1, 2, MPI_INT, &inner);
    MPI_Type_contiguous(2, inner, &outer);
    MPI_Type_get_contents(outer, 1, 0, 1, ints, addresses, types);
    MPI_Type_free(&inner);
    CALL(MPI_Type_contiguous(3, types[0], &inner));
    MPI_Type_free(&inner);
    MPI_Type_free(&types[0]);
    CALL(MPI_Type_contiguous(3, outer, &inner));
    MPI_Type_free(&inner);
    MPI_Type_free(&outer);
    MPI_Comm_group(MPI_COMM_SELF, &one);
    MPI_Comm_group(MPI_COMM_SELF, &other);
    MPI_Group_free(&one);
    CALL(MPI_Group_incl(other, 1, (int[]){ 0 }, &made));
    MPI_Group_free(&made);
    MPI_Group_free(&other);
}

int main(int argc, char **argv)
{
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Group group = MPI_GROUP_NULL;
    const char *which = argv[1], *kinds = argc > 2 ? argv[2] : "tcg";
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (strcmp(which, "freed") == 0) freed(&type, &comm, &group);
    if (strcmp(which, "unseen") == 0) {
        make_unseen();
        type = unseen_type;
        comm = unseen_comm;
        group = unseen_group;
    }
    if (strcmp(which, "shared") == 0) {
        shared();
    } else if (strcmp(which, "result") == 0) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
        with_result();
    } else {
        if (strchr(kinds, 't') != NULL) with_type(type);
        if (strchr(kinds, 'c') != NULL) with_comm(comm);
        if (strchr(kinds, 'g') != NULL) with_group(group);
    }
    MPI_Finalize();
    return 0;
}
