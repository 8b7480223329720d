/* The front: what LD_PRELOAD puts into every process. It needs only libc and does
 * nothing before the first call of an MPI name.
 *
 * A stub's first call comes here (front_<architecture>.S). The first of all finds
 * the MPI in use and opens the back end for it. Then, for its slot, the stub gets
 * the back end's wrapper, or the MPI library's own function where there is no
 * wrapper, no back end, or the process is a fork of a recorded one. Calls of
 * PMPI_ names come here each time, unless they are made inside a recorded call:
 * they may be the program's, or the MPI library's own. */
#define _GNU_SOURCE
#include "front.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>
#include <time.h>

enum state { NEW, OPENING, RECORDING, PASSING };

static _Atomic int state = NEW;
/* Written under no lock: all threads find the same function. */
void *efg_real[FRONT_SLOTS], *efg_direct[EFG_NSLOTS];
static void *wrapper[EFG_NSLOTS];
static efg_back back_end;
ptrdiff_t efg_guard;
/* This thread is opening the back end: MPI calls made meanwhile pass through. */
static __thread int opening __attribute__((tls_model("initial-exec")));

/* What annotations (efg.h) call where nothing is recorded. */
static void ignore(void) {}

static int annotates(const char *symbol) { return !strncmp(symbol, EFG_ANNOTATION, sizeof EFG_ANNOTATION - 1); }

static void *find(const char *symbol, const void *caller)
{
    return annotates(symbol) ? (void *)(uintptr_t)ignore : front_find(symbol, caller);
}

static void *real_of(uint32_t slot, const void *caller)
{
    void *p = __atomic_load_n(&efg_real[slot], __ATOMIC_ACQUIRE);
    for (uint16_t s = front_first_symbol(slot); p == NULL && s; s = front_next_symbol(s))
        p = find(front_symbol_name(s), caller);
    if (p != NULL) __atomic_store_n(&efg_real[slot], p, __ATOMIC_RELEASE);
    return p;
}

/* For the back end: it looks up names on behalf of the caller of the first MPI
 * call. */
static const void *first_caller;

static void *back_resolve(uint32_t slot)
{
    return slot < FRONT_SLOTS ? real_of(slot, first_caller) : NULL;
}

static void *back_find(const char *name) { return front_find(name, first_caller); }

/* This process is a fork of a recorded one. */
static int forked;

/* Reports whether a symbol is of a procedure that may be called at any time, also by a process without MPI:
 * libraries do so when it ends. */
static int anywhere(const char *symbol)
{
    static const char *const names[] = { "MPI_Initialized", "MPI_Finalized", "MPI_Get_version", "MPI_Get_library_version",
                                         "MPI_Wtime", "MPI_Wtick" };
    if (*symbol == 'P' || *symbol == 'p') symbol++;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t n = strlen(names[i]);
        if (!strncasecmp(symbol, names[i], n) && (symbol[n] == '\0' || symbol[n] == '_')) return 1;
    }
    return 0;
}

/* Notes that a forked child calls a procedure, which will not be recorded. */
static void note_fork(uint32_t slot)
{
    uint16_t s = front_first_symbol(slot);
    const char *symbol = s ? front_symbol_name(s) : "";
    if (s && back_end.fork_calls && !annotates(symbol) && !anywhere(symbol)) back_end.fork_calls(symbol);
}

/* In a forked child nothing is recorded: the segment belongs to the parent. */
static void after_fork(void)
{
    if (atomic_load(&state) == NEW) return;
    forked = 1;
    atomic_store(&state, PASSING);
    for (uint32_t i = 0; i < EFG_NSLOTS; i++) efg_slot_table[i] = efg_lazy + i * EFG_STUB_SIZE;
}

/* Returns NEW if the caller has no MPI at all: the function only has the same
 * name. */
static enum state open_back(const void *caller)
{
    static efg_front front;    /* the back end may keep it */
    static front_mpi mpi;
    front_symbols_init();
    /* It has additional privileges: its user may not determine what it loads and
     * writes. */
    if (getauxval(AT_SECURE)) return PASSING;
    if (!front_find_mpi(caller, &mpi)) return NEW;
    first_caller = caller;
    if (pthread_atfork(NULL, NULL, after_fork)) return PASSING;
    void *back = front_open_back(&mpi);
    if (back == NULL) return PASSING;
    int (*open)(const efg_front *, void **, efg_back *) = NULL;
    *(void **)&open = dlsym(back, "efg_back_open");
    if (open == NULL) return PASSING;
    front = (efg_front){
        .version = EFG_FRONT_VERSION, .nslots = EFG_NSLOTS, .slots_hash = EFG_SLOTS_HASH,
        .real = efg_real, .resolve = back_resolve, .find = back_find,
        .mpi_path = mpi.path, .mpi_soname = mpi.soname,
    };
    if (open(&front, wrapper, &back_end) != 0) return PASSING;
    efg_guard = back_end.guard;
    return RECORDING;
}

/* Opens the back end, or waits until another thread has. The wait is bounded:
 * that thread may need a lock of the dynamic linker that this one holds. */
static void ensure_open(const void *caller)
{
    int expected = NEW;
    if (atomic_compare_exchange_strong(&state, &expected, OPENING)) {
        opening = 1;
        enum state s = open_back(caller);
        opening = 0;
        atomic_store(&state, s);
        return;
    }
    for (int i = 0; i < 5000 && atomic_load(&state) == OPENING; i++)
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

__attribute__((noreturn)) static void missing(uint32_t slot)
{
    uint16_t s = front_first_symbol(slot);
    fprintf(stderr, "efg: the program calls %s, which its MPI library does not have\n",
            s ? front_symbol_name(s) : "a procedure");
    abort();
}

/* The target of calls by a slot's MPI_ names, now and from now on. */
static void *by_mpi(uint32_t slot, void *target, int s)
{
    if (s == RECORDING && wrapper[slot] != NULL) target = wrapper[slot];
    /* A program may annotate before it loads an MPI library. */
    int final = s == NEW ? target != (void *)(uintptr_t)ignore : s != OPENING;
    if (final) __atomic_store_n(&efg_slot_table[slot], target, __ATOMIC_RELEASE);
    return target;
}

/* Reports whether the call is made inside a recorded one. The stubs check this,
 * too. */
static int nested(const void *stack)
{
    return efg_guard && (const char *)stack < *(char **)((char *)__builtin_thread_pointer() + efg_guard);
}

/* The target of a call by its PMPI_ names; also from now on, if they are not
 * intercepted. */
static void *by_pmpi(uint32_t slot, void *target, int s, const void *caller, const void *stack)
{
    if (s == RECORDING && wrapper[slot] != NULL) {
        real_of(slot, caller);    /* the wrapper may need it, too */
        return !nested(stack) && back_end.enter_pmpi(caller) ? wrapper[slot] : target;
    }
    if (s != OPENING) __atomic_store_n(&efg_direct[slot], target, __ATOMIC_RELEASE);
    return target;
}

/* Returns the address to which the stub of the slot jumps. */
void *efg_front_resolve(uint64_t slot64, const void *caller, const void *stack)
{
    uint32_t slot = (uint32_t)slot64;
    int saved = errno;
    if (!opening && atomic_load(&state) <= OPENING) ensure_open(caller);
    int s = atomic_load(&state);
    void *target = real_of(slot, caller);
    if (target == NULL) missing(slot);
    if (forked) note_fork(slot);
    target = slot < EFG_PMPI ? by_mpi(slot, target, s) : by_pmpi(slot - EFG_PMPI, target, s, caller, stack);
    errno = saved;
    return target;
}
