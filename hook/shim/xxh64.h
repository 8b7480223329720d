/* XXH64, seed 0 (the published algorithm, "xxHash fast digest algorithm"
 * specification). Equal to cespare/xxhash/v2 on signature's shared vectors. */
#ifndef EFG_XXH64_H
#define EFG_XXH64_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define XXP1 0x9E3779B185EBCA87ull
#define XXP2 0xC2B2AE3D27D4EB4Full
#define XXP3 0x165667B19E3779F9ull
#define XXP4 0x85EBCA77C2B2AE63ull
#define XXP5 0x27D4EB2F165667C5ull

static inline uint64_t xx_rotl(uint64_t x, int r) { return x << r | x >> (64 - r); }

static inline uint64_t xx_load64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, 8);
    return v;
}

static inline uint64_t xx_round(uint64_t acc, uint64_t lane)
{
    return xx_rotl(acc + lane * XXP2, 31) * XXP1;
}

static inline uint64_t xx_merge(uint64_t acc, uint64_t v)
{
    return (acc ^ xx_round(0, v)) * XXP1 + XXP4;
}

static inline uint64_t xxh64(const void *data, size_t len)
{
    const uint8_t *p = data;
    size_t left = len;
    uint64_t h;
    if (left >= 32) {
        uint64_t a = XXP1 + XXP2, b = XXP2, c = 0, d = 0 - XXP1;
        do {
            a = xx_round(a, xx_load64(p));
            b = xx_round(b, xx_load64(p + 8));
            c = xx_round(c, xx_load64(p + 16));
            d = xx_round(d, xx_load64(p + 24));
            p += 32;
            left -= 32;
        } while (left >= 32);
        h = xx_rotl(a, 1) + xx_rotl(b, 7) + xx_rotl(c, 12) + xx_rotl(d, 18);
        h = xx_merge(xx_merge(xx_merge(xx_merge(h, a), b), c), d);
    } else {
        h = XXP5;
    }
    h += len;
    for (; left >= 8; p += 8, left -= 8)
        h = xx_rotl(h ^ xx_round(0, xx_load64(p)), 27) * XXP1 + XXP4;
    if (left >= 4) {
        uint32_t v;
        memcpy(&v, p, 4);
        h = xx_rotl(h ^ v * XXP1, 23) * XXP2 + XXP3;
        p += 4;
        left -= 4;
    }
    for (; left > 0; p++, left--)
        h = xx_rotl(h ^ *p * XXP5, 11) * XXP1;
    h = (h ^ h >> 33) * XXP2;
    h = (h ^ h >> 29) * XXP3;
    return h ^ h >> 32;
}

#endif
