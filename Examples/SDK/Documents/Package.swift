// swift-tools-version:5.9
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
    name: "Documents",
    platforms: [.macOS(.v12)],
    targets: ["pinning", "files", "credentials", "transport", "store"].map { .executableTarget(name: $0) },
    swiftLanguageVersions: [.v5]
)
