# For prolog.sh and epilog.sh, which are root's, of the job's user on this node. What goes
# wrong is told in the file LOG; the scripts never fail: Slurm would take the node away.
set -u
umask 022
cd /
. "$here/efg.conf"
export PATH="$PATH:/usr/sbin:/sbin"

uid=$SLURM_JOB_UID
user=$(id -un "$uid") || exit 0
home=$(getent passwd "$uid" | cut -d: -f6)
node=${SLURMD_NODENAME:-$(hostname -s)}
log=$run/$uid.log           # LOG
jobs_here=$run/$uid.jobs    # has a file for each job with a daemon
daemon_file=$run/$uid.pid   # the daemon that was started: PID, and when that process began
spool=/dev/shm/efg-$uid
folder=$(printf '%s\n' "$store" | sed "s|%u|$user|g; s|%h|$home|g; s|%n|$node|g")

say() { echo "$(date +%FT%T) job $SLURM_JOB_ID: $*" >>"$log"; }

# as_user COMMAND... becomes the command, with the user's rights and none of root's.
as_user() {
    rights=
    [ "$uid" = 0 ] || rights='--bounding-set=-all --inh-caps=-all --no-new-privs'
    # shellcheck disable=SC2086 # a list of words
    exec setpriv --reuid="$uid" --regid="$(id -g "$uid")" --init-groups $rights \
        env -i PATH="$PATH" HOME="$home" USER="$user" LOGNAME="$user" ${cache:+XDG_CACHE_HOME="$cache"} "$@"
}

# began PID prints when a process began: numbers are used again.
began() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20; }

# The daemon that was started here works.
daemon_works() {
    [ -f "$daemon_file" ] && read -r pid start <"$daemon_file" && [ "$(began "$pid")" = "$start" ]
}

# sign is the daemon's sign for programs: another one when another daemon has put it there.
sign() { stat -c '%i %y' "$spool/hook" 2>/dev/null; }

# start_daemon starts the user's daemon, and waits until it records.
start_daemon() {
    before=$(sign)
    # shellcheck disable=SC2086 # a list of words
    (as_user setsid "$efg" daemon --store "$folder" $options) 9>&- </dev/null >>"$log" 2>&1 &
    pid=$!
    start=$(began "$pid")
    [ -z "$start" ] || echo "$pid $start" >"$daemon_file"
    tries=$((start_wait * 10))
    while [ "$tries" -gt 0 ] && daemon_works; do
        now=$(sign)
        [ -z "$now" ] || [ "$now" = "$before" ] || return 0
        sleep 0.1
        tries=$((tries - 1))
    done
    say "no daemon after $((start_wait - tries / 10)) seconds"
    return 1
}

# Only one script at a time deals with a user's daemon.
lock() {
    mkdir -p "$jobs_here"
    exec 9>"$run/$uid.lock"
    flock -w "$1" 9 || { say "another job's prolog or epilog does not end"; exit 0; }
}
