// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
    name: "LocalAuthentication",
    dependencies: [.package(name: "latchkey", path: "../..")],
    targets: [
        // The code as it is in an app for iOS, in both modes: the files of UnlockScreenSwift5 are symbolic links.
        .target(name: "UnlockScreen", dependencies: [.localAuthentication, .security]),
        .target(
            name: "UnlockScreenSwift5", dependencies: [.localAuthentication, .security],
            swiftSettings: [.swiftLanguageMode(.v5)]),

        // The screen on a terminal.
        .executableTarget(name: "diary", dependencies: ["UnlockScreen"]),

        // The app's own tests, with its own double of LAContext.
        .testTarget(name: "UnlockScreenTests", dependencies: ["UnlockScreen", .localAuthentication, .security]),
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
