# What a person types. Everything a target needs it installs or builds itself.

SEEDS ?= 20000
KILLS ?= 500
CUTS ?= 100
MINUTES ?= 2
SECONDS_OF_PLAY ?= 60
RESOURCES ?= 10000
CONNECTIONS ?= 10000
HOURS ?= 24
SEQUENCES ?= 2000
SWIFT_BUILD = scripts/build --traits Server
SIMULATE = REPRISE_CORE=1 scripts/build --build-tests -c release -Xswiftc -enable-testing --scratch-path .build-simulate
MISTAKES ?=
TARGETS ?=
BENCH = $(if $(QUICK),--quick) $(if $(ROWS),--rows '$(ROWS)')
PREFIX ?= /usr/local

.PHONY: run build install test quick check apple-check format simulate streams mistakes fuzz kill powercut soak live connections differential clients memory bench instructions instructions-accept demo clean tools

run: build  ## Serve the sample library on 127.0.0.1:8787.
	.build/release/reprise serve --port 8787 --sample

install: build  ## The program, its man page and its shells' completions, under PREFIX.
	install -d $(PREFIX)/bin $(PREFIX)/share/man/man1 $(PREFIX)/share/bash-completion/completions \
		$(PREFIX)/share/zsh/site-functions $(PREFIX)/share/fish/vendor_completions.d
	install -m 755 .build/release/reprise $(PREFIX)/bin/reprise
	scripts/man .build/release/reprise >$(PREFIX)/share/man/man1/reprise.1
	.build/release/reprise --generate-completion-script bash >$(PREFIX)/share/bash-completion/completions/reprise
	.build/release/reprise --generate-completion-script zsh >$(PREFIX)/share/zsh/site-functions/_reprise
	.build/release/reprise --generate-completion-script fish >$(PREFIX)/share/fish/vendor_completions.d/reprise.fish

demo: build  ## Show what the cache does: no network, no player.
	.build/release/reprise demo

build:  ## The release binary, .build/release/reprise.
	$(SWIFT_BUILD) -c release --product reprise

test: tools  ## Every test; installs the players and servers they drive.
	scripts/test

quick:  ## A change to floors 0 to 3: their tests, the seeds that failed once and 500 that were never run.
	REPRISE_CORE=1 scripts/build --build-tests --scratch-path .build-core
	REPRISE_FIRST=$${REPRISE_FIRST:-$$(date +%s)} REPRISE_SEEDS=100 REPRISE_WORLD_SEEDS=500 scripts/run-tests .build-core/debug

tools:
	scripts/install-tools

check:  ## What CI checks besides the tests: each can be run alone from scripts/checks.
	scripts/check

apple-check:  ## Type-check what an Apple build compiles, without a Mac: docs/apple-check.md.
	scripts/checks/apple

format:  ## Put the sources into the house's format.
	swift format --in-place --recursive --parallel Sources Tests Benchmarks/Sources Package.swift

simulate:  ## Run SEEDS seeds of the simulation, or replay REPRISE_SEED=n of REPRISE_KIND=roomy.
	$(SIMULATE)
	TEST_TIMEOUT=0 REPRISE_SEEDS=$(SEEDS) REPRISE_WORLD_SEEDS=$(SEEDS) scripts/run-tests .build-simulate/release Simulation

streams:  ## Watch live streams for HOURS hours of a simulated clock.
	$(SIMULATE)
	TEST_TIMEOUT=0 REPRISE_STREAM_HOURS=$(HOURS) scripts/run-tests .build-simulate/release LongStreamTests

mistakes:  ## Put known mistakes into a copy of the tree: each has to be noticed.
	scripts/mistakes/run $(MISTAKES)

fuzz:  ## Look by coverage for inputs that break a parser, for MINUTES minutes: TARGETS="URLs" for some parsers.
	scripts/fuzz $(MINUTES) $(TARGETS)

kill:  ## kill -9 the real server KILLS times.
	$(SWIFT_BUILD) --build-tests
	REPRISE_KILLS=$(KILLS) scripts/run-tests .build/debug KillTests

powercut: build  ## Cut the power of a disk the real server writes CUTS times; needs root, for mounting.
	scripts/endurance/powercut $(CUTS)

soak: build  ## Twenty readers, kills and changing objects for MINUTES minutes.
	scripts/endurance/soak $(MINUTES)

live: build tools  ## Play live HLS for SECONDS_OF_PLAY seconds, straight and through the server.
	scripts/endurance/live $(SECONDS_OF_PLAY)

connections: build  ## Measure what CONNECTIONS idle clients cost, and what a server with 256 descriptors does.
	scripts/endurance/connections $(CONNECTIONS)

differential: build  ## Hold SEQUENCES sequences of requests against a model of RFC 9111, beside Varnish and nginx.
	scripts/endurance/differential $(SEQUENCES)

clients: build tools  ## Compare what curl, wget, aria2 and Python get through the server with what they get directly.
	scripts/endurance/clients

memory: build  ## Measure what RESOURCES open resources and a hung disk hold; the disk needs root, for mounting.
	scripts/endurance/memory $(RESOURCES)

bench:  ## Measure it beside nginx, Varnish and rclone: QUICK=1 for a short run, ROWS=warm,jumps for some rows.
	Benchmarks/run $(if $(QUICK)$(ROWS),,--publish) $(BENCH)

instructions:  ## Count the instructions of fixed work and compare them with Benchmarks/instructions.json.
	scripts/checks/instructions

instructions-accept:  ## Take what is counted now as what is to be kept.
	scripts/checks/instructions --accept

clean:
	rm -rf .build .build-* Benchmarks/.build Benchmarks/results Examples/*/.build
