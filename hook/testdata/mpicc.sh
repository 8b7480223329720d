#!/bin/sh
# A stand-in for an MPI compiler wrapper: compiles nothing, links a library that
# needs $0's libmpi, notes its work in $0.log, and in $0.asked that it was asked what it is, and fails with the
# text of $0.broken, compiling with that of $0.failing, if that is there. It goes on for as long as $0.hangs is there.
case $1 in
-show)
    : >"$0.asked"
    echo "cc -I$0.include -lmpi"
    exit;;
esac
while [ $# -gt 0 ]; do
    case $1 in
    -c) echo compile >>"$0.log"; compile=1;;
    -o) out=$2; shift;;
    esac
    shift
done
while [ -e "$0.hangs" ]; do sleep 0.05; done
if [ -e "$0.broken" ]; then
    cat "$0.broken" >&2
    exit 1
fi
if [ "$compile" ]; then
    if [ -e "$0.failing" ]; then
        cat "$0.failing" >&2
        exit 1
    fi
    : >"$out"
else
    cc -shared -o "$out" -Wl,--no-as-needed "$0.library"
fi
