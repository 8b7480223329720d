/* A program that marks ranges by NVTX: what its header does in a program, of which only the binary
 * interface matters here. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

struct event {
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    union { int64_t i64; double f64; float f32; } payload;
    int32_t message_type;
    union { const char *ascii; const wchar_t *unicode; void *registered; } message;
};

typedef void (*function)(void);

static function core[16], core2[16];
static function *core_table[17], *core2_table[17];

static int functions(int group, function ***table, unsigned *count)
{
    if (group != 1 && group != 5) return 0;
    *table = group == 1 ? core_table : core2_table;
    *count = 16;
    return 1;
}

static const struct { size_t size; int (*functions)(int, function ***, unsigned *); } callbacks = { sizeof callbacks, functions };

static const void *export_table(uint32_t id) { return id == 1 ? &callbacks : NULL; }

static int injected;

static void initialize(void)
{
    const char *path = getenv("NVTX_INJECTION64_PATH");
    void *library = path != NULL ? dlopen(path, RTLD_LAZY) : NULL;
    int (*init)(const void *(*)(uint32_t)) = NULL;
    for (int i = 1; i < 16; i++) core_table[i] = &core[i], core2_table[i] = &core2[i];
    if (library != NULL) *(void **)&init = dlsym(library, "InitializeInjectionNvtx2");
    injected = init != NULL && init(export_table);
}

#define CALL(of, number, type) ((type)of[number])
static int push_a(const char *text) { return core[9] ? CALL(core, 9, int (*)(const char *))(text) : -2; }
static int push_w(const wchar_t *text) { return core[10] ? CALL(core, 10, int (*)(const wchar_t *))(text) : -2; }
static int push_ex(const struct event *e) { return core[8] ? CALL(core, 8, int (*)(const struct event *))(e) : -2; }
static int pop(void) { return core[11] ? CALL(core, 11, int (*)(void))() : -2; }
static void mark_a(const char *text) { if (core[2]) CALL(core, 2, void (*)(const char *))(text); }
static int domain_push(void *d, const struct event *e) { return core2[4] ? CALL(core2, 4, int (*)(void *, const struct event *))(d, e) : -2; }
static int domain_pop(void *d) { return core2[5] ? CALL(core2, 5, int (*)(void *))(d) : -2; }
static void *domain_register(void *d, const char *s) { return core2[10] ? CALL(core2, 10, void *(*)(void *, const char *))(d, s) : NULL; }

int main(int argc, char **argv)
{
    initialize();
    MPI_Init(&argc, &argv);
    struct event e = { .version = 3, .size = sizeof e, .message_type = 1, .message.ascii = "solve", .payload_type = 2, .payload.i64 = -17 };
    int levels[6];
    levels[0] = push_a("assembly");
    levels[1] = push_ex(&e);
    mark_a("here");
    MPI_Barrier(MPI_COMM_WORLD);
    levels[2] = pop();
    levels[3] = pop();
    char name[] = "registered";
    struct event r = { .version = 3, .size = sizeof r, .message_type = 3, .payload_type = 6, .payload.f32 = 0.5f };
    r.message.registered = domain_register(NULL, name);
    name[0] = 'x';
    levels[4] = domain_push(NULL, &r);
    levels[5] = push_w(L"na\u00efve");
    pop();
    domain_pop(NULL);
    MPI_Finalize();
    for (int i = 0; i < 6; i++) printf("%d ", levels[i]);
    return printf("%s\n", injected ? "injected" : "alone") < 0;
}
