#!/bin/sh
# prolog.sh: Slurm's Prolog, or called by it. Sees to it that what the job's user starts on this
# node is recorded: docs/slurm.md.
here=${0%/*}
. "$here/common.sh"

start_daemon() {
    # shellcheck disable=SC2086 # a list of words
    (as_user setsid "$efg" daemon --store "$folder" $options) 9>&- </dev/null >>"$log" 2>&1 &
    pid=$!
    start=$(began "$pid")
    [ -z "$start" ] || echo "$pid $start" >"$daemon_file"
    tries=$((start_wait * 10))
    while [ "$tries" -gt 0 ] && [ ! -f "$spool/hook" ] && daemon_works; do
        sleep 0.1
        tries=$((tries - 1))
    done
    [ -f "$spool/hook" ] || say "no daemon after $start_wait seconds: the job is not recorded"
}

[ "$jobs" = all ] || [ -n "${SPANK_EFG:-}" ] || exit 0
lock "$start_wait"
: >"$jobs_here/$SLURM_JOB_ID.$node"
daemon_works || start_daemon
exit 0
