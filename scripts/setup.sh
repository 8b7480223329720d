#!/bin/bash
# setup.sh demo|test|web: makes sure that everything outside of the repository is
# there that `make demo` or `make test` needs. What is missing is installed with
# apt where that is possible without asking anybody: as root, or with a sudo that
# wants no password. Otherwise it says what to install and fails. Does nothing,
# and needs no network, if nothing is missing.
set -euo pipefail

# probe PACKAGE succeeds if what the package is for is there.
probe() {
    case $1 in
    gcc) have gcc && have cc ;;
    libc6-dev) header stdio.h gcc ;;
    binutils) have ld && have nm ;;
    g++) have g++ ;;
    gfortran) have gfortran ;;
    openmpi-bin) have mpiexec.openmpi && have mpicc.openmpi ;;
    libopenmpi-dev) header mpi.h mpicc.openmpi ;;
    mpich) have mpiexec.mpich && have mpicc.mpich ;;
    libmpich-dev) header mpi.h mpicc.mpich ;;
    python3-mpi4py) /usr/bin/python3 -c 'import mpi4py' ;;
    lammps) have lmp ;;
    hpcc) have hpcc ;;
    quantum-espresso) have pw.x ;;
    quantum-espresso-data) test -e /usr/share/doc/quantum-espresso/examples/atomic/pseudo-LDA-0.5/Si.pz-vbc.UPF.gz ;;
    scalapack-mpi-test) compgen -G '/usr/lib/*/scalapack/openmpi-tests/xdlu' ;;
    netpipe-mpich2) have NPmpich2 ;;
    zstd) have zstd ;;
    libunwind8) compgen -G "/usr/lib/*/libunwind.so.8" ;;
    chromium) have chromium ;;
    nodejs) have node ;;
    npm) have npm ;;
    libslurm-dev) header slurm/spank.h gcc ;;
    libsystemd-shared) compgen -G '/usr/lib/*/systemd/libsystemd-shared-*.so' ;;
    iproute2) have ip ;;
    python3-pandas) /usr/bin/python3 -c 'import pandas' ;;
    protobuf-compiler) have protoc ;;
    util-linux) have unshare && have nsenter && have setpriv ;;
    curl) have curl ;;
    otf2-tools) have otf2-print ;;
    libotf2-trace-dev) header otf2/otf2.h gcc ;;
    python3-otf2) /usr/bin/python3 -c 'import otf2' ;;
    libsimgrid-dev) have smpirun ;;
    pajeng) have pj_dump ;;
    *) echo "setup: no probe for package $1" >&2; exit 1 ;;
    esac >/dev/null 2>&1
}

have() { command -v "$1"; }

# header FILE COMPILER succeeds if the compiler finds the header.
header() { echo "#include <$1>" | "$2" -E -x c -; }

# missing PACKAGE... prints those that are not there.
missing() {
    local p
    for p; do
        probe "$p" || printf '%s ' "$p"
    done
}

# install_packages PACKAGE... fails if it may not or cannot.
install_packages() {
    local sudo=()
    have apt-get >/dev/null || return 1
    if [ "$(id -u)" -ne 0 ]; then
        have sudo >/dev/null && sudo -n true 2>/dev/null || return 1
        sudo=(sudo -n)
    fi
    echo "setup: installing $*"
    local apt=("${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300)
    # The lists of a fresh machine are empty, and old ones name packages that are
    # gone. The first attempt goes without an update: it is the quicker way.
    "${apt[@]}" install --no-install-recommends "$@" </dev/null >"$log" 2>&1 && return
    "${apt[@]}" update </dev/null >>"$log" 2>&1 || true
    "${apt[@]}" install --no-install-recommends "$@" </dev/null >>"$log" 2>&1 && return
    tail -n 20 "$log" >&2
    return 1
}

check_go() {
    local want
    want=$(sed -n 's/^go //p' go.mod)
    if ! have go >/dev/null; then
        echo "setup: Go is missing: install Go $want or newer, see https://go.dev/dl/" >&2
        return 1
    fi
    # An older Go that may not fetch a newer one fails here, and says why.
    go list -m >/dev/null
}

# install_modules NAME DIR puts the npm packages that DIR/package-lock.json names into a directory
# that tests look into: NAME and the lock's hash.
install_modules() {
    local sum dir new
    sum=$(sha256sum "$2/package-lock.json")
    dir=${XDG_CACHE_HOME:-$HOME/.cache}/efg/$1-${sum:0:12}
    [ ! -d "$dir/node_modules" ] || return 0
    echo "setup: installing the npm packages of $2"
    mkdir -p "${dir%/*}"
    new=$(mktemp -d "$dir.XXXXXX")
    cp "$2/package.json" "$2/package-lock.json" "$2/.npmrc" "$new"
    if ! npm --prefix "$new" ci --ignore-scripts >"$log" 2>&1; then
        tail -n 20 "$log" >&2
        rm -rf "$new"
        echo "setup: npm ci failed for $2/package-lock.json" >&2
        return 1
    fi
    # Someone else may have been quicker.
    mv -T "$new" "$dir" 2>/dev/null || rm -rf "$new"
}

# unpack_systemd unpacks systemd into a directory that the tests of units look into. To
# install it would change how the machine starts, and what is in its /tmp.
unpack_systemd() {
    local dir=${XDG_CACHE_HOME:-$HOME/.cache}/efg/systemd new
    { have systemd-analyze || [ -d "$dir" ]; } >/dev/null && return
    echo "setup: unpacking systemd"
    mkdir -p "${dir%/*}"
    new=$(mktemp -d "$dir.XXXXXX")
    if ! (cd "$new" && apt-get download systemd libsystemd-shared && for p in *.deb; do dpkg -x "$p" . && rm "$p"; done) >"$log" 2>&1; then
        tail -n 20 "$log" >&2
        rm -rf "$new"
        echo "setup: systemd-analyze is missing, and cannot be had by apt-get download systemd libsystemd-shared" >&2
        return 1
    fi
    # Someone else may have been quicker.
    mv -T "$new" "$dir" 2>/dev/null || rm -rf "$new"
}

cd "$(dirname "$0")/.."
demo=(gcc libc6-dev openmpi-bin libopenmpi-dev)
all=("${demo[@]}" binutils g++ gfortran mpich libmpich-dev python3-mpi4py
    lammps hpcc quantum-espresso quantum-espresso-data scalapack-mpi-test netpipe-mpich2 zstd chromium nodejs npm libslurm-dev libsystemd-shared
    iproute2 util-linux curl python3-pandas protobuf-compiler otf2-tools libotf2-trace-dev python3-otf2 libsimgrid-dev libunwind8 pajeng)
case ${1:-} in
demo) packages=("${demo[@]}") ;;
test) packages=("${all[@]}") ;;
web) packages=(nodejs npm) ;;
*) echo "usage: $0 demo|test|web" >&2; exit 2 ;;
esac

check_go
todo=$(missing "${packages[@]}")
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# shellcheck disable=SC2086 # a list of words
if [ -n "$todo" ] && ! install_packages $todo; then
    echo "setup: these Debian packages are missing and could not be installed: $todo" >&2
    echo "setup: as root, run: apt-get update && apt-get install $todo" >&2
    exit 1
fi
still=$(missing "${packages[@]}")
if [ -n "$still" ]; then
    echo "setup: installed, but not usable: $still" >&2
    exit 1
fi
[ "$1" = demo ] || install_modules web internal/web
[ "$1" != test ] || install_modules readers internal/testing/readers
[ "$1" != test ] || unpack_systemd
