// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOPosix
import NIOSSL

/// swift-nio-ssl in a target of its own.
@main
struct TLS {
    static func main() throws {
        let context = try NIOSSLContext(configuration: .makeClientConfiguration())
        _ = try NIOSSLClientHandler(context: context, serverHostname: "example.com")
        print("tls: configured")
    }
}
