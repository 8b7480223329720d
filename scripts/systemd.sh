#!/bin/sh
# systemd.sh SCRIPT...: runs a script beside a systemd that is booted on a root directory of its
# own, in namespaces: with the machine's /usr, which it cannot change, and nothing else of
# the machine. The script has $INSIDE, which runs a command there, as root: $INSIDE COMMAND...,
# bin/efg as /opt/efg/efg, and users alice and bob. Needs root, bin/efg and the packages
# systemd, libpam-systemd and dbus. Stops what it started and leaves nothing behind.
set -eu

# boot ROOT is process 1 of the namespaces, and becomes systemd.
boot() {
    root=$1
    hostname systemd-test
    ip link set lo up
    mount --bind "$root" "$root"
    mount --bind /usr "$root/usr"
    mount -o remount,bind,ro "$root/usr"
    # It empties /tmp at times; there is nothing for it to do here.
    mount --bind "$root/usr/bin/true" "$root/usr/bin/systemd-tmpfiles"
    mount -t proc proc "$root/proc"
    mount --bind "$root/proc/sys" "$root/proc/sys"
    mount -o remount,bind,ro "$root/proc/sys"
    mount -t sysfs -o ro sysfs "$root/sys"
    mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
    for dir in tmp run; do mount -t tmpfs -o mode=1777 tmpfs "$root/$dir"; done
    chmod 755 "$root/run"
    mount -t tmpfs -o mode=755 tmpfs "$root/dev"
    mkdir "$root/dev/shm" "$root/dev/pts"
    mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
    mount -t devpts -o newinstance,ptmxmode=666 devpts "$root/dev/pts"
    mknod -m 666 "$root/dev/null" c 1 3
    mknod -m 666 "$root/dev/zero" c 1 5
    mknod -m 666 "$root/dev/full" c 1 7
    mknod -m 666 "$root/dev/random" c 1 8
    mknod -m 666 "$root/dev/urandom" c 1 9
    mknod -m 666 "$root/dev/tty" c 5 0
    ln -s pts/ptmx "$root/dev/ptmx"
    ln -s /proc/self/fd "$root/dev/fd"
    cd "$root"
    pivot_root . old
    # Nothing of the machine may be where systemd removes things.
    for dir in /tmp /run /dev/shm /; do
        { mountpoint -q $dir && [ ! $dir -ef "/old$dir" ] && [ -e /of-systemd.sh ]; } ||
            { echo "systemd.sh: $dir is not that of the namespace" >&2; exit 1; }
    done
    umount -l /old
    exec env -i PATH="$PATH" container=systemd-test /lib/systemd/systemd --system --unit=multi-user.target </dev/null >/dev/null 2>&1
}

# directories makes the root directory.
folders() {
    for dir in dev etc/systemd/system old opt/efg proc root run sys tmp usr var/lib/systemd users/alice users/bob; do
        mkdir -p "$root/$dir"
    done
    for dir in bin lib lib64 sbin; do ln -s "usr/$dir" "$root/$dir"; done
    cp -a /etc/alternatives /etc/dbus-1 /etc/ld.so.cache /etc/ld.so.conf /etc/ld.so.conf.d /etc/pam.d /etc/security \
        /etc/nsswitch.conf /etc/login.defs /etc/environment "$root/etc"
    for file in /etc/openmpi /etc/mpich /etc/pmix /etc/ucx /etc/ssl /etc/default; do
        [ ! -e $file ] || cp -a $file "$root/etc"
    done
    cp /etc/passwd /etc/group "$root/etc"
    printf 'alice:x:4001:4001::/users/alice:/bin/sh\nbob:x:4002:4002::/users/bob:/bin/sh\n' >>"$root/etc/passwd"
    printf 'alice:x:4001:\nbob:x:4002:\n' >>"$root/etc/group"
    cut -d: -f1 "$root/etc/passwd" | sed 's/$/:*:19000::::::/' >"$root/etc/shadow"
    chmod 600 "$root/etc/shadow"
    chown 4001:4001 "$root/users/alice"
    chown 4002:4002 "$root/users/bob"
    echo 127.0.0.1 localhost systemd-test >"$root/etc/hosts"
    echo 0123456789abcdef0123456789abcdef >"$root/etc/machine-id"
    : >"$root/of-systemd.sh"
    cp bin/efg "$root/opt/efg/efg"
    # What of a machine's boot there is nothing to do for.
    for unit in /lib/systemd/system/sysinit.target.wants/* /lib/systemd/system/timers.target.wants/* /lib/systemd/system/multi-user.target.wants/getty.target; do
        case $unit in
        */systemd-journald.service) ;;
        *) ln -sf /dev/null "$root/etc/systemd/system/${unit##*/}" ;;
        esac
    done
}

# stop ends all processes: they are in one namespace, with one process 1.
stop() {
    trap '' HUP INT TERM
    [ -z "${keeper:-}" ] || kill -9 "$keeper" 2>/dev/null || true
    for _ in $(seq 100); do
        find "$group" -name cgroup.procs -exec grep -q . {} + || break
        sleep 0.1
    done
    find "$group" -depth -type d -exec rmdir {} + 2>/dev/null || true
    rm -rf "$root"
}

if [ "${1:-}" = boot ]; then
    boot "$2"
fi
cd "$(dirname "$0")/.."
for tool in /lib/systemd/systemd dbus-daemon unshare nsenter pivot_root ip; do
    PATH=$PATH:/usr/sbin:/sbin command -v $tool >/dev/null || {
        echo "systemd.sh: no $tool; as root: apt-get install systemd libpam-systemd dbus util-linux iproute2" >&2
        exit 1
    }
done
export PATH="$PATH:/usr/sbin:/sbin"
root=$(mktemp -d)
groups=$(findmnt -n -t cgroup2 -o TARGET | head -n 1)
group=$groups/efg-systemd-$$
trap stop EXIT
trap 'exit 1' HUP INT TERM
chmod 755 "$root"
mkdir "$group"
folders
sh -c 'echo $$ >"$1/cgroup.procs" && exec unshare --mount --propagation private --uts --ipc --net --cgroup --pid --fork --kill-child sh "$2" boot "$3"' \
    sh "$group" "scripts/${0##*/}" "$root" &
keeper=$!
first=
for _ in $(seq 100); do
    first=$(ps -o pid= --ppid "$keeper" | tr -d ' ')
    [ -n "$first" ] && [ "$(cat "/proc/$first/comm")" = systemd ] && break
    sleep 0.1
done
export INSIDE="nsenter -t $first -m -u -i -n -p -C -r -w env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin"
for _ in $(seq 600); do
    case $($INSIDE systemctl is-system-running 2>/dev/null) in
    running | degraded) break ;;
    esac
    kill -0 "$keeper" || exit 1
    sleep 0.1
done
"$@"
