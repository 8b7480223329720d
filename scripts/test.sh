#!/bin/bash
# All tests, with both MPIs. The last line says how many passed and failed.
set -euo pipefail
cd "$(dirname "$0")/.."

# Open MPI does not run as root unless told to.
if [ "$(id -u)" -eq 0 ]; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi

# sweep removes what the MPI libraries leave of jobs that tests kill: shared memory that no
# process has mapped, and the directories of launchers that are gone; of these only what has come
# since the tests began.
sweep() {
    local mapped file dir sessions
    mapped=$(cat /proc/[0-9]*/maps 2>/dev/null | grep -o '/dev/shm/[^ ]*' | sort -u)
    find /dev/shm -maxdepth 1 -type f -user "$(id -u)" -newer "$began" \
        \( -name 'mpich_shar_tmp*' -o -name 'ucx_shm_posix_*' -o -name 'vader_segment.*' \) |
        while read -r file; do
            grep -qxF "$file" <<<"$mapped" || rm -f "$file"
        done
    sessions=${TMPDIR:-/tmp}/ompi.$(uname -n).$(id -u)
    for dir in "$sessions"/pid.*; do
        [ ! "$dir" -nt "$began" ] || kill -0 "${dir##*.}" 2>/dev/null || rm -rf "$dir"
    done
    find "$sessions" -depth -type d -empty -newer "$began" -delete 2>/dev/null
    rm -f "$began"
}
began=$(mktemp)
trap 'sweep || true' EXIT

# The hook is compiled here, once: all tests find it in the cache.
bin/efg hook path

go build -o bin/summary ./scripts/summary
go test -json -timeout 60m -p 2 ./... </dev/null | bin/summary
