/* Places: callsites as (module, offset), and, on request, buffers as (region,
 * offset). Both translate addresses of this process into words that do not depend
 * on where things were loaded. */
#define _GNU_SOURCE
#include "core_internal.h"
#include "core_place.h"
#include "xxh64.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- callsites ---- */

typedef struct module_query {
    uintptr_t pc;
    bool found;
    uint64_t offset;
    char path[PATH_MAX];
    char build_id[65];
} module_query;

static void read_build_id(const char *p, size_t size, module_query *q)
{
    while (size >= sizeof(ElfW(Nhdr))) {
        const ElfW(Nhdr) *h = (const void *)p;
        size_t name = (h->n_namesz + 3u) & ~3u, desc = (h->n_descsz + 3u) & ~3u;
        size_t all = sizeof *h + name + desc;
        if (all > size)
            return;
        if (h->n_type == NT_GNU_BUILD_ID && h->n_namesz == 4
            && memcmp(p + sizeof *h, "GNU", 4) == 0) {
            const uint8_t *id = (const uint8_t *)p + sizeof *h + name;
            for (unsigned i = 0; i < h->n_descsz && i < 32; i++)
                snprintf(q->build_id + 2 * (size_t)i, 3, "%02x", id[i]);
            return;
        }
        p += all;
        size -= all;
    }
}

static bool contains(const struct dl_phdr_info *info, uintptr_t pc)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + ph->p_vaddr;
        if (ph->p_type == PT_LOAD && pc >= start && pc < start + ph->p_memsz)
            return true;
    }
    return false;
}

static int visit_module(struct dl_phdr_info *info, size_t size, void *arg)
{
    module_query *q = arg;
    (void)size;
    if (!contains(info, q->pc))
        return 0;
    q->found = true;
    q->offset = q->pc - info->dlpi_addr;
    snprintf(q->path, sizeof q->path, "%s", info->dlpi_name);
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
        if (ph->p_type == PT_NOTE && q->build_id[0] == '\0')
            read_build_id((const char *)(info->dlpi_addr + ph->p_vaddr), ph->p_memsz, q);
    }
    return 1;
}

static void main_program_path(module_query *q)
{
    ssize_t n = readlink("/proc/self/exe", q->path, sizeof q->path - 1);
    q->path[n > 0 ? n : 0] = '\0';
}

/* Identity of a module: its build-id, otherwise its file's name. */
static uint64_t module_word(const module_query *q)
{
    const char *slash = strrchr(q->path, '/');
    const char *id = q->build_id[0] != '\0' ? q->build_id : slash != NULL ? slash + 1 : q->path;
    uint64_t word = EFG_IDENT(xxh64(id, strlen(id)));
    char data[PATH_MAX + 80];
    size_t path = strlen(q->path), build = strlen(q->build_id);
    memcpy(data, q->path, path + 1);
    memcpy(data + path + 1, q->build_id, build);
    return efg_def(EFG_DEF_MODULE, word, NULL, 0, data, (uint32_t)(path + 1 + build));
}

static uint64_t define_place(const void *return_address, uint64_t parent, uint32_t nwords)
{
    module_query q = {.pc = (uintptr_t)return_address - 1};
    dl_iterate_phdr(visit_module, &q);
    if (!q.found)
        return 0;
    if (q.path[0] == '\0')
        main_program_path(&q);
    uint64_t words[3] = {module_word(&q), q.offset, parent};
    return efg_def(EFG_DEF_SITE, EFG_IDENT(xxh64(words, nwords * sizeof *words)), words, nwords, NULL, 0);
}

uint64_t efg_place_word(const void *return_address) { return define_place(return_address, 0, 2); }

uint64_t efg_place_below(const void *return_address, uint64_t parent)
{
    return define_place(return_address, parent, 3);
}

/* ---- buffers ---- */

typedef struct region {
    uintptr_t start, end;
    uint64_t number;
    char name[64];
} region;

static efg_lock_t regions_lock = ATOMIC_FLAG_INIT;
static region *regions;
static size_t nregions;

static void define_region(region *r)
{
    uint64_t words[1] = {r->number};
    uint64_t key[2] = {r->number, xxh64(r->name, strlen(r->name))};
    efg_def(EFG_DEF_REGION, EFG_IDENT(xxh64(key, sizeof key)), words, 1, r->name,
            (uint32_t)strlen(r->name));
}

static region *add_region(uintptr_t start, uintptr_t end, const char *path)
{
    region *r = realloc(regions, (nregions + 1) * sizeof *r);
    if (r == NULL)
        return NULL;
    regions = r;
    r += nregions;
    const char *slash = strrchr(path, '/');
    *r = (region){start, end, ++nregions, ""};
    snprintf(r->name, sizeof r->name, "%s", path[0] == '\0' ? "anon" : slash != NULL ? slash + 1 : path);
    define_region(r);
    return r;
}

/* Looks the address up in the process's map. A region that has grown keeps its
 * number and its start. */
static region *map_region(uintptr_t at)
{
    FILE *f = fopen("/proc/self/maps", "re");
    char line[PATH_MAX + 128];
    region *found = NULL;
    while (f != NULL && found == NULL && fgets(line, sizeof line, f) != NULL) {
        uintptr_t start, end;
        char path[PATH_MAX] = "";
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %*s %*s %*s %*s %4095[^\n]", &start, &end, path) < 2
            || at < start || at >= end)
            continue;
        for (size_t i = 0; i < nregions && found == NULL; i++)
            if (regions[i].start == start || (regions[i].start < end && regions[i].end > start)) {
                found = &regions[i];
                found->end = end;
            }
        if (found == NULL || at < found->start)
            found = add_region(start, end, path);
    }
    if (f != NULL)
        fclose(f);
    return found;
}

uint64_t efg_buffer_word(const void *p)
{
    uintptr_t at = (uintptr_t)p;
    uint64_t word = 0;
    efg_lock(&regions_lock);
    region *r = NULL;
    for (size_t i = 0; i < nregions && r == NULL; i++)
        if (at >= regions[i].start && at < regions[i].end)
            r = &regions[i];
    if (r != NULL || (r = map_region(at)) != NULL)
        word = r->number << 48 | (at - r->start);
    efg_unlock(&regions_lock);
    return word;
}
