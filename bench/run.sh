#!/bin/bash
# Measures what efg adds to MPI calls, and the speed of reading back. Every figure
# is the median over pairs: once alone, once under efg, one right after the other,
# so that a slow moment of the machine hits both. PAIRS (5) and CALLS (3000000)
# come from the environment. Prints a report in Markdown.
set -euo pipefail
cd "$(dirname "$0")/.."
pairs=${PAIRS:-5} calls=${CALLS:-3000000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
efg=$PWD/bin/efg
if [ "$(id -u)" -eq 0 ]; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi

median() { sort -g | awk '{v[NR] = $1} END {print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2}'; }

# launch MPI PROGRAM... runs one rank.
launch() { local m=$1; shift; timeout 120 "mpiexec.$m" -n 1 "$@"; }

machine() {
    echo "Machine: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)," \
        "$(nproc) cores, Linux $(uname -r), $(gcc --version | head -n 1), $(go version | cut -d' ' -f3)"
}

# row MPI TIME SHAPE K prints a line of the table: alone, under efg, difference.
row() {
    local m=$1 time=$2 shape=$3 k=$4 i a b
    : >"$work/alone"; : >"$work/with"; : >"$work/added"
    for ((i = 0; i < pairs; i++)); do
        a=$(launch "$m" "$work/calls.$m" "$shape" "$k" "$calls")
        b=$("$efg" run --time "$time" -o "$work/run.efg" -- timeout 120 "mpiexec.$m" -n 1 "$work/calls.$m" "$shape" "$k" "$calls")
        echo "$a" >>"$work/alone"; echo "$b" >>"$work/with"
        echo "$a $b" | awk '{print $2 - $1}' >>"$work/added"
    done
    printf '| %s | %s | %s %s | %s | %s | %.1f | %s |\n' "$m" "$time" "$shape" "$k" \
        "$(median <"$work/alone")" "$(median <"$work/with")" "$(median <"$work/added")" \
        "$(sort -g "$work/added" | sed -n '1p;$p' | xargs printf '%.1f–%.1f')"
}

calls_table() {
    echo "| MPI | --time | shape | alone, ns | under efg, ns | added, ns (median) | from–to |"
    echo "|---|---|---|---|---|---|---|"
    local m time k
    for m in openmpi mpich; do
        "mpicc.$m" -O2 -w -o "$work/calls.$m" bench/mpi/calls.c
        for time in stats off; do
            row "$m" "$time" six 1
            row "$m" "$time" random 64
            for k in 1 10 100 1000 9000; do
                row "$m" "$time" cycle "$k"
            done
        done
    done
}

core_table() {
    gcc -std=gnu11 -O2 -pthread -I hook/shim -I hook/shim/gen -o "$work/core" \
        bench/core/bench.c hook/shim/core_*.c hook/shim/gen/schema.c -ldl
    echo "| shape | ns an event | events | bytes added meanwhile |"
    echo "|---|---|---|---|"
    mkdir "$work/segments"
    EFG_DIR=$work/segments EFG_TIME=stats "$work/core" "$calls" |
        awk '{printf "| %s %s | %s | %s | %s |\n", $1, $2, $3, $4, $5}'
}

"$efg" hook path >"$work/hook"
machine
printf '\nMPI calls, %s pairs of %s calls:\n\n' "$pairs" "$calls"
calls_table
printf '\nThe recorder alone:\n\n'
core_table
printf '\nReading and writing in Go:\n\n'
go test -run '^$' -bench . -benchmem ./efg ./reconstruct | sed -n 's/^Benchmark/    &/p'
