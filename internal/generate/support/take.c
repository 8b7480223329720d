/* Handles that a call has returned become those of their variables: -1 is none. */
static PER_THREAD TYPE taken_NAME[TAKEN];

static void take_NAME(int count, const int *at)
{
    for (int i = 0; i < count; i++)
        if (at[i] >= 0) {
            keep_NAME(at[i]);
            NAME[at[i]] = taken_NAME[i];
        }
}
