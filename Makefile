# make demo   shows what efg does
# make test   runs all tests
# make check  looks at form, static analysis, go.mod and generated files
# All install what they need, or say what to install.

FUZZTIME ?= 30s

.PHONY: all build demo test check man web generate bench fuzz soak slurm systemd clean

all: build

# A static binary: it runs on machines that have no Go.
build:
	CGO_ENABLED=0 go build -trimpath -o bin/efg ./cmd/efg

demo:
	@scripts/setup.sh demo
	@$(MAKE) --no-print-directory build
	@scripts/demo.sh

test:
	@scripts/setup.sh test
	@$(MAKE) --no-print-directory build
	@scripts/test.sh

# gofmt, go vet, staticcheck, go.mod, generated files.
check:
	@scripts/setup.sh test
	@scripts/check.sh

# Manual pages.
man: build
	bin/efg man bin/man1

# The page in internal/web/dist, which is committed: building efg needs no npm.
web:
	@scripts/setup.sh web
	go run ./internal/web/build

generate:
	go generate ./...

# What recording costs, and how fast reading is.
bench:
	@scripts/setup.sh test
	@$(MAKE) --no-print-directory build
	@go run ./bench

# Every fuzz test for FUZZTIME.
fuzz:
	@scripts/setup.sh test
	@scripts/fuzz.sh $(FUZZTIME)

# The same for long.
soak:
	@$(MAKE) --no-print-directory fuzz FUZZTIME=15m
	EFG_SOAK_SECONDS=60 go test -count 1 -timeout 1h -run TestOneClock -v ./internal/testing/testrun
	EFG_SOAK_PROGRAMS=300 go test -count 1 -timeout 2h -run TestRandomPrograms ./internal/generate
	EFG_SOAK_REPLAYS=100 go test -count 1 -timeout 5h -run 'TestRaces|TestThreads|TestKilled' ./internal/replay
	EFG_SOAK_ROUNDS=2000 go test -count 1 -timeout 1h -run TestDaemonKilled -v ./internal/daemon

# Under a real Slurm, as root: recording with --efg, and efg merge; see scripts/slurm.sh.
slurm: build
	@scripts/slurm-site.sh
	@scripts/slurm-merge.sh

# The units of efg site under a real systemd, in namespaces, as root; see scripts/systemd.sh.
systemd: build
	@scripts/systemd-site.sh
	@scripts/systemd-users.sh

clean:
	rm -rf bin
