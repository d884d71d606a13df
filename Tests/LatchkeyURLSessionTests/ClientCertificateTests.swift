// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import LatchkeyURLSession
import Synchronization
import Testing

/// Client certificates, through `URLSession` and `LatchkeySession`.
@Suite("URLSession: client certificates")
struct ClientCertificateTests {
    private let lab: Lab

    init() throws { lab = try Lab.shared() }

    private static let extensions =
        "basicConstraints=CA:FALSE\nextendedKeyUsage=clientAuth\nauthorityKeyIdentifier=keyid\n"
    private static let label = "client"

    /// Makes a key that cannot be extracted in the keychain of the task, and stores a certificate for it.
    private func store() throws {
        let attributes: [CFString: Any] = [
            kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256,
            kSecPrivateKeyAttrs: [kSecAttrIsPermanent: true, kSecAttrIsExtractable: false] as [CFString: Any],
        ]
        let key = try #require(SecKeyCreateRandomKey(attributes as CFDictionary, nil))
        let publicKey = try #require(SecKeyCopyPublicKey(key))
        var exported: CFData?
        #expect(SecItemExport(publicKey, .formatOpenSSL, [.pemArmour], nil, &exported) == errSecSuccess)
        let der = try lab.authority.issue(
            "/CN=client", Self.extensions, publicKey: Data(referencing: try #require(exported)),
            by: lab.authority.root)
        let certificate = try #require(SecCertificateCreateWithData(nil, der as CFData))
        let item = [kSecValueRef: certificate, kSecAttrLabel: Self.label] as [CFString: Any]
        #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
    }

    /// The identity of the keychain of the task, as programs look for it.
    private static func storedIdentity() -> SecIdentity? {
        let query: [CFString: Any] = [kSecClass: kSecClassIdentity, kSecAttrLabel: label, kSecReturnRef: true]
        var found: CFTypeRef?
        guard SecItemCopyMatching(query as CFDictionary, &found) == errSecSuccess else { return nil }
        return found as? SecIdentity
    }

    private func server() async throws -> WebServer {
        try await WebServer(
            (lab.server.file, lab.server.keyFile), chain: lab.authority.intermediate.file,
            clientRoot: lab.authority.root.file
        ) { $0.client == nil ? .text("no user") : .text("a user") }
    }

    @Test("A server that asks for a certificate gets the delegate's, and its key stays in the keychain")
    func session() async throws {
        let keychain = try TestKeychain(.ephemeral)
        try keychain.run(groups: ["G1"]) { try store() }
        let server = try await server()
        // The delegate looks for the identity when it is asked, in the keychain of the program part
        // that made the request.
        let delegate = AnsweringDelegate { challenge in
            guard challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodClientCertificate else {
                return (.performDefaultHandling, nil)
            }
            let identity = Self.storedIdentity()
            return (
                .useCredential,
                identity.map { URLCredential(identity: $0, certificates: nil, persistence: .none) }
            )
        }
        let session = try lab.session(delegate)
        let text = try await keychain.runTask(groups: ["G1"]) {
            String(decoding: try await session.data(from: server.url()).0, as: UTF8.self)
        }
        #expect(text == "a user")
        let order = delegate.challenges.withLock { $0.filter { !$0.hasPrefix("task") } }
        #expect(order == [NSURLAuthenticationMethodServerTrust, NSURLAuthenticationMethodClientCertificate])
        // Another part of the program has another keychain, without the identity, and the server
        // ends its connection.
        let other = try lab.session(delegate)
        await #expect(throws: URLError.self) { _ = try await other.data(from: server.url()) }
        withExtendedLifetime(keychain) {}
    }

    @Test("An identity that was found before the request signs for LatchkeySession")
    func latchkeySession() async throws {
        let keychain = try TestKeychain(.ephemeral)
        let identity = try keychain.run(groups: ["G1"]) {
            try store()
            return try #require(Self.storedIdentity())
        }
        let server = try await server()
        var transport = LatchkeyTransport(trust: try lab.trust())
        transport.usesProxyEnvironment = false
        let session = LatchkeySession(transport, configuration: .ephemeral) { challenge in
            challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodClientCertificate
                ? (.useCredential, URLCredential(identity: identity, certificates: nil, persistence: .none))
                : (.performDefaultHandling, nil)
        }
        let text = try await keychain.runTask(groups: ["G1"]) {
            String(decoding: try await session.data(from: server.url()).0, as: UTF8.self)
        }
        #expect(text == "a user")
        withExtendedLifetime(keychain) {}
    }
}
