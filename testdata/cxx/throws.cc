// Calls while exceptions are thrown, caught, and pass through functions with destructors.
#include <mpi.h>
#include <stdexcept>

#define HERE __attribute__((noinline))

namespace solver {

struct Guard {
    HERE ~Guard() { MPI_Barrier(MPI_COMM_SELF); asm volatile(""); }
};

template <typename T> struct Grid {
    HERE T step(T n)
    {
        Guard guard;
        MPI_Barrier(MPI_COMM_WORLD);
        if (n == 0)
            throw std::runtime_error("converged");
        T rest = step(n - 1);
        asm volatile("");
        return rest;
    }
};

HERE int run(int n)
{
    try {
        return Grid<int>().step(n);
    } catch (const std::exception &) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    auto after = [](int k) HERE { MPI_Barrier(MPI_COMM_WORLD); asm volatile(""); return k; };
    return after(n);
}

} // namespace solver

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int sum = 0;
    for (int i = 0; i < 12; i++)
        sum += solver::run(i % 4);
    MPI_Finalize();
    return sum == 18 ? 0 : 1;
}
