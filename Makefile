# SPDX-License-Identifier: Apache-2.0
#
# The one entry point. `make help` lists the targets; the rules stand beside the scripts that they run.

SHELL := /bin/bash
.DEFAULT_GOAL := help
PREFIX ?= /usr/local

# Otherwise SwiftPM passes the traits to the compiler in another order each time, and another order compiles everything
# again. The tests run without it.
export SWIFT_DETERMINISTIC_HASHING := 1

# Warnings are errors in everything that is built from here.
export LATCHKEY_STRICT := 1

# Tests print no crash reports: a killed worker is part of some of them.
export SWIFT_BACKTRACE := enable=no

# The executables stand behind a trait, so that consumers of the libraries do not fetch their packages.
TRAITS := --enable-all-traits

# The options of each debug build. Builds with different options compile everything again, so they include the one that
# Scripts/build/products looks at, and those of the caller (.ci/run).
DEBUG := $(TRAITS) --explicit-target-dependency-import-check warn $(LATCHKEY_BUILD_OPTIONS)
DEBUG_BIN = $$(swift build $(DEBUG) --show-bin-path)

# How the installed executables are built.
RELEASE = $(TRAITS) -c release --static-swift-stdlib $$(./Scripts/build/release-flags || echo --release-flags-failed)
RELEASE_BIN = $$(swift build $(TRAITS) -c release --show-bin-path)
# With LATCHKEY_PREBUILT=DIR they are those of DIR, and nothing is compiled but the PAM module.
BINARIES = $(or $(LATCHKEY_PREBUILT),$(RELEASE_BIN))

# The installed programs: the commands in PREFIX/bin, and the daemons, for no shell, in PREFIX/libexec/latchkey.
COMMANDS := latchkey latchkey-tls latchkey-lint
DAEMONS := latchkeyd
PROGRAMS := $(COMMANDS) $(DAEMONS)
# latchkeyd under names of their own for the bus, systemd and the audit log: hard links.
SERVICES := latchkey-secret-service latchkey-biometry-digest
# All tests. With them SwiftPM links the executables that their targets depend on: all of them.
# RedirectedPromises cannot be part of the bundle: all tests would be redirected.
TESTED := latchkeyPackageTests PlainPromises RedirectedPromises

# In the order of `make help`. A description after ## is shown; one after #- only with ALL=1.
RULES := Scripts/build.mk Scripts/check.mk Scripts/measure.mk Scripts/demonstrate.mk Packaging/install.mk

.PHONY: help
help: #- Show the targets
	@awk -v all=$(ALL) -f Scripts/help.awk $(RULES)

include $(RULES)
