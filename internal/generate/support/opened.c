/* The name of the port that was opened last. */
static PER_THREAD char opened[MPI_MAX_PORT_NAME + 1];

static void opened_port(int number)
{
    char fresh[4096 + 32];
    const char *path = scratch_path("PREFIX", number);
    snprintf(fresh, sizeof fresh, "%s.%ld", path, (long)getpid());
    FILE *f = fopen(fresh, "w");
    if (f == NULL || fputs(opened, f) < 0 || fclose(f) != 0 || rename(fresh, path) != 0) {
        perror(path);
        exit(1);
    }
}
