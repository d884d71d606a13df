# SPDX-License-Identifier: Apache-2.0
#
# The one entry point. `make help` lists what there is.

SHELL := /bin/bash
.DEFAULT_GOAL := help
PREFIX ?= /usr/local

# The clients of the Secret Service that the tests run.
CLIENT_PACKAGES := python3-keyring python3-secretstorage python3-gi gir1.2-secret-1 golang-docker-credential-helpers \
    libsecret-1-dev pkg-config

# What the build needs beyond a Swift toolchain, and what the tests compare with.
BUILD_PACKAGES := libsqlite3-dev libssl-dev libsystemd-dev libfido2-dev libtss2-dev libfuse3-dev libpam0g-dev
TEST_PACKAGES := libsecret-tools gnome-keyring sqlite3 openssl systemd dbus fprintd pinentry-curses pinentry-tty ca-certificates openssh-client publicsuffix swtpm swtpm-tools gnutls-bin tpm2-tools python3-fido2 fuse3 git attr python3-cryptography binutils pamtester $(CLIENT_PACKAGES)

# Otherwise SwiftPM passes the traits to the compiler in another order each time, and another order compiles everything
# again. The tests run without it.
export SWIFT_DETERMINISTIC_HASHING := 1

# Warnings are errors in everything that is built from here.
export LATCHKEY_STRICT := 1

# The executables stand behind a trait, so that consumers of the libraries do not fetch what they need.
TRAITS := --enable-all-traits

# The options of each debug build. Builds with different options compile everything again, so they include the one that
# Scripts/build-products looks at, and those of the caller (.ci/run).
DEBUG := $(TRAITS) --explicit-target-dependency-import-check warn $(LATCHKEY_BUILD_OPTIONS)

# What is installed: the commands in PREFIX/bin, and the daemons, which no shell finds, in PREFIX/libexec/latchkey.
COMMANDS := latchkey latchkey-tls latchkey-mount latchkey-import
DAEMONS := latchkeyd latchkey-biometry-digest latchkey-secret-service
PROGRAMS := $(COMMANDS) $(DAEMONS)
# All tests. With them SwiftPM links the executables that their targets depend on, which are all of them.
TESTED := latchkeyPackageTests

# How the installed executables are built.
RELEASE = $(TRAITS) -c release --static-swift-stdlib $$(./Scripts/release-flags || echo --release-flags-failed)

# The module for logins is C, so that no login program contains Swift. Without the headers of PAM it is not built.
PAM_MODULE := .build/pam/pam_latchkey.so
PAM_SOURCES := $(wildcard PAM/*.c)
PAM_FLAGS := -std=gnu11 -O2 -g -D_FORTIFY_SOURCE=2 -fPIC -fvisibility=hidden -fstack-protector-strong -fstack-clash-protection \
    -Wall -Wextra -Wconversion -Wshadow -Werror=format-security $(if $(LATCHKEY_STRICT),-Werror) \
    -Wl,-z,relro,-z,now,-z,noexecstack
# Run when it is needed: `make build` may have installed them.
HAS_PAM = echo '\#include <security/pam_modules.h>' | $(CC) -E - > /dev/null 2>&1
# The only directory in which PAM looks for modules. DESTDIR, and not PREFIX, is another place.
PAM_DIR ?= $(firstword $(wildcard $(addsuffix /security,/usr/lib/$(shell $(CC) -print-multiarch 2> /dev/null) /lib64 /lib)) /usr/lib/security)

# Tests print no crash reports: a killed worker is part of some of them.
export SWIFT_BACKTRACE := enable=no

.PHONY: help
help: ## Show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 19

.PHONY: demo
demo: dependencies ## Build, then show the main job on a throw-away keychain
	@./Scripts/build-products $(DEBUG) -- latchkey latchkeyd
	@./Scripts/demo "$$(swift build $(DEBUG) --show-bin-path)/latchkey" "$$(swift build $(DEBUG) --show-bin-path)/latchkeyd"

.PHONY: build
build: dependencies ## Build everything, with warnings and undeclared imports as errors
	@$(MAKE) --no-print-directory pam
	@./Scripts/build-products $(DEBUG) -- $(TESTED)
	@# Modules that nothing above uses: in one build with them, packages take the branches for Apple's platforms.
	swift build $(DEBUG) --target Security
	swift build $(DEBUG) --target LocalAuthentication

.PHONY: pam
pam: ## Build the PAM module pam_latchkey.so (needs the headers of PAM)
	@if $(HAS_PAM); then $(MAKE) --no-print-directory $(PAM_MODULE) $(LOGIN_PROGRAM); \
	    else echo "latchkey: pam_latchkey.so is not built: security/pam_modules.h not found" >&2; fi

$(PAM_MODULE): $(PAM_SOURCES) $(wildcard PAM/*.h) Makefile
	@mkdir -p $(@D)
	$(CC) $(PAM_FLAGS) -shared -Wl,-z,defs $(CFLAGS) $(PAM_SOURCES) $(LDFLAGS) -o $@ -lpam

# What the tests log in with, beside pamtester.
LOGIN_PROGRAM := .build/pam/login_program
$(LOGIN_PROGRAM): PAM/Testing/login_program.c Makefile
	@mkdir -p $(@D)
	$(CC) $(PAM_FLAGS) $(CFLAGS) $< $(LDFLAGS) -o $@ -lpam -lpthread

.PHONY: test
test: build ## Build, run all tests (a few minutes), and name what was skipped
	@./Scripts/test

# The example packages share two builds, so that Latchkey and other packages are compiled once in each: the connections
# with the trait Transport, the others without. ServerTrust is a connection: its module Security must not be seen by
# swift-certificates, which KeychainHelpers has.
CONNECTIONS = --scratch-path .build/examples-connections --package-path Examples/Connections
EXAMPLE = $(LATCHKEY_BUILD_OPTIONS) --scratch-path .build/examples --package-path Examples

.PHONY: examples
examples: examples-connections examples-apps ## Build the example packages, and run their tests and programs

.PHONY: examples-apps
examples-apps: ## The examples without TLS, which share the libraries of one build
	@./Scripts/dependencies swtpm python3-fido2
	@./Scripts/build-products $(DEBUG) -- latchkey latchkeyd
	@./Scripts/build-products $(EXAMPLE)/KeychainHelpers -- KeychainHelpersPackageTests notes envelope mailbox journal overview
	swift test $(EXAMPLE)/KeychainHelpers --skip-build
	@./Scripts/rsa-helper "$$(swift build $(EXAMPLE)/KeychainHelpers --show-bin-path)" "$$(swift build $(DEBUG) --show-bin-path)"
	@./Scripts/access-groups "$$(swift build $(DEBUG) --show-bin-path)/latchkeyd" "$$(swift build $(EXAMPLE)/KeychainHelpers --show-bin-path)"
	@./Scripts/build-products $(EXAMPLE)/LocalAuthentication -- LocalAuthenticationPackageTests diary
	swift build $(EXAMPLE)/LocalAuthentication --target UnlockScreenSwift5
	swift test $(EXAMPLE)/LocalAuthentication --skip-build
	@./Scripts/build-products $(EXAMPLE)/AppPort -- AppPortPackageTests account
	swift test $(EXAMPLE)/AppPort --skip-build
	@./Scripts/app-port "$$(swift build $(EXAMPLE)/AppPort --show-bin-path)" "$$(swift build $(DEBUG) --show-bin-path)"
	@./Scripts/build-products $(EXAMPLE)/CommandLine -- CommandLinePackageTests forge
	swift test $(EXAMPLE)/CommandLine --skip-build
	@./Scripts/command-line "$$(swift build $(EXAMPLE)/CommandLine --show-bin-path)" "$$(swift build $(DEBUG) --show-bin-path)"
	@./Scripts/build-products $(EXAMPLE)/SignIn -- signin
	@./Scripts/sign-in "$$(swift build $(EXAMPLE)/SignIn --show-bin-path)" "$$(swift build $(DEBUG) --show-bin-path)"

.PHONY: examples-connections
examples-connections: ## Build the examples with TLS, and run them against servers of openssl and with curl
	@./Scripts/dependencies openssl curl
	@./Scripts/build-products $(DEBUG) -- latchkey latchkeyd
	@./Scripts/build-products $(CONNECTIONS) -- pincheck mtls-server mtls-client token-service tlscheck
	@./Scripts/pinning "$$(swift build $(CONNECTIONS) --show-bin-path)"
	@./Scripts/mutual-tls "$$(swift build $(CONNECTIONS) --show-bin-path)" "$$(swift build $(DEBUG) --show-bin-path)"
	@./Scripts/token-service "$$(swift build $(CONNECTIONS) --show-bin-path)" "$$(swift build $(DEBUG) --show-bin-path)"
	@./Scripts/trust-delegate "$$(swift build $(CONNECTIONS) --show-bin-path)" "$$(swift build $(DEBUG) --show-bin-path)"

.PHONY: siblings
siblings: ## Build Apple's module names beside other packages, from clean in two orders, and run the programs (half an hour)
	@./Scripts/siblings $(ARGS)

.PHONY: consumer
consumer: ## Build a package that uses the libraries, and check that it fetches nothing that only the executables need (ARGS=transport: also with connections, and with tests)
	@./Scripts/consumer $(ARGS)

# Their own files; the modules beside them are links, and so are the files that the tests have as well.
FUZZER_SOURCES := $(wildcard Fuzz/Sources/*Fuzzer/*Fuzzer.swift)

.PHONY: lint
lint: ## Check the formatting of every Swift file, the words, the figures in CONTRIBUTING, and the list of symbols
	@# It has all files open at once, which are more than a user's usual limit.
	ulimit -Sn "$$(ulimit -Hn)" && swift format lint --strict --parallel --recursive Package.swift Sources Tests Examples Benchmarks/Package.swift Benchmarks/Sources Benchmarks/Transport/Package.swift Benchmarks/Transport/Sources Fuzz/Package.swift $(FUZZER_SOURCES)
	@./Scripts/glossary
	@./Scripts/figures --check
	@./Scripts/symbols --check
	@./Scripts/aims --check

.PHONY: format
format: ## Format every Swift file
	ulimit -Sn "$$(ulimit -Hn)" && swift format --in-place --parallel --recursive Package.swift Sources Tests Examples Benchmarks/Package.swift Benchmarks/Sources Benchmarks/Transport/Package.swift Benchmarks/Transport/Sources Fuzz/Package.swift $(FUZZER_SOURCES)

PROMPT = -c release -Xswiftc -enable-testing -Xswiftc -disable-cmo --scratch-path .build/prompt

# What proofs of many rounds may wait, in sum and in silence: a day.
LONG := LATCHKEY_TEST_WAIT_SECONDS=86400 LATCHKEY_TEST_SILENCE_SECONDS=86400

.PHONY: crash
crash: ## Kill 3,000 writers, and 300 times the Secret Service, at random moments and look for what they lost
	@./Scripts/build-products $(DEBUG) -- $(TESTED)
	$(LONG) LATCHKEY_CRASH_ROUNDS=3000 LATCHKEY_SECRET_SERVICE_CRASH_ROUNDS=300 ./Scripts/test --filter CrashTests

.PHONY: tamper
tamper: ## Flip every single byte of a database
	@./Scripts/build-products $(DEBUG) -- $(TESTED)
	$(LONG) LATCHKEY_TAMPER_STEP=1 ./Scripts/test --filter TamperTests

.PHONY: soak
soak: ## Thirty-two clients and faults of every kind on one daemon, twenty open prompts, and a hostile user on the system's, for ten minutes each
	@./Scripts/build-products $(DEBUG) -- $(TESTED)
	$(LONG) LATCHKEY_SOAK_SECONDS=600 ./Scripts/test --filter SoakTests

.PHONY: churn
churn: ## Eight processes without a daemon on the same items for ten minutes
	@./Scripts/build-products $(DEBUG) -- $(TESTED)
	$(LONG) LATCHKEY_CHURN_SECONDS=600 ./Scripts/test --filter ConcurrencyTests

.PHONY: prompt
prompt: ## Hold verdicts on hostile certificates to 20 ms, in code that is optimized (without -disable-cmo the compiler fails on tests)
	swift build $(TRAITS) $(PROMPT) --product latchkeyPackageTests
	./Scripts/test $(PROMPT) --filter CertificateTrustTests

.PHONY: pkits
pkits: ## Evaluate the certificates of NIST's Public Key Interoperability Test Suite, which is fetched
	@./Scripts/build-products $(DEBUG) -- $(TESTED)
	LATCHKEY_PKITS="$$(./Scripts/pkits)" ./Scripts/test --filter PKITSTests

.PHONY: secret-service-judges
secret-service-judges: ## Run git's, docker's, Python's and Chromium's own clients, and the portal, against the Secret Service and against gnome-keyring (ARGS="--only table", "--slow")
	@./Scripts/dependencies $(CLIENT_PACKAGES) libsecret-tools gnome-keyring dbus git gcc make pinentry-curses pinentry-tty \
	    chromium xdg-desktop-portal bubblewrap python3-venv
	@./Scripts/build-products $(DEBUG) -- latchkey latchkeyd latchkey-secret-service
	@./Scripts/secret-service-judges --provider gnome-keyring --pypi $(ARGS)
	@./Scripts/secret-service-judges --binaries "$$(swift build $(DEBUG) --show-bin-path)" --pypi $(ARGS)

.PHONY: bench
bench: ## Measure against the floor at 10 to 1,000,000 items (ARGS="--quick" for the small sizes)
	@./Scripts/build-products $(RELEASE) -- latchkey latchkeyd
	@./Scripts/build-products -c release --package-path Benchmarks -- latchkey-bench print-only
	"$$(swift build -c release --package-path Benchmarks --show-bin-path)/latchkey-bench" \
	    --security "$$(swift build $(TRAITS) -c release --show-bin-path)/latchkey" $(ARGS)
	"$$(swift build -c release --package-path Benchmarks --show-bin-path)/latchkey-bench" daemon \
	    --latchkeyd "$$(swift build $(TRAITS) -c release --show-bin-path)/latchkeyd"
	"$$(swift build -c release --package-path Benchmarks --show-bin-path)/latchkey-bench" keys
	"$$(swift build -c release --package-path Benchmarks --show-bin-path)/latchkey-bench" trust
	@./Scripts/dependencies pinentry-curses
	"$$(swift build -c release --package-path Benchmarks --show-bin-path)/latchkey-bench" constraints
	@./Scripts/dependencies swtpm
	"$$(swift build -c release --package-path Benchmarks --show-bin-path)/latchkey-bench" enclave \
	    --latchkeyd "$$(swift build $(TRAITS) -c release --show-bin-path)/latchkeyd" \
	    --latchkey "$$(swift build $(TRAITS) -c release --show-bin-path)/latchkey"
	swift build $(RELEASE) --product latchkey-mount
	@./Scripts/dependencies age gocryptfs fuse3
	"$$(swift build -c release --package-path Benchmarks --show-bin-path)/latchkey-bench" files \
	    --latchkey "$$(swift build $(TRAITS) -c release --show-bin-path)/latchkey" $(filter --quick,$(ARGS))
	@$(MAKE) --no-print-directory bench-secret-service ARGS="$(filter --quick,$(ARGS))"
	@$(MAKE) --no-print-directory bench-transport ARGS="$(filter --quick,$(ARGS))"

.PHONY: bench-secret-service
bench-secret-service: ## Compare the Secret Service with gnome-keyring at 10 to 100,000 items (ARGS="--quick", "--sizes 10,1000", "--budget 3600")
	@./Scripts/dependencies dbus gnome-keyring libsystemd-dev
	@./Scripts/build-products $(RELEASE) -- latchkey-secret-service latchkeyd
	swift build -c release --package-path Benchmarks --product latchkey-bench
	"$$(swift build -c release --package-path Benchmarks --show-bin-path)/latchkey-bench" secret-service \
	    --secret-service "$$(swift build $(TRAITS) -c release --show-bin-path)/latchkey-secret-service" \
	    --latchkeyd "$$(swift build $(TRAITS) -c release --show-bin-path)/latchkeyd" $(ARGS)

.PHONY: bench-transport
bench-transport: ## Measure connections, downloads and many requests at once of LatchkeyURLSession (ARGS="--quick", "--instructions")
	@./Scripts/dependencies openssl nginx-light
	swift build -c release --package-path Benchmarks/Transport
	@./Scripts/transport-bench "$$(swift build -c release --package-path Benchmarks/Transport --show-bin-path)/latchkey-transport-bench" $(ARGS)

.PHONY: instructions
instructions: ## Count the instructions of lookups and adds, and compare them with Benchmarks/instructions.tsv
	@./Scripts/dependencies libsqlite3-dev libssl-dev libtss2-dev valgrind binutils
	swift build -c release --package-path Benchmarks --product latchkey-bench
	@./Scripts/instructions "$$(swift build -c release --package-path Benchmarks --show-bin-path)/latchkey-bench" $(ARGS)

.PHONY: instructions-short
instructions-short: build ## Count those of the debug build, which takes a minute, and compare them with Benchmarks/instructions-short.tsv
	@./Scripts/dependencies valgrind binutils
	@./Scripts/instructions --short "$$(swift build $(DEBUG) --show-bin-path)/ProofWorker" $(ARGS)

# With LATCHKEY_PREBUILT=DIR the executables are those of DIR, and nothing is compiled but the PAM module.
BINARIES = $(or $(LATCHKEY_PREBUILT),$$(swift build $(TRAITS) -c release --show-bin-path))
# In the Debian packages, the executables share the libraries of Swift (Documentation/Decisions/0074-shared-runtime.md).
SHARED = $(filter 1,$(LATCHKEY_SHARED_RUNTIME))
RUNTIME := libLatchkeyRuntime.so.0
# A package keeps the symbols apart, and strips the executables itself.
STRIP ?= -s
LIBEXEC := $(PREFIX)/libexec/latchkey
SYSTEM_UNITS ?= $(PREFIX)/lib/systemd/system
# In /usr, two packages cannot have a file of this name; the Debian package takes another directory.
DBUS_SERVICES ?= $(PREFIX)/share/dbus-1/services
SITE = sed -E 's,/usr/(bin|libexec)/,$(PREFIX)/\1/,'
# A profile that the administrator enforces (aa-enforce) stays enforced.
APPARMOR := latchkeyd-system

.PHONY: release
release: ## Build the executables as they are installed
	$(if $(LATCHKEY_PREBUILT),,./Scripts/build-products $(RELEASE) -- $(PROGRAMS))
	$(if $(LATCHKEY_PREBUILT),,$(if $(SHARED),place="$(BINARIES)"; \
	    ./Scripts/shared-runtime finish .build/shared-runtime "$$place/$(RUNTIME)" $(PROGRAMS:%="$$place/%")))

.PHONY: install
install: release ## Build for release and install latchkey, also as security, under PREFIX, with manual pages and completions
	@$(MAKE) --no-print-directory install-files
	@$(MAKE) --no-print-directory install-pam
	$(if $(WITHOUT_DOCUMENTS),,@$(MAKE) --no-print-directory install-documents)

.PHONY: install-files
install-files:
	@link="$(DESTDIR)$(PREFIX)/bin/security"; if { [ -e "$$link" ] || [ -L "$$link" ]; } && [ "$$(readlink "$$link")" != latchkey ]; then \
	    echo "latchkey: $$link exists, and is another program: move it first, or choose another PREFIX" >&2; exit 1; fi
	set -e; for program in $(COMMANDS); do install $(STRIP) -D -m 755 "$(BINARIES)/$$program" "$(DESTDIR)$(PREFIX)/bin/$$program"; done
	rm -f $(DAEMONS:%="$(DESTDIR)$(PREFIX)/bin/%")
	set -e; for program in $(DAEMONS); do install $(STRIP) -D -m 755 "$(BINARIES)/$$program" "$(DESTDIR)$(LIBEXEC)/$$program"; done
	$(if $(and $(SHARED),$(filter-out /usr,$(patsubst %/,%,$(PREFIX)))),$(error LATCHKEY_SHARED_RUNTIME=1: the executables look for the library in /usr/lib/latchkey: PREFIX must be /usr))
	$(if $(SHARED),install $(STRIP) -D -m 644 "$(BINARIES)/$(RUNTIME)" "$(DESTDIR)$(PREFIX)/lib/latchkey/$(RUNTIME)")
	ln -sf latchkey "$(DESTDIR)$(PREFIX)/bin/security"
	set -eo pipefail; for unit in Packaging/systemd/system/*; do \
	    $(SITE) "$$unit" | install -D -m 644 /dev/stdin "$(DESTDIR)$(SYSTEM_UNITS)/$${unit##*/}"; done
	set -eo pipefail; for unit in Packaging/systemd/user/*; do \
	    $(SITE) "$$unit" | install -D -m 644 /dev/stdin "$(DESTDIR)$(PREFIX)/lib/systemd/user/$${unit##*/}"; done
	set -eo pipefail; for file in Packaging/dbus-1/*.portal.*; do \
	    $(SITE) "$$file" | install -D -m 644 /dev/stdin "$(DESTDIR)$(PREFIX)/share/dbus-1/services/$${file##*/}"; done
	set -eo pipefail; file=org.freedesktop.secrets.service; \
	    $(SITE) Packaging/dbus-1/$$file | install -D -m 644 /dev/stdin "$(DESTDIR)$(DBUS_SERVICES)/$$file"
	install -D -m 644 Packaging/portal/latchkey.portal \
	    "$(DESTDIR)$(PREFIX)/share/xdg-desktop-portal/portals/latchkey.portal"
	install -D -m 644 Packaging/systemd/latchkey.sysusers "$(DESTDIR)$(PREFIX)/lib/sysusers.d/latchkey.conf"
	set -eo pipefail; place="$(DESTDIR)/etc/apparmor.d/$(APPARMOR)"; enforced=; \
	    ! grep -qs '^profile ' "$$place" || grep -q '^profile .*complain' "$$place" || enforced='s/complain, //'; \
	    $(SITE) Packaging/apparmor/$(APPARMOR) | sed "$$enforced" | install -D -m 644 /dev/stdin "$$place"
	set -e; for file in client.conf daemon.conf; do test -e "$(DESTDIR)/etc/latchkey/$$file" || \
	    install -D -m 644 "Packaging/$$file" "$(DESTDIR)/etc/latchkey/$$file"; done

.PHONY: install-pam
install-pam: pam ## Install pam_latchkey.so where PAM looks for modules, and its profile for pam-auth-update
	set -eo pipefail; if $(HAS_PAM); then \
	    install $(STRIP) -D -m 644 $(PAM_MODULE) "$(DESTDIR)$(PAM_DIR)/pam_latchkey.so"; \
	    $(SITE) Packaging/pam-configs/latchkey | \
	        install -D -m 644 /dev/stdin "$(DESTDIR)/usr/share/pam-configs/latchkey"; fi

.PHONY: uninstall
uninstall: uninstall-pam ## Remove what `make install` has installed; keychains, and configuration that was changed, stay
	@[ -n "$(DESTDIR)" ] || echo "latchkey: units that were enabled stay enabled: systemctl disable latchkeyd.socket, as user: systemctl --user disable latchkeyd.socket"
	set -e; for name in $(PROGRAMS); do rm -f "$(DESTDIR)$(PREFIX)/bin/$$name"; done
	set -e; for name in $(DAEMONS); do rm -f "$(DESTDIR)$(LIBEXEC)/$$name"; done
	rm -rf "$(DESTDIR)$(SDK_PLACE)" "$(DESTDIR)$(PREFIX)/lib/latchkey/$(RUNTIME)"
	set -e; for directory in lib libexec; do place="$(DESTDIR)$(PREFIX)/$$directory/latchkey"; \
	    [ ! -d "$$place" ] || rmdir --ignore-fail-on-non-empty "$$place"; done
	link="$(DESTDIR)$(PREFIX)/bin/security"; [ "$$(readlink "$$link")" != latchkey ] || rm "$$link"
	set -e; for unit in Packaging/systemd/system/*; do rm -f "$(DESTDIR)$(SYSTEM_UNITS)/$${unit##*/}"; done
	set -e; for unit in Packaging/systemd/user/*; do rm -f "$(DESTDIR)$(PREFIX)/lib/systemd/user/$${unit##*/}"; done
	set -e; for directory in "$(PREFIX)/share/dbus-1/services" "$(DBUS_SERVICES)"; do for file in Packaging/dbus-1/*; do \
	    place="$(DESTDIR)$$directory/$${file##*/}"; ! grep -qs latchkey-secret-service "$$place" || rm "$$place"; done; done
	set -e; for name in $(PROGRAMS) security; do for place in "$(DESTDIR)$(PREFIX)"/share/man/man[158]/{$$name,$$name-*}.[158] \
	    "$(DESTDIR)$(PREFIX)/share/bash-completion/completions/$$name" "$(DESTDIR)$(ZSH_COMPLETIONS)/_$$name" \
	    "$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/$$name.fish"; do \
	    ! grep -qsi latchkey "$$place" || rm "$$place"; done; done
	rm -f "$(DESTDIR)$(PREFIX)/share/xdg-desktop-portal/portals/latchkey.portal" "$(DESTDIR)$(PREFIX)/lib/sysusers.d/latchkey.conf"
	@set -e; for file in client.conf daemon.conf; do place="$(DESTDIR)/etc/latchkey/$$file"; \
	    if cmp -s "Packaging/$$file" "$$place"; then rm "$$place"; \
	    elif [ -e "$$place" ]; then echo "latchkey: kept, because it was changed: $$place"; fi; done
	@set -e; place="$(DESTDIR)/etc/apparmor.d/$(APPARMOR)"; \
	    if [ ! -e "$$place" ]; then :; \
	    elif cmp -s <($(SITE) Packaging/apparmor/$(APPARMOR) | sed 's/complain, //') <(sed 's/complain, //' "$$place"); then rm "$$place"; \
	    else echo "latchkey: kept, because it was changed: $$place"; fi
	set -e; for directory in latchkey apparmor.d; do [ ! -d "$(DESTDIR)/etc/$$directory" ] || \
	    rmdir --ignore-fail-on-non-empty "$(DESTDIR)/etc/$$directory"; done

# First the profile is taken out of the logins, which would miss the module.
.PHONY: uninstall-pam
uninstall-pam:
	set -e; if [ -z "$(DESTDIR)" ] && [ -e /usr/share/pam-configs/latchkey ] && command -v pam-auth-update > /dev/null; then \
	    pam-auth-update --package --remove latchkey; fi
	rm -f "$(DESTDIR)/usr/share/pam-configs/latchkey" "$(DESTDIR)$(PAM_DIR)/pam_latchkey.so"

# The SDK: modules with Apple's names that are compiled already, for packages that are not changed.
SDK := .build/sdk
SDK_PLACE ?= $(PREFIX)/lib/latchkey/sdk

.PHONY: sdk
sdk: ## Build the SDK in .build/sdk: import Security in packages that know nothing of Latchkey (make test-sdk proves it)
	@./Scripts/dependencies $(BUILD_PACKAGES) binutils
	@$(MAKE) --no-print-directory sdk-files

.PHONY: sdk-files
sdk-files:
	export LATCHKEY_REPRODUCIBLE=1 LATCHKEY_STRICT=; ./Scripts/build-sdk $(SDK) $(RELEASE)

.PHONY: install-sdk
install-sdk: ## Install the SDK that `make sdk` has built under PREFIX
	@test -e $(SDK)/version || { echo "latchkey: no SDK in $(SDK): run make sdk first" >&2; exit 1; }
	rm -rf "$(DESTDIR)$(SDK_PLACE)"
	install -d "$(DESTDIR)$(SDK_PLACE)"
	cp -R $(SDK)/. "$(DESTDIR)$(SDK_PLACE)"
	"$(DESTDIR)$(SDK_PLACE)/configure" "$(SDK_PLACE)"

.PHONY: test-sdk
test-sdk: sdk ## Build packages that know nothing of Latchkey with the SDK, run them, and upgrade the SDK under them (ARGS=--quick)
	./Scripts/sdk-tests $(SDK) $(ARGS)

# The manual pages and completions, which the executables describe themselves.
DOCUMENTS ?= .build/documents
# Where the shells look; /usr has directories of its own for what packages bring.
ZSH_COMPLETIONS ?= $(PREFIX)/share/zsh/$(if $(filter /usr,$(PREFIX)),vendor-completions,site-functions)

# Where the programs find the library that they share before they are installed.
LOADING = $(if $(SHARED),LD_LIBRARY_PATH="$(BINARIES)")

.PHONY: documents
documents: ## Make the manual pages and the completions of bash, zsh and fish, in .build/documents
	@rm -rf $(DOCUMENTS) && mkdir -p $(DOCUMENTS)/programs
	@set -e; for program in $(PROGRAMS); do ln -s "$$(realpath "$(BINARIES)/$$program")" $(DOCUMENTS)/programs/$$program; done; \
	    ln -s latchkey $(DOCUMENTS)/programs/security
	$(LOADING) ./Scripts/manual-pages $(DOCUMENTS)/programs $(DOCUMENTS)/man
	$(LOADING) ./Scripts/completions $(DOCUMENTS)/programs $(DOCUMENTS)

.PHONY: install-documents
install-documents: documents ## Install the manual pages and completions under PREFIX
	set -e; for page in $(DOCUMENTS)/man/*; do \
	    install -D -m 644 "$$page" "$(DESTDIR)$(PREFIX)/share/man/man$${page##*.}/$${page##*/}"; done
	set -e; for file in $(DOCUMENTS)/bash/*; do \
	    install -D -m 644 "$$file" "$(DESTDIR)$(PREFIX)/share/bash-completion/completions/$${file##*/}"; done
	set -e; for file in $(DOCUMENTS)/zsh/*; do install -D -m 644 "$$file" "$(DESTDIR)$(ZSH_COMPLETIONS)/$${file##*/}"; done
	set -e; for file in $(DOCUMENTS)/fish/*; do \
	    install -D -m 644 "$$file" "$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/$${file##*/}"; done

# What dpkg-buildpackage and the checks of its result need.
PACKAGE_TOOLS := build-essential dbus debhelper dh-apparmor dpkg-dev libsecret-tools lintian openssl pkg-config po-debconf python3

.PHONY: deb
deb: ## Build the Debian packages, in .build/deb (LATCHKEY_PREBUILT=DIR packs executables that exist)
	@./Scripts/dependencies $(BUILD_PACKAGES) $(PACKAGE_TOOLS) systemd
	./Scripts/build-deb .build/deb

.PHONY: deb-source
deb-source: ## Make the Debian source package, with the packages of SwiftPM in it, in .build/deb-source
	@./Scripts/dependencies $(PACKAGE_TOOLS) libfuse3-dev
	./Scripts/build-deb --source .build/deb-source

.PHONY: tarball
tarball: ## Pack the release for systems without Debian packages, and the SDK of `make sdk`, in .build/tarball (LATCHKEY_PREBUILT=DIR as for deb)
	@./Scripts/dependencies $(BUILD_PACKAGES) binutils python3 xz-utils
	@LATCHKEY_REPRODUCIBLE=1 $(MAKE) --no-print-directory release LATCHKEY_STRICT=
	./Scripts/build-tarball .build/tarball

.PHONY: reproducible
reproducible: ## Build the Debian packages in two directories, and compare every byte
	@./Scripts/dependencies $(BUILD_PACKAGES) $(PACKAGE_TOOLS) systemd
	./Scripts/reproducible

.PHONY: test-packages
test-packages: ## Install, upgrade, downgrade, remove and purge the packages of .build/deb in a root of their own (as root)
	@./Scripts/dependencies debootstrap lintian man-db bash zsh fish
	./Scripts/package-tests .build/deb

.PHONY: test-release
test-release: ## Make a release of small packages and the archive of `make tarball`, and install from it as apt, Homebrew, Arch Linux and Nix do (as root)
	@./Scripts/dependencies apt-utils gnupg gpgv debootstrap makepkg pacman-package-manager libarchive-tools fakeroot ruby nix-bin \
	    patchelf curl python3 python3-venv xz-utils git
	./Scripts/release-tests .build/tarball

.PHONY: test-container
test-container: ## Run the commands of the container image in namespaces: no /proc, read-only, any uid, a credential
	@./Scripts/dependencies bubblewrap
	./Scripts/container-tests "$(BINARIES)"

.PHONY: first-minutes
first-minutes: ## Run the commands of README.md in a fresh Debian system for each way to start, and time them (long; as root; ARGS="container", "--dry-run")
	@./Scripts/dependencies debootstrap
	./Scripts/first-minutes $(ARGS)

.PHONY: docs
docs: ## Build the documentation of the Swift modules with docc; a warning is an error
	@./Scripts/documentation

.PHONY: dependencies
dependencies: ## Install what is missing on Debian (says which); elsewhere only say it
	@./Scripts/dependencies $(BUILD_PACKAGES) $(TEST_PACKAGES)

FUZZERS := wire keys certificates messages callers property-lists requests backups keybags transport tpm containers keyrings bus-messages
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

.PHONY: fuzz
fuzz: $(addprefix fuzz-,$(FUZZERS)) ## Feed what reads from outside with what libFuzzer thinks of (ARGS="-max_total_time=600"); fuzz-NAME runs one

.PHONY: fuzz-build
fuzz-build:
	swift build --package-path Fuzz

.PHONY: $(addprefix fuzz-,$(FUZZERS))
$(addprefix fuzz-,$(FUZZERS)): fuzz-%: fuzz-build
	mkdir -p Fuzz/.build/corpus-$*
	SWIFT_BACKTRACE=enable=no "$$(swift build --package-path Fuzz --show-bin-path)/$(FUZZER_$*)" \
	    -max_total_time=60 -max_len=8192 -timeout=10 $(ARGS) Fuzz/.build/corpus-$* Fuzz/Corpus/$*

.PHONY: protocol
protocol: ## Make the Swift code of the wire messages from their schema (needs protoc)
	./Scripts/protocol
