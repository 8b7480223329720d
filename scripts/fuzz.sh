#!/bin/bash
# fuzz.sh TIME: runs every fuzz test for that long, one after another. Inputs are minimized only briefly: which code
# an execution reaches also depends on goroutines, so that minimizing one would take the time of thousands of others.
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:?usage: fuzz.sh TIME}
for package in $(go list ./...); do
    for target in $(go test -list '^Fuzz' "$package" | grep '^Fuzz' || true); do
        echo "$package $target"
        go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 10x "$package"
    done
done
