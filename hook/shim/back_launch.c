/* What the launcher says about this process: its rank, its job, and whether the
 * job has processes on other machines. */
#include "back_launch.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static uint64_t text_hash(const char *s)
{
    uint64_t w[32] = { 0 };
    size_t n = strlen(s);
    if (n > sizeof w) n = sizeof w;
    memcpy(w, s, n);
    return efg_hash(w, (n + 7) / 8);
}

static const char *variable(const char *name)
{
    const char *v = getenv(name);
    return v != NULL && *v ? v : NULL;
}

/* Hydra does not name jobs, but marks the processes created by MPI_Comm_spawn. */
static bool spawned(void)
{
    const char *v = variable("PMI_SPAWNED");
    return v != NULL && strcmp(v, "0") != 0;
}

/* Equal in all processes of one MPI_COMM_WORLD: the launcher's name for the job.
 * 0 if there is none. */
static uint64_t world_id(void)
{
    static const char *const job[] = {
        "PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "OMPI_MCA_orte_ess_jobid", "PMI_JOBID",
    };
    for (size_t i = 0; i < sizeof job / sizeof *job; i++) {
        const char *v = variable(job[i]);
        if (v != NULL) return text_hash(v);
    }
    return spawned() ? text_hash("PMI_SPAWNED") : 0;
}

static int env_number(const char *const *names, size_t n, int otherwise)
{
    for (size_t i = 0; i < n; i++) {
        const char *v = variable(names[i]);
        char *end;
        if (v == NULL) continue;
        long k = strtol(v, &end, 10);
        if (*end == '\0' && k >= 0 && k <= INT32_MAX) return (int)k;
    }
    return otherwise;
}

#define NUMBER(otherwise, ...) \
    env_number((const char *const[]){ __VA_ARGS__ }, \
               sizeof (const char *const[]){ __VA_ARGS__ } / sizeof (char *), otherwise)

/* Reads the begin of a file of /proc as a string; returns its length. */
static size_t read_proc(int pid, const char *file, char *text, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", pid, file);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, size - 1) : 0;
    if (fd >= 0) close(fd);
    if (n < 0) n = 0;
    text[n] = '\0';
    return (size_t)n;
}

static int parent_of(int pid)
{
    char text[512];
    int parent = 0;
    read_proc(pid, "stat", text, sizeof text);
    const char *end = strrchr(text, ')');
    return end != NULL && sscanf(end + 1, " %*c %d", &parent) == 1 ? parent : 0;
}

/* The value of an option in a process's command line, in text; NULL if it has none. */
static const char *option_of(int pid, const char *option, char *text, size_t size)
{
    size_t n = read_proc(pid, "cmdline", text, size);
    for (const char *p = text; p < text + n; p += strlen(p) + 1)
        if (strcmp(p, option) == 0)
            return p + strlen(p) + 1 < text + n ? p + strlen(p) + 1 : NULL;
    return NULL;
}

/* Hydra tells ranks nothing that distinguishes its jobs. The proxies above them
 * know at which port of which host mpiexec listens. */
static bool hydra_job(char *job, size_t size)
{
    enum { HIGHEST = 16 };
    char text[4096];
    int pid = getppid();
    if (variable("PMI_FD") == NULL) return false;
    for (int i = 0; i < HIGHEST && pid > 1; i++, pid = parent_of(pid)) {
        const char *port = option_of(pid, "--control-port", text, sizeof text);
        if (port != NULL) {
            snprintf(job, size, "hydra %s", port);
            return true;
        }
    }
    return false;
}

uint64_t bk_launch_name(void)
{
    char job[EFG_JOB_SIZE];
    uint64_t w[2] = { world_id(), 0 };
    if (hydra_job(job, sizeof job)) w[1] = text_hash(job);
    return efg_hash(w, 2) | 1;
}

size_t bk_launch_arguments(char *text, size_t size)
{
    return read_proc(getpid(), "cmdline", text, size);
}

/* From here on Slurm's step numbers stand for what srun did not start. */
#define SLURM_NO_STEP 0xfffffff0ul

static const char *slurm_step(void)
{
    const char *step = variable("SLURM_STEP_ID");
    return step && variable("SLURM_JOB_ID") && strtoul(step, NULL, 10) < SLURM_NO_STEP ? step : NULL;
}

/* Names the launch, identically on all its machines and differently from others;
 * "" if nothing does. The most reliable sources come first. */
static void name_job(char *job, size_t size)
{
    const char *v;
    if ((v = variable("EFG_JOB")) != NULL)
        snprintf(job, size, "efg %s", v);
    else if ((v = variable("OMPI_MCA_orte_precondition_transports")) != NULL)
        snprintf(job, size, "openmpi %s", v);
    else if (hydra_job(job, size))
        return;
    else if ((v = slurm_step()) != NULL)
        snprintf(job, size, "slurm %s.%s", variable("SLURM_JOB_ID"), v);
    else if ((v = variable("PMIX_NAMESPACE")) != NULL)
        snprintf(job, size, "pmix %s", v);
    else if ((v = variable("PMI_JOBID")) != NULL)
        snprintf(job, size, "pmi %s", v);
}

/* 1: all processes of the world are on this machine; 2: some are not; 0: unknown. */
static uint32_t machines(int size)
{
    int local = NUMBER(0, "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS");
    if (local > 0 && size > 0) return local < size ? 2 : spawned() ? 0 : 1;
    int nodes = slurm_step() != NULL ? NUMBER(0, "SLURM_STEP_NUM_NODES") : 0;
    return nodes > 1 ? 2 : (uint32_t)nodes;
}

efg_process_info bk_launched_as(void)
{
    static char job[EFG_JOB_SIZE];
    static bool named;
    int size = NUMBER(0, "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS");
    if (!named) name_job(job, sizeof job);
    named = true;
    return (efg_process_info){
        .rank = size > 0 ? NUMBER(-1, "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID") : -1,
        .size = size,
        .world = world_id(),
        .family = BK_FAMILY,
        .job = job,
        .machines = machines(size),
    };
}
