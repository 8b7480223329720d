/* Finds the MPI library behind the front, and its back end. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "front.h"
#include "setting.h"

/* The MPI library, if it was found through a module outside the global scope
 * (dlopened without RTLD_GLOBAL, as Python does). */
static void *local_mpi;

static int is_stub(const void *p)
{
    return (const char *)p >= efg_stubs && (const char *)p < efg_stubs + FRONT_SLOTS * EFG_STUB_SIZE;
}

/* Looks in the scope of the module that contains the address, but not in the
 * module itself: a tool that wraps MPI and is loaded before this library would
 * otherwise get its own wrapper, forever. */
static void *find_from(const char *name, const void *address)
{
    Dl_info info, found;
    if (!dladdr(address, &info) || info.dli_fname == NULL) return NULL;
    void *module = dlopen(info.dli_fname, RTLD_NOLOAD | RTLD_LAZY);
    if (module == NULL) return NULL;
    void *p = dlsym(module, name);
    dlclose(module);    /* it stays loaded: the caller is in it */
    if (p == NULL || is_stub(p) || !dladdr(p, &found) || found.dli_fbase == info.dli_fbase) return NULL;
    return p;
}

/* Looks in every loaded library whose name suggests that it may be MPI. */
static void *find_loaded(const char *name)
{
    void *self = dlopen(NULL, RTLD_LAZY), *p = NULL;
    struct link_map *map = NULL;
    if (self == NULL || dlinfo(self, RTLD_DI_LINKMAP, &map)) return NULL;
    for (; map != NULL && p == NULL; map = map->l_next) {
        const char *slash = strrchr(map->l_name, '/');
        if (strncmp(slash != NULL ? slash + 1 : map->l_name, "libmpi", 6)) continue;
        void *lib = dlopen(map->l_name, RTLD_NOLOAD | RTLD_LAZY);
        if (lib == NULL) continue;
        p = dlsym(lib, name);
        dlclose(lib);
        if (is_stub(p)) p = NULL;
    }
    dlclose(self);
    return p;
}

void *front_find(const char *name, const void *caller)
{
    void *p = dlsym(RTLD_NEXT, name);
    if ((p == NULL || is_stub(p)) && local_mpi != NULL) p = dlsym(local_mpi, name);
    if (p == NULL || is_stub(p)) p = find_from(name, caller);
    if (p == NULL && local_mpi != NULL) p = find_loaded(name);
    return p != NULL && !is_stub(p) ? p : NULL;
}

static const char *soname_of(const struct link_map *map)
{
    const char *strings = NULL;
    ElfW(Xword) offset = 0;
    int found = 0;
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_STRTAB) strings = (const char *)d->d_un.d_ptr;
        if (d->d_tag == DT_SONAME) { offset = d->d_un.d_val; found = 1; }
    }
    return strings != NULL && found ? strings + offset : "";
}

int front_find_mpi(const void *caller, front_mpi *mpi)
{
    void *init = dlsym(RTLD_NEXT, "PMPI_Init");
    int local = init == NULL;
    if (local) init = find_from("PMPI_Init", caller);
    if (init == NULL) init = find_loaded("PMPI_Init");
    Dl_info info;
    struct link_map *map = NULL;
    if (init == NULL || !dladdr1(init, &info, (void **)&map, RTLD_DL_LINKMAP) || map == NULL) return 0;
    mpi->path = map->l_name;
    mpi->soname = soname_of(map);
    if (local) local_mpi = dlopen(map->l_name, RTLD_NOLOAD | RTLD_LAZY);
    return 1;
}

/* EFG_BACK is soname=file:soname=file… Copies the file's name, which is "" if
 * there will be none. */
static int back_file(const char *soname, char *file, size_t size)
{
    size_t n = strlen(soname);
    for (const char *s = efg_setting("EFG_BACK"); s != NULL && *s; ) {
        size_t len = strcspn(s, ":");
        if (len > n && s[n] == '=' && !strncmp(s, soname, n) && len - n - 1 < size) {
            memcpy(file, s + n + 1, len - n - 1);
            file[len - n - 1] = 0;
            return 1;
        }
        s += len + (s[len] == ':');
    }
    return 0;
}

static int building(void)
{
    const char *v = efg_setting("EFG_BUILDING");
    return v != NULL && !strcmp(v, "1");
}

/* Rereads the settings: from efg run in its directory, or from a daemon. */
static void read_again(void)
{
    const char *run = secure_getenv("EFG_DIR");
    efg_looked = 0;
    if (run != NULL) {
        efg_settings_len = efg_read_settings(run, geteuid(), 077);
        efg_split_settings();
    }
}

/* Reports to the compiling process that a back end is needed. Returns whether
 * there is one. */
static int ask_for(const char *soname)
{
    const char *run = secure_getenv("EFG_DIR"), *directory = run != NULL ? run : efg_source;
    int saved = errno, fd = directory != NULL ? efg_connect(directory) : -1;
    int there = directory != NULL && (fd >= 0 || (errno != ECONNREFUSED && errno != ENOENT));
    if (fd >= 0) {
        send(fd, soname, strlen(soname) + 1, MSG_NOSIGNAL);
        close(fd);
    }
    errno = saved;
    return there;
}

/* One process of a launch reports for all. */
static int speaks(void)
{
    static const char *const names[] = { "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *v = getenv(names[i]);
        if (v != NULL && *v) return !strcmp(v, "0");
    }
    return 1;
}

/* The back end for a library, which may have to be compiled first, for a minute,
 * for example. The compiling process is contacted once a second, and may be
 * restarted meanwhile. */
static int wait_for_back(const char *soname, char *file, size_t size)
{
    enum { EACH = 50, SECOND = 1000 / EACH, PATIENCE = 5 };
    int alone = 0;
    for (unsigned i = 0; !back_file(soname, file, size); i++) {
        if (!building()) return 0;
        if (i % SECOND == 0) alone = ask_for(soname) ? 0 : alone + 1;
        if (alone == PATIENCE) return 0;
        if (i == SECOND && speaks())
            fprintf(stderr, "efg: the program waits until its part of the hook is compiled, for %s\n", soname);
        nanosleep(&(struct timespec){ .tv_nsec = EACH * 1000000 }, NULL);
        read_again();
    }
    return *file != 0;
}

void *front_open_back(const front_mpi *mpi)
{
    char file[4096];
    /* Preloaded for all programs of a site, but nobody records. */
    if (efg_setting("EFG_BACK") == NULL && efg_setting("EFG_DIR") == NULL) return NULL;
    if (!wait_for_back(mpi->soname, file, sizeof file)) {
        fprintf(stderr, "efg: no back end for this MPI (%s, %s): the program runs unrecorded\n",
                *mpi->soname ? mpi->soname : "no soname", mpi->path);
        return NULL;
    }
    void *back = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (back == NULL) fprintf(stderr, "efg: %s: the program runs unrecorded\n", dlerror());
    return back;
}
