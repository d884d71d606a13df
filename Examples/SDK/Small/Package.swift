// swift-tools-version:5.9
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
    name: "Small",
    platforms: [.macOS(.v10_15)],
    dependencies: [.package(path: "../KeychainStore")],
    targets: [.executableTarget(name: "sdk-small", dependencies: ["KeychainStore"])],
    swiftLanguageVersions: [.v5]
)
