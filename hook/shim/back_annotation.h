/* The words of annotations. */
#ifndef EFG_BACK_ANNOTATION_H
#define EFG_BACK_ANNOTATION_H

#include "back.h"
#include "back_thread.h"
#include "efg_front.h"
#include "xxh64.h"

#pragma GCC visibility push(hidden)

typedef struct bk_origin {
    enum bk_language lang;
    const void *site;       /* the callsite */
} bk_origin;

/* Who made an annotation: the wrapper with this frame was called from address. Removes the mark from
 * the length. */
static inline bk_origin bk_origin_of(bk_thread *b, size_t *len, const void *frame, const void *address)
{
    const size_t marks = *len & (EFG_FROM_MODULE | EFG_FROM_FRONT);
    if (bk_likely(!marks)) return (bk_origin){ BK_C, address };
    *len &= ~marks;
    return (bk_origin){ marks & EFG_FROM_MODULE ? BK_MPIF : BK_C, efg_callers_caller(b->t, frame, address) };
}

/* Word of a string; ABSENT for NULL. Programs annotate with the same few strings all the
 * time: the thread remembers which it has defined, and takes no lock for those. */
static inline uint64_t bk_text(bk_thread *b, const char *s, size_t len)
{
    if (s == NULL) return EFG_ABSENT;
    const uint64_t word = EFG_IDENT(xxh64(s, len));
    uint64_t *known = &b->texts[word & ((1 << BK_TEXT_BITS) - 1)];
    if (bk_unlikely(*known != word)) *known = efg_string_word(s, len);
    return word;
}

/* The two words of a wide value, from which signature.JoinWide makes it again. */
static inline void bk_int64_words(uint64_t *w, int64_t value)
{
    w[0] = (uint64_t)(value >> 32);
    w[1] = (uint32_t)value;
}

static inline void bk_double_words(uint64_t *w, double value)
{
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    bk_int64_words(w, bits);
}

#pragma GCC visibility pop

#endif
