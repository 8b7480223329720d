#!/bin/bash
# fuzz.sh TIME: runs every fuzz test for that long, one after another.
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:?usage: fuzz.sh TIME}
for package in $(go list ./...); do
    for target in $(go test -list '^Fuzz' "$package" | grep '^Fuzz' || true); do
        echo "$package $target"
        go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "$package"
    done
done
