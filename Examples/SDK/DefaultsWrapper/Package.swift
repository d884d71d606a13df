// swift-tools-version:5.5
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
    name: "DefaultsWrapper",
    platforms: [.macOS(.v10_15), .iOS(.v13)],
    products: [.library(name: "DefaultsWrapper", targets: ["DefaultsWrapper"])],
    targets: [.target(name: "DefaultsWrapper")],
    swiftLanguageVersions: [.v5]
)
