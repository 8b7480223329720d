#!/bin/bash
# The demonstration: records the Jacobi mini-app on four ranks and shows what was
# recorded. Wants bin/efg and Open MPI; leaves its files in bin/demo.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p bin/demo
PATH=$PWD/bin:$PATH

# show COMMAND LINE prints a command line and runs it.
show() {
    echo
    echo "\$ $1"
    bash -o pipefail -c "$1" </dev/null
}

# Open MPI does not run as root unless told to.
if [ "$(id -u)" -eq 0 ]; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi

cd bin/demo
mpicc.openmpi -g -O1 -std=gnu11 -o jacobi ../../testdata/c/jacobi.c -lm
rm -f jacobi.efg
efg hook path >/dev/null    # built once, here so that the run below shows nothing of it
show "efg run -o jacobi.efg -- mpiexec.openmpi --oversubscribe -n 4 ./jacobi 400"
show "efg info jacobi.efg"
show "efg report jacobi.efg | sed -n 9,18p"
show "efg reconstruct jacobi.efg --rank 2 --to 24 --format text"
show "efg reconstruct jacobi.efg --rank 2 --from 17 --to 19 --format jsonl"
show "efg reconstruct jacobi.efg --verify"
echo
echo "The program, the run file and more to try: cd bin/demo; ../efg --help"
