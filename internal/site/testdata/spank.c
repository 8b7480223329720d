/* The plugin with a Slurm of its own: one task's environment, and what it is told.
 *
 *     spank [-p PLUGSTACK-ARGUMENT] [-o OPTION] [-l] [-e NAME=VALUE]...
 *
 * -o: the value of --efg, - for none; -l: in srun instead of the task. Prints errors, what
 * prolog and epilog see, and the variables that the plugin may change. */
#define _GNU_SOURCE
#include "../slurm/spank_efg.c"

#include <stdarg.h>

static spank_context_t where = S_CTX_REMOTE;
static struct spank_option *registered;

spank_context_t spank_context(void) { return where; }

spank_err_t spank_option_register(spank_t sp, struct spank_option *opt)
{
    (void)sp;
    registered = opt;
    return ESPANK_SUCCESS;
}

spank_err_t spank_getenv(spank_t sp, const char *var, char *buf, int len)
{
    const char *v = getenv(var);
    (void)sp;
    if (v == NULL) return ESPANK_ENV_NOEXIST;
    return snprintf(buf, (size_t)len, "%s", v) < len ? ESPANK_SUCCESS : ESPANK_NOSPACE;
}

spank_err_t spank_setenv(spank_t sp, const char *var, const char *val, int overwrite)
{
    (void)sp;
    setenv(var, val, overwrite);
    return ESPANK_SUCCESS;
}

spank_err_t spank_unsetenv(spank_t sp, const char *var)
{
    (void)sp;
    unsetenv(var);
    return ESPANK_SUCCESS;
}

spank_err_t spank_job_control_setenv(spank_t sp, const char *name, const char *value, int overwrite)
{
    (void)sp, (void)overwrite;
    printf("control %s=%s\n", name, value);
    return ESPANK_SUCCESS;
}

spank_err_t spank_get_item(spank_t sp, spank_item_t item, ...)
{
    va_list ap;
    (void)sp;
    va_start(ap, item);
    if (item == S_TASK_ID) *va_arg(ap, int *) = getenv("TASK") ? atoi(getenv("TASK")) : 0;
    va_end(ap);
    return ESPANK_SUCCESS;
}

const char *spank_strerror(spank_err_t e) { return e == ESPANK_NOSPACE ? "no space" : "error"; }

void slurm_error(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    printf("error ");
    vprintf(format, ap);
    printf("\n");
    va_end(ap);
}

static void print(const char *name)
{
    const char *v = getenv(name);
    if (v != NULL) printf("%s=%s\n", name, v);
}

int main(int argc, char **argv)
{
    char *args[8];
    const char *said = NULL;
    int nargs = 0, c;
    while ((c = getopt(argc, argv, "p:o:le:")) != -1) {
        if (c == 'p' && nargs < 8) args[nargs++] = optarg;
        else if (c == 'o') said = optarg;
        else if (c == 'l') where = S_CTX_LOCAL;
        else if (c == 'e') putenv(optarg);
        else return 2;
    }
    if (slurm_spank_init(NULL, nargs, args) != 0) return 1;
    if (said != NULL && registered->cb(0, strcmp(said, "-") == 0 ? NULL : said, where == S_CTX_REMOTE) != 0) return 1;
    if (slurm_spank_init_post_opt(NULL, nargs, args) != 0) return 1;
    if (where == S_CTX_REMOTE && slurm_spank_task_init(NULL, nargs, args) != 0) return 1;
    print("LD_PRELOAD");
    print("EFG_TIME");
    return 0;
}
