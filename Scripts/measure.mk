# SPDX-License-Identifier: Apache-2.0
#
# Measure, in ratios and counts of instructions.

bench_bin = $$(swift build -c release --package-path $(1) --show-bin-path)
BENCH = "$(call bench_bin,Benchmarks)/latchkey-bench"

.PHONY: bench
bench: ## Measure with 10 to 1,000,000 items (ARGS=--quick)
	@./Scripts/build/products $(RELEASE) -- latchkey latchkeyd
	@./Scripts/build/products -c release --package-path Benchmarks -- latchkey-bench print-only
	@./Scripts/build/dependencies pinentry-curses swtpm age gocryptfs fuse3
	$(BENCH) --security "$(RELEASE_BIN)/latchkey" $(ARGS)
	$(BENCH) daemon --latchkeyd "$(RELEASE_BIN)/latchkeyd"
	$(BENCH) keys
	$(BENCH) trust
	$(BENCH) constraints
	$(BENCH) enclave --latchkeyd "$(RELEASE_BIN)/latchkeyd" --latchkey "$(RELEASE_BIN)/latchkey"
	$(BENCH) files --latchkey "$(RELEASE_BIN)/latchkey" $(filter --quick,$(ARGS))
	@$(MAKE) --no-print-directory bench-secret-service ARGS="$(filter --quick,$(ARGS))"
	@$(MAKE) --no-print-directory bench-transport ARGS="$(filter --quick,$(ARGS))"

.PHONY: bench-secret-service
bench-secret-service: #- Compare with gnome-keyring at 10 to 100,000 items (ARGS="--sizes 10,1000")
	@./Scripts/build/dependencies dbus gnome-keyring libsystemd-dev
	@./Scripts/build/products $(RELEASE) -- latchkeyd
	swift build -c release --package-path Benchmarks --product latchkey-bench
	$(BENCH) secret-service --secret-service "$(RELEASE_BIN)/latchkey-secret-service" \
	    --latchkeyd "$(RELEASE_BIN)/latchkeyd" $(ARGS)

.PHONY: bench-transport
bench-transport: #- Measure connections and downloads (ARGS="--quick", "--instructions")
	@./Scripts/build/dependencies openssl nginx-light
	swift build -c release --package-path Benchmarks/Transport
	@./Scripts/measure/transport "$(call bench_bin,Benchmarks/Transport)/latchkey-transport-bench" $(ARGS)

.PHONY: instructions
instructions: ## Count instructions, and compare them with Benchmarks/
	@./Scripts/build/dependencies libsqlite3-dev libssl-dev libtss2-dev valgrind binutils
	swift build -c release --package-path Benchmarks --product latchkey-bench
	@./Scripts/measure/instructions $(BENCH) $(ARGS)

.PHONY: instructions-short
instructions-short: build #- Count those of the debug build, in a minute
	@./Scripts/build/dependencies valgrind binutils
	@./Scripts/measure/instructions --short "$(DEBUG_BIN)/ProofWorker" $(ARGS)
