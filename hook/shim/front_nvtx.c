/* NVTX: a program that marks ranges by NVIDIA's header-only interface (version 3) asks the library that
 * the environment variable NVTX_INJECTION64_PATH names for the functions to call. If that is this one, the
 * ranges that threads push and pop become regions, with their payloads as attributes, and marks become
 * attributes. Ranges that are started in one place and ended anywhere else do not nest: they are ignored.
 *
 * The program's copy of NVTX has a table of pointers to its function pointers for each group of functions,
 * by the numbers below, which are part of its binary interface. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "front.h"

/* The stubs of annotations, which this library exports. */
void efg_hook_region_begin(const char *, size_t);
void efg_hook_region_end(const char *, size_t);
void efg_hook_attribute_int(const char *, size_t, int64_t);
void efg_hook_attribute_double(const char *, size_t, double);
void efg_hook_attribute_string(const char *, size_t, const char *, size_t);

/* Numbers of tables, groups of functions, and functions. */
enum { TABLE_CALLBACKS = 1 };
enum { GROUP_CORE = 1, GROUP_CORE2 = 5 };
enum { CORE_MARK_EX = 1, CORE_MARK_A = 2, CORE_MARK_W = 3, CORE_PUSH_EX = 8, CORE_PUSH_A = 9, CORE_PUSH_W = 10, CORE_POP = 11 };
enum { CORE2_MARK_EX = 1, CORE2_PUSH_EX = 4, CORE2_POP = 5, CORE2_REGISTER_A = 10, CORE2_REGISTER_W = 11 };

typedef void (*function)(void);

typedef struct nvtx_callbacks {
    size_t size;    /* of this */
    int (*functions)(int group, function ***table, unsigned *count);
} nvtx_callbacks;

/* What a range or mark says about itself. */
typedef struct nvtx_event {
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    union { uint64_t u64; int64_t i64; double f64; uint32_t u32; int32_t i32; float f32; } payload;
    int32_t message_type;
    union { const char *narrow; const wchar_t *wide; } message;
} nvtx_event;

enum { PAYLOAD_U64 = 1, PAYLOAD_I64, PAYLOAD_F64, PAYLOAD_U32, PAYLOAD_I32, PAYLOAD_F32 };
enum { MESSAGE_NARROW = 1, MESSAGE_WIDE, MESSAGE_REGISTERED };

/* How many ranges are open in the thread, as NVTX counts them. */
static __thread int level __attribute__((tls_model("initial-exec")));

/* Writes a wide string as UTF-8 and returns its length. Longer ones are cut. */
enum { LONGEST = 256 };

static size_t narrow(char *to, const wchar_t *from)
{
    size_t n = 0;
    for (; from != NULL && *from && n + 4 <= LONGEST; from++) {
        const uint32_t c = (uint32_t)*from;
        if (c < 0x80) {
            to[n++] = (char)c;
        } else if (c < 0x800) {
            to[n++] = (char)(0xc0 | c >> 6);
            to[n++] = (char)(0x80 | (c & 0x3f));
        } else if (c < 0x10000) {
            to[n++] = (char)(0xe0 | c >> 12);
            to[n++] = (char)(0x80 | (c >> 6 & 0x3f));
            to[n++] = (char)(0x80 | (c & 0x3f));
        } else {
            to[n++] = (char)(0xf0 | (c >> 18 & 7));
            to[n++] = (char)(0x80 | (c >> 12 & 0x3f));
            to[n++] = (char)(0x80 | (c >> 6 & 0x3f));
            to[n++] = (char)(0x80 | (c & 0x3f));
        }
    }
    return n;
}

/* The message of an event, in room if it has to be converted. */
static const char *message(const nvtx_event *e, char *room, size_t *len)
{
    const char *text = "";
    *len = 0;
    if (e == NULL || e->size < sizeof *e) return text;
    if (e->message_type == MESSAGE_WIDE) {
        *len = narrow(room, e->message.wide);
        return room;
    }
    if ((e->message_type == MESSAGE_NARROW || e->message_type == MESSAGE_REGISTERED) && e->message.narrow != NULL)
        text = e->message.narrow;
    *len = strlen(text);
    return text;
}

static inline __attribute__((always_inline)) void payload(const nvtx_event *e)
{
    static const char name[] = "payload";
    const size_t len = (sizeof name - 1) | EFG_FROM_FRONT;
    if (e == NULL || e->size < sizeof *e) return;
    switch (e->payload_type) {
    case PAYLOAD_U64:
    case PAYLOAD_I64: efg_hook_attribute_int(name, len, e->payload.i64); break;
    case PAYLOAD_U32: efg_hook_attribute_int(name, len, e->payload.u32); break;
    case PAYLOAD_I32: efg_hook_attribute_int(name, len, e->payload.i32); break;
    case PAYLOAD_F64: efg_hook_attribute_double(name, len, e->payload.f64); break;
    case PAYLOAD_F32: efg_hook_attribute_double(name, len, (double)e->payload.f32); break;
    default: break;
    }
}

/* What NVTX calls makes annotations for its caller, the program: it may not be left before they are made. */
#define STAY __asm__ volatile("")

#define PUSH(text, len) (efg_hook_region_begin(text, (len) | EFG_FROM_FRONT), level++)

static int push_a(const char *text) { return PUSH(text != NULL ? text : "", text != NULL ? strlen(text) : 0); }

static int push_w(const wchar_t *text)
{
    char room[LONGEST];
    const size_t len = narrow(room, text);
    return PUSH(room, len);
}

static int push_ex(const nvtx_event *e)
{
    char room[LONGEST];
    size_t len;
    const char *text = message(e, room, &len);
    const int at = PUSH(text, len);
    payload(e);
    return at;
}

static int domain_push_ex(void *domain, const nvtx_event *e)
{
    (void)domain;
    char room[LONGEST];
    size_t len;
    const char *text = message(e, room, &len);
    const int at = PUSH(text, len);
    payload(e);
    return at;
}

static int pop(void)
{
    efg_hook_region_end(NULL, EFG_FROM_FRONT);
    return level > 0 ? --level : -1;
}

static int domain_pop(void *domain)
{
    (void)domain;
    efg_hook_region_end(NULL, EFG_FROM_FRONT);
    return level > 0 ? --level : -1;
}

#define MARK(text, len) efg_hook_attribute_string("mark", (sizeof "mark" - 1) | EFG_FROM_FRONT, text, len)

static void mark_a(const char *text)
{
    MARK(text != NULL ? text : "", text != NULL ? strlen(text) : 0);
    STAY;
}

static void mark_w(const wchar_t *text)
{
    char room[LONGEST];
    const size_t len = narrow(room, text);
    MARK(room, len);
    STAY;
}

static void mark_ex(const nvtx_event *e)
{
    char room[LONGEST];
    size_t len;
    const char *text = message(e, room, &len);
    MARK(text, len);
    payload(e);
    STAY;
}

static void domain_mark_ex(void *domain, const nvtx_event *e)
{
    (void)domain;
    char room[LONGEST];
    size_t len;
    const char *text = message(e, room, &len);
    MARK(text, len);
    payload(e);
    STAY;
}

/* The handle of a registered string is the string, which exists from then on. */
static void *register_a(void *domain, const char *text)
{
    (void)domain;
    return strdup(text != NULL ? text : "");
}

static void *register_w(void *domain, const wchar_t *text)
{
    (void)domain;
    char room[LONGEST];
    return strndup(room, narrow(room, text));
}

typedef struct callback { unsigned number; function call; } callback;

static const callback core[] = {
    { CORE_MARK_EX, (function)mark_ex }, { CORE_MARK_A, (function)mark_a }, { CORE_MARK_W, (function)mark_w },
    { CORE_PUSH_EX, (function)push_ex }, { CORE_PUSH_A, (function)push_a }, { CORE_PUSH_W, (function)push_w },
    { CORE_POP, (function)pop },
};

static const callback core2[] = {
    { CORE2_MARK_EX, (function)domain_mark_ex }, { CORE2_PUSH_EX, (function)domain_push_ex }, { CORE2_POP, (function)domain_pop },
    { CORE2_REGISTER_A, (function)register_a }, { CORE2_REGISTER_W, (function)register_w },
};

/* Makes NVTX call these functions of a group; 0 if it has no such group. */
static int install(const nvtx_callbacks *nvtx, int group, const callback *list, size_t n)
{
    function **table = NULL;
    unsigned count = 0;
    if (!nvtx->functions(group, &table, &count) || table == NULL) return 0;
    for (size_t i = 0; i < n; i++)
        if (list[i].number < count && table[list[i].number] != NULL) *table[list[i].number] = list[i].call;
    return 1;
}

/* Reports whether the program sees the functions of this library. */
static int preloaded(void)
{
    Dl_info own, found;
    void *program = dlopen(NULL, RTLD_LAZY);
    void *begin = program != NULL ? dlsym(program, "efg_hook_region_begin") : NULL;
    return begin != NULL && dladdr(begin, &found) && dladdr((void *)(uintptr_t)install, &own) && found.dli_fbase == own.dli_fbase;
}

/* What NVTX looks for. Returns 0, so that NVTX does nothing, if this library was not preloaded: then it
 * does not record. */
__attribute__((visibility("default"))) int InitializeInjectionNvtx2(const void *(*export_table)(uint32_t))
{
    const nvtx_callbacks *nvtx = export_table != NULL ? export_table(TABLE_CALLBACKS) : NULL;
    if (!preloaded()) return 0;
    if (nvtx == NULL || nvtx->size < sizeof *nvtx || nvtx->functions == NULL) return 0;
    const int some = install(nvtx, GROUP_CORE, core, sizeof core / sizeof *core);
    return install(nvtx, GROUP_CORE2, core2, sizeof core2 / sizeof *core2) || some;
}
