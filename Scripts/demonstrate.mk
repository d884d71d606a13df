# SPDX-License-Identifier: Apache-2.0
#
# Demonstrate, and check the examples.

# A build of its own: it fetches neither SwiftNIO nor the packages that the tests compare with.
DEMO = --traits Tools $(LATCHKEY_BUILD_OPTIONS) --scratch-path .build/demo
DEMO_BIN = $$(swift build $(DEMO) --show-bin-path)

.PHONY: demo
demo: ## Show the main job on a throw-away keychain
	@./Scripts/build/dependencies $(BUILD_PACKAGES)
	@./Scripts/build/products $(DEMO) -- latchkey latchkeyd
	@./Scripts/demonstrate/demo "$(DEMO_BIN)/latchkey" "$(DEMO_BIN)/latchkeyd"

# The example packages share two builds, so that Latchkey and other packages are compiled once in each: the connections
# with the trait Transport, the others without. ServerTrust is a connection: its module Security must not be seen by the
# swift-certificates of KeychainHelpers.
CONNECTIONS = --scratch-path .build/examples-connections --package-path Examples/Connections
CONNECTIONS_BIN = $$(swift build $(CONNECTIONS) --show-bin-path)
EXAMPLE = $(LATCHKEY_BUILD_OPTIONS) --scratch-path .build/examples --package-path Examples
EXAMPLE_BIN = $$(swift build $(EXAMPLE)/KeychainHelpers --show-bin-path)

.PHONY: examples
examples: examples-connections examples-apps ## Build the example packages, and run their programs

.PHONY: examples-apps
examples-apps: #- The examples without TLS; they share the libraries of one build
	@./Scripts/build/dependencies swtpm python3-fido2
	@./Scripts/build/products $(DEBUG) -- latchkey latchkeyd
	@./Scripts/build/products $(EXAMPLE)/KeychainHelpers -- KeychainHelpersPackageTests \
	    notes envelope mailbox journal overview
	swift test $(EXAMPLE)/KeychainHelpers --skip-build
	@./Scripts/demonstrate/rsa-helper "$(EXAMPLE_BIN)" "$(DEBUG_BIN)"
	@./Scripts/demonstrate/access-groups "$(DEBUG_BIN)/latchkeyd" "$(EXAMPLE_BIN)"
	@./Scripts/build/products $(EXAMPLE)/LocalAuthentication -- LocalAuthenticationPackageTests diary
	swift build $(EXAMPLE)/LocalAuthentication --target UnlockScreenSwift5
	swift test $(EXAMPLE)/LocalAuthentication --skip-build
	@./Scripts/build/products $(EXAMPLE)/AppPort -- AppPortPackageTests account
	swift test $(EXAMPLE)/AppPort --skip-build
	@./Scripts/demonstrate/app-port "$(EXAMPLE_BIN)" "$(DEBUG_BIN)"
	@./Scripts/build/products $(EXAMPLE)/CommandLine -- CommandLinePackageTests forge
	swift test $(EXAMPLE)/CommandLine --skip-build
	@./Scripts/demonstrate/command-line "$(EXAMPLE_BIN)" "$(DEBUG_BIN)"
	@./Scripts/build/products $(EXAMPLE)/SignIn -- signin
	@./Scripts/demonstrate/sign-in "$(EXAMPLE_BIN)" "$(DEBUG_BIN)"

.PHONY: examples-connections
examples-connections: #- The examples with TLS, against servers of openssl and with curl
	@./Scripts/build/dependencies openssl curl
	@./Scripts/build/products $(DEBUG) -- latchkey latchkeyd
	@./Scripts/build/products $(CONNECTIONS) -- pincheck mtls-server mtls-client token-service tlscheck
	@./Scripts/demonstrate/pinning "$(CONNECTIONS_BIN)"
	@for example in mutual-tls token-service trust-delegate; do \
	    ./Scripts/demonstrate/$$example "$(CONNECTIONS_BIN)" "$(DEBUG_BIN)" || exit; done
