/* Values of an argument: count of them, each step more than the one before. A run without values
 * repeats the runs before it. */
struct run { long long value, step, count; int back; long long times; };
struct cursor { const struct run *runs; int at; long long done, again; };

static long long next(struct cursor *c)
{
    while (c->runs[c->at].count == 0) {
        const struct run *r = &c->runs[c->at];
        if (c->again++ < r->times) {
            c->at -= r->back;
        } else {
            c->again = 0;
            c->at++;
        }
    }
    const struct run *r = &c->runs[c->at];
    long long value = r->value + r->step * c->done;
    if (++c->done == r->count) {
        c->done = 0;
        c->at++;
    }
    return value;
}
