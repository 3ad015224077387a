# The commands of the README. `make help` lists them.

HOME_DIR := .run
RELEASE := .build/release
DESTDIR ?=
PREFIX ?= /usr/local
TESTS = $(filter-out IntegrationTests,$(notdir $(wildcard Tests/*Tests))) IntegrationTests.IdleTests
SHARE = $(DESTDIR)$(PREFIX)/share

.PHONY: help run test build bench-location dependencies test-dependencies bench-dependencies format lint clean-run manuals install media tracks

help: ## list the commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 20

run: build ## install what it needs, build, and show both modes at work (state in .run/)
	@Packaging/demo.sh $(RELEASE) $(HOME_DIR)

build: dependencies ## build in release mode
	swift build -c release

test: test-dependencies lint ## install what the tests need, and run them all
	/usr/bin/python3 -m unittest discover -q -s Tests/Reference -p 'check_*.py'
	swift build --build-tests
	@# One module after the other: many tests hold real programs to their pace, on machines of two cores.
	@# What failed is said again at the end, where it is seen.
	@mkdir -p .build/test && rm -f .build/test/*; \
	for tests in $(TESTS) IntegrationTests; do \
	    echo "== $$tests"; \
	    case $$tests in IntegrationTests) skip="--skip IdleTests";; *) skip=;; esac; \
	    { swift test --skip-build --disable-xctest --filter "^$$tests[./]" $$skip 2>&1 \
	        || echo "$$tests failed"; } | tee .build/test/$$tests.log; \
	done; \
	! grep -hE '^✘ |^error: |^[A-Za-z.]+ failed$$' .build/test/*.log

bench-location: bench-dependencies build ## measure what tracking costs, beside its peers (QUICK=1: a short look)
	@QUICK=$(QUICK) Benchmarks/location.py

lint:
	swift format lint --strict --parallel --recursive Package.swift Sources Tests

format: ## format the code
	swift format --in-place --parallel --recursive Package.swift Sources Tests

dependencies:
	@Packaging/dependencies.sh run

test-dependencies:
	@Packaging/dependencies.sh run test

bench-dependencies:
	@Packaging/dependencies.sh run bench

clean-run: ## stop the service of `make run` and remove its state
	@Packaging/demo.sh --clean $(RELEASE) $(HOME_DIR)

manuals: dependencies ## make the manual pages
	@mkdir -p .build/man
	swift package -c release --allow-writing-to-directory .build/man generate-manual --output-directory .build/man

install: ## install what `make build manuals` made under PREFIX (/usr/local): programs, unit, completions, manual pages
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)/lib/systemd/system $(SHARE)/bash-completion/completions \
	    $(SHARE)/zsh/site-functions $(SHARE)/fish/vendor_completions.d $(SHARE)/man/man1
	install -m 755 $(RELEASE)/backgrounder $(RELEASE)/backgrounderd $(DESTDIR)$(PREFIX)/bin/
	install -m 644 .build/man/backgrounder.1 .build/man/backgrounderd.1 $(SHARE)/man/man1/
	sed 's|@PREFIX@|$(PREFIX)|' Packaging/backgrounder.service > $(DESTDIR)/lib/systemd/system/backgrounder.service
	$(RELEASE)/backgrounder --generate-completion-script bash > $(SHARE)/bash-completion/completions/backgrounder
	$(RELEASE)/backgrounder --generate-completion-script zsh > $(SHARE)/zsh/site-functions/_backgrounder
	$(RELEASE)/backgrounder --generate-completion-script fish > $(SHARE)/fish/vendor_completions.d/backgrounder.fish

media: ## make the sample media again
	/usr/bin/python3 Tests/Reference/make_media.py

tracks: ## make the sample tracks again
	/usr/bin/python3 Tests/Reference/make_tracks.py
