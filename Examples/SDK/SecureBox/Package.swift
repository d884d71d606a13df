// swift-tools-version:5.5
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
    name: "SecureBox",
    platforms: [.macOS(.v10_15), .iOS(.v13)],
    products: [.library(name: "SecureBox", targets: ["SecureBox"])],
    targets: [.target(name: "SecureBox")],
    swiftLanguageVersions: [.v5]
)
