/* Call paths of logged calls, according to libunwind: with LOGGER_PATHS, one line
 * per call in PID.THREAD.paths: the procedure, and return addresses as
 * module+offset of the byte before, the innermost first. */
#define _GNU_SOURCE
#include "paths.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FRAMES = 512 };

static int (*backtrace_of)(void **, int);
static char program[PATH_MAX];

int paths_wanted(void)
{
    if (!getenv("LOGGER_PATHS"))
        return 0;
    if (!backtrace_of) {
        void *lib = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
        ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
        program[n > 0 ? n : 0] = '\0';
        backtrace_of = lib ? (int (*)(void **, int))dlsym(lib, "unw_backtrace") : NULL;
        if (!backtrace_of) {
            fprintf(stderr, "logger: no unw_backtrace: %s\n", dlerror());
            _exit(98);
        }
    }
    return 1;
}

static void put_address(out_file *o, const char *address)
{
    Dl_info info;
    struct link_map *map = NULL;
    char text[64];
    if (!dladdr1(address - 1, &info, (void **)&map, RTLD_DL_LINKMAP) || !map) {
        out_string(o, " ?");
        return;
    }
    const char *path = map->l_name[0] ? map->l_name : program, *slash = strrchr(path, '/');
    out_text(o, " ", 1);
    out_string(o, slash ? slash + 1 : path);
    snprintf(text, sizeof text, "+0x%llx", (unsigned long long)((uintptr_t)address - 1 - map->l_addr));
    out_string(o, text);
}

void paths_put(out_file *o, const char *procedure)
{
    void *frame[FRAMES];
    int n = backtrace_of(frame, FRAMES);
    out_string(o, procedure);
    for (int i = 0; i < n; i++)
        put_address(o, frame[i]);
    out_text(o, "\n", 1);
}
