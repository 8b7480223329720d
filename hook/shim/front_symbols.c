/* The names of the slots, without a pointer each: every process that inherits
 * the preloaded front would pay for relocating them. */
#include "front.h"

#define EFG_SYMBOL(slot, symbol) #symbol "\0"
static const char names[] =
#include "gen/symbols.h"
    ;
#undef EFG_SYMBOL

#define EFG_SYMBOL(slot, symbol) slot,
static const uint16_t slot_of[] = {
#include "gen/symbols.h"
};
#undef EFG_SYMBOL

_Static_assert(EFG_NSLOTS < 65536, "slot numbers have 16 bits");

static const char *first[EFG_NSLOTS];

void front_symbols_init(void)
{
    const char *name = names;
    for (size_t i = 0; i < sizeof slot_of / sizeof *slot_of; i++, name += strlen(name) + 1)
        if (!first[slot_of[i]]) first[slot_of[i]] = name;
}

const char *const *front_slot_names(void) { return first; }

const char *front_next_symbol(uint32_t slot, const char *name)
{
    if (!name) return first[slot];
    name += strlen(name) + 1;
    /* The symbols of a slot lie together, so the next slot's first ends them. */
    return *name && (slot + 1 == EFG_NSLOTS || name != first[slot + 1]) ? name : NULL;
}
