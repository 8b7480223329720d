/* Writes the line of a call; see README.md for the form of a line. */
#define _GNU_SOURCE
#include "logger.h"
#include "output.h"
#include "paths.h"
#include "values.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LOG_DEPTH = 64 };

typedef struct log_thread {
    out_file out, paths;
    int has_paths;
    void *frames[LOG_DEPTH];    /* of the wrappers that run, the outermost first */
    int depth;                  /* number of them */
    int open;                   /* the line of the innermost is the last one, and not complete */
} log_thread;

static __thread log_thread *self;
static _Atomic int64_t clock_ticks;
static _Atomic int thread_count;
static _Atomic int state;   /* 0 not started, 1 starting, 2 on, 3 off */
static FILE *process_file;

/* A program may load MPI without making its symbols global, as Python does.
 * Then the logger makes them global: the hook behind it sees the logger as its
 * caller and cannot find MPI otherwise. */
static void *reach_library(void)
{
    static void *_Atomic library;
    if (!library)
        library = dlopen(log_library, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);
    return library;
}

/* The logger's own queries are not calls of the program: they bypass the hook. */
void *log_symbol(const char *name)
{
    return dlsym(strncmp(name, "PMPI_", 5) ? RTLD_DEFAULT : reach_library(), name);
}

void *log_real(const char *name)
{
    reach_library();
    void *s = dlsym(RTLD_NEXT, name);
    if (!s) {
        fprintf(stderr, "logger: no %s after the logger\n", name);
        _exit(98);
    }
    return s;
}

static void add_constant(const char *name, int64_t value)
{
    fprintf(process_file, "constant %s %lld\n", name, (long long)value);
}

static void log_rank(void)
{
    int rank = -1, size = 0, initialized = 0;
    MPI_Comm parent = MPI_COMM_NULL;
    ((int (*)(int *))log_symbol("PMPI_Initialized"))(&initialized);
    if (!initialized)
        return;
    ((int (*)(MPI_Comm, int *))log_symbol("PMPI_Comm_rank"))(MPI_COMM_WORLD, &rank);
    ((int (*)(MPI_Comm, int *))log_symbol("PMPI_Comm_size"))(MPI_COMM_WORLD, &size);
    ((int (*)(MPI_Comm *))log_symbol("PMPI_Comm_get_parent"))(&parent);
    fprintf(process_file, "rank %d %d %d\n", rank, size, parent != MPI_COMM_NULL);
    fflush(process_file);
}

static void in_child(void)
{
    atomic_store(&state, 3);
}

static void start(void)
{
    const char *dir = getenv("LOGGER_DIR"), *rank;
    char path[4096];
    if (!dir) {
        atomic_store(&state, 3);
        return;
    }
    snprintf(path, sizeof path, "%s/%d.process", dir, (int)getpid());
    process_file = fopen(path, "wxe");
    if (!process_file) {
        perror("logger");
        _exit(97);
    }
    if (!(rank = getenv("PMI_RANK")))
        rank = getenv("OMPI_COMM_WORLD_RANK");
    if (rank)
        fprintf(process_file, "launched %s\n", rank);
    log_constants(add_constant);
    fflush(process_file);
    pthread_atfork(NULL, NULL, in_child);
    atomic_store(&state, 2);
}

static int is_on(void)
{
    int s = atomic_load_explicit(&state, memory_order_acquire), zero = 0;
    if (s == 0 && atomic_compare_exchange_strong(&state, &zero, 1))
        start();
    while ((s = atomic_load(&state)) == 1)
        usleep(50);
    return s == 2;
}

static log_thread *new_thread(void)
{
    char path[4096];
    log_thread *t = calloc(1, sizeof *t);
    int number = atomic_fetch_add(&thread_count, 1), failed = !t;
    snprintf(path, sizeof path, "%s/%d.%d.log", getenv("LOGGER_DIR"), (int)getpid(), number);
    failed = failed || out_open(&t->out, path) != 0;
    if (!failed && (t->has_paths = paths_wanted())) {
        snprintf(path, sizeof path, "%s/%d.%d.paths", getenv("LOGGER_DIR"), (int)getpid(), number);
        failed = out_open(&t->paths, path) != 0;
    }
    if (failed) {
        perror("logger");
        _exit(97);
    }
    return t;
}

static const char *const class_of[] = {
    [K_KEYVAL] = "keyval", [K_COMM] = "comm", [K_TYPE] = "type", [K_OP] = "op",
    [K_GROUP] = "group", [K_WIN] = "win", [K_FILE] = "file", [K_INFO] = "info",
    [K_REQUEST] = "request", [K_MESSAGE] = "message", [K_ERRHANDLER] = "errhandler",
    [K_SESSION] = "session"
};

/* A handle is class:value, a request or message class:value:address. */
static void put_value(log_call *c, const log_param *p, int64_t v, const void *address)
{
    out_file *o = &c->thread->out;
    if (p->kind >= K_KEYVAL) {
        out_string(o, class_of[p->kind]);
        out_text(o, ":", 1);
    }
    out_number(o, v);
    if ((p->kind == K_REQUEST || p->kind == K_MESSAGE) && address) {
        out_text(o, ":", 1);
        out_number(o, (int64_t)(intptr_t)address);
    }
}

static size_t element_size(const log_call *c, const log_param *p)
{
    if (c->lang != LANG_C && (p->kind >= K_COMM || p->flags & F_FINT))
        return sizeof(MPI_Fint);
    switch (p->kind) {
    case K_INT: case K_KEYVAL: return sizeof(int);
    case K_AINT: return sizeof(MPI_Aint);
    case K_COUNT: return sizeof(MPI_Count);
    case K_OFFSET: return sizeof(MPI_Offset);
    case K_FILE: return sizeof(MPI_File);
    }
    return sizeof(MPI_Comm);
}

static void put_array(log_call *c, int k, int64_t n)
{
    const log_param *p = &c->proc->params[k];
    out_file *o = &c->thread->out;
    const char *a = value_address(c, k);
    if (!a) {
        out_text(o, "~", 1);    /* a sentinel such as MPI_UNWEIGHTED */
        return;
    }
    out_text(o, "[", 1);
    for (int64_t i = 0; i < n; i++) {
        if (i)
            out_text(o, ",", 1);
        put_value(c, p, value_at(c, p, a, i), a + i * (int64_t)element_size(c, p));
    }
    out_text(o, "]", 1);
}

static void put_string(log_call *c, int k, int ordinal)
{
    const char *s = (const char *)(intptr_t)c->args[k];
    size_t n;
    if (!s) {
        out_text(&c->thread->out, "~", 1);
        return;
    }
    if (c->lang == LANG_C)
        n = strlen(s);
    else
        for (n = c->lengths[ordinal]; n > 0 && s[n - 1] == ' '; n--)
            ;
    out_text(&c->thread->out, "\"", 1);
    out_quoted(&c->thread->out, s, n);
    out_text(&c->thread->out, "\"", 1);
}

static void put_buffer(log_call *c, int k)
{
    static const char *const name[] = { "", "in_place", "bottom", "null" };
    out_string(&c->thread->out, name[value_sentinel(c, k)]);
}

static void put_name(log_call *c, int k)
{
    out_text(&c->thread->out, " ", 1);
    out_string(&c->thread->out, c->proc->params[k].name);
    out_text(&c->thread->out, "=", 1);
}

static void put_scalar(log_call *c, int k)
{
    const log_param *p = &c->proc->params[k];
    const void *a = p->flags & F_POINTER ? (const void *)(intptr_t)c->args[k] : NULL;
    put_value(c, p, value_of(c, k), a);
}

static void put_type_size(log_call *c, int k)
{
    out_string(&c->thread->out, " _size=");
    out_number(&c->thread->out, value_type_size((MPI_Datatype)(intptr_t)value_of(c, k)));
}

static void put_input(log_call *c, int k, int ordinal)
{
    const log_param *p = &c->proc->params[k];
    if (p->kind == K_IGNORE || p->kind == K_STATUS || !(p->flags & F_IN))
        return;
    put_name(c, k);
    if (!value_significant(c, k))
        out_text(&c->thread->out, "?", 1);
    else if (p->kind == K_BUFFER)
        put_buffer(c, k);
    else if (p->kind == K_STRING)
        put_string(c, k, ordinal);
    else if (p->flags & F_ARRAY)
        put_array(c, k, value_length(c, k));
    else
        put_scalar(c, k);
    if (p->flags & F_SIZE)
        put_type_size(c, k);
}

/* Statuses that the program ignores are replaced by private ones, so that the
 * log has them. */
static void replace_statuses(log_call *c)
{
    for (int k = 0; k < c->proc->n; k++) {
        const log_param *p = &c->proc->params[k];
        if (p->kind != K_STATUS || !value_ignored_status(c, k))
            continue;
        if (p->flags & F_ARRAY) {
            int64_t n = value_of(c, 0);
            c->many = calloc((size_t)(n > 0 ? n : 1), sizeof *c->many);
            c->args[k] = (int64_t)(intptr_t)c->many;
        } else {
            c->args[k] = (int64_t)(intptr_t)&c->one;
        }
    }
}

static void put_inputs(log_call *c)
{
    out_file *o = &c->thread->out;
    static const char *const lang[] = { "c", "f", "f08", "f08" };
    int ordinal = 0;
    out_number(o, atomic_fetch_add(&clock_ticks, 1));
    out_text(o, " ", 1);
    out_string(o, lang[c->lang]);
    out_text(o, " ", 1);
    out_string(o, c->proc->name);
    for (int k = 0; k < c->proc->n; k++) {
        put_input(c, k, ordinal);
        ordinal += c->proc->params[k].kind == K_STRING;
    }
    out_string(o, " |");
}

/* The number of wrappers that called the one that called log_begin: those on the stack. A frame that lies
 * further up may be of a call that was left with longjmp. */
static __attribute__((noinline)) int wrappers_around(void)
{
    enum { FRAMES = 512, THIS = 3 };    /* this function, log_begin, its wrapper */
    void *frames[FRAMES];
    Dl_info own, info;
    int found = 0, n = backtrace(frames, FRAMES);
    dladdr((void *)log_symbol, &own);
    for (int i = 0; i < n; i++)
        found += dladdr((char *)frames[i] - 1, &info) && info.dli_fbase == own.dli_fbase;
    return found - THIS;
}

/* Whether code of the MPI library makes the call of the wrapper with this frame. */
static int by_library(void *frame)
{
    static const char *const names[] = { "libmpi", "libopen-", "mca_", "libmca_" };
    Dl_info info;
    const char *caller = ((char **)frame)[1], *slash;
    if (!dladdr(caller - 1, &info) || !info.dli_fname)
        return 0;
    slash = strrchr(info.dli_fname, '/');
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (slash && strncmp(slash + 1, names[i], strlen(names[i])) == 0)
            return 1;
    return 0;
}

/* Continues the line of the innermost call, after those of calls inside of it. */
static void resume(log_thread *t)
{
    if (!t->open)
        out_text(&t->out, "<", 1);
    t->open = 1;
}

/* The innermost call ends; what was written completes its line. */
static void pop(log_thread *t)
{
    out_text(&t->out, "\n", 1);
    t->depth--;
    t->open = 0;
}

/* Ends the calls down to a depth that were left with longjmp or an exception. */
static void leave(log_thread *t, int depth)
{
    while (t->depth > depth) {
        resume(t);
        out_string(&t->out, " !");
        pop(t);
    }
}

/* Begins a line, which has its depth in front. */
static void push(log_thread *t, void *frame)
{
    if (t->depth == LOG_DEPTH) {
        fprintf(stderr, "logger: too many calls inside each other\n");
        _exit(98);
    }
    if (t->open)
        out_text(&t->out, "\n", 1);
    for (int i = 0; i < t->depth; i++)
        out_text(&t->out, ">", 1);
    t->frames[t->depth++] = frame;
    t->open = 1;
}

int log_begin(log_call *c, const log_proc *p, enum log_lang lang, int64_t *args,
              const size_t *lengths, void *frame)
{
    log_thread *t = self;
    if (!is_on())
        return 0;
    if (!t)
        t = self = new_thread();
    int depth = t->depth;
    while (depth > 0 && (char *)t->frames[depth - 1] <= (char *)frame)
        depth--;
    if (depth > 0 && by_library(frame))
        return 0;
    if (depth > 0 && wrappers_around() < depth)
        depth = wrappers_around();
    leave(t, depth);
    c->depth = t->depth;
    push(t, frame);
    c->proc = p;
    c->args = args;
    c->lengths = lengths;
    c->thread = t;
    c->lang = lang;
    c->many = NULL;
    put_inputs(c);
    if (t->has_paths)
        paths_put(&t->paths, p->name);
    replace_statuses(c);
    return 1;
}

static void put_status(log_call *c, const MPI_Status *s)
{
    static int (*elements)(const MPI_Status *, MPI_Datatype, MPI_Count *);
    static MPI_Datatype byte;
    MPI_Count n = 0;
    out_file *o = &c->thread->out;
    if (!elements) {
        byte = MPI_BYTE;
        elements = (__typeof__(elements))log_symbol("PMPI_Get_elements_x");
    }
    elements(s, byte, &n);
    out_number(o, s->MPI_SOURCE);
    out_text(o, ":", 1);
    out_number(o, s->MPI_TAG);
    out_text(o, ":", 1);
    out_number(o, n);
}

static void put_statuses(log_call *c, int k)
{
    const log_param *p = &c->proc->params[k];
    const MPI_Status *s = (const MPI_Status *)(intptr_t)c->args[k];
    int64_t n = p->flags & F_ARRAY ? value_length(c, k) : 1;
    put_name(c, k);
    if (p->flags & F_ARRAY)
        out_text(&c->thread->out, "[", 1);
    for (int64_t i = 0; i < n; i++) {
        if (i)
            out_text(&c->thread->out, ",", 1);
        put_status(c, s + i);
    }
    if (p->flags & F_ARRAY)
        out_text(&c->thread->out, "]", 1);
}

static void put_output(log_call *c, int k)
{
    const log_param *p = &c->proc->params[k];
    if (p->kind == K_IGNORE || !(p->flags & F_OUT) || !value_significant(c, k))
        return;
    if (p->kind == K_STATUS) {
        put_statuses(c, k);
        return;
    }
    put_name(c, k);
    if (p->flags & F_ARRAY)
        put_array(c, k, value_length(c, k));
    else
        put_scalar(c, k);
}

static int is_live_request(const log_param *p)
{
    return p->kind == K_REQUEST && p->flags & F_IN;
}

/* If the flag is false, only the requests and the flag are meaningful; after an
 * error, only the requests. */
static void put_outputs(log_call *c, int rc)
{
    int flag = rc == MPI_SUCCESS ? c->proc->flag : -1;
    int off = rc != MPI_SUCCESS || (flag >= 0 && value_of(c, flag) == 0);
    for (int k = 0; k < c->proc->n; k++)
        if (!off || k == flag || is_live_request(&c->proc->params[k]))
            put_output(c, k);
}

static int error_class(int rc)
{
    int class = rc;
    ((int (*)(int, int *))log_symbol("PMPI_Error_class"))(rc, &class);
    return class;
}

int log_end(log_call *c, int rc)
{
    log_thread *t = c->thread;
    leave(t, c->depth + 1);
    resume(t);
    put_outputs(c, rc);
    out_string(&t->out, " = ");
    out_number(&t->out, rc == MPI_SUCCESS ? 0 : error_class(rc));
    out_text(&t->out, " ", 1);
    out_number(&t->out, atomic_fetch_add(&clock_ticks, 1));
    pop(t);
    free(c->many);
    if (strncmp(c->proc->name, "Init", 4) == 0 && strcmp(c->proc->name, "Initialized") != 0)
        log_rank();
    return rc;
}
