#!/bin/sh
# slurm.sh SCRIPT: runs a script in a Slurm cluster of four nodes, all of them this
# machine, on the loopback interface, each with a name and a /dev/shm of its own. Jobs can be
# recorded with --efg, as docs/slurm.md has it; their runs are in $SLURM_RUNS/USER. Needs root,
# bin/efg and the packages slurm-wlm, munge and libslurm-dev. Stops what it started and
# leaves nothing behind.
set -eu

cd "$(dirname "$0")/.."
for tool in munged slurmctld slurmd srun; do
    PATH=$PATH:/usr/sbin command -v $tool >/dev/null || {
        echo "slurm.sh: no $tool; as root: apt-get install slurm-wlm munge libslurm-dev" >&2
        exit 1
    }
done
export PATH="$PATH:/usr/sbin"

dir=$(mktemp -d)
nodes="n1 n2 n3 n4"

# gone SECONDS PID...: all of these processes have ended within that time.
gone() {
    tries=$(($1 * 10))
    shift
    for pid; do
        while kill -0 "$pid" 2>/dev/null; do
            [ "$tries" -gt 0 ] || return 1
            tries=$((tries - 1))
            sleep 0.1
        done
    done
}

# on_nodes prints the processes that have a node's mounts: its slurmd, what that has started,
# and the daemons of epilogs that did not get to end them.
on_nodes() {
    for p in /proc/[0-9]*; do
        mounts=$(readlink "$p/ns/mnt" 2>/dev/null) && grep -qxsF "$mounts" "$dir"/*.mounts && echo "${p#/proc/}" || true
    done
}

# Jobs end first, and epilogs with them: a job is listed until its epilogs have ended.
stop() {
    trap '' HUP INT TERM
    if [ -f "$dir/slurmctld.pid" ]; then
        for job in $(timeout 10 squeue -h -o %A); do scancel "$job" || true; done
        for _ in $(seq 60); do
            [ -n "$(timeout 10 squeue -h)" ] || break
            sleep 0.5
        done
    fi
    ids=$(on_nodes; cat "$dir/slurmctld.pid" "$dir/munge.pid" 2>/dev/null || true)
    # shellcheck disable=SC2086 # a list of words
    [ -z "$ids" ] || { kill $ids 2>/dev/null || true; gone 10 $ids || kill -9 $ids 2>/dev/null || true; gone 10 $ids || true; }
    rm -rf "$dir"
}
trap stop EXIT
trap 'exit 1' HUP INT TERM
chmod 755 "$dir"
mkdir "$dir/state" "$dir/munge"

# Munge wants its directory and key to be its user's.
dd if=/dev/urandom of="$dir/munge/key" bs=1024 count=1 2>/dev/null
chown -R munge "$dir/munge"
chmod 700 "$dir/munge" && chmod 400 "$dir/munge/key"
chmod 711 "$dir/munge"
socket=$dir/munge/socket
su -s /bin/sh munge -c "munged --socket=$socket --key-file=$dir/munge/key --pid-file=$dir/munge/pid \
    --log-file=$dir/munge/log --seed-file=$dir/munge/seed"
cp "$dir/munge/pid" "$dir/munge.pid"

# The site's files, as docs/slurm.md has an administrator set them up.
cp bin/efg "$dir/efg"
"$dir/efg" site "$dir/site"
(cd "$dir/site/slurm" && gcc -O2 -fPIC -shared -o spank_efg.so spank_efg.c)
install -D -m 644 "$("$dir/efg" hook path)" "$dir/lib/libefg.so"
mkdir "$dir/cache"
XDG_CACHE_HOME="$dir/cache" "$dir/efg" hook build
echo "required $dir/site/slurm/spank_efg.so front=$dir/lib/libefg.so default=off" >"$dir/plugstack.conf"
export SLURM_RUNS="$dir/runs"
mkdir -m 1777 "$SLURM_RUNS"
cat >>"$dir/site/slurm/efg.conf" <<END
store=$SLURM_RUNS/%u
cache=$dir/cache
run=$dir/run-\$SLURMD_NODENAME
END

export SLURM_CONF="$dir/slurm.conf"
host=$(hostname -s)
cat >"$SLURM_CONF" <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$socket
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd-%n.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/slurmd-%n.log
SlurmdParameters=config_overrides
Prolog=$dir/site/slurm/prolog.sh
Epilog=$dir/site/slurm/epilog.sh
PlugStackConfig=$dir/plugstack.conf
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SlurmctldPort=16817
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
NodeName=n[1-4] NodeHostname=$host NodeAddr=127.0.0.1 Port=[17001-17004] CPUs=4 RealMemory=100
PartitionName=all Nodes=ALL Default=YES State=UP OverSubscribe=YES
END
echo "PMIxCliTmpDirBase=$dir/spool" >"$dir/mpi.conf"
slurmctld -i
echo '127.0.0.1 localhost n1 n2 n3 n4' "$host" >"$dir/hosts"
mkdir "$dir/spool"
for n in $nodes; do
    mkdir "$dir/spool-$n"
    unshare --mount --uts sh -c "readlink /proc/self/ns/mnt >$dir/$n.mounts; hostname $n; mount -t tmpfs -o mode=1777 tmpfs /dev/shm
        mount --bind $dir/spool-$n $dir/spool # nodes look for each other's under one name
        mount --bind $dir/hosts /etc/hosts
        exec slurmd -N $n"
done
for _ in $(seq 60); do
    [ "$(sinfo -h -t idle -o %D)" = 4 ] && break
    sleep 0.5
done
"$@"
