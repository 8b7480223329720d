#!/bin/sh
# slurm.sh SCRIPT: runs a script in a Slurm cluster of four nodes, all of them this
# machine, on the loopback interface. Needs root and the packages slurm-wlm and
# munge. Stops what it started and leaves nothing behind.
set -eu

for tool in munged slurmctld slurmd srun; do
    PATH=$PATH:/usr/sbin command -v $tool >/dev/null || {
        echo "slurm.sh: no $tool; as root: apt-get install slurm-wlm munge" >&2
        exit 1
    }
done
export PATH="$PATH:/usr/sbin"

dir=$(mktemp -d)
stop() {
    for pid in "$dir"/*.pid; do
        [ -f "$pid" ] && kill "$(cat "$pid")" 2>/dev/null || true
    done
    sleep 1
    rm -rf "$dir"
}
trap stop EXIT
chmod 755 "$dir"
mkdir "$dir/state" "$dir/munge"

# Munge wants its folder and key to be its user's.
dd if=/dev/urandom of="$dir/munge/key" bs=1024 count=1 2>/dev/null
chown -R munge "$dir/munge"
chmod 700 "$dir/munge" && chmod 400 "$dir/munge/key"
chmod 711 "$dir/munge"
socket=$dir/munge/socket
su -s /bin/sh munge -c "munged --socket=$socket --key-file=$dir/munge/key --pid-file=$dir/munge/pid \
    --log-file=$dir/munge/log --seed-file=$dir/munge/seed"
cp "$dir/munge/pid" "$dir/munge.pid"

export SLURM_CONF="$dir/slurm.conf"
host=$(hostname -s)
cat >"$SLURM_CONF" <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$socket
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool-%n
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd-%n.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/slurmd-%n.log
SlurmdParameters=config_overrides
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
slurmctld -i
for n in n1 n2 n3 n4; do
    mkdir "$dir/spool-$n"
    slurmd -N $n
done
for _ in $(seq 30); do
    [ "$(sinfo -h -t idle -o %D)" = 4 ] && break
    sleep 1
done
"$@"
