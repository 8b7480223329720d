#!/bin/bash
# What needs no run: form, vet, static analysis, modules, generated files.
set -euo pipefail
cd "$(dirname "$0")/.."
staticcheck=honnef.co/go/tools/cmd/staticcheck@v0.8.2
status=0

unformatted=$(gofmt -l .)
if [ -n "$unformatted" ]; then
    echo "not formatted by gofmt:" "$unformatted" >&2
    status=1
fi
go vet ./... || status=1
go run "$staticcheck" ./... || status=1
go mod verify >/dev/null || status=1
go mod tidy -diff || status=1
go test -run 'Generated|Fresh|Files|Imports' ./hook/internal/... ./internal/segment ./internal/structure || status=1
exit $status
