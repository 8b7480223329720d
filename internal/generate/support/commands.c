/* As many commands as a call needs, of one world. */
static char **world_commands(int number)
{
    static PER_THREAD char *commands[COMMANDS];
    for (int i = 0; i < COMMANDS; i++)
        commands[i] = world_command(number);
    return commands;
}
