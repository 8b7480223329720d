/* Regions and attributes in the record that efg makes of a program: what the program calls its
 * phases, and values that it says about them.
 *
 *     efg_region_begin("assembly");
 *     efg_attribute("step", step);
 *     ...
 *     efg_region_end("assembly");
 *
 * A program that includes this file needs no library. Where efg does not record it, each of
 * these calls costs one test of a pointer. For C99, C11 and C++98, or later; in C without generic
 * selection (before C11) there is no efg_attribute, only the functions for each type.
 *
 * Regions nest. They belong to the thread, and may be ended with their name, which is then checked
 * when the record is read, or without one: efg_region_end(). An attribute belongs to the innermost
 * region that is open. Strings are copied. */
#ifndef EFG_H
#define EFG_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Inlined, and for debuggers a part of the line that calls it. */
#if defined(__GNUC__) || defined(__clang__)
#define EFG_INLINE_ inline __attribute__((always_inline, artificial))
#else
#define EFG_INLINE_ inline
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The address of a function of the hook; NULL if the program is not recorded. By way of the global
 * offset table, because compilers and linkers may decide that an address that is not in it is NULL
 * for good. */
#if defined(__x86_64__) && defined(__ELF__) && (defined(__GNUC__) || defined(__clang__))
#define EFG_FIND_(function, name)                                                     \
    __asm__(".weak efg_hook_" #name "\n\tmovq efg_hook_" #name "@GOTPCREL(%%rip), %0" \
            : "=r"(function))
#elif defined(__GNUC__) || defined(__clang__)
extern void efg_hook_region_begin(const char *, size_t) __attribute__((weak));
extern void efg_hook_region_end(const char *, size_t) __attribute__((weak));
extern void efg_hook_attribute_int(const char *, size_t, int64_t) __attribute__((weak));
extern void efg_hook_attribute_double(const char *, size_t, double) __attribute__((weak));
extern void efg_hook_attribute_string(const char *, size_t, const char *, size_t) __attribute__((weak));
#define EFG_FIND_(function, name) ((function) = efg_hook_##name)
#else
#define EFG_FIND_(function, name) ((function) = NULL)
#endif

static EFG_INLINE_ void efg_region_begin(const char *name)
{
    void (*record)(const char *, size_t);
    EFG_FIND_(record, region_begin);
    if (record != NULL) record(name, name != NULL ? strlen(name) : 0);
}

/* name may be NULL: ends the innermost region. */
static EFG_INLINE_ void efg_region_end_named(const char *name)
{
    void (*record)(const char *, size_t);
    EFG_FIND_(record, region_end);
    if (record != NULL) record(name, name != NULL ? strlen(name) : 0);
}

static EFG_INLINE_ void efg_attribute_int(const char *name, int64_t value)
{
    void (*record)(const char *, size_t, int64_t);
    EFG_FIND_(record, attribute_int);
    if (record != NULL) record(name, strlen(name), value);
}

static EFG_INLINE_ void efg_attribute_double(const char *name, double value)
{
    void (*record)(const char *, size_t, double);
    EFG_FIND_(record, attribute_double);
    if (record != NULL) record(name, strlen(name), value);
}

static EFG_INLINE_ void efg_attribute_string(const char *name, const char *value)
{
    void (*record)(const char *, size_t, const char *, size_t);
    EFG_FIND_(record, attribute_string);
    if (record != NULL) record(name, strlen(name), value, value != NULL ? strlen(value) : 0);
}

#ifdef __cplusplus
} /* extern "C" */

static EFG_INLINE_ void efg_region_end(const char *name = NULL) { efg_region_end_named(name); }

static EFG_INLINE_ void efg_attribute(const char *name, int value) { efg_attribute_int(name, value); }
static EFG_INLINE_ void efg_attribute(const char *name, unsigned value) { efg_attribute_int(name, value); }
static EFG_INLINE_ void efg_attribute(const char *name, long value) { efg_attribute_int(name, value); }
static EFG_INLINE_ void efg_attribute(const char *name, unsigned long value) { efg_attribute_int(name, (int64_t)value); }
static EFG_INLINE_ void efg_attribute(const char *name, long long value) { efg_attribute_int(name, value); }
static EFG_INLINE_ void efg_attribute(const char *name, unsigned long long value) { efg_attribute_int(name, (int64_t)value); }
static EFG_INLINE_ void efg_attribute(const char *name, double value) { efg_attribute_double(name, value); }
static EFG_INLINE_ void efg_attribute(const char *name, const char *value) { efg_attribute_string(name, value); }

namespace efg {

/* A region for as long as a variable exists: efg::region r("assembly"); */
class region {
public:
    explicit EFG_INLINE_ region(const char *name) : name_(name) { efg_region_begin(name); }
    EFG_INLINE_ ~region() { efg_region_end_named(name_); }

private:
    region(const region &);
    region &operator=(const region &);
    const char *name_;    /* must exist as long as the region */
};

} /* namespace efg */
#else

/* efg_region_end("assembly") or efg_region_end() */
#define efg_region_end(...) efg_region_end_named(__VA_ARGS__ + 0)

#if defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
/* The value: an integer, a double or float, or a string. */
#define efg_attribute(name, value)    \
    _Generic((value),                 \
        char *: efg_attribute_string, \
        const char *: efg_attribute_string, \
        float: efg_attribute_double,  \
        double: efg_attribute_double, \
        default: efg_attribute_int)(name, value)
#endif

#endif

#endif
