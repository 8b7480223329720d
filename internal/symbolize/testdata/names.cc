// Marks are labels in functions whose names the test knows.
#define MARK(name) __asm__ volatile(".globl " #name "\n" #name ": nop")

volatile int sink;

namespace mesh {

class Halo {
public:
    void exchange(int i);
    inline __attribute__((always_inline)) void wait(int i)
    {
        sink = sink + i;
        MARK(mark_inlined);
    }
};

__attribute__((noinline)) void Halo::exchange(int i)
{
    sink = sink - i;
    MARK(mark_member);
}

template <class T> __attribute__((noinline)) void pack(T x)
{
    sink = sink + static_cast<int>(x);
    MARK(mark_template);
}

namespace {
__attribute__((noinline)) void step(Halo &h)
{
    h.wait(2);
}
} // namespace

void run(int i)
{
    Halo h;
    h.exchange(i);
    pack<double>(i);
    step(h);
}

} // namespace mesh

int main(int argc, char **)
{
    mesh::run(argc);
    return 0;
}
