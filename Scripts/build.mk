# SPDX-License-Identifier: Apache-2.0
#
# Build, from a clone.

# The packages that the build needs beyond a Swift toolchain.
BUILD_PACKAGES := libsqlite3-dev libssl-dev zlib1g-dev libsystemd-dev libfido2-dev libtss2-dev libfuse3-dev \
    libpam0g-dev
# The clients of the Secret Service that the tests run.
CLIENT_PACKAGES := python3-keyring python3-secretstorage python3-gi gir1.2-secret-1 golang-docker-credential-helpers \
    libsecret-1-dev pkg-config
# The packages that the tests compare with.
TEST_PACKAGES := libsecret-tools gnome-keyring sqlite3 openssl systemd dbus fprintd pinentry-curses pinentry-tty \
    ca-certificates openssh-client publicsuffix swtpm swtpm-tools gnutls-bin tpm2-tools python3-fido2 fuse3 git attr \
    python3-cryptography binutils pamtester unicode-data bzip2 $(CLIENT_PACKAGES)

# The module for logins is C, so that no login program contains Swift. Without the headers of PAM it is not built.
PAM_MODULE := .build/pam/pam_latchkey.so
PAM_SOURCES := $(wildcard PAM/*.c)
PAM_FLAGS := -std=gnu11 -O2 -g -D_FORTIFY_SOURCE=2 -fPIC -fvisibility=hidden -fstack-protector-strong \
    -fstack-clash-protection -Wall -Wextra -Wconversion -Wshadow -Werror=format-security \
    $(if $(LATCHKEY_STRICT),-Werror) -Wl,-z,relro,-z,now,-z,noexecstack
# Run when it is needed: `make build` may have installed them.
HAS_PAM = echo '\#include <security/pam_modules.h>' | $(CC) -E - > /dev/null 2>&1

.PHONY: dependencies
dependencies: #- Install the missing packages on Debian, or name them
	@./Scripts/build/dependencies $(BUILD_PACKAGES) $(TEST_PACKAGES)

.PHONY: build
build: dependencies ## Build everything, with warnings as errors
	@$(MAKE) --no-print-directory pam
	@./Scripts/build/products $(DEBUG) -- $(TESTED)
	@# Modules that nothing above uses: in one build with them, packages take the branches for Apple's platforms.
	swift build $(DEBUG) --target Security
	swift build $(DEBUG) --target LocalAuthentication

.PHONY: pam
pam: #- Build the PAM module pam_latchkey.so (needs the headers of PAM)
	@if $(HAS_PAM); then $(MAKE) --no-print-directory $(PAM_MODULE) $(LOGIN_PROGRAM); \
	    else echo "latchkey: pam_latchkey.so is not built: security/pam_modules.h not found" >&2; fi

$(PAM_MODULE): $(PAM_SOURCES) $(wildcard PAM/*.h) Scripts/build.mk
	@mkdir -p $(@D)
	$(CC) $(PAM_FLAGS) -shared -Wl,-z,defs $(CFLAGS) $(PAM_SOURCES) $(LDFLAGS) -o $@ -lpam

# The program that the tests log in with, beside pamtester.
LOGIN_PROGRAM := .build/pam/login_program
$(LOGIN_PROGRAM): PAM/Testing/login_program.c Scripts/build.mk
	@mkdir -p $(@D)
	$(CC) $(PAM_FLAGS) $(CFLAGS) $< $(LDFLAGS) -o $@ -lpam -lpthread

.PHONY: release
release: #- Build the executables as they are installed
	$(if $(LATCHKEY_PREBUILT),,./Scripts/build/products $(RELEASE) -- $(PROGRAMS))

.PHONY: docs
docs: build #- Build the documentation of the Swift modules, and the pages that are generated
	@./Scripts/build/documentation

.PHONY: protocol
protocol: #- Make the Swift code of the wire messages from their schema (needs protoc)
	./Scripts/build/protocol

.PHONY: format
format: #- Format every Swift file
	@ulimit -Sn "$$(ulimit -Hn)" && swift format --in-place --parallel --recursive $(FORMATTED)
