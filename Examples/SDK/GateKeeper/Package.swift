// swift-tools-version:5.9
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
    name: "GateKeeper",
    platforms: [.macOS(.v10_15), .iOS(.v13)],
    products: [.library(name: "GateKeeper", targets: ["GateKeeper"])],
    targets: [.target(name: "GateKeeper")],
    swiftLanguageVersions: [.v5]
)
