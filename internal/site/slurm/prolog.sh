#!/bin/sh
# prolog.sh: Slurm's Prolog, or called by it. Sees to it that what the job's user starts on this
# node is recorded: docs/slurm.md.
here=${0%/*}
. "$here/common.sh"

[ "$jobs" = all ] || [ -n "${SPANK_EFG:-}" ] || exit 0
lock "$start_wait"
: >"$jobs_here/$SLURM_JOB_ID.$node"
daemon_works || start_daemon || say "the job is not recorded"
exit 0
