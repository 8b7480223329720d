/* spank_efg.c: the option --efg of srun, sbatch and salloc, which has a job's MPI calls
 * recorded: docs/slurm.md.
 *
 *     --efg            recorded, as the site has set the daemon
 *     --efg=stats      with time statistics
 *     --efg=trace      with the time of each call
 *     --efg=off        not recorded, where that is the default
 *
 * Arguments in plugstack.conf: front=FILE, what is preloaded; default=VALUE, for jobs that do
 * not say. The tasks' environment is changed, and nothing else: LD_PRELOAD gets one entry
 * more, at its end, so that other tools see the program first, and EFG_TIME is set. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <slurm/spank.h>

SPANK_PLUGIN(efg, 1)

typedef enum { UNSAID, OFF, ON, STATS, TRACE } efg_mode;

static const struct {
    const char *name, *time;    /* time: EFG_TIME, NULL: as the daemon says */
} modes[] = {
    [OFF] = { "off", NULL }, [ON] = { "on", NULL }, [STATS] = { "stats", "stats" }, [TRACE] = { "trace", "trace=500" },
};

enum { LIST_SIZE = 32 << 10 };

static char front[PATH_MAX] = "/usr/local/lib/efg/libefg.so";
static efg_mode by_default = OFF, asked = UNSAID;

static efg_mode mode_of(const char *name)
{
    for (size_t i = OFF; i < sizeof modes / sizeof *modes; i++)
        if (strcmp(name, modes[i].name) == 0) return (efg_mode)i;
    return UNSAID;
}

static efg_mode in_effect(void) { return asked != UNSAID ? asked : by_default; }

static int option(int val, const char *arg, int remote)
{
    (void)val, (void)remote;
    /* sbatch hands --efg on to srun in the script as --efg=(null). */
    int alone = arg == NULL || *arg == '\0' || strcmp(arg, "(null)") == 0;
    efg_mode mode = alone ? ON : mode_of(arg);
    if (mode == UNSAID) {
        slurm_error("--efg=%s: want off, on, stats or trace", arg);
        return -1;
    }
    asked = mode;
    return 0;
}

static int configure(const char *arg)
{
    static const char is_front[] = "front=", is_default[] = "default=";
    if (strncmp(arg, is_front, sizeof is_front - 1) == 0) {
        int n = snprintf(front, sizeof front, "%s", arg + sizeof is_front - 1);
        if (*front == '/' && (size_t)n < sizeof front && strpbrk(front, ": \t") == NULL) return 0;
    } else if (strncmp(arg, is_default, sizeof is_default - 1) == 0) {
        by_default = mode_of(arg + sizeof is_default - 1);
        if (by_default != UNSAID) return 0;
    }
    slurm_error("efg: plugstack.conf: %s: want front=/FILE or default=off, on, stats or trace", arg);
    return -1;
}

static struct spank_option efg_option = {
    .name = "efg", .arginfo = "[off|on|stats|trace]", .usage = "record MPI calls; with time statistics, or the time of each call",
    .has_arg = 2, .cb = option,
};

int slurm_spank_init(spank_t sp, int ac, char *av[])
{
    by_default = OFF;
    asked = UNSAID;
    for (int i = 0; i < ac; i++)
        if (configure(av[i]) != 0) return -1;
    spank_context_t c = spank_context();
    if (c != S_CTX_LOCAL && c != S_CTX_ALLOCATOR && c != S_CTX_REMOTE) return 0;
    return spank_option_register(sp, &efg_option) == ESPANK_SUCCESS ? 0 : -1;
}

/* Tells prolog and epilog that the job is to be recorded: SPANK_EFG. */
int slurm_spank_init_post_opt(spank_t sp, int ac, char *av[])
{
    (void)ac, (void)av;
    spank_context_t c = spank_context();
    if ((c == S_CTX_LOCAL || c == S_CTX_ALLOCATOR) && in_effect() != OFF)
        spank_job_control_setenv(sp, "EFG", modes[in_effect()].name, 1);
    return 0;
}

/* Copies a list as LD_PRELOAD's without the front; its length. */
static size_t without_front(const char *list, char *to)
{
    char *end = to;
    while (*list != '\0') {
        size_t n = strcspn(list, ": ");
        if (n > 0 && !(n == strlen(front) && strncmp(list, front, n) == 0)) {
            if (end > to) *end++ = ':';
            memcpy(end, list, n);
            end += n;
        }
        list += n + (list[n] != '\0');
    }
    *end = '\0';
    return (size_t)(end - to);
}

/* Is there a daemon that programs of this user would be recorded by? */
static int recorded(spank_t sp)
{
    char spool[PATH_MAX - 8], marker[PATH_MAX];
    if (spank_getenv(sp, "EFG_SPOOL", spool, sizeof spool) != ESPANK_SUCCESS || *spool == '\0')
        snprintf(spool, sizeof spool, "/dev/shm/efg-%u", (unsigned)geteuid());
    snprintf(marker, sizeof marker, "%s/hook", spool);
    return access(marker, R_OK) == 0;
}

/* Says once on each node why tasks are not recorded. */
static void explain(spank_t sp)
{
    char host[256] = "";
    int task = 0;
    if (spank_get_item(sp, S_TASK_ID, &task) == ESPANK_SUCCESS && task != 0) return;
    gethostname(host, sizeof host - 1);
    if (access(front, R_OK) != 0)
        slurm_error("efg: %s: not recorded: no file %s", host, front);
    else if (!recorded(sp))
        slurm_error("efg: %s: not recorded: no daemon; say --efg to sbatch or salloc, too", host);
}

/* Changes the list; what was in it stays. -1: it cannot be read. */
static int preload(spank_t sp, int add)
{
    static char old[LIST_SIZE], list[2 * LIST_SIZE];
    spank_err_t e = spank_getenv(sp, "LD_PRELOAD", old, sizeof old);
    if (e != ESPANK_SUCCESS && e != ESPANK_ENV_NOEXIST) {
        slurm_error("efg: not recorded: LD_PRELOAD: %s", spank_strerror(e));
        return -1;
    }
    if (e == ESPANK_ENV_NOEXIST) *old = '\0';
    if (!add && strstr(old, front) == NULL) return 0;
    size_t n = without_front(old, list);
    if (add) snprintf(list + n, sizeof list - n, "%s%s", n > 0 ? ":" : "", front);
    e = *list != '\0' ? spank_setenv(sp, "LD_PRELOAD", list, 1) : spank_unsetenv(sp, "LD_PRELOAD");
    return e == ESPANK_SUCCESS ? 0 : -1;
}

/* In each task, as its user, just before the program. A task is never refused. */
int slurm_spank_task_init(spank_t sp, int ac, char *av[])
{
    (void)ac, (void)av;
    efg_mode mode = in_effect();
    if (mode == OFF) {
        if (asked == OFF) preload(sp, 0);   /* the script around the step may have it */
        return 0;
    }
    explain(sp);
    if (access(front, R_OK) == 0 && preload(sp, 1) == 0 && modes[mode].time != NULL)
        spank_setenv(sp, "EFG_TIME", modes[mode].time, 1);
    return 0;
}
