// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation

/// The URL of the server, and the CA that has issued its certificate.
struct ServerOptions: ParsableArguments {
    @Option(help: "The URL to load.")
    var url: String

    @Option(help: "The root of the server's certificate, as DER.")
    var root: String

    func server() throws -> Server {
        guard let url = URL(string: url), url.scheme == "https", let host = url.host, let port = url.port else {
            throw ValidationError("--url must be an https URL with a host and a port, found \(self.url)")
        }
        return Server(url: url, host: host, port: port, root: [UInt8](try Data(contentsOf: URL(fileURLWithPath: root))))
    }
}

/// The server that all contenders connect to.
struct Server: Sendable {
    let url: URL
    let host: String
    let port: Int
    /// DER.
    let root: [UInt8]
}
