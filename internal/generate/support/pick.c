/* An array of handles, by the numbers of their variables. */
static const TYPE *pick_NAME(const int *at, int count)
{
    static TYPE picked[PICKED];
    for (int i = 0; i < count; i++)
        picked[i] = NAME[at[i]];
    return picked;
}
