// swift-tools-version:5.9
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
    name: "PinnedTrust",
    platforms: [.macOS(.v10_15), .iOS(.v13)],
    products: [.library(name: "PinnedTrust", targets: ["PinnedTrust"])],
    targets: [.target(name: "PinnedTrust")],
    swiftLanguageVersions: [.v5]
)
