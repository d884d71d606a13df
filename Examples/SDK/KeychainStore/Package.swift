// swift-tools-version:5.5
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
    name: "KeychainStore",
    platforms: [.macOS(.v10_15), .iOS(.v13)],
    products: [.library(name: "KeychainStore", targets: ["KeychainStore"])],
    targets: [.target(name: "KeychainStore")],
    swiftLanguageVersions: [.v5]
)
