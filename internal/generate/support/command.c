/* The command of another world, which is this program by another name; that of number 0 does not exist. */
static char *world_command(int number)
{
    static PER_THREAD char self[4096], command[2 * sizeof self], fresh[sizeof command + 16];
    const char *path = scratch_path("PREFIX", number);
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    char directory[sizeof self] = "";
    if (length < 0 || (*path != '/' && getcwd(directory, sizeof directory) == NULL)) {
        perror("/proc/self/exe");
        exit(1);
    }
    self[length] = '\0';
    snprintf(command, sizeof command, "%s%s%s", directory, *directory ? "/" : "", path);
    snprintf(fresh, sizeof fresh, "%s.%ld", command, (long)getpid());
    if (number > 0 && (symlink(self, fresh) != 0 || rename(fresh, command) != 0)) {
        perror(command);
        exit(1);
    }
    return command;
}
