/* The names of the slots. They are read from this library's own symbol table:
 * every process that inherits the preloaded front has that in memory, and would
 * need more for a second list. */
#define _GNU_SOURCE
#include "front.h"

#include <link.h>

#define EFG_SYMBOL(slot, symbol) +1
enum { NSYMBOLS = 0
#include "gen/symbols.h"
};
#undef EFG_SYMBOL

_Static_assert(NSYMBOLS < 65536 && FRONT_SLOTS < 65536, "numbers have 16 bits");

extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));
extern const char __ehdr_start[] __attribute__((visibility("hidden")));

static const ElfW(Sym) *symbols;          /* from the first one with a hash */
static const char *strings;
/* Numbers of symbols, from 1: a slot's first, and which comes after which. */
static uint16_t first[FRONT_SLOTS], next[NSYMBOLS + 1];

/* An address in the dynamic section: not every linker relocates these. */
static const void *at(ElfW(Addr) address)
{
    uintptr_t base = (uintptr_t)__ehdr_start;
    return (const void *)(address < base ? base + address : address);
}

/* Number of symbols in a GNU hash table: its longest chain ends with the last
 * one. */
static uint32_t hashed(const uint32_t *table, uint32_t from)
{
    uint32_t nbuckets = table[0], last = 0;
    const uint32_t *buckets = table + 4 + table[2] * (sizeof(ElfW(Addr)) / sizeof *table);
    const uint32_t *chains = buckets + nbuckets;
    for (uint32_t i = 0; i < nbuckets; i++)
        if (buckets[i] > last) last = buckets[i];
    if (last < from) return 0;
    while (!(chains[last - from] & 1)) last++;
    return last - from + 1;
}

/* The order in which the names of a slot are tried: that of gen/symbols.h, name_,
 * name, name__, NAME. A tool loaded after this library may wrap only one of them. */
static int place_of(const char *name)
{
    size_t n = strlen(name);
    if (n > 2 && !strcmp(name + n - 2, "__")) return 2;
    if (n > 1 && name[n - 1] == '_') return 0;
    const char *rest = strchr(name, '_');
    return rest != NULL && rest[1] >= 'A' && rest[1] <= 'Z' && rest[2] >= 'A' && rest[2] <= 'Z' ? 3 : 1;
}

static void enter(uint16_t number)
{
    const char *stub = __ehdr_start + symbols[number - 1].st_value;
    if (stub < efg_stubs || stub >= efg_stubs + FRONT_SLOTS * EFG_STUB_SIZE) return;
    uint16_t *link = &first[(size_t)(stub - efg_stubs) / EFG_STUB_SIZE];
    int place = place_of(front_symbol_name(number));
    while (*link && place_of(front_symbol_name(*link)) < place) link = &next[*link];
    next[number] = *link;
    *link = number;
}

void front_symbols_init(void)
{
    const uint32_t *hash = NULL;
    const ElfW(Sym) *all = NULL;
    for (const ElfW(Dyn) *d = _DYNAMIC; d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_SYMTAB) all = at(d->d_un.d_ptr);
        if (d->d_tag == DT_STRTAB) strings = at(d->d_un.d_ptr);
        if (d->d_tag == DT_GNU_HASH) hash = at(d->d_un.d_ptr);
    }
    if (hash == NULL || all == NULL || strings == NULL) return;
    symbols = all + hash[1];
    uint32_t n = hashed(hash, hash[1]);
    for (uint32_t i = 1; i <= n && i <= NSYMBOLS; i++) enter((uint16_t)i);
}

uint16_t front_first_symbol(uint32_t slot) { return first[slot]; }
uint16_t front_next_symbol(uint16_t number) { return next[number]; }
const char *front_symbol_name(uint16_t number) { return strings + symbols[number - 1].st_name; }
