#!/bin/sh
# systemd-site.sh: the units of efg site under a real systemd (systemd.sh), as docs/systemd.md
# has it: a daemon of a user that an administrator starts, one of a user's own, and one that a
# question starts; killed, stopped and hanging while programs run, which stay recorded; and
# what logging out removes.
set -eu
cd "$(dirname "$0")/.."
if [ -z "${INSIDE:-}" ]; then
    exec scripts/systemd.sh "$0"
fi
. scripts/systemd-lib.sh
main_process() { $INSIDE systemctl show -p MainPID --value "efg@$1"; }

programs
in_shell 'cd /opt && efg/efg site site && cp site/systemd/system/efg@.service /etc/systemd/system && systemctl daemon-reload'

# An administrator starts the daemon of alice; the service compiles the hook.
in_shell 'systemctl enable --now efg@alice' || fail "does not start"
in_shell 'systemctl show -p StatusText efg@alice' | grep -q /dev/shm/efg-4001 || fail "no status"
store='export EFG_STORE=/var/lib/efg/$USER;'
as alice 'XDG_CACHE_HOME=/var/cache/efg/alice efg hook path' >/dev/null || fail "no hook"    # waits for it
in_shell 'mkdir -p /users/alice/.cache && cp -r /var/cache/efg/alice/efg /users/alice/.cache && chown -R alice: /users/alice/.cache'
as alice 'LD_PRELOAD=$(efg hook path) mpiexec.mpich -n 2 jacobi.mpich 20' | grep -q ok || fail "jacobi"
stored alice 1
as bob 'ls /var/lib/efg/alice' 2>/dev/null && fail "others can read alice's runs"
echo "efg@alice: recorded"

# Killed while a program runs: started again, and the run is whole.
slow() { as "$1" 'LD_PRELOAD=$(efg hook path) mpiexec.mpich -n 2 stuck.mpich slow 4'; }
slow alice &
job=$!
until_true 60 as alice 'ls /dev/shm/efg-4001/*.seg >/dev/null 2>&1' || fail "no segments"
before=$(main_process alice)
$INSIDE kill -9 "$before"
wait $job || fail "the program fails"
until_true 60 in_shell 'systemctl is-active -q efg@alice' || fail "not started again"
[ "$(main_process alice)" != "$before" ] || fail "the same process"
stored alice 2
echo "efg@alice, killed: started again, nothing lost"

# Hanging: the watchdog starts another.
in_shell 'mkdir -p /etc/systemd/system/efg@.service.d && printf "[Service]\nWatchdogSec=2\n" >/etc/systemd/system/efg@.service.d/watch.conf && systemctl daemon-reload && systemctl restart efg@alice'
before=$(main_process alice)
$INSIDE kill -STOP "$before"
another() { now=$(main_process alice) && [ "$now" != 0 ] && [ "$now" != "$before" ] && in_shell 'systemctl is-active -q efg@alice'; }
until_true 90 another || fail "the watchdog does nothing"
in_shell 'rm -r /etc/systemd/system/efg@.service.d && systemctl daemon-reload'
echo "efg@alice, hanging: started again"

# Stopped: nothing is recorded any more, and nothing is said.
in_shell 'systemctl stop efg@alice'
[ -z "$(as alice 'LD_PRELOAD=$(efg hook path) mpiexec.mpich -n 2 jacobi.mpich 20' 2>&1 | grep -v ': ok ')" ] || fail "says something without a daemon"
stored alice 2
echo "efg@alice, stopped: not recorded"

# Another place for runs, as an addition to the unit.
in_shell 'mkdir -m 1777 -p /scratch/efg /etc/systemd/system/efg@.service.d
printf "[Service]\nReadWritePaths=/scratch/efg\nExecStart=\nExecStart=/opt/efg/efg daemon --store /scratch/efg/%%i --keep 30d --http off\n" >/etc/systemd/system/efg@.service.d/override.conf
systemctl daemon-reload && systemctl start efg@alice' || fail "with an addition"
as alice 'LD_PRELOAD=$(efg hook path) mpiexec.mpich -n 2 jacobi.mpich 20' >/dev/null
store='export EFG_STORE=/scratch/efg/$USER;'
stored alice 1
in_shell 'systemctl disable --now efg@alice' 2>/dev/null
echo "efg@alice, with an addition: runs are where it says"

# A user's own.
store=
in_shell 'mkdir -p /users/bob/.cache && cp -r /var/cache/efg/alice/efg /users/bob/.cache && chown -R bob: /users/bob/.cache && loginctl enable-linger bob'
until_true 60 as bob 'systemctl --user is-system-running -q' || fail "no user manager"
as bob 'mkdir -p ~/.config/systemd/user
cp /opt/site/systemd/user/* ~/.config/systemd/user
systemctl --user daemon-reload
systemctl --user enable --now efg.service' 2>/dev/null || fail "bob's own does not start"
as bob 'LD_PRELOAD=$(efg hook path) mpiexec.mpich -n 2 jacobi.mpich 20' >/dev/null
stored bob 1
slow bob &
job=$!
until_true 60 as bob 'ls /dev/shm/efg-4002/*.seg >/dev/null 2>&1' || fail "no segments of bob's"
as bob 'systemctl --user kill -s KILL efg.service'
wait $job || fail "bob's program fails"
until_true 60 as bob 'systemctl --user is-active -q efg.service' || fail "bob's own is not started again"
stored bob 2
echo "bob's own, killed: started again, nothing lost"
as bob 'systemctl --user stop efg.service efg.socket && systemctl --user start efg.socket'
as bob 'systemctl --user is-active -q efg.service' && fail "bob's own is not stopped"
as bob 'curl -s -m 120 --unix-socket $XDG_RUNTIME_DIR/efg.sock http://efg/v1/runs' | grep -q '"total": *2' || fail "no answer at the socket"
as bob 'systemctl --user is-active -q efg.service' || fail "the question has not started it"
echo "bob's own: started by a question"

# Logging out removes the spool, but not that of who lingers, or with RemoveIPC=no.
logged_in() { $INSIDE su - "$1" -c 'mkdir -p /dev/shm/efg-$(id -u) && loginctl show-user $USER -p State --value'; }
gone() { in_shell "! test -e /dev/shm/efg-$($INSIDE id -u "$1")"; }
logged_out() { in_shell "! loginctl show-user $1 >/dev/null 2>&1"; }
logged_in alice >/dev/null || fail "no session"
until_true 60 gone alice || fail "the spool is there after logging out"
logged_in bob >/dev/null
in_shell 'mkdir -p /etc/systemd/logind.conf.d && printf "[Login]\nRemoveIPC=no\n" >/etc/systemd/logind.conf.d/efg.conf && systemctl restart systemd-logind'
logged_in alice >/dev/null
until_true 60 logged_out alice || fail "alice stays"
gone alice && fail "the spool is removed with RemoveIPC=no"
gone bob && fail "the spool of bob, who lingers, is removed"
echo "logging out: the spool is removed, unless RemoveIPC=no or the user lingers"
