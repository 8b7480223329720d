/* Tools that are preloaded before this library wrap the program's calls, so all
 * of them come from a few places in the tool. The callsite of such a call is
 * where the program called the tool: it is found by unwinding the stack, each
 * time, because one place in the tool stands for many in the program. */
#define _GNU_SOURCE
#include "core_internal.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

enum { TOOLS = 32, HIGHEST = 64 };

/* The libraries that the dynamic linker loaded after the program and before the
 * front: it loads preloaded ones first, in their order. */
static struct range { uintptr_t start, end; } tools[TOOLS];
static unsigned ntools;

static struct range range_of(const struct dl_phdr_info *info)
{
    struct range r = {UINTPTR_MAX, 0};
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + ph->p_vaddr, end = start + ph->p_memsz;
        if (ph->p_type != PT_LOAD)
            continue;
        r.start = start < r.start ? start : r.start;
        r.end = end > r.end ? end : r.end;
    }
    return r;
}

static int visit(struct dl_phdr_info *info, size_t size, void *front)
{
    struct range r = range_of(info);
    uintptr_t at = (uintptr_t)front;
    (void)size;
    if (at >= r.start && at < r.end)
        return 1;
    if (strchr(info->dlpi_name, '/') != NULL && ntools < TOOLS)    /* neither the program nor the kernel's */
        tools[ntools++] = r;
    return 0;
}

void efg_find_tools(const void *front)
{
    ntools = 0;
    if (front == NULL || dl_iterate_phdr(visit, (void *)(uintptr_t)front) == 0)
        ntools = 0;     /* none is preloaded */
}

bool efg_in_tool(const void *address)
{
    uintptr_t pc = (uintptr_t)address - 1;
    for (unsigned i = 0; i < ntools; i++)
        if (pc >= tools[i].start && pc < tools[i].end)
            return true;
    return false;
}

bool efg_in_system(const void *address)
{
    static const char *const names[] = {"libc.so", "libc-", "libpthread", "ld-linux", "ld-2"};
    Dl_info info;
    if (!dladdr((const char *)address - 1, &info) || info.dli_fname == NULL)
        return true;
    const char *slash = strrchr(info.dli_fname, '/'), *file = slash != NULL ? slash + 1 : info.dli_fname;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(file, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* A thread's state: the last answer of efg_in_system, because loops ask for the same
 * place. */
struct efg_tools {
    const void *address;
    bool system;
    efg_rules rules;
};

/* The thread's; NULL when out of memory. */
static struct efg_tools *tools_of(efg_stream *t)
{
    if (t->tools == NULL)
        t->tools = calloc(1, sizeof *t->tools);
    return t->tools;
}

const void *efg_behind_tools(efg_stream *t, const void *frame, const void *address)
{
    struct efg_tools *own = tools_of(t);
    efg_frame f = efg_caller_frame(frame);
    if (own == NULL)
        return NULL;
    /* The wrapper of a Fortran name is called by a function of this library. */
    for (unsigned i = 0; f.pc != (uintptr_t)address; i++)
        if (i == 2 || efg_unwind(&f, &own->rules) != EFG_UP)
            return NULL;
    for (unsigned i = 0; efg_in_tool((const void *)f.pc); i++)
        if (i == HIGHEST || efg_unwind(&f, &own->rules) != EFG_UP)
            return NULL;
    const void *at = (const void *)f.pc;
    if (own->address != at) {
        own->system = efg_in_system(at);
        own->address = at;
    }
    return own->system ? NULL : at;
}

const void *efg_callers_caller(efg_stream *t, const void *frame, const void *address)
{
    struct efg_tools *own = tools_of(t);
    efg_frame f = efg_caller_frame(frame);
    bool known = own != NULL && f.pc == (uintptr_t)address && efg_unwind(&f, &own->rules);
    return known ? (const void *)f.pc : address;
}
