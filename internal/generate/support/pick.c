/* An array of handles, by the numbers of their variables. It is kept until the one after the next:
 * calls pass at most two. */
static const TYPE *pick_NAME(const int *at, int count)
{
    static PER_THREAD TYPE picked[2][PICKED];
    static PER_THREAD int turn;
    turn = !turn;
    for (int i = 0; i < count; i++)
        picked[turn][i] = NAME[at[i]];
    return picked[turn];
}
