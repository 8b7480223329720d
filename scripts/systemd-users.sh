#!/bin/sh
# systemd-users.sh: the service for all users under a real systemd (systemd.sh), as docs/systemd.md
# has it: users who record at once and see their own runs only, the service killed while programs
# run, and started by a question.
set -eu
cd "$(dirname "$0")/.."
if [ -z "${INSIDE:-}" ]; then
    exec scripts/systemd.sh "$0"
fi
. scripts/systemd-lib.sh
programs
main_process() { in_shell 'systemctl show -p MainPID --value efg'; }
# ask USER PATH: the service's answer.
ask() { as "$1" "curl -s -m 120 --unix-socket /run/efg/http http://efg$2"; }

in_shell 'cd /opt && efg/efg site site && cp site/systemd/system/efg.service site/systemd/system/efg.socket /etc/systemd/system &&
systemctl daemon-reload && systemctl enable --now efg.socket efg.service' 2>/dev/null || fail "does not start"
in_shell 'install -m 644 $(XDG_CACHE_HOME=/var/cache /opt/efg/efg hook path) /opt/efg/libefg.so' || fail "no hook"

# Two users at once, each with another MPI.
jacobi() { as "$1" "LD_PRELOAD=/opt/efg/libefg.so mpiexec.$2 -n 2 jacobi.$2 20" | grep -q ': ok '; }
jacobi alice mpich &
job=$!
jacobi bob openmpi || fail "bob's program"
wait $job || fail "alice's program"
stored alice 1
stored bob 1
as bob 'ls /var/lib/efg/alice' 2>/dev/null && fail "others can read alice's runs"
ask bob /users/alice/v1/runs | grep -q "another user" || fail "bob is told of alice's runs: $(ask bob /users/alice/v1/runs)"
run=$(ask bob /v1/runs | sed -n 's/.*"name": *"\([^"]*\)".*/\1/p' | head -n 1)
ask bob "/v1/runs/$run/report" | grep -q MPI_Isend || fail "no report of $run"
$INSIDE curl -s -m 120 --unix-socket /run/efg/http http://efg/users | grep -q '"alice".*"bob"' || fail "root does not see both"
echo "efg.service: two users recorded, and kept apart"

# Killed while programs run: started again, and the runs are whole.
slow() { as "$1" "LD_PRELOAD=/opt/efg/libefg.so mpiexec.$2 -n 2 stuck.$2 slow 4"; }
slow alice openmpi >/dev/null &
one=$!
slow bob mpich >/dev/null &
two=$!
until_true 60 in_shell 'ls /dev/shm/efg-4001/*.seg /dev/shm/efg-4002/*.seg >/dev/null 2>&1' || fail "no segments"
before=$(main_process)
$INSIDE kill -9 "$before"
wait $one || fail "alice's program fails"
wait $two || fail "bob's program fails"
until_true 60 in_shell 'systemctl is-active -q efg' || fail "not started again"
[ "$(main_process)" != "$before" ] || fail "the same process"
stored alice 2
stored bob 2
echo "efg.service, killed: started again, nothing lost"

# Stopped: a question starts it.
in_shell 'systemctl stop efg' 2>/dev/null
ask alice /v1/runs | grep -q '"total": *2' || fail "no answer at the socket"
in_shell 'systemctl is-active -q efg' || fail "the question has not started it"
echo "efg.service: started by a question"
