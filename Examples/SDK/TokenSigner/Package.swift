// swift-tools-version:5.9
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
    name: "TokenSigner",
    platforms: [.macOS(.v10_15), .iOS(.v13)],
    products: [.library(name: "TokenSigner", targets: ["TokenSigner"])],
    targets: [.target(name: "TokenSigner")],
    swiftLanguageVersions: [.v5]
)
