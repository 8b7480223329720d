"""Calls inside calls: operations and attribute functions of the program that call MPI: nested.py ROUNDS.

For mpi4py, which calls Python functions from inside MPI."""

import sys
from array import array

from mpi4py import MPI


def check(ok, what):
    if not ok:
        print("nested.py: wrong:", what, file=sys.stderr)
        MPI.COMM_WORLD.Abort(1)


def add(a, b, datatype):
    """Adds, and reduces something else meanwhile."""
    one, largest = array("i", [3]), array("i", [0])
    MPI.COMM_SELF.Allreduce([one, MPI.INT], [largest, MPI.INT], op=MPI.MAX)
    check(largest[0] == 3, "maximum")
    x, y = memoryview(a).cast("i"), memoryview(b).cast("i")
    for i in range(len(x)):
        y[i] += x[i]


copied, dropped = [], []


def copy(comm, keyval, value):
    got = MPI.COMM_SELF.sendrecv(value, dest=0, sendtag=5, source=0, recvtag=5)
    copied.append(got)
    return got


def drop(comm, keyval, value):
    MPI.COMM_SELF.Barrier()
    dropped.append(value)


def main(rounds):
    world = MPI.COMM_WORLD
    rank, size = world.Get_rank(), world.Get_size()
    op = MPI.Op.Create(add, commute=True)
    key = MPI.Comm.Create_keyval(copy, drop)
    for i in range(rounds):
        x, y = array("i", [rank, i]), array("i", [0, 0])
        world.Allreduce([x, MPI.INT], [y, MPI.INT], op=op)
        check(y[0] == size * (size - 1) // 2 and y[1] == size * i, "sum")
        comm = MPI.COMM_SELF.Dup()
        comm.Set_attr(key, i)
        comm.Dup().Free()
        comm.Free()
    check(len(copied) == rounds and len(dropped) == 2 * rounds, "attributes")
    MPI.Comm.Free_keyval(key)
    op.Free()
    if rank == 0:
        print("nested ok")


main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
