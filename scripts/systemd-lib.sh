# systemd-lib.sh: what the scripts beside a systemd (systemd.sh) use.
fail() {
    echo "${0##*/}: $*" >&2
    $INSIDE journalctl --no-pager -q -n 40 >&2
    exit 1
}
in_shell() { $INSIDE sh -euc "$1"; }
# as USER COMMAND: a command line of a user's, with the environment of a login.
as() {
    $INSIDE setpriv --reuid="$1" --regid="$1" --init-groups env HOME="/users/$1" USER="$1" LOGNAME="$1" PATH="/opt/efg:/usr/bin:/bin" \
        XDG_RUNTIME_DIR="/run/user/$($INSIDE id -u "$1")" sh -euc "cd; $2"
}
# until_true SECONDS COMMAND...
until_true() {
    tries=$(($1 * 5))
    shift
    until "$@"; do
        [ "$tries" -gt 0 ] || return 1
        tries=$((tries - 1))
        sleep 0.2
    done
}
# stored USER RUNS: so many whole runs, and nothing else, are in the store of a user.
stored() {
    out=$(as "$1" "${store:-} efg runs --wait 60s") || fail "$out"
    [ "$(echo "$out" | grep -c ' complete ')" = "$2" ] && [ "$(echo "$out" | grep -c '^2')" = "$2" ] || fail "want $2 runs of $1: $out"
}
# programs compiles test programs, to /opt/efg.
programs() {
    tools=$(mktemp -d)
    trap 'rm -rf "$tools"' EXIT
    for program in jacobi stuck; do
        for mpi in mpich openmpi; do
            mpicc.$mpi -g -w -o "$tools/$program.$mpi" testdata/c/$program.c -lm
            $INSIDE sh -c "cat >/opt/efg/$program.$mpi && chmod 755 /opt/efg/$program.$mpi" <"$tools/$program.$mpi"
        done
    done
}
