// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
    name: "SignIn",
    dependencies: [
        .package(name: "latchkey", path: "../.."),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    ],
    targets: [
        // The server's and the client's half, without input or output.
        .target(
            name: "SignIn",
            dependencies: [
                .product(name: "Latchkey", package: "latchkey"), .product(name: "Crypto", package: "swift-crypto"),
            ]),
        // The server and the client as programs.
        .executableTarget(name: "signin", dependencies: ["SignIn"]),
    ],
    swiftLanguageModes: [.v6]
)
