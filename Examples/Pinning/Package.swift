// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
    name: "Pinning",
    products: [.executable(name: "pincheck", targets: ["pincheck"])],
    dependencies: [.package(name: "latchkey", path: "../..", traits: ["Transport"])],
    targets: [
        // The code as it is in apps for iOS: delegates, and two libraries in the style of those that apps use.
        .target(name: "PinningDelegates", dependencies: [.commonCrypto, .security]),
        .target(name: "TrustEvaluators", dependencies: [.security]),
        .target(name: "DomainPinning", dependencies: ["PinningDelegates", .security]),

        // Loads a URL with one of them.
        .executableTarget(
            name: "pincheck",
            dependencies: ["DomainPinning", "PinningDelegates", "TrustEvaluators", .security, .urlSession]),
    ],
    swiftLanguageModes: [.v6]
)

// Each target has Apple's names for the modules, for itself alone.
for target in package.targets {
    target.swiftSettings =
        (target.swiftSettings ?? []) + [
            .unsafeFlags([
                "-module-alias", "Security=LatchkeySecurity", "-module-alias", "CommonCrypto=LatchkeyCommonCrypto",
            ])
        ]
}

extension Target.Dependency {
    static var commonCrypto: Self { .product(name: "LatchkeyCommonCrypto", package: "latchkey") }
    static var security: Self { .product(name: "LatchkeySecurity", package: "latchkey") }
    static var urlSession: Self { .product(name: "LatchkeyURLSession", package: "latchkey") }
}
