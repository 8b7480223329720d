/* What the hook is told: by the environment (efg run), or, where EFG_DIR is not
 * set, by the daemon of the user: in its spool folder, $EFG_SPOOL or
 * /dev/shm/efg-UID, the file "hook" has lines NAME=VALUE. The folder must be
 * private to the user: whoever can write there decides what is loaded. Included by
 * the front and by the back end, which have nothing else in common. */
#ifndef EFG_SETTING_H
#define EFG_SETTING_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { EFG_SETTINGS_MAX = 16 << 10 };

/* A daemon says once a minute that it is there. One that has not for so long, seconds,
 * and does not listen, was killed: nobody would take what is recorded. */
enum { EFG_GONE_AFTER = 10 * 60 };

static char efg_settings[EFG_SETTINGS_MAX + 2];   /* "\nNAME=VALUE\0\nNAME=VALUE\0…" */
static size_t efg_settings_len;
static char efg_spool[PATH_MAX];                  /* "" if there is no daemon */

/* Is it ours alone? */
static int efg_private(int fd, mode_t type, mode_t others)
{
    struct stat st;
    return fstat(fd, &st) == 0 && (st.st_mode & S_IFMT) == type && st.st_uid == geteuid()
           && (st.st_mode & others) == 0;
}

/* Was the daemon killed long ago? hook is its sign. */
static int efg_daemon_gone(int hook, const char *spool)
{
    struct stat st;
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    if (fstat(hook, &st) != 0 || time(NULL) - st.st_mtime < EFG_GONE_AFTER)
        return 0;
    int saved = errno, gone = 0, n = snprintf(a.sun_path, sizeof a.sun_path, "%s/socket", spool);
    int fd = n > 0 && (size_t)n < sizeof a.sun_path
                 ? socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0) : -1;
    if (fd >= 0) {
        gone = connect(fd, (struct sockaddr *)&a, sizeof a) != 0 && (errno == ECONNREFUSED || errno == ENOENT);
        close(fd);
    }
    errno = saved;
    return gone;
}

static size_t efg_read_settings(const char *spool)
{
    size_t len = 0;
    int dir = open(spool, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (dir < 0)
        return 0;
    int fd = efg_private(dir, S_IFDIR, 077)
                 ? openat(dir, "hook", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) : -1;
    if (fd >= 0 && efg_private(fd, S_IFREG, 022) && !efg_daemon_gone(fd, spool)) {
        efg_settings[0] = '\n';
        ssize_t n = read(fd, efg_settings + 1, EFG_SETTINGS_MAX);
        len = n > 0 ? (size_t)n + 1 : 0;
    }
    if (fd >= 0)
        close(fd);
    close(dir);
    return len;
}

/* Reads the daemon's settings, once. Only one thread opens the hook. */
static void efg_find_daemon(void)
{
    static int tried;
    const char *spool = getenv("EFG_SPOOL");
    if (tried)
        return;
    tried = 1;
    int n = spool != NULL && *spool != '\0'
                ? snprintf(efg_spool, sizeof efg_spool, "%s", spool)
                : snprintf(efg_spool, sizeof efg_spool, "/dev/shm/efg-%u", (unsigned)geteuid());
    if (n > 0 && (size_t)n < sizeof efg_spool && *efg_spool == '/')
        efg_settings_len = efg_read_settings(efg_spool);
    if (efg_settings_len == 0)
        efg_spool[0] = '\0';
    efg_settings[efg_settings_len] = '\n';
    for (size_t i = 1; i <= efg_settings_len; i++)
        if (efg_settings[i] == '\n')
            efg_settings[i] = '\0';
}

/* How to record may be said for a job: its environment goes before the daemon. What is
 * loaded, and where it is recorded, may not. */
static const char *efg_of_job(const char *name)
{
    static const char *const how[] = { "EFG_TIME", "EFG_POLLS", "EFG_QUERIES", "EFG_BUFFERS" };
    for (size_t i = 0; i < sizeof how / sizeof *how; i++)
        if (strcmp(name, how[i]) == 0)
            return getenv(name);
    return NULL;
}

/* The value of a setting, NULL if there is none. */
static const char *efg_setting(const char *name)
{
    if (getenv("EFG_DIR") != NULL)
        return getenv(name);
    efg_find_daemon();
    const char *said = efg_settings_len > 0 ? efg_of_job(name) : NULL;
    if (said != NULL)
        return said;
    size_t n = strlen(name);
    for (size_t i = 0; i < efg_settings_len; i++) {
        const char *line = efg_settings + i + 1;
        if ((i == 0 || efg_settings[i] == '\0') && strncmp(line, name, n) == 0 && line[n] == '=')
            return line + n + 1;
    }
    return efg_settings_len > 0 ? NULL : getenv(name);
}

#endif
