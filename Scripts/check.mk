# SPDX-License-Identifier: Apache-2.0
#
# Check the built products. Each long form has a short one in the tests.

# Of the fuzz targets, those that are files of their own: the modules beside them are links, and so are the files that
# the tests have as well.
FORMATTED := Package.swift Sources Tests Examples $(foreach package,Benchmarks Benchmarks/Transport, \
    $(package)/Package.swift $(package)/Sources) Fuzz/Package.swift $(wildcard Fuzz/Sources/*Fuzzer/*Fuzzer.swift)

.PHONY: lint
lint: ## Check format, words, figures and lists: quick, without a build
	@# It has all files open at once: more than a user's usual limit.
	@ulimit -Sn "$$(ulimit -Hn)" && swift format lint --strict --parallel --recursive $(FORMATTED)
	@./Scripts/check/glossary
	@./Scripts/check/figures --check
	@./Scripts/check/symbols --check
	@./Scripts/measure/aims --check

.PHONY: test
test: build ## Build, and run all tests (SHORT=1: without the long ones)
	@./Scripts/check/test $(if $(SHORT),--short) $(ARGS)

.PHONY: siblings
siblings: #- Build Apple's module names beside other packages (half an hour)
	@./Scripts/check/siblings $(ARGS)

.PHONY: linkers
linkers: test-build #- Link the redirections with each linker, debug and optimized
	@./Scripts/check/linkers

.PHONY: consumer
consumer: #- Build a package that uses the libraries (ARGS=transport)
	@./Scripts/check/consumer $(ARGS)

PROMPT = -c release -Xswiftc -enable-testing -Xswiftc -disable-cmo --scratch-path .build/prompt

# The time that proofs of many rounds may wait, in sum and in silence: a day.
LONG := LATCHKEY_TEST_WAIT_SECONDS=86400 LATCHKEY_TEST_SILENCE_SECONDS=86400

# How long they are: .ci/long takes less.
ROUNDS := 3000
SECONDS_EACH := 600

.PHONY: test-build
test-build:
	@./Scripts/build/products $(DEBUG) -- $(TESTED)

.PHONY: crash
crash: test-build #- Kill writers at random, and look for lost items (ROUNDS=3000)
	$(LONG) LATCHKEY_CRASH_ROUNDS=$(ROUNDS) LATCHKEY_SECRET_SERVICE_CRASH_ROUNDS=$$(($(ROUNDS) / 10)) \
	    ./Scripts/check/test --filter CrashTests

.PHONY: tamper
tamper: test-build #- Flip every single byte of a database
	$(LONG) LATCHKEY_TAMPER_STEP=1 ./Scripts/check/test --filter TamperTests

.PHONY: soak
soak: test-build #- Many clients, faults and a hostile user on daemons (SECONDS_EACH=600)
	$(LONG) LATCHKEY_SOAK_SECONDS=$(SECONDS_EACH) ./Scripts/check/test --filter SoakTests

.PHONY: churn
churn: test-build #- Eight processes without a daemon on the same items (SECONDS_EACH=600)
	$(LONG) LATCHKEY_CHURN_SECONDS=$(SECONDS_EACH) ./Scripts/check/test --filter ConcurrencyTests

# Without -disable-cmo the compiler fails on tests.
.PHONY: prompt
prompt: #- Hold verdicts on hostile certificates to 20 ms, in code that is optimized
	swift build $(TRAITS) $(PROMPT) --product latchkeyPackageTests
	./Scripts/check/test $(PROMPT) --filter CertificateTrustTests

.PHONY: pkits
pkits: test-build #- Evaluate the certificates of NIST's interoperability suite (fetched)
	LATCHKEY_PKITS="$$(./Scripts/check/pkits)" ./Scripts/check/test --filter PKITSTests

.PHONY: scanners
scanners: release test-build #- Compare latchkey lint with other scanners, on planted secrets and ordinary software
	@./Scripts/build/dependencies ripgrep jq python3-venv
	@rm -rf .build/planted
	LATCHKEY_PLANTED="$$PWD/.build/planted" ./Scripts/check/test --filter ScanCorpusTests
	@./Scripts/check/scanners "$(RELEASE_BIN)/latchkey-lint" .build/planted $(ARGS)

.PHONY: secret-service-judges
secret-service-judges: #- Run foreign clients (ARGS="--only table")
	@./Scripts/build/dependencies $(CLIENT_PACKAGES) libsecret-tools gnome-keyring dbus git gcc make pinentry-curses \
	    pinentry-tty chromium xdg-desktop-portal bubblewrap python3-venv
	@./Scripts/build/products $(DEBUG) -- latchkey latchkeyd
	@./Scripts/check/secret-service-judges --provider gnome-keyring --pypi $(ARGS)
	@./Scripts/check/secret-service-judges --binaries "$(DEBUG_BIN)" --pypi $(ARGS)

.PHONY: test-packages
test-packages: #- Install, upgrade, downgrade, remove and purge the packages of .build/deb (as root)
	@./Scripts/build/dependencies debootstrap lintian man-db bash zsh fish
	./Scripts/check/packages .build/deb

.PHONY: test-release
test-release: #- Install from a release as apt, Homebrew, Arch Linux and Nix do (as root)
	@./Scripts/build/dependencies apt-utils gnupg gpgv debootstrap makepkg pacman-package-manager libarchive-tools \
	    fakeroot ruby nix-bin patchelf curl python3 python3-venv xz-utils git
	./Scripts/check/release .build/tarball

.PHONY: test-container
test-container: #- Run the container image: no /proc, read-only, any uid, a credential
	@./Scripts/build/dependencies bubblewrap
	./Scripts/check/container "$(BINARIES)"

.PHONY: test-sdk
test-sdk: sdk #- Build packages that know nothing of Latchkey with the SDK (ARGS=--quick)
	./Scripts/check/sdk $(SDK) $(ARGS)

.PHONY: reproducible
reproducible: #- Build the Debian packages in two directories, and compare every byte
	@./Scripts/build/dependencies $(BUILD_PACKAGES) $(PACKAGE_TOOLS) systemd
	./Scripts/check/reproducible

.PHONY: first-minutes
first-minutes: #- Run README.md's ways to start in a fresh Debian system (ARGS="container", "--dry-run")
	@./Scripts/build/dependencies debootstrap
	./Scripts/check/first-minutes $(ARGS)

FUZZERS := wire keys certificates messages callers property-lists requests backups keybags transport tpm containers \
    keyrings bus-messages scans
# The executable of each, in the same order.
FUZZER_wire := WireFuzzer
FUZZER_keys := KeyFuzzer
FUZZER_certificates := CertificateFuzzer
FUZZER_messages := MessageFuzzer
FUZZER_callers := CallerFuzzer
FUZZER_property-lists := PropertyListFuzzer
FUZZER_requests := RequestFuzzer
FUZZER_backups := BackupFuzzer
FUZZER_keybags := KeybagFuzzer
FUZZER_transport := TransportFuzzer
FUZZER_tpm := TPMFuzzer
FUZZER_containers := ContainerFuzzer
FUZZER_keyrings := KeyringFuzzer
FUZZER_bus-messages := BusMessageFuzzer
FUZZER_scans := ScanFuzzer

.PHONY: fuzz
fuzz: $(addprefix fuzz-,$(FUZZERS)) ## Fuzz the readers of outside input; fuzz-NAME: one of them

.PHONY: fuzz-build
fuzz-build:
	swift build --package-path Fuzz

.PHONY: $(addprefix fuzz-,$(FUZZERS))
$(addprefix fuzz-,$(FUZZERS)): fuzz-%: fuzz-build
	mkdir -p Fuzz/.build/corpus-$*
	SWIFT_BACKTRACE=enable=no "$$(swift build --package-path Fuzz --show-bin-path)/$(FUZZER_$*)" \
	    -max_total_time=60 -max_len=8192 -timeout=10 $(ARGS) Fuzz/.build/corpus-$* Fuzz/Corpus/$*
