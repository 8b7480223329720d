#!/bin/sh
# epilog.sh: Slurm's Epilog, or called by it. Waits until what the job has recorded on this node
# is stored, by another daemon if that of prolog.sh was killed, and ends the daemon with its
# user's last job: docs/slurm.md.
here=${0%/*}
. "$here/common.sh"

stop_daemon() {
    kill "$pid"
    tries=100
    while [ "$tries" -gt 0 ] && daemon_works; do
        sleep 0.1
        tries=$((tries - 1))
    done
    rm -f "$daemon_file"
}

recorded() { ls "$spool"/*.seg >/dev/null 2>&1; }

[ -f "$jobs_here/$SLURM_JOB_ID.$node" ] || exit 0
lock "$seal_wait"
daemon_works || ! recorded || start_daemon
flock -u 9
(as_user "$efg" runs --wait "${seal_wait}s" --last 1 --store "$folder") </dev/null >/dev/null 2>>"$log"
stored=$?
lock "$seal_wait"
rm -f "$jobs_here/$SLURM_JOB_ID.$node"
if [ -n "$(ls "$jobs_here")" ] || ! daemon_works; then
    exit 0
elif [ "$stored" = 0 ]; then
    stop_daemon
else
    say "the daemon goes on, to store what is not stored yet"
fi
exit 0
