/* Names of ports, by the numbers of files that tell them to all processes. */
static char *port_name(int number)
{
    static PER_THREAD char name[FILES][MPI_MAX_PORT_NAME + 1];
    while (*name[number] == '\0') { /* until the port is open */
        FILE *f = fopen(scratch_path("PREFIX", number), "r");
        if (f != NULL) {
            if (fgets(name[number], sizeof name[number], f) == NULL)
                *name[number] = '\0';
            fclose(f);
        }
        if (*name[number] == '\0')
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return name[number];
}
