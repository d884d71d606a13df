// SPDX-License-Identifier: Apache-2.0

import Foundation
import Hummingbird
import HummingbirdTLS
import LatchkeyNIOSSL
import NIOSSL

/// A web service with its identity and the tokens of its clients in the keychain.
@main
struct TokenService {
    static func main() async throws {
        let words = Array(CommandLine.arguments.dropFirst())
        guard words.count == 2 else { fail("usage: token-service LABEL SERVICE") }
        let identity: TLSIdentity
        do { identity = try KeychainIdentity(label: words[0]).current() } catch { fail("\(error)") }

        // The private key stays in the keychain, and the keychain signs each handshake.
        var tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: identity.certificateChain, privateKey: identity.privateKey)
        tls.minimumTLSVersion = .tlsv12

        let application = try Application(
            router: router(ClientTokens(service: words[1])),
            server: .tls(.http1(), tlsConfiguration: tls),
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in say("port \(channel.localAddress?.port ?? 0)") })
        try await application.runService()
    }

    private static func router(_ tokens: ClientTokens) -> Router<BasicRequestContext> {
        let router = Router()
        router.get("health") { _, _ in "ok\n" }
        router.get("hello") { request, _ -> String in
            guard let client = try await tokens.client(of: request.headers[.authorization]) else {
                throw HTTPError(.unauthorized)
            }
            return "Hello, \(client).\n"
        }
        return router
    }

    /// Writes a line at once, also to a file.
    private static func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

    private static func fail(_ reason: String) -> Never {
        FileHandle.standardError.write(Data("token-service: \(reason)\n".utf8))
        exit(1)
    }
}
