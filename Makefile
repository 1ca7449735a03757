# Needs Go and make; `make deps` gets everything else, and `make test` begins
# with it.

VERSION   ?= $(shell git describe --tags --always --dirty 2>/dev/null)
FUZZTIME  ?= 10s
BENCHTIME ?= 2s
TIMEOUT   ?= 15m
MINUTES   ?= 10
STORMS    ?= 1000
# The version is stamped by name; reading it from git besides fails a build as
# root in somebody else's checkout, which is what many CI machines have.
export GOFLAGS := $(GOFLAGS) -buildvcs=false
# As redlockd is released, so that all builds share what they compile. The race
# detector needs 1.
export CGO_ENABLED := 0
# A program with the race detector sleeps for a second before it exits, and the
# tests start and stop hundreds.
export GORACE := atexit_sleep_ms=20 $(GORACE)
# The lock clients that make test runs, of those that are installed, and the
# time after which it starts no more.
CLIENTS   ?= .
MOST      ?= 45s
# Releases are compiled by it. It is no default.pgo, for which tests and linters would compile all
# packages once more.
PROFILE = packaging/release/redlockd.pgo
MAKEFLAGS += --no-print-directory
# make test REDIS_SERVER=/opt/valkey/bin/valkey-server has that server for the
# masters: a name on the PATH, or a whole path. Replies are compared with the
# redis-server on the PATH all the same.

.PHONY: help test deps lint build bench pgo gobench fuzz clients mutants soak storms shows release browser packages containers hostile front suites clean

help: ## show this
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' Makefile

# The race detector makes the tests in virtual time five times slower, so quorum has it
# for the storms only, and it finds nothing in what is pure; what integration/ starts is
# built with it. Most tests there wait, so more of them run at a time than there are
# processors. -short leaves out the rounds that make shows has. -vet=off, because lint has
# had all of vet. -count=1, because go does not see that integration/ tests a binary built
# from the other packages, and would repeat an old result.
test: ## get what is missing, then lint and run every test
	@.ci/step 1/5 "what the tests need" $(MAKE) deps
	@.ci/step 2/5 "gofmt, vet, staticcheck: 10 s, the first time 3 min" $(MAKE) lint
	@.ci/step 3/5 "tests in virtual time and of what is pure: 1 min" $(MAKE) plain
	@.ci/step 4/5 "all others, with the race detector: 3 min" $(MAKE) raced
	@.ci/step 5/5 "lock clients on one Redis and on redlockd: 1 min" $(MAKE) served

TESTS = -short -vet=off -count=1 -timeout $(TIMEOUT)
PLAIN = ./quorum ./quorum/storms ./integration/mutants ./proxy ./commands/... ./packaging/...
.PHONY: plain raced served
plain:
	@go test $(TESTS) $(PLAIN)

raced:
	@. ./.deps/env && CGO_ENABLED=1 go test -race -p 3 -parallel 4 $(TESTS) ./integration ./integration/faults $$(go list ./... | grep -v -e /quorum$$ -e /storms$$ -e /mutants$$ -e /commands/ -e /packaging/)
	@CGO_ENABLED=1 go test -race $(TESTS) -run '^TestStorm$$' ./quorum/storms -args -storms 8
	@CGO_ENABLED=1 go test -race $(TESTS) ./proxy -args -park 0s # every test with sessions that are parked at once

served:
	@. ./.deps/env && go run ./integration/clients/runner -brief -jobs 3 -most $(MOST) -only '$(CLIENTS)'

deps: ## get redis-server, redis-cli, a C compiler and redis-py if missing
	@.ci/deps

# With -race, so that what they compile is what the tests need, too.
lint: deps ## gofmt, go vet, staticcheck
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "gofmt needed: $$unformatted"; exit 1; }
	@CGO_ENABLED=1 go vet -race ./...
	@staticcheck=$$(go tool -n staticcheck) && CGO_ENABLED=1 GOFLAGS="$(GOFLAGS) -race" $$staticcheck ./...

build: ## bin/redlockd
	@go build -trimpath -pgo=$(PROFILE) -ldflags "-X main.version=$(VERSION)" -o bin/redlockd .

bench: deps ## redlockd beside redsync and one Redis: tables and charts; BENCH='-only a' for less
	@. ./.deps/env && cd integration/bench && go vet . && go test -count=1 . # a module of its own
	@go build -C integration/bench -o $(CURDIR)/bin/compare . && bin/compare -root . -out bin/bench $(BENCH)

pgo: deps ## take the profile anew by which the compiler makes releases faster: 2 min
	@go build -C integration/bench -o $(CURDIR)/bin/compare .
	@. ./.deps/env && bin/compare -root . -profile $(PROFILE) -seconds 10

gobench: deps ## Go's own benchmarks of all packages
	@. ./.deps/env && go test -run '^$$' -bench . -benchtime $(BENCHTIME) -timeout $(TIMEOUT) ./...

fuzz: deps ## every fuzz target for FUZZTIME, then 20,000 scripts on Redis and redlockd
	@. ./.deps/env && FUZZTIME=$(FUZZTIME) .ci/fuzz
	@. ./.deps/env && go test ./integration -count=1 -run '^TestC7ScriptsAsOnRedis$$' -timeout $(TIMEOUT) -v -args -scripts 20000

clients: deps ## every lock client against one Redis and redlockd; writes docs/clients.md
	@. ./.deps/env && go run ./integration/clients/runner -install -report docs/clients.md

mutants: ## take each rule out of the code, one at a time, and expect a red test
	@go run ./integration/mutants

.PHONY: model
model: ## look for a second holder or a dishonest reply in docs/model, with the rules and without each
	@.ci/deps model
	@go run ./docs/model

soak: deps ## faults for MINUTES, looking for two holders; SEED=n repeats the draws, SCHEDULE=file a run's faults
	@. ./.deps/env && MINUTES=$(MINUTES) SEED=$(SEED) SCHEDULE=$(abspath $(SCHEDULE)) go test -count=1 -v -timeout 0 -run TestFaults ./integration/faults

storms: ## STORMS random storms in virtual time from SEED on; MUTANT='name + name' takes out these rules of integration/mutants
	@STORMS=$(STORMS) SEED=$(SEED) MUTANT="$(MUTANT)" .ci/storms

release: ## dist/: archives for Linux and macOS, and their checksums
	@go run ./packaging/release -version "$(VERSION)" -out dist

# CHROMIUM names another browser of that kind; SHOTS=folder keeps pictures.
browser: build ## the status page in a real Chromium, which is installed if missing
	@.ci/deps browser
	@. ./.deps/env && cd integration/browser && go vet ./... && \
		REDLOCKD_BINARY=$(CURDIR)/bin/redlockd go test -count=1 -timeout $(TIMEOUT) ./...

packages: deps ## check what packaging/ has, as far as it goes without Docker and Kubernetes
	@go test -count=1 -run TestEverythingGoesWithMIT ./packaging/licences -args -sources ../check
	@. ./.deps/env && cd packaging/check && go vet ./... && go test -count=1 -v -timeout $(TIMEOUT) ./...
	@echo "Not checked: that the image builds and starts (make containers), that the images it names exist,"
	@echo "and that a cluster admits the manifests. Lines with SKIP say what else was not."

containers: ## build the image, run it and the compose file with buildah and podman; Debian or Ubuntu, as root or with sudo
	@.ci/deps containers
	@cd packaging/check && go vet ./... && PATH="$(CURDIR)/.deps/podman-compose/bin:$$PATH" \
		go test -count=1 -v -timeout 1h -run '^TestContainers$$' -exec $(CURDIR)/.ci/apart . -args -containers

shows: deps ## what make test shortens, in full: contests, handovers, freezes, restarts, changes of masters, votes under -race; SEED=n repeats
	@. ./.deps/env && ROUNDS=10000 FREEZES=1000 MOVING=60 RESTARTS=10 SEED=$(SEED) go test -count=1 -v -timeout 0 -run 'TestLockOutlives|TestOneWinner|TestRedlockdFrozen|TestMovingIn|TestReplaceAll|TestMajorityOfDisks' ./integration/faults
	@. ./.deps/env && HANDOVERS=10000 go test -count=1 -v -timeout 0 -run TestS7Handovers ./integration
	@. ./.deps/env && CGO_ENABLED=1 go test -race -count=1 -timeout 0 ./quorum ./quorum/storms ./proxy ./integration

# FRONT_DOTNET names a program with StackExchange.Redis: integration/front/doc.go.
front: deps ## each client behind HAProxy and Envoy while its redlockd fails; writes docs/high-availability.md; Linux, half an hour; needs Node, Java and Maven
	@.ci/deps front
	@go run ./integration/clients/runner -install -prepare -only '^(Go|Python|Node|Java)/'
	@. ./.deps/env && FRONT_ENVOY=$${FRONT_ENVOY:-$(CURDIR)/.deps/envoy/bin/envoy} go test -count=1 -v -timeout 0 ./integration/front -args -rounds 3 -report $(CURDIR)/docs/high-availability.md
	@echo "Not run: a Service of Kubernetes. Lines with SKIP say what else was not."

suites: deps build ## the lock libraries' own tests on one Redis and on redlockd; writes docs/suites.md; Linux, an hour; needs Node, Java, Maven, Rust and Debian
	@. ./.deps/env && integration/suites/run.py -report docs/suites.md

hostile: deps ## 10,000 connections for a minute, half of them hostile; needs ulimit -n 20000
	@. ./.deps/env && go test -count=1 -v -timeout $(TIMEOUT) ./integration/hostile -args -clients 10000 -lasting 60s -rate 300 -slower 2

clean: ## remove what was built, and the tools that make deps put here
	@rm -rf bin dist .deps
