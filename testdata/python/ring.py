"""Objects and buffers around a ring, collectives, polling: ring.py ROUNDS.

For mpi4py, where every call comes from one shared library and the MPI library
is loaded without making its symbols global."""

import sys

from mpi4py import MPI


def check(ok, what):
    if not ok:
        print("ring.py: wrong:", what, file=sys.stderr)
        MPI.COMM_WORLD.Abort(1)


def objects(comm, rounds):
    rank, size = comm.Get_rank(), comm.Get_size()
    left, right = (rank - 1) % size, (rank + 1) % size
    for i in range(rounds):
        request = comm.isend({"from": rank, "list": list(range(i))}, dest=right, tag=i)
        got = comm.recv(source=MPI.ANY_SOURCE if i % 2 else left, tag=i)
        request.wait()
        check(got["from"] == left and len(got["list"]) == i, "object")


def buffers(comm, rounds):
    rank, size = comm.Get_rank(), comm.Get_size()
    left, right = (rank - 1) % size, (rank + 1) % size
    for i in range(rounds):
        out, into = bytearray([rank] * 16), bytearray(64)
        requests = [comm.Irecv([into, MPI.BYTE], source=left, tag=7),
                    comm.Isend([out, MPI.BYTE], dest=right, tag=7)]
        if i % 2:
            MPI.Request.Waitall(requests)
        else:
            while not MPI.Request.Testall(requests):
                pass
        check(into[0] == left and into[16] == 0, "buffer")


def collectives(comm):
    rank, size = comm.Get_rank(), comm.Get_size()
    check(comm.allreduce(rank) == size * (size - 1) // 2, "allreduce")
    check(comm.bcast("text" if rank == 0 else None) == "text", "bcast")
    check(comm.allgather(rank * 2) == [2 * r for r in range(size)], "allgather")
    part = comm.Split(rank % 2, rank)
    check(part.allreduce(1) == (size + 1 - rank % 2) // 2, "split")
    part.Free()


def one_sided(comm):
    rank, size = comm.Get_rank(), comm.Get_size()
    memory = bytearray(8)
    window = MPI.Win.Create(memory, 1, MPI.INFO_NULL, comm)
    window.Fence()
    window.Put([bytearray([rank + 1]), MPI.BYTE], (rank + 1) % size, [2, 1, MPI.BYTE])
    window.Fence()
    check(memory[2] == (rank - 1) % size + 1, "put")
    window.Free()


def main():
    comm = MPI.COMM_WORLD
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 8
    objects(comm, rounds)
    buffers(comm, rounds)
    collectives(comm)
    one_sided(comm)
    comm.Barrier()
    if comm.Get_rank() == 0:
        print("ring.py: ok", rounds)


main()
