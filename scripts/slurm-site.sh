#!/bin/sh
# slurm-site.sh: jobs with --efg in a Slurm cluster (slurm.sh): what of them is recorded on each
# node is, merged, what efg run records, also by hand with efg merge, and when a node's daemon is
# killed; steps at once are runs of their own; other jobs are left alone; nothing stays on the
# nodes.
set -eu
cd "$(dirname "$0")/.."
if [ -z "${SLURM_CONF:-}" ]; then
    exec scripts/slurm.sh "$0"
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
chmod 755 "$dir"
efg=$PWD/bin/efg
user=games
site=${SLURM_CONF%/*}
mkdir "$dir/home"
chown $user "$dir/home"
export XDG_CACHE_HOME="$site/cache" HOME="$dir/home" OMPI_MCA_btl=self,tcp OMPI_MCA_btl_tcp_if_include=lo
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
for mpi in openmpi mpich; do
    mpicc.$mpi -g -w -o "$dir/jacobi.$mpi" testdata/c/jacobi.c -lm
    mpicc.$mpi -g -w -o "$dir/stuck.$mpi" testdata/c/stuck.c -lm
done

fail() { echo "slurm-site.sh: $*" >&2; tail -n 20 "$site"/run-*/*.log >&2; exit 1; }
as_user() { (cd "$dir/home" && setpriv --reuid=$user --regid=$user --clear-groups "$@"); }
# Epilogs end after what started the job.
idle() { while [ -n "$(squeue -h)" ]; do sleep 0.2; done; }
# job prints the file of the only job that is stored; its parts are merged first if the nodes
# have not. taken removes it.
job() {
    export EFG_STORE="$SLURM_RUNS/$user"
    if [ "$(find "$EFG_STORE" -name '*.efg' | wc -l)" -gt 1 ]; then "$efg" merge last >&2; fi
    find "$EFG_STORE" -name '*.efg'
}
daemon_of() { cut -d' ' -f1 "$site/run-$1/$(id -u $user).pid" 2>/dev/null; }
taken() { rm -rf "${SLURM_RUNS:?}/$user"; }

# same NAME: the job holds what was recorded with efg run.
same() {
    idle
    run=$(job)
    "$efg" reconstruct "$run" --verify >/dev/null || fail "$1: not what was recorded"
    "$efg" reconstruct "$run" | sed 's/,"t0":[0-9]*,"t1":[0-9]*}$/}/' >"$dir/run.jsonl"
    "$efg" reconstruct "$dir/alone.efg" >"$dir/alone.jsonl"
    cmp "$dir/run.jsonl" "$dir/alone.jsonl" || fail "$1: other events: $(diff "$dir/run.jsonl" "$dir/alone.jsonl" | head -n 4)"
    echo "$1: $(wc -l <"$dir/run.jsonl") events as efg run records them"
}

"$efg" run --time stats -o "$dir/alone.efg" -- mpiexec.openmpi --oversubscribe -n 8 "$dir/jacobi.openmpi" 200 >/dev/null
as_user srun -Q --mpi=pmix --efg -N4 -n8 "$dir/jacobi.openmpi" 200 >/dev/null
same srun
grep -h "msg=merged.*parts=4" "$site"/run-*/*.log >/dev/null || fail "srun: not in four parts"
taken

"$efg" run --time stats -o "$dir/alone.efg" -- mpiexec.mpich -n 6 "$dir/jacobi.mpich" 200 >/dev/null
printf '#!/bin/sh\nmpiexec.mpich -n 6 %s/jacobi.mpich 200\n' "$dir" >"$dir/job"
as_user sbatch -Q -W --efg=trace -N3 -n6 -o "$dir/home/out" "$dir/job" || fail "$(cat "$dir/home/out")"
same sbatch
"$efg" info "$run" | grep -q 'times: trace' || fail "sbatch: no times of each call"
taken

# Cancelled in a call: all that was recorded is stored.
as_user srun -Q --mpi=pmix --efg -N2 -n4 "$dir/stuck.openmpi" barrier >/dev/null 2>&1 &
until [ -n "$(squeue -h -t R)" ]; do sleep 0.2; done
sleep 3
scancel -u $user
wait $! || true
idle
run=$(job)
"$efg" reconstruct "$run" --verify | grep -q 'of 4 streams' || fail "scancel: $("$efg" info "$run")"
echo "scancel: 4 ranks"
taken

# Two steps of a job, on the same nodes at once.
printf '#!/bin/sh\nfor n in 100 200; do srun --exact --mpi=pmix -N2 -n2 %s/jacobi.openmpi $n & done\nwait\n' "$dir" >"$dir/job"
as_user sbatch -Q -W --efg -N2 -n4 -o "$dir/home/out" "$dir/job" || fail "$(cat "$dir/home/out")"
idle
runs=$("$efg" runs --store "$SLURM_RUNS/$user" | grep -c ' 2 .* complete .*jacobi.openmpi [12]00$') || true
[ "$runs" = 2 ] || fail "steps: $("$efg" runs --store "$SLURM_RUNS/$user")"
echo "steps at once: a run each"
taken

# The daemon of a node is killed while the job runs.
"$efg" run --time stats -o "$dir/alone.efg" -- mpiexec.openmpi --oversubscribe -n 6 "$dir/stuck.openmpi" slow 3 >/dev/null
as_user srun -Q --mpi=pmix --efg -N3 -n6 "$dir/stuck.openmpi" slow 3 >/dev/null &
on_n2() { ls "/proc/$(daemon_of n2)/root$1"; }
until on_n2 "/dev/shm/efg-$(id -u $user)" 2>/dev/null | grep -q '\.seg$'; do sleep 0.1; done
kill -9 "$(daemon_of n2)"
wait $! || fail "daemon killed: the job fails"
same "daemon killed"
taken

# Parts that the daemons leave to srun efg merge.
settings="$site/site/slurm/efg.conf"
sed -i "s/^options=.*/options='--http off --merge off'/" "$settings"
"$efg" run --time stats -o "$dir/alone.efg" -- mpiexec.openmpi --oversubscribe -n 8 "$dir/jacobi.openmpi" 200 >/dev/null
as_user srun -Q --mpi=pmix --efg -N4 -n8 "$dir/jacobi.openmpi" 200 >/dev/null
idle
"$efg" runs --store "$SLURM_RUNS/$user" | grep -q 'in parts, 8 of 8 ranks' || fail "parts: $("$efg" runs --store "$SLURM_RUNS/$user")"
EFG_STORE="$SLURM_RUNS/$user" as_user srun -Q -N4 "$site/efg" merge last || fail "srun efg merge"
[ "$(find "$SLURM_RUNS/$user" -name '*.efg' | wc -l)" = 1 ] || fail "srun efg merge: $(find "$SLURM_RUNS/$user")"
same "srun efg merge"
sed -i "s/^options=.*/options='--http off'/" "$settings"
taken

# Without --efg nothing is different, and what tasks have stays.
as_user srun -Q -N2 -n2 env >"$dir/env"
grep -q '^EFG_\|libefg' "$dir/env" && fail "a job without --efg: $(cat "$dir/env")"
libm=$(ls /usr/lib/*/libm.so.6)
as_user env LD_PRELOAD="$libm" srun -Q --efg=stats -N1 -n1 env >"$dir/env"
grep -qx "LD_PRELOAD=$libm:$site/lib/libefg.so" "$dir/env" && grep -qx EFG_TIME=stats "$dir/env" || fail "LD_PRELOAD: $(cat "$dir/env")"
as_user srun -Q --efg=fast -N1 true 2>"$dir/err" && fail "--efg=fast is taken"
grep -q -- '--efg=fast: want off, on, stats or trace' "$dir/err" || fail "$(cat "$dir/err")"
printf '#!/bin/sh\nsrun --efg true\nsrun --efg=off env\n' >"$dir/job"
as_user sbatch -Q -W -N1 -o "$dir/home/out" "$dir/job"
grep -q 'efg: n[1-4]: not recorded: no daemon' "$dir/home/out" || fail "no word of no daemon: $(cat "$dir/home/out")"
as_user sbatch -Q -W --efg -N1 -o "$dir/home/out" "$dir/job" || fail "$(cat "$dir/home/out")"
grep -q 'not recorded\|libefg' "$dir/home/out" && fail "--efg=off: $(cat "$dir/home/out")"
idle
[ -z "$(job)" ] || fail "runs of programs without MPI: $(job)"

for f in "$site"/run-*/*.jobs/* "$site"/run-*/*.pid; do
    [ ! -e "$f" ] || fail "stays: $f"
done
echo "nothing stays on the nodes"
