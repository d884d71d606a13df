// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyNIOSSL
import NIOCore
import NIOHTTP1
import NIOPosix

/// A web server with an identity of the keychain, for clients with certificates of one CA.
@main
struct Server {
    static func main() async throws {
        let words = Array(CommandLine.arguments.dropFirst())
        guard words.count == 2 else { fail("usage: mtls-server LABEL AUTHORITY.der") }
        let updates: IdentityUpdates
        let tls: TLSServer
        do {
            let authority = try Certificate(der: Array(try Data(contentsOf: URL(filePath: words[1]))))
            updates = try IdentityUpdates(of: KeychainIdentity(label: words[0]), interval: .seconds(1))
            tls = try TLSServer(updates.first, clients: .required(.only([authority])))
        } catch { fail("\(error)") }
        updates.follow { change in
            switch change {
            case .renewed(let identity):
                do {
                    try tls.use(identity)
                    Log.write("renewed")
                } catch { Log.write("not renewed: \(error)") }
            case .unavailable(let refusal): Log.write("not renewed: \(refusal)")
            }
        }
        let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let (handler, handshake) = tls.handler()
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(handler)
                    try pipeline.configureHTTPServerPipeline()
                    try pipeline.addHandler(Greeting(handshake))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        Log.write("port \(channel.localAddress?.port ?? 0)")
        try await channel.closeFuture.get()
        updates.end()
    }

    private static func fail(_ reason: String) -> Never {
        FileHandle.standardError.write(Data("mtls-server: \(reason)\n".utf8))
        exit(1)
    }
}
