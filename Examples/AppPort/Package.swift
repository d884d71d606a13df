// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
    name: "AppPort",
    dependencies: [.package(name: "latchkey", path: "../..")],
    targets: [
        // The code as it is in an app for iOS.
        .target(name: "AccountKit", dependencies: [.localAuthentication, .security]),

        // The app's screens, as commands.
        .executableTarget(name: "account", dependencies: ["AccountKit"]),

        // The app's own tests.
        .testTarget(name: "AccountKitTests", dependencies: ["AccountKit", .localAuthentication, .security]),
    ],
    swiftLanguageModes: [.v6]
)

// Each target has Apple's names for the modules, for itself alone.
for target in package.targets {
    target.swiftSettings =
        (target.swiftSettings ?? []) + [
            .unsafeFlags([
                "-module-alias", "Security=LatchkeySecurity",
                "-module-alias", "LocalAuthentication=LatchkeyLocalAuthentication",
            ])
        ]
}

extension Target.Dependency {
    static var localAuthentication: Self { .product(name: "LatchkeyLocalAuthentication", package: "latchkey") }
    static var security: Self { .product(name: "LatchkeySecurity", package: "latchkey") }
}
