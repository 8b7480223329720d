/* Logs regions and attributes (efg.h) like calls, and passes them on. A number of double precision
 * is logged as its bits. */
#include "logger.h"

#include <stdlib.h>
#include <string.h>

/* The logger's strings end with NUL, those of annotations have a length. */
static int64_t text(const char *s, size_t len)
{
    return (int64_t)(intptr_t)(s ? strndup(s, len) : NULL);
}

static const log_param region[] = { { "name", K_STRING, 0, 0, 0, F_IN } };
static const log_param number[] = { { "name", K_STRING, 0, 0, 0, F_IN }, { "value", K_COUNT, 0, 0, 0, F_IN } };
static const log_param string[] = { { "name", K_STRING, 0, 0, 0, F_IN }, { "value", K_STRING, 0, 0, 0, F_IN } };

#define PROC(name, params) \
    static const log_proc proc = { "efg_" #name, params, sizeof params / sizeof *params, -1, -1, -1 }

#define FUNCTION(name, params, value, text_value, declare, ...)               \
    void efg_hook_##name declare                                              \
    {                                                                         \
        PROC(name, params);                                                   \
        static void (*real) declare;                                          \
        log_call c;                                                           \
        int64_t args[] = { text(s, len), value };                             \
        if (!real) *(void **)&real = log_real("efg_hook_" #name);             \
        int logged = log_begin(&c, &proc, LANG_C, args, NULL, LOG_FRAME);     \
        real(__VA_ARGS__);                                                    \
        if (logged) log_end(&c, MPI_SUCCESS);                                 \
        free((void *)(intptr_t)args[0]);                                      \
        if (text_value) free((void *)(intptr_t)args[1]);                      \
    }

static int64_t bits(double v)
{
    int64_t b;
    memcpy(&b, &v, sizeof b);
    return b;
}

FUNCTION(region_begin, region, 0, 0, (const char *s, size_t len), s, len)
FUNCTION(region_end, region, 0, 0, (const char *s, size_t len), s, len)
FUNCTION(attribute_int, number, v, 0, (const char *s, size_t len, int64_t v), s, len, v)
FUNCTION(attribute_double, number, bits(v), 0, (const char *s, size_t len, double v), s, len, v)
FUNCTION(attribute_string, string, text(v, n), 1, (const char *s, size_t len, const char *v, size_t n), s, len, v, n)
