/* Declarations of the front. */
#ifndef EFG_FRONT_INTERNAL_H
#define EFG_FRONT_INTERNAL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "efg_front.h"
#include "gen/slots.h"

/* ---- front_symbols.c ---- */

void front_symbols_init(void);
/* The symbols of a slot, in the order in which to look for them; 0 ends them. */
uint16_t front_first_symbol(uint32_t slot);
uint16_t front_next_symbol(uint16_t symbol);
const char *front_symbol_name(uint16_t symbol);

/* ---- front_find.c ---- */

typedef struct front_mpi {
    const char *path, *soname;    /* of the library with PMPI_Init */
} front_mpi;

/* Reports whether there is an MPI that code at caller could refer to. Later
 * lookups start there. */
int front_find_mpi(const void *caller, front_mpi *mpi);

/* The function that a call from caller would have reached without the front;
 * NULL if there is none. */
void *front_find(const char *name, const void *caller);

/* The back end for a library with this soname, opened; NULL: there is none, and
 * the reason was reported. */
void *front_open_back(const front_mpi *mpi);

/* ---- front.c, called by the stubs ---- */

/* stack is the stack pointer of the call. */
void *efg_front_resolve(uint64_t slot, const void *caller, const void *stack);

/* ---- front_<architecture>.S ---- */

extern char efg_stubs[], efg_lazy[];
extern void *efg_slot_table[EFG_NSLOTS];
#define EFG_STUB_SIZE 16

enum { FRONT_SLOTS = 2 * EFG_NSLOTS };    /* with those of PMPI_ names */

/* ---- front.c, read by the stubs of PMPI_ names ---- */

extern void *efg_real[FRONT_SLOTS];       /* the MPI library's functions, or NULL */
extern void *efg_direct[EFG_NSLOTS];      /* targets of calls that are not intercepted, or NULL */
extern ptrdiff_t efg_guard;               /* efg_back.guard; 0: unknown */

#endif
