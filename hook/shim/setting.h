/* What the hook is told: by the environment (efg run), or, where EFG_DIR is not
 * set, by the daemon of the user: in its spool directory, $EFG_SPOOL or
 * /dev/shm/efg-UID, the file "hook" has lines NAME=VALUE. The directory must be
 * private to the user: whoever can write there decides what is loaded.
 *
 * Without EFG_SPOOL, and without such a daemon, there may be root's service for all users:
 * the file "hook" in its directory, /run/efg, which only root can write to, names the
 * directory of all spools (EFG_SPOOLS). The process makes its user's spool there, and whoever
 * connects to "socket" in the service's directory gets a daemon for it.
 *
 * Back ends may still be compiled when a program starts. Then EFG_BUILDING is 1, and the front
 * reads the file "hook" again, with efg run that in EFG_DIR, until EFG_BACK names the
 * one that it wants (front_find.c).
 *
 * A process that has privileges which its user may not have (set-uid) is told nothing,
 * and the front does not record it.
 *
 * Included by the front and by the back end, which have nothing else in common. */
#ifndef EFG_SETTING_H
#define EFG_SETTING_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { EFG_SETTINGS_MAX = 16 << 10 };

/* A daemon refreshes its sign of life once a minute. One that has not done so for
 * this time in seconds, and does not listen, was killed: nobody would collect
 * what is recorded. */
enum { EFG_GONE_AFTER = 10 * 60 };

/* "\nNAME=VALUE\0\nNAME=VALUE\0…", and room for EFG_DIR, which a service does not
 * set. */
static char efg_settings[EFG_SETTINGS_MAX + PATH_MAX + 16];
static size_t efg_settings_len;
static char efg_spool[PATH_MAX];                  /* "" if there is no daemon */
static char efg_service[PATH_MAX];                /* "" if it is not to be contacted */
static const char *efg_source;                    /* the directory in which settings were last looked for */
static int efg_looked;                            /* for a daemon */

/* Reports whether only its owner can access it. */
static int efg_private(int fd, mode_t type, uid_t owner, mode_t others)
{
    struct stat st;
    return fstat(fd, &st) == 0 && (st.st_mode & S_IFMT) == type && st.st_uid == owner
           && (st.st_mode & others) == 0;
}

/* Connects to the socket in a directory, without waiting; -1 and errno if that fails. */
static int efg_connect(const char *directory)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int n = snprintf(a.sun_path, sizeof a.sun_path, "%s/socket", directory);
    if (n <= 0 || (size_t)n >= sizeof a.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof a) == 0)
        return fd;
    int why = errno;
    close(fd);
    errno = why;
    return -1;
}

/* Reports whether the daemon was killed long ago. hook is its sign of life. */
static int efg_daemon_gone(int hook, const char *directory)
{
    struct stat st;
    if (fstat(hook, &st) != 0 || time(NULL) - st.st_mtime < EFG_GONE_AFTER)
        return 0;
    int saved = errno, fd = efg_connect(directory), gone = fd < 0 && (errno == ECONNREFUSED || errno == ENOENT);
    if (fd >= 0)
        close(fd);
    errno = saved;
    return gone;
}

/* Reads the settings in a directory of its owner; others are the permissions that
 * nobody else may have. */
static size_t efg_read_settings(const char *directory, uid_t owner, mode_t others)
{
    size_t len = 0;
    efg_source = directory;
    int dir = open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (dir < 0)
        return 0;
    int fd = efg_private(dir, S_IFDIR, owner, others)
                 ? openat(dir, "hook", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) : -1;
    if (fd >= 0 && efg_private(fd, S_IFREG, owner, 022) && !efg_daemon_gone(fd, directory)) {
        efg_settings[0] = '\n';
        ssize_t n = read(fd, efg_settings + 1, EFG_SETTINGS_MAX);
        len = n > 0 ? (size_t)n + 1 : 0;
    }
    if (fd >= 0)
        close(fd);
    close(dir);
    return len;
}

/* What the settings say about a name, NULL if nothing. */
static const char *efg_said(const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; i < efg_settings_len; i++) {
        const char *line = efg_settings + i + 1;
        if ((i == 0 || efg_settings[i] == '\0') && strncmp(line, name, n) == 0 && line[n] == '=')
            return line + n + 1;
    }
    return NULL;
}

static void efg_split_settings(void)
{
    efg_settings[efg_settings_len] = '\n';
    for (size_t i = 1; i <= efg_settings_len; i++)
        if (efg_settings[i] == '\n')
            efg_settings[i] = '\0';
}

/* Creates a spool if there is none, and reports whether it is private to the
 * user. */
static int efg_make_spool(void)
{
    int saved = errno, ours = 0;
    mkdir(efg_spool, 0700);
    int dir = open(efg_spool, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (dir >= 0) {
        ours = efg_private(dir, S_IFDIR, geteuid(), 077);
        close(dir);
    }
    errno = saved;
    return ours;
}

/* Another user occupies the path of our spool: the service moves that away, and
 * then closes the connection. */
static void efg_wait_for_spool(void)
{
    int saved = errno, fd = efg_connect(efg_service);
    if (fd >= 0) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        poll(&p, 1, 2000);
        close(fd);
    }
    errno = saved;
}

/* Reads the settings of the service for all users, and creates our spool. */
static void efg_find_service(void)
{
    efg_settings_len = efg_read_settings(efg_service, 0, 022);
    efg_split_settings();
    const char *spools = efg_said("EFG_SPOOLS");
    int n = spools != NULL ? snprintf(efg_spool, sizeof efg_spool, "%s/efg-%u", spools, (unsigned)geteuid()) : 0;
    if (n <= 0 || (size_t)n >= sizeof efg_spool || *efg_spool != '/') {
        efg_settings_len = 0;
        return;
    }
    if (!efg_make_spool())
        efg_wait_for_spool();
    if (!efg_make_spool()) {
        efg_settings_len = 0;
        return;
    }
    size_t at = efg_settings_len + (efg_settings[efg_settings_len - 1] != '\0');
    efg_settings_len = at + (size_t)snprintf(efg_settings + at, sizeof efg_settings - at, "EFG_DIR=%s", efg_spool);
}

/* Reads the daemon's settings, once. Only one thread opens the hook. */
static void efg_find_daemon(void)
{
    const char *spool = secure_getenv("EFG_SPOOL"), *service = secure_getenv("EFG_SERVICE");
    if (efg_looked)
        return;
    efg_looked = 1;
    int given = spool != NULL && *spool != '\0';
    int n = given ? snprintf(efg_spool, sizeof efg_spool, "%s", spool)
                  : snprintf(efg_spool, sizeof efg_spool, "/dev/shm/efg-%u", (unsigned)geteuid());
    if (!given)
        snprintf(efg_service, sizeof efg_service, "%s", service != NULL && *service == '/' ? service : "/run/efg");
    if (n > 0 && (size_t)n < sizeof efg_spool && *efg_spool == '/')
        efg_settings_len = efg_read_settings(efg_spool, geteuid(), 077);
    efg_split_settings();
    if (efg_settings_len == 0 && !given)
        efg_find_service();
    if (efg_settings_len == 0)
        efg_spool[0] = '\0';
}

/* A job may specify how to record: its environment takes precedence over the
 * daemon. What is loaded, and where it is recorded, it may not. */
static const char *efg_of_job(const char *name)
{
    static const char *const how[] = { "EFG_TIME", "EFG_POLLS", "EFG_QUERIES", "EFG_BUFFERS", "EFG_CALLPATH" };
    for (size_t i = 0; i < sizeof how / sizeof *how; i++)
        if (strcmp(name, how[i]) == 0)
            return secure_getenv(name);
    return NULL;
}

/* The value of a setting, NULL if there is none. */
static const char *efg_setting(const char *name)
{
    if (secure_getenv("EFG_DIR") != NULL) {
        const char *since = efg_said(name);       /* since the program began */
        return since != NULL ? since : secure_getenv(name);
    }
    efg_find_daemon();
    if (efg_settings_len == 0)
        return secure_getenv(name);
    const char *said = efg_of_job(name);
    return said != NULL ? said : efg_said(name);
}

#endif
