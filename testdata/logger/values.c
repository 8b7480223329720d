#define _GNU_SOURCE
#include "values.h"

/* The logger itself uses only PMPI procedures, looked up in the MPI library by
 * name: it must not be linked with the library, because shells and launchers
 * inherit the preload. */
#define PMPI(name) ({                                     \
    static __typeof__(PMPI_##name) *f_;                   \
    if (!f_)                                              \
        f_ = (__typeof__(f_))log_symbol("PMPI_" #name);   \
    f_;                                                   \
})

#ifdef OPEN_MPI
#define CONVERT(type, name, from) \
    ({ type h_ = PMPI(name##_f2c)(from); (int64_t)(intptr_t)h_; })
#else
#define CONVERT(type, name, from) ((int64_t)(from))
#endif

static int64_t fortran_handle(int kind, MPI_Fint f)
{
    switch (kind) {
    case K_COMM: return CONVERT(MPI_Comm, Comm, f);
    case K_TYPE: return CONVERT(MPI_Datatype, Type, f);
    case K_OP: return CONVERT(MPI_Op, Op, f);
    case K_GROUP: return CONVERT(MPI_Group, Group, f);
    case K_WIN: return CONVERT(MPI_Win, Win, f);
    case K_FILE: return (int64_t)(intptr_t)PMPI(File_f2c)(f);
    case K_INFO: return CONVERT(MPI_Info, Info, f);
    case K_REQUEST: return CONVERT(MPI_Request, Request, f);
    case K_MESSAGE: return CONVERT(MPI_Message, Message, f);
    case K_ERRHANDLER: return CONVERT(MPI_Errhandler, Errhandler, f);
    }
    return f;
}

static int is_fortran(const log_call *c)
{
    return c->lang != LANG_C;
}

static int64_t fortran_index(const log_call *c, int64_t v)
{
    if (v == MPI_UNDEFINED)
        return v;
#ifdef MPICH_NUMVERSION
    /* Before 4.1, MPICH's mpi_f08 gives indices counted from 0. */
    if (MPICH_NUMVERSION < 40100000 && c->lang >= LANG_F08)
        return v;
#endif
    return is_fortran(c) ? v - 1 : v;
}

static int64_t c_element(const log_param *p, const void *a, int64_t i)
{
    switch (p->kind) {
    case K_INT: case K_KEYVAL: return ((const int *)a)[i];
    case K_AINT: return ((const MPI_Aint *)a)[i];
    case K_COUNT: return ((const MPI_Count *)a)[i];
    case K_OFFSET: return ((const MPI_Offset *)a)[i];
    case K_FILE: return (int64_t)(intptr_t)((const MPI_File *)a)[i];
    default: return (int64_t)(intptr_t)((const MPI_Comm *)a)[i]; /* all handles are alike */
    }
}

int64_t value_at(const log_call *c, const log_param *p, const void *a, int64_t i)
{
    int64_t v;
    if (!is_fortran(c))
        v = c_element(p, a, i);
    else if (p->kind >= K_COMM)
        v = fortran_handle(p->kind, ((const MPI_Fint *)a)[i]);
    else if (p->flags & F_FINT)
        v = ((const MPI_Fint *)a)[i];
    else
        v = c_element(p, a, i);
    if (p->flags & F_LOGICAL)
        v = v != 0;
    if (p->flags & F_INDEX)
        v = fortran_index(c, v);
    return v;
}

int64_t value_of(const log_call *c, int k)
{
    const log_param *p = &c->proc->params[k];
    if (!is_fortran(c) && !(p->flags & (F_POINTER | F_ARRAY)))
        return p->flags & F_LOGICAL ? c->args[k] != 0 : c->args[k];
    return value_at(c, p, (const void *)(intptr_t)c->args[k], 0);
}

static int is_symbol(const void *a, const char *name)
{
    return a && a == log_symbol(name);
}

/* a equals what the pointer variable of that name holds. */
static int is_pointee(const void *a, const char *name)
{
    void **v = log_symbol(name);
    return v && a && *v == a;
}

static int is_weights_sentinel(const log_call *c, const void *a)
{
#ifdef OPEN_MPI
    if (!is_fortran(c))
        return a == (void *)MPI_UNWEIGHTED || a == (void *)MPI_WEIGHTS_EMPTY;
    return is_symbol(a, "mpi_fortran_unweighted_") || is_symbol(a, "mpi_fortran_weights_empty_");
#else
    (void)c;
    return is_pointee(a, "MPI_UNWEIGHTED") || is_pointee(a, "MPI_WEIGHTS_EMPTY") ||
           is_pointee(a, "MPIR_F_MPI_UNWEIGHTED") || is_pointee(a, "MPIR_F_MPI_WEIGHTS_EMPTY") ||
           is_pointee(a, "MPIR_C_MPI_UNWEIGHTED") || is_pointee(a, "MPIR_C_MPI_WEIGHTS_EMPTY");
#endif
}

const void *value_address(const log_call *c, int k)
{
    const void *a = (const void *)(intptr_t)c->args[k];
    const char *n = c->proc->params[k].name;
    if (n[0] == 'w' || n[0] == 's' || n[0] == 'd')
        if (a && is_weights_sentinel(c, a))
            return NULL;
    return a;
}

static const void *buffer_address(const log_call *c, int k)
{
    const void *a = (const void *)(intptr_t)c->args[k];
    if (c->lang == LANG_F08TS && a)
        return *(void *const *)a;   /* CFI_cdesc_t starts with base_addr */
    return a;
}

enum value_sentinel value_sentinel(const log_call *c, int k)
{
    const void *a = buffer_address(c, k);
    if (!a)
        return S_NULL;
    if (!is_fortran(c))
        return a == MPI_IN_PLACE ? S_IN_PLACE : S_NONE;
#ifdef OPEN_MPI
    if (is_symbol(a, "mpi_fortran_in_place_"))
        return S_IN_PLACE;
    if (is_symbol(a, "mpi_fortran_bottom_"))
        return S_BOTTOM;
#else
    if (is_pointee(a, "MPIR_F_MPI_IN_PLACE") || is_symbol(a, "MPIR_F08_MPI_IN_PLACE"))
        return S_IN_PLACE;
    if (is_pointee(a, "MPIR_F_MPI_BOTTOM") || is_symbol(a, "MPIR_F08_MPI_BOTTOM"))
        return S_BOTTOM;
#endif
    return S_NONE;
}

int value_ignored_status(const log_call *c, int k)
{
    const void *a = (const void *)(intptr_t)c->args[k];
    if (!is_fortran(c))
        return a == MPI_STATUS_IGNORE || a == MPI_STATUSES_IGNORE;
    return is_pointee(a, "MPI_F_STATUS_IGNORE") || is_pointee(a, "MPI_F_STATUSES_IGNORE") ||
           is_symbol(a, "mpi_fortran_status_ignore_") ||
           is_symbol(a, "mpi_fortran_statuses_ignore_") ||
           is_symbol(a, "MPIR_F08_MPI_STATUS_IGNORE_OBJ") ||
           is_symbol(a, "MPIR_F08_MPI_STATUSES_IGNORE_OBJ");
}

static MPI_Comm call_comm(const log_call *c)
{
    return c->proc->comm < 0 ? MPI_COMM_NULL
                             : (MPI_Comm)(intptr_t)value_of(c, c->proc->comm);
}

static int is_inter(MPI_Comm comm)
{
    int inter = 0;
    PMPI(Comm_test_inter)(comm, &inter);
    return inter;
}

static int64_t comm_size(MPI_Comm comm, int remote)
{
    int n = 0;
    if (remote && is_inter(comm))
        PMPI(Comm_remote_size)(comm, &n);
    else
        PMPI(Comm_size)(comm, &n);
    return n;
}

static int64_t degree(MPI_Comm comm, int out)
{
    int kind = MPI_UNDEFINED, n = 0, m = 0, w, rank;
    PMPI(Topo_test)(comm, &kind);
    if (kind == MPI_CART) {
        PMPI(Cartdim_get)(comm, &n);
        return 2 * n;
    }
    if (kind == MPI_GRAPH) {
        PMPI(Comm_rank)(comm, &rank);
        PMPI(Graph_neighbors_count)(comm, rank, &n);
        return n;
    }
    if (kind == MPI_DIST_GRAPH)
        PMPI(Dist_graph_neighbors_count)(comm, &n, &m, &w);
    return out ? m : n;
}

static int64_t sum(const log_call *c, int array, int64_t n)
{
    int64_t s = 0;
    for (int64_t i = 0; i < n; i++)
        s += value_at(c, &c->proc->params[array], (const void *)(intptr_t)c->args[array], i);
    return s;
}

static int64_t neighbor_count(const log_call *c, int max)
{
    int n = 0;
    PMPI(Graph_neighbors_count)(call_comm(c), (int)value_of(c, 1), &n);
    return n < value_of(c, max) ? n : value_of(c, max);
}

int64_t value_length(const log_call *c, int k)
{
    const log_param *p = &c->proc->params[k];
    int64_t n = p->b >= 0 ? value_of(c, p->b) : 0;
    int dims = 0;
    if (p->length >= L_SIZE && p->length <= L_NDIMS && call_comm(c) == MPI_COMM_NULL)
        return 0;   /* an erroneous call: do not raise a second error */
    switch (p->length) {
    case L_PARAM: return value_of(c, p->a);
    case L_PARAM3: return 3 * value_of(c, p->a);
    case L_SIZE: return comm_size(call_comm(c), 1);
    case L_LOCAL: return comm_size(call_comm(c), 0);
    case L_INDEGREE: return degree(call_comm(c), 0);
    case L_OUTDEGREE: return degree(call_comm(c), 1);
    case L_NDIMS: PMPI(Cartdim_get)(call_comm(c), &dims); return dims;
    case L_SUM: return sum(c, p->a, n);
    case L_LAST:
        return n <= 0 ? 0 : value_at(c, &c->proc->params[p->a],
                                     (const void *)(intptr_t)c->args[p->a], n - 1);
    case L_NNEIGHBORS: return neighbor_count(c, p->a);
    }
    return 0;
}

static int at_root(const log_call *c)
{
    MPI_Comm comm = call_comm(c);
    int64_t root = value_of(c, c->proc->root);
    int rank = -1;
    if (comm == MPI_COMM_NULL || root == MPI_ROOT)
        return comm != MPI_COMM_NULL;
    if (is_inter(comm))
        return 0;
    PMPI(Comm_rank)(comm, &rank);
    return rank == root;
}

int value_significant(const log_call *c, int k)
{
    const log_param *p = &c->proc->params[k];
    if (p->flags & F_ROOT && c->proc->root >= 0 && !at_root(c))
        return 0;
    if (!(p->flags & F_INPLACE))
        return 1;
    for (int i = 0; i < c->proc->n; i++) {
        const char *n = c->proc->params[i].name;
        int other = n[0] == (p->name[0] == 's' ? 's' : 'r');
        if (c->proc->params[i].kind == K_BUFFER && other)
            return value_sentinel(c, i) != S_IN_PLACE;
    }
    return 1;
}

int64_t value_type_size(MPI_Datatype type)
{
    MPI_Count n = 0;
    if (type != MPI_DATATYPE_NULL)
        PMPI(Type_size_x)(type, &n);
    return n;
}
