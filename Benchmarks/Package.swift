// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
    name: "latchkey-benchmarks",
    products: [
        .executable(name: "latchkey-bench", targets: ["LatchkeyBench"]),
        .executable(name: "print-only", targets: ["PrintOnly"]),
    ],
    dependencies: [
        .package(name: "latchkey", path: ".."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    ],
    targets: [
        // The floor calls SQLite's C interface itself, without a layer above it.
        .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CScrypt", providers: [.apt(["libssl-dev"])]),
        // The floor of keys: libcrypto's calls and nothing else.
        .target(name: "CKeyFloor", linkerSettings: [.linkedLibrary("crypto")]),
        // The floor of keys in a TPM: tpm2-tss's calls and nothing else.
        .target(name: "CEnclaveFloor", linkerSettings: [.linkedLibrary("tss2-esys"), .linkedLibrary("tss2-tctildr")]),
        // The raw floor of items: SQLite's C interface and the BoringSSL that swift-crypto links.
        .target(
            name: "CRawFloor", dependencies: [.product(name: "Crypto", package: "swift-crypto")],
            linkerSettings: [.linkedLibrary("sqlite3")]),
        // The client of the Secret Service, for every provider.
        .target(name: "CSecretBus", linkerSettings: [.linkedLibrary("systemd")]),
        // The floor of certificates: X509_verify_cert.
        .target(name: "CTrustFloor", linkerSettings: [.linkedLibrary("crypto")]),
        .executableTarget(
            name: "LatchkeyBench",
            dependencies: [
                "CEnclaveFloor",
                "CKeyFloor",
                "CRawFloor",
                "CSecretBus",
                "CTrustFloor",
                "CScrypt",
                "CSQLite",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Latchkey", package: "latchkey"),
                .product(name: "LatchkeyLocalAuthentication", package: "latchkey"),
                .product(name: "LatchkeySecurity", package: "latchkey"),
            ],
            swiftSettings: [.enableUpcomingFeature("ExistentialAny")]
        ),
        // The cost of any Swift command that loads Foundation and prints a line.
        .executableTarget(name: "PrintOnly"),
    ],
    swiftLanguageModes: [.v6]
)
